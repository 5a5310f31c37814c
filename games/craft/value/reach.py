"""What boards are worth: the highest progress within reach (formats/values.md, section 2).

``V(board, k)`` is the highest overall progress of all boards that at most ``k`` accepted moves reach, whoever would have to know what.
That a game stops at 0.95 is left out.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from games.craft.engine.board import Board
from games.craft.value.position import has_halves, position, wanted
from games.craft.value.search import highest_progress

__all__ = ["BoardTurn", "ReachWorth", "best_progress", "turn_values"]

_MOST_MOVES: Final = 54
"""All blocks away and all blocks there: nothing takes longer."""


class BoardTurn(NamedTuple):
    """A turn: its boards and how many turns are left before it, its own included."""

    before: Board
    after: Board
    turns_left: int


class ReachWorth(NamedTuple):
    """What a turn did to what was within reach, all values 0 to 1."""

    before: float
    after: float
    """With one turn less."""

    stay: float
    """What the board before would be worth with one turn less: the turn wasted."""

    before_most: float
    """As ``before`` if half dominoes could be taken away with one move; else they never can."""

    after_most: float

    half_domino: bool
    """A half domino stands on one of the boards."""


def best_progress(board: Board, target: Board, moves: int, *, halves_go: bool = False) -> float:
    """Give V(board, moves).

    Args:
        board: from where.
        target: progress towards what.
        moves: at least 0.
        halves_go: whether one move takes away half a domino whose other half is a ghost cell.
    """
    limit = _limited(moves)
    return _reach(_without_ghosts(board), target, limit, limit, halves_go=halves_go)[limit]


def turn_values(steps: Sequence[BoardTurn], target: Board) -> Iterator[ReachWorth]:
    """Value the turns of a game, in their order; one search a board."""
    asked = _asked(steps)
    broken = frozenset(board for board in asked if has_halves(board))
    never = {board: _reach(board, target, *asked[board], halves_go=False) for board in asked}
    once = never | {board: _reach(board, target, *asked[board], halves_go=True) for board in broken}
    for step in steps:
        before, after = _without_ghosts(step.before), _without_ghosts(step.after)
        now, then = _limited(step.turns_left), _limited(step.turns_left - 1)
        yield ReachWorth(
            before=never[before][now],
            after=never[after][then],
            stay=never[before][then],
            before_most=once[before][now],
            after_most=once[after][then],
            half_domino=before in broken or after in broken,
        )


def _asked(steps: Sequence[BoardTurn]) -> dict[Board, tuple[int, int]]:
    """Each board of a game with the fewest and the most moves that are asked for there."""
    asked: dict[Board, tuple[int, int]] = {}
    for step in steps:
        now, then = _limited(step.turns_left), _limited(step.turns_left - 1)
        for board, low, high in ((step.before, then, now), (step.after, then, then)):
            key = _without_ghosts(board)
            known_low, known_high = asked.get(key, (low, high))
            asked[key] = min(low, known_low), max(high, known_high)
    return asked


def _limited(moves: int) -> int:
    return min(max(moves, 0), _MOST_MOVES)


def _without_ghosts(board: Board) -> Board:
    return Board(board.stacks, board.spans) if board.ghosts else board


@lru_cache(maxsize=8192)  # games of one target begin alike
def _reach(board: Board, target: Board, low: int, high: int, *, halves_go: bool) -> list[float]:
    return [float(value) for value in highest_progress(position(board, halves_go=halves_go), wanted(target), low, high)]
