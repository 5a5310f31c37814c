"""A Hanabi table that OpenSpiel referees: it decides what is legal, when the game ends, and the score.

OpenSpiel is an optional extra. The state that players and logs see comes from the rules of this room; where the two ever differ, the game
stops.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final

from games.coordination.hanabi.rules import HAND, Effect, HanabiState, Move, apply, deal
from schemas.errors import CotraceError, UsageError

__all__ = ["EXTRA", "HanabiTable", "load_openspiel"]

EXTRA: Final = "cotrace[hanabi]"


def load_openspiel() -> Any:
    """The module `pyspiel`.

    Raises:
        UsageError: it is not installed; says how to get it.
    """
    try:
        return importlib.import_module("pyspiel")
    except ImportError as error:
        raise UsageError(
            f"playing Hanabi needs OpenSpiel, which is not installed: pip install '{EXTRA}' (recorded games need nothing)"
        ) from error


class HanabiTable:
    """A game for two with a given order of the deck."""

    def __init__(self, deck: Sequence[str]) -> None:
        """Deal.

        Args:
            deck: all 50 cards in the order in which they are dealt: five to seat 0, five to seat 1, then one after each play or discard.

        Raises:
            UsageError: OpenSpiel is not installed.
        """
        self._referee = load_openspiel().load_game("hanabi(players=2)").new_initial_state()
        self._deck = list(deck)
        self._dealt = 0
        self.state: HanabiState = deal(deck)
        self._deal_out()

    @property
    def seat(self) -> int:
        """Whose turn it is."""
        return int(self._referee.current_player())

    @property
    def is_over(self) -> bool:
        """The game has ended."""
        return bool(self._referee.is_terminal())

    @property
    def engine_score(self) -> int:
        """The referee's score: 0 when all lives are lost."""
        return int(self._referee.returns()[0])

    def play(self, move: Move) -> Effect:
        """Make a move.

        Raises:
            UsageError: the referee does not allow it.
            CotraceError: rules and referee differ.
        """
        seat, wanted = self.seat, _referee_text(move)
        legal = {self._referee.action_to_string(seat, action): action for action in self._referee.legal_actions()}
        if wanted not in legal:
            raise UsageError(f"hanabi: {wanted} is not legal; there are {', '.join(legal)}")
        before = self._dealt
        self._referee.apply_action(legal[wanted])
        self._deal_out()
        drawn = self._deck[before] if self._dealt > before else None
        self.state, effect = apply(self.state, seat, move, drawn)
        if self.engine_score != (self.state.stacked if self.state.lives else 0):
            raise CotraceError(f"hanabi: OpenSpiel counts {self.engine_score} points, the rules {self.state.stacked}: please report it")
        return effect

    def _deal_out(self) -> None:
        while self._referee.is_chance_node():
            card = self._deck[self._dealt]
            choices = {self._referee.action_to_string(-1, action)[-3:-1]: action for action in self._referee.legal_actions()}
            self._referee.apply_action(choices[card])
            self._dealt += 1
        if self._dealt < 2 * HAND:
            raise CotraceError("hanabi: OpenSpiel deals other hands than the rules: please report it")


def _referee_text(move: Move) -> str:
    if move.verb in {"play", "discard"}:
        return f"({move.verb.title()} {move.card})"
    return f"(Reveal player +1 {'color' if move.verb == 'reveal_color' else 'rank'} {move.value})"
