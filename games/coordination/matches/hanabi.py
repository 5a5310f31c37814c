"""Plays a game of Hanabi with scripted players, turn by turn, as lines of the step log `hanabi_step/1`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

from games.coordination.hanabi.policies import FAULTLESS, POLICIES
from games.coordination.hanabi.rules import DECK, Effect, HanabiState, Move, legal_moves
from games.coordination.hanabi.table import HanabiTable
from games.coordination.hanabi.wording import action_text, listed, observation
from games.coordination.players import Player, ScriptDecision
from games.players.onset import onset_of

__all__ = ["SEATS", "deck_of_seed", "play_hanabi", "shown_effect", "shown_move", "shown_table"]

SEATS: Final[tuple[Player, Player]] = ("Bob", "Alice")
"""Bob starts, as in the published code."""


def deck_of_seed(seed: int) -> tuple[str, ...]:
    """The deck in the order of dealing; not the order that the published engine gives for that seed."""
    deck = list(DECK)
    Random(seed).shuffle(deck)
    return tuple(deck)


def play_hanabi(name: str, policies: Mapping[Player, str], seed: int, deck: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Play a game.

    Args:
        name: of the game in the log.
        policies: player -> name of one of `POLICIES`, or `policy@turn`: from that turn on.
        seed: of the deck, where none is given, and of the players.
        deck: 50 cards in the order of dealing.
    """
    table, rng, turn = HanabiTable(deck or deck_of_seed(seed)), Random(seed), 0
    onsets = {player: onset_of(name, POLICIES, "policy") for player, name in policies.items()}
    while not table.is_over:
        turn += 1
        seat, before = table.seat, table.state
        player = SEATS[seat]
        actions = listed(legal_moves(before, seat), player)
        move, reason, injected = POLICIES[onsets[player].at(turn, FAULTLESS)](before, seat, player, rng)
        intended = next(action for action in actions if action.endswith(action_text(move, player)))
        decision = ScriptDecision(intended=intended, explanation=reason, injected=injected)
        effect = table.play(move)
        yield {
            "schema": "hanabi_step/1",
            "game": "hanabi",
            "episode": name,
            "seed": seed,
            "turn": turn,
            "player": player,
            "seat": seat,
            "policy": policies[player],
            "style": "clean",
            "state_before": shown_table(before),
            "observation_text": observation(before, player, seat, actions),
            "legal_actions": actions,
            **_decided(decision),
            "engine_move": shown_move(move),
            "effect": shown_effect(effect),
            "state_after": shown_table(table.state),
            "terminal": table.is_over,
            "fireworks_sum": table.state.stacked,
            "engine_score": table.engine_score,
        }


def _decided(decision: ScriptDecision) -> dict[str, Any]:
    return {
        "calls": [{"stage": "generator", "text": decision.response}],
        "n_generator_calls": 1,
        "n_rejections": 0,
        "intended_action": decision.intended,
        "selected_action": decision.intended,
        "injected": decision.injected,
    }


def shown_table(state: HanabiState) -> dict[str, Any]:
    """The table as a line of the step log has it."""
    return {
        "life_tokens": state.lives,
        "information_tokens": state.tokens,
        "deck_size": state.deck,
        "fireworks": state.fireworks,
        "discard_pile": state.discards,
        "hands": dict(zip(SEATS, state.hands, strict=True)),
        "knowledge": {player: [known._asdict() for known in cards] for player, cards in zip(SEATS, state.knowledge, strict=True)},
    }


def shown_move(move: Move) -> dict[str, Any]:
    """A move as a line of the step log has it."""
    if move.card is not None:
        return {"type": move.verb.upper(), "card_index": move.card}
    return {"type": move.verb.upper()} | ({"color": move.value} if move.verb == "reveal_color" else {"rank": int(move.value or 0)})


def shown_effect(effect: Effect) -> dict[str, Any]:
    """What a move did, as a line of the step log has it."""
    return {
        "scored": effect.scored,
        "information_token_gained": effect.token_gained,
        "card": effect.card,
        "touched_cards": effect.touched or None,
        "newly_revealed": effect.newly_revealed or None,
        "life_lost": int(effect.life_lost),
    }
