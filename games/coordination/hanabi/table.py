"""A Hanabi table by the rules of this room; where OpenSpiel is installed it referees.

OpenSpiel is an optional extra. It then checks what is legal, when the game ends, and the score; where the two ever differ, the game stops.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from games.coordination.hanabi.rules import DECK, HAND, MAX_SCORE, Effect, HanabiState, Move, apply, deal, draws, legal_moves
from games.coordination.players import Player
from schemas.errors import CotraceError, UsageError

PLAYERS_IN_ORDER: Final[tuple[Player, Player]] = ("Bob", "Alice")
"""Bob starts, as in the published code."""

_LAST_TURNS: Final = 2
"""Turns that begin without a card to draw: one of each player."""


def deck_of_seed(seed: int) -> tuple[str, ...]:
    """The deck in the order of dealing; not the order that the published engine gives for that seed."""
    deck = list(DECK)
    Random(seed).shuffle(deck)
    return tuple(deck)


class HanabiTable:
    """A game for two with a given order of the deck.

    Args:
        deck: all 50 cards in the order in which they are dealt: five to seat 0, five to seat 1, then one after each play or discard.
    """

    def __init__(self, deck: Sequence[str]) -> None:
        self._deck = list(deck)
        self._dealt = 2 * HAND
        self._without_deck = 0
        self.turns = 0
        """Moves made."""

        self._referee = _Referee.of(self._deck)
        self.state: HanabiState = deal(deck)

    @property
    def seat(self) -> int:
        """Whose turn it is."""
        return self.turns % 2

    @property
    def is_over(self) -> bool:
        """No life is left, all stacks are complete, or both have moved since the last card was drawn."""
        return not self.state.lives or self.state.stacked == MAX_SCORE or self._without_deck == _LAST_TURNS

    @property
    def engine_score(self) -> int:
        """The published engine's score: 0 when all lives are lost."""
        return self.state.stacked if self.state.lives else 0

    def play(self, move: Move) -> Effect:
        """Make a move.

        Raises:
            UsageError: the rules do not allow it.
            CotraceError: OpenSpiel is there and sees it otherwise.
        """
        legal = legal_moves(self.state, self.seat)
        if move not in legal or self.is_over:
            raise UsageError(f"hanabi: {_referee_text(move)} is not legal; there are {', '.join(map(_referee_text, legal))}")
        before, seat = self.state, self.seat
        self._without_deck += self._dealt == len(self._deck)
        self.state, effect = apply(before, seat, move, None)
        if draws(before, move, self.state):
            self.state, effect = apply(before, seat, move, self._deck[self._dealt])
            self._dealt += 1
        self.turns += 1
        if self._referee is not None:
            self._referee.follow(move, over=self.is_over, score=self.engine_score)
        return effect


class _Referee:
    """OpenSpiel's view of the same game."""

    def __init__(self, module: Any, deck: Sequence[str]) -> None:
        self._state = module.load_game("hanabi(players=2)").new_initial_state()
        self._deck = deck
        self._dealt = 0
        self._deal_out()

    @classmethod
    def of(cls, deck: Sequence[str]) -> _Referee | None:
        """Have it watch a game; None where it is not installed."""
        try:
            return cls(importlib.import_module("pyspiel"), deck)
        except ImportError:
            return None

    def follow(self, move: Move, *, over: bool, score: int) -> None:
        """Make the same move, and compare.

        Raises:
            CotraceError: it sees another game.
        """
        seat = int(self._state.current_player())
        legal = {self._state.action_to_string(seat, action): action for action in self._state.legal_actions()}
        wanted = _referee_text(move)
        if wanted not in legal:
            raise CotraceError(f"hanabi: OpenSpiel does not allow {wanted}, the rules do: please report it")
        self._state.apply_action(legal[wanted])
        self._deal_out()
        seen = (bool(self._state.is_terminal()), int(self._state.returns()[0]))
        if seen != (over, score):
            raise CotraceError(f"hanabi: OpenSpiel says over and score are {seen}, the rules {(over, score)}: please report it")

    def _deal_out(self) -> None:
        while self._state.is_chance_node():
            card = self._deck[self._dealt]
            choices = {self._state.action_to_string(-1, action)[-3:-1]: action for action in self._state.legal_actions()}
            self._state.apply_action(choices[card])
            self._dealt += 1


def _referee_text(move: Move) -> str:
    if move.verb in {"play", "discard"}:
        return f"({move.verb.title()} {move.card})"
    return f"(Reveal player +1 {'color' if move.verb == 'reveal_color' else 'rank'} {move.value})"


def shown_table(state: HanabiState) -> dict[str, Any]:
    """The table as a line of the step log has it."""
    return {
        "life_tokens": state.lives,
        "information_tokens": state.tokens,
        "deck_size": state.deck,
        "fireworks": state.fireworks,
        "discard_pile": state.discards,
        "hands": dict(zip(PLAYERS_IN_ORDER, state.hands, strict=True)),
        "knowledge": {
            player: [known._asdict() for known in cards] for player, cards in zip(PLAYERS_IN_ORDER, state.knowledge, strict=True)
        },
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
