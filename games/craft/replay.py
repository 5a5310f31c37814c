"""A logged game, recomputed move by move."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from games.craft.engine.board import Board
from games.craft.engine.errors import MoveError
from games.craft.engine.flags import Flags, placement_flags
from games.craft.engine.move import Move
from games.craft.engine.oracle import candidates
from games.craft.engine.rules import execute
from games.craft.measures.metrics import COMPLETION_THRESHOLD, Metrics, progress


class ReplayedTurn(Struct, frozen=True, kw_only=True):
    """A turn, recomputed."""

    turn: int
    """From 1."""

    board_before: Board
    board_after: Board
    attempted: Move | None
    """The move as the engine logs it; None where the log has none (clarification, crash)."""

    error: MoveError | None
    """Why the engine refused the move; None if it did not, and without a move."""

    candidates: tuple[Move, ...]
    """All candidates before the move, in cell order, also on turns without a move."""

    metrics: Metrics
    """Scores of ``board_after``."""

    flags: Flags | None
    """None unless a move was accepted."""

    target_achieved: bool
    """Whether progress after the last accepted move so far is at least 0.95."""

    @property
    def accepted(self) -> bool:
        """Whether there was a move and the engine carried it out."""
        return self.attempted is not None and self.error is None


def replay(start: Board, target: Board, moves: Iterable[Move | None]) -> Iterator[ReplayedTurn]:
    """Recompute a game, one turn at a time.

    Args:
        start: the board before turn 1.
        target: the goal with its spans.
        moves: one entry a turn, as the builder wrote it (``builder_move_raw``: the tidied move of a log
            has lost the blanks that make ghost cells); None for a turn without a move.
    """
    board, metrics, achieved = start, progress(start, target), False
    for turn, move in enumerate(moves, start=1):
        found = candidates(board, target)
        before, attempted, error, flags = board, None, None, None
        if move is not None:
            outcome = execute(board, move)
            board, attempted, error = outcome.board, outcome.move, outcome.error
            if error is None:
                metrics, flags = progress(board, target), placement_flags(outcome, target)
                achieved = metrics.overall_progress >= COMPLETION_THRESHOLD
        yield ReplayedTurn(
            turn=turn,
            board_before=before,
            board_after=board,
            attempted=attempted,
            error=error,
            candidates=found,
            metrics=metrics,
            flags=flags,
            target_achieved=achieved,
        )
