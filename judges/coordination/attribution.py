"""Attribution of the regret of a turn of LLM-Coordination: CollabCapture, CollabEscape and Hanabi.

In CollabCapture and CollabEscape both players see everything and act at once. A player whose action is part of a best joint choice is not
at fault; where both did their parts of different ones, no one is at fault (`conflict`). Else each action is replaced by its best one, with
the partner's as it was; for what only both together could have retained, no one is at fault. In Hanabi the acting player is compared with
what it knew by hints and counting, of the card that it used and of the others that it held. A partner that saw a card without any hint, had
a hint to give while it was held and did nothing as good with it, shares the fault (`not_said`); the fault is the partner's alone where the
card was the one without a hint that the player held longest, and the partner's turn just before was such a turn. A card that the partner
had just pointed at and that does not fit is shared, too (`said_unclear`).

An action that the harness chose, because the reply named none of the list, is not a judgement of the player. The cost is its `format` where
the reply was unreadable, and the harness's (`harness`) where the published one took the most similar action, or where no whole reply came.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Final

from games.coordination.capture import Action, CaptureState, listed
from games.coordination.escape import actions as escape_actions
from games.coordination.hanabi import HanabiState, move_category, possible_cards, touched
from games.coordination.players import PLAYERS, Player, ScriptDecision, partner_of
from games.coordination.value import best_actions, choice_chance, turns_after
from judges.attribution.findings import NOTHING, Attributed, Cause, Finding, Follow, How, Ideal, Link, Lost, shared_out, undecided
from judges.coordination import situation
from judges.evidence.transcript import Transcript, TurnView

MEASURES: Final = ("coordination.hanabi_bound", "coordination.capture_turns", "coordination.escape_chance")

_BOTH: Final = "neither player alone could have avoided the loss: only both together"
_APART: Final = "each did its part of a best joint choice, but not of the same one"


def _did_their_part(options: Mapping[Player, Sequence[str]], done: Mapping[Player, str], cost: Callable[..., float]) -> set[Player]:
    """Players whose action is part of a joint choice that costs least."""
    joint = [dict(zip(PLAYERS, both, strict=True)) for both in product(*(options[player] for player in PLAYERS))]
    costs = [cost(both) for both in joint]
    best = [both for both, found in zip(joint, costs, strict=True) if found <= min(costs) + NOTHING]
    return {player for player in PLAYERS if any(both[player] == done[player] for both in best)}


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Find whose each costly turn was; see `judges.attribution.findings.Attribute`."""
    of_turn = _GAMES.get(situation.game_of(transcript))
    costly = {turn: value for turn, value in lost.items() if value.cost > NOTHING and turn <= len(transcript.turns)}
    if of_turn is None:
        return Attributed([undecided(turn, value.cost, "nothing tells whose a turn of this game was") for turn, value in costly.items()])
    findings = [_of_harness(transcript, found) for turn, value in costly.items() for found in of_turn(transcript, turn, value)]
    joined: dict[tuple[int, str | None, str], Finding] = {}
    for found in findings:
        key = (found.turn, found.agent, found.link)
        first = joined.get(key)
        joined[key] = (
            found if first is None else first._replace(cost=first.cost + found.cost, evidence=f"{first.evidence}; {found.evidence}")
        )
    return Attributed(list(joined.values()), [*_hints(transcript)] if of_turn is _hanabi else ())


def _of_harness(game: Transcript, found: Finding) -> Finding:
    """A finding at a player whose action the harness chose is its `format`, or the harness's; others stay as they are."""
    chosen = None if found.agent is None else situation.harness_choice(game.turn(found.turn), found.agent)
    if chosen is None or found.link not in _OF_ACTIONS:
        return found
    read, evidence = chosen
    if read in ("guessed", "lost"):
        return found._replace(agent=None, link="harness", evidence=evidence, ideal=None)
    return found._replace(link="format", evidence=evidence, ideal=None)


_OF_ACTIONS: Final = ("acted_wrong", "idle")
"""Links of an action; the others are about messages."""


# -- CollabCapture ----------------------------------------------------------------------------------------


def _capture(game: Transcript, turn: int, lost: Lost) -> Iterator[Finding]:
    view = game.turn(turn)
    state = situation.capture_state(view)
    done = {player: situation.capture_action(action) for player in PLAYERS if (action := view.action_of(player)) is not None}
    if len(done) < len(PLAYERS):
        yield undecided(turn, lost.cost, "the log does not tell what both players did")
        return
    best = best_actions(state, first=turn == 1)
    right = {player for player in PLAYERS if done[player] in best[player]}
    causes = [cause for player in PLAYERS if player not in right and (cause := _captor(state, player, done, turn, lost)) is not None]
    yield from shared_out(turn, lost.cost, causes, ("conflict", _APART) if len(right) == len(PLAYERS) else ("not_seen", _BOTH))


def _captor(state: CaptureState, player: Player, done: Mapping[Player, Action], turn: int, lost: Lost) -> Cause | None:
    left = {action: turns_after(state, {**done, player: action}, first=turn == 1) for action in state.actions(player)}
    best = min(left, key=lambda action: left[action])
    gain = lost.after - left[best]  # finite: no turn leads out of the states from which there is a way
    if gain <= NOTHING:
        return None
    evidence = f"{done[player].text}: {best.text} would have left {left[best]:.0f} turns in place of {lost.after:.0f}"
    return Cause(
        player,
        "idle" if done[player].verb == "stay" else "acted_wrong",
        evidence,
        gain,
        _deed(player, listed(state.actions(player).index(best), best)),
    )


def _deed(player: Player, action: str) -> Ideal:
    """Both act at once, so the partner does what it did."""
    return Ideal("do", ScriptDecision(intended=action, explanation="This is best.").response, (partner_of(player),))


# -- CollabEscape -----------------------------------------------------------------------------------------


def _escape(game: Transcript, turn: int, lost: Lost) -> Iterator[Finding]:
    view = game.turn(turn)
    state, done = situation.escape_state(view), situation.escape_choices(view)
    if len(done) < len(PLAYERS):
        yield undecided(turn, lost.cost, "the log does not tell what both players did")
        return
    options = {player: escape_actions(state, player) for player in PLAYERS}
    right = _did_their_part(options, done, lambda both: -choice_chance(state, turn, both))
    causes = []
    for player in PLAYERS:
        if player in right:
            continue
        chances = {action: choice_chance(state, turn, {**done, player: action}) for action in options[player]}
        best = max(chances, key=lambda action: chances[action])
        gain = chances[best] - lost.after
        if gain > NOTHING:
            evidence = f"{done[player]}: {best} would have left the chance of escape at {chances[best]:.2f} in place of {lost.after:.2f}"
            causes.append(Cause(player, "idle" if done[player] == "wait" else "acted_wrong", evidence, gain, _deed(player, best)))
    yield from shared_out(turn, lost.cost, causes, ("conflict", _APART) if len(right) == len(PLAYERS) else ("not_seen", _BOTH))


# -- Hanabi -----------------------------------------------------------------------------------------------


def _hanabi(game: Transcript, turn: int, lost: Lost) -> Iterator[Finding]:
    view = game.turn(turn)
    player = situation.player_named(view.state_before.get("player"))
    action = view.action_of(player)
    if player is None or action is None:
        yield undecided(turn, lost.cost, "the log does not tell who acted")
        return
    state, move = situation.hanabi_state(view), situation.hanabi_move(action)
    if situation.harness_choice(view, player) is not None:
        yield Finding(turn, player, "acted_wrong", lost.cost, "")  # of the harness, whatever the move was: see _of_harness
        return
    if move.card is None:
        yield Finding(turn, None, "not_seen", lost.cost, "a hint loses nothing for certain but time: the deck ran out")
        return
    card, could_be, partner = state.hands[0][move.card], possible_cards(state, 0, move.card), partner_of(player)
    reported = f"{move.verb} of card {move.card}, a {card}; by hints and counting it could be {', '.join(could_be)}"
    known = state.knowledge[0][move.card]
    unnamed = not (known.color_hinted or known.rank_hinted)
    had_chance = unnamed and _could_ever_hint(game, turn, partner, move.card, last=move.verb == "discard")
    silent: tuple[Link, str] | None = (
        ("not_said", f"{reported}; {partner} saw it, had a hint to give and gave none") if had_chance else None
    )
    if move.verb == "play":
        pointed: tuple[Link, str] = (
            "said_unclear",
            f"{reported}; {partner} had just given new information about it, which can be read as: play it",
        )
        shared = pointed if move.card in situation.clued_cards(game, turn) else silent
        yield from _shared(turn, lost, (player, f"{reported}: no hint showed that it fits"), (partner, shared))
    elif not state.is_last(card):
        yield Finding(turn, None, "not_seen", lost.cost, f"{reported}; the cost is time: the deck runs out")
    elif state.tokens and all(state.is_last(other) for other in could_be):
        yield Finding(turn, player, "acted_wrong", lost.cost, f"{reported}: each of them the last copy of a card still needed", lost.cost)
    elif (safer := _safer(state, move.card)) is not None:
        rest = f"card {safer} was less likely to be the last copy of a card still needed"
        yield from _shared(turn, lost, (player, f"{reported}; {rest}"), (partner, silent))
    elif move.card == _longest_unhinted(state) and unnamed and (turn > 1 and _left_out(game.turn(turn - 1), partner, move.card)):
        yield Finding(turn, partner, "not_said", lost.cost, f"{reported}; the partner saw that it is the last copy, and had a hint to give")
    else:
        yield Finding(turn, None, "not_seen", lost.cost, f"{reported}; the partner had no hint to give, or nothing better")


def _shared(turn: int, lost: Lost, acted: tuple[Player, str], other: tuple[Player, tuple[Link, str] | None]) -> Iterator[Finding]:
    """The cost of a move: the acting player's, or shared with its partner where that one has a part in it."""
    player, evidence = acted
    causes = [Cause(player, "acted_wrong", evidence, lost.cost)]
    if other[1] is not None:
        causes.append(Cause(other[0], *other[1], lost.cost))
    return shared_out(turn, lost.cost, causes, ("not_seen", _BOTH))


def _hints(game: Transcript) -> Iterator[Follow]:
    """Each hint that newly names a card that fits: by custom it asks for it to be played, and the partner's next move does or not."""
    for view, then in pairwise(game.turns):
        player = situation.player_named(view.state_before.get("player"))
        action = view.action_of(player)
        if player is None or action is None:
            continue
        state, move, partner = situation.hanabi_state(view), situation.hanabi_move(action), partner_of(player)
        named = touched(state, 0, move) if move.card is None else ()
        asked = [place for place in named if not state.knowledge[1][place].is_hinted(move.verb) and state.fits(state.hands[1][place])]
        answer = then.action_of(partner)
        if (
            not asked
            or answer is None
            or situation.harness_choice(view, player) is not None
            or situation.harness_choice(then, partner) is not None
        ):
            continue
        done = situation.hanabi_move(answer)
        played = done.card if done.verb == "play" else None
        how: How = "fully" if played in asked else "differs" if played is not None else "no"
        seq = next((message.seq for message in view.utterances if message.agent == player), 0)
        cards = " or ".join(f"card {place} ({state.hands[1][place]})" for place in asked)
        yield Follow(view.turn, seq, player, partner, f"play {cards}", how, right=True)


def _safer(state: HanabiState, place: int) -> int | None:
    """Another card of the acting player that, by hints and counting, is less likely a last copy than this one."""
    risks = [_risk(state, other) for other in range(len(state.hands[0]))]
    best = min(range(len(risks)), key=lambda other: risks[other])
    return best if risks[best] < risks[place] - NOTHING else None


def _risk(state: HanabiState, place: int) -> float:
    could_be = possible_cards(state, 0, place)
    return sum(state.is_last(card) for card in could_be) / len(could_be) if could_be else 0.0


def _longest_unhinted(state: HanabiState) -> int | None:
    """The card that players discard by custom."""
    return next((place for place, known in enumerate(state.knowledge[0]) if not (known.color_hinted or known.rank_hinted)), None)


def _could_ever_hint(game: Transcript, turn: int, partner: Player, place: int, *, last: bool) -> bool:
    """The same on any of its turns since the card was drawn; with ``last`` only of those on which no other copy was left."""
    for number in range(turn - 1, 0, -1):
        view = game.turn(number)
        acted = view.action_of(view.state_before.get("player"))
        if acted is None:
            return False
        state, move = situation.hanabi_state(view), situation.hanabi_move(acted)
        if view.state_before["player"] == partner:
            if _left_out(view, partner, place) and (not last or state.is_last(state.hands[1][place])):
                return True
        elif move.card is not None:
            if state.deck and place == len(state.hands[0]) - 1:
                return False  # it was drawn here
            place += place >= move.card
    return False


def _left_out(view: TurnView, partner: Player, place: int) -> bool:
    """Whether the partner had a hint to give about a card on a turn of its own, and did nothing as good."""
    action = view.action_of(partner)
    if action is None or view.state_before.get("player") != partner or not view.state_before["information_tokens"]:
        return False
    state, move = situation.hanabi_state(view), situation.hanabi_move(action)
    if move.card is not None:
        return move_category(state, 0, move)[0] not in _GOOD
    saved = [other for other in touched(state, 0, move) if state.is_last(state.hands[1][other])]
    new = [other for other in saved if not state.knowledge[1][other].is_hinted(move.verb)]
    return place not in saved and not new and move_category(state, 0, move)[0] not in _GOOD


_GOOD: Final = ("safe_play", "clued_play", "lucky_play", "clue_playable")
"""What a turn is as well used for as for a hint that saves a last copy."""


_GAMES: Final[Mapping[str, Callable[[Transcript, int, Lost], Iterator[Finding]]]] = {
    "collab_capture": _capture,
    "collab_escape": _escape,
    "hanabi": _hanabi,
}
"""Game -> its way; Overcooked-AI has no values."""
