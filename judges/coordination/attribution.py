"""Whose cost a turn of an LLM-Coordination game was: CollabCapture, CollabEscape and Hanabi.

In the two games of rooms both players see everything and act at once. Each player's action is replaced by its best one, with the partner's
as it was; what only both together could have kept is nobody's. In Hanabi the acting player is held against what hints and counting told
it; where they told nothing, and the partner could have given a hint on its turn before, it is the partner's (`not_said`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from games.coordination.capture.rules import Action, CaptureState, step
from games.coordination.escape.rules import actions as escape_actions
from games.coordination.hanabi.moves import possible_cards
from games.coordination.players import PLAYERS, Player, partner_of
from games.coordination.value.capture import turns_left
from games.coordination.value.escape import choice_chance
from judges.attribution.findings import NOTHING, Attributed, Cause, Finding, Lost, shared_out, undecided
from judges.coordination.situation import (
    action_of,
    capture_action,
    capture_state,
    escape_choices,
    escape_state,
    game_of,
    hanabi_move,
    hanabi_state,
    player_named,
)
from judges.evidence.transcript import Transcript, TurnView

__all__ = ["MEASURES", "attribute"]

MEASURES: Final = ("coordination.hanabi_bound", "coordination.capture_turns", "coordination.escape_chance")

_BOTH: Final = "neither player alone could have kept it: only both together"


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Find whose each costly turn was; see `judges.attribution.findings.Attribute`."""
    of_turn = _GAMES.get(game_of(transcript))
    costly = {turn: value for turn, value in lost.items() if value.cost > NOTHING and turn <= len(transcript.turns)}
    if of_turn is None:
        return Attributed([undecided(turn, value.cost, "nothing tells whose a turn of this game was") for turn, value in costly.items()])
    return Attributed([finding for turn, value in costly.items() for finding in of_turn(transcript, turn, value)])


# -- CollabCapture ----------------------------------------------------------------------------------------


def _capture(game: Transcript, turn: int, lost: Lost) -> Iterator[Finding]:
    view = game.turn(turn)
    state = capture_state(view)
    done = {player: capture_action(action) for player in PLAYERS if (action := action_of(view, player)) is not None}
    if len(done) < len(PLAYERS):
        yield undecided(turn, lost.cost, "the log does not tell what both players did")
        return
    causes = [cause for player in PLAYERS if (cause := _captor(state, player, done, turn, lost)) is not None]
    yield from shared_out(turn, lost.cost, causes, ("not_seen", _BOTH))


def _captor(state: CaptureState, player: Player, done: Mapping[Player, Action], turn: int, lost: Lost) -> Cause | None:
    left = {action: _turns_after(state, {**done, player: action}, turn) for action in state.actions(player)}
    best = min(left, key=lambda action: left[action])
    gain = lost.cost if math.isinf(lost.after) and math.isfinite(left[best]) else lost.after - left[best]
    if math.isnan(gain) or gain <= NOTHING:
        return None
    evidence = f"{done[player].text}: {best.text} would have left {left[best]:.0f} turns in place of {lost.after:.0f}"
    return Cause(player, "idle" if done[player].verb == "stay" else "acted_wrong", evidence, gain)


def _turns_after(state: CaptureState, chosen: Mapping[Player, Action], turn: int) -> float:
    turned = step(state, chosen, first=turn == 1)
    return 0.0 if turned.capture is not None else turns_left(turned.state, first=False)


# -- CollabEscape -----------------------------------------------------------------------------------------


def _escape(game: Transcript, turn: int, lost: Lost) -> Iterator[Finding]:
    view = game.turn(turn)
    state, done = escape_state(view), escape_choices(view)
    if len(done) < len(PLAYERS):
        yield undecided(turn, lost.cost, "the log does not tell what both players did")
        return
    causes = []
    for player in PLAYERS:
        chances = {action: choice_chance(state, turn, {**done, player: action}) for action in escape_actions(state, player)}
        best = max(chances, key=lambda action: chances[action])
        gain = chances[best] - lost.after
        if gain > NOTHING:
            evidence = f"{done[player]}: {best} would have kept the chance of escape at {chances[best]:.2f} in place of {lost.after:.2f}"
            causes.append(Cause(player, "idle" if done[player] == "wait" else "acted_wrong", evidence, gain))
    yield from shared_out(turn, lost.cost, causes, ("not_seen", _BOTH))


# -- Hanabi -----------------------------------------------------------------------------------------------


def _hanabi(game: Transcript, turn: int, lost: Lost) -> Iterator[Finding]:
    view = game.turn(turn)
    player = player_named(view.state_before.get("player"))
    action = action_of(view, player)
    if player is None or action is None:
        yield undecided(turn, lost.cost, "the log does not tell who acted")
        return
    state, move = hanabi_state(view), hanabi_move(action)
    if move.card is None:
        yield Finding(turn, None, "not_seen", lost.cost, "a hint loses nothing for certain but time: the deck ran out")
        return
    card, could_be = state.hands[0][move.card], possible_cards(state, 0, move.card)
    told = f"{move.verb} of card {move.card}, a {card}; by hints and counting it could be {', '.join(could_be)}"
    if move.verb == "play":
        yield Finding(turn, player, "acted_wrong", lost.cost, f"{told}: nothing told that it fits", lost.cost)
    elif not state.is_last(card):
        yield Finding(turn, None, "not_seen", lost.cost, f"{told}; the cost is time: the deck runs out")
    elif all(state.is_last(other) for other in could_be):
        yield Finding(turn, player, "acted_wrong", lost.cost, f"{told}: each of them the last copy of a card still needed", lost.cost)
    elif _could_hint(game, turn, partner_of(player)):
        yield Finding(
            turn, partner_of(player), "not_said", lost.cost, f"{told}; the partner saw that it is the last copy, and had a hint to give"
        )
    else:
        yield Finding(turn, None, "not_seen", lost.cost, f"{told}; the partner had no hint to give")


def _could_hint(game: Transcript, turn: int, partner: Player) -> bool:
    """Whether the partner, on its turn just before, had a hint to give."""
    before: TurnView | None = game.turn(turn - 1) if turn > 1 else None
    return before is not None and before.state_before.get("player") == partner and int(before.state_before.get("information_tokens", 0)) > 0


_GAMES: Final[Mapping[str, Callable[[Transcript, int, Lost], Iterator[Finding]]]] = {
    "collab_capture": _capture,
    "collab_escape": _escape,
    "hanabi": _hanabi,
}
"""Game -> its way; Overcooked-AI has no values."""
