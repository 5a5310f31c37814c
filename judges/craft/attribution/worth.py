"""What other moves in a turn's place would have kept."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from games.craft.engine.board import EMPTY_BOARD, Board
from games.craft.engine.rules import Move, execute
from games.craft.value.reach import best_progress
from judges.attribution.findings import Lost

__all__ = ["NO_WORTH", "Worth"]


class Worth:
    """Values of what could have been done in a turn, by the rules of the game."""

    def __init__(self, board: Board, target: Board | None, lost: Lost) -> None:
        self._board, self._target, self._lost = board, target, lost

    @cached_property
    def stay(self) -> float:
        """What waiting would have kept; not below 0."""
        return self._kept(self._board)

    def best(self, moves: Iterable[Move]) -> tuple[float, Move | None]:
        """What the best of some moves, or waiting, would have kept, and that move; None: waiting."""
        found: tuple[float, Move | None] = (self.stay, None)
        for move in moves:
            kept = self.of(move)
            if kept > found[0]:
                found = kept, move
        return found

    def of(self, move: Move) -> float:
        """What a move would have kept; not below 0."""
        outcome = execute(self._board, move)
        return self._kept(outcome.board) if outcome.accepted else self.stay

    def _kept(self, board: Board) -> float:
        if self._target is None or self._lost.left is None:
            return 0.0
        return max(best_progress(board, self._target, self._lost.left - 1) - self._lost.after, 0.0)


NO_WORTH: Final = Worth(EMPTY_BOARD, None, Lost(0.0, 0.0, 0.0))
"""Of a turn that cost nothing: nothing could have been kept."""
