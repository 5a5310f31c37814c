"""A logged game, recomputed move by move."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from games.craft.engine.board import Board
from games.craft.engine.errors import MoveError
from games.craft.engine.flags import Flags, placement_flags
from games.craft.engine.move import Move
from games.craft.engine.oracle import DEFAULT_SAMPLE, candidates, sample
from games.craft.engine.rules import execute
from games.craft.measures.adherence import followed_action_position_layer, followed_full, followed_physical, same_place
from games.craft.measures.metrics import COMPLETION_THRESHOLD, Metrics, progress
from games.craft.measures.taxonomy import PublishedCategory, RepairedCategory, published_category, repaired_category

__all__ = ["ReplayedTurn", "replay"]


class ReplayedTurn(Struct, frozen=True, kw_only=True):
    """One turn. Fields about following and categories are as if the builder had seen ``listed``."""

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

    listed: tuple[Move, ...]
    """The sample the builder was shown; empty if the game had no oracle or there was no candidate."""

    metrics: Metrics
    """Scores of ``board_after``."""

    flags: Flags | None
    """None unless a move was accepted."""

    followed_action_position_layer: bool | None
    """Loose reading, as logged; None without a move or without listed candidates."""

    followed_full: bool | None
    followed_physical: bool | None
    published: PublishedCategory
    repaired: RepairedCategory
    target_achieved: bool
    """Whether progress after the last accepted move so far is at least 0.95."""

    repeats_previous_failed_move: bool
    """Whether a refused move names the action, position and layer of the one refused in the turn before."""

    @property
    def accepted(self) -> bool:
        """Whether there was a move and the engine carried it out."""
        return self.attempted is not None and self.error is None

    @property
    def board_changed(self) -> bool:
        """Whether a stack changed, be it only a ghost cell's; the board has changed exactly when a move was accepted."""
        return self.accepted


def replay(start: Board, target: Board, moves: Iterable[Move | None], *, num_oracle: int | None = DEFAULT_SAMPLE) -> Iterator[ReplayedTurn]:
    """Recompute a game, one turn at a time.

    Args:
        start: the board before turn 1.
        target: the goal with its spans.
        moves: one entry a turn, as the builder wrote it (``builder_move_raw``: the tidied move of a log
            has lost the blanks that make ghost cells); None for a turn without a move.
        num_oracle: most candidates listed a turn; None for a game without oracle.
    """
    board, metrics, achieved = start, progress(start, target), False
    refused: Move | None = None
    for turn, move in enumerate(moves, start=1):
        found = candidates(board, target)
        listed = () if num_oracle is None else sample(found, num_oracle, turn)
        before, attempted, error, flags = board, None, None, None
        if move is not None:
            outcome = execute(board, move)
            board, attempted, error = outcome.board, outcome.move, outcome.error
            if error is None:
                metrics, flags = progress(board, target), placement_flags(outcome, target)
                achieved = metrics.overall_progress >= COMPLETION_THRESHOLD
        previous, refused = refused, attempted if error is not None else None
        follows = _follows(listed, attempted)
        yield ReplayedTurn(
            turn=turn,
            board_before=before,
            board_after=board,
            attempted=attempted,
            error=error,
            candidates=found,
            listed=listed,
            metrics=metrics,
            flags=flags,
            followed_action_position_layer=follows[0],
            followed_full=follows[1],
            followed_physical=follows[2],
            published=published_category(listed, attempted, error.message if error else None),
            repaired=repaired_category(listed, attempted, error),
            target_achieved=achieved,
            repeats_previous_failed_move=refused is not None and previous is not None and same_place(previous, refused),
        )


def _follows(listed: tuple[Move, ...], attempted: Move | None) -> tuple[bool | None, bool | None, bool | None]:
    if not listed or attempted is None:
        return None, None, None
    return followed_action_position_layer(listed, attempted), followed_full(listed, attempted), followed_physical(listed, attempted)
