"""What boards are worth: the highest progress within reach (formats/values.md, section 2).

``V(board, k)`` is the highest overall progress of all boards that at most ``k`` accepted moves reach, whoever would have to know what.
That a game stops at 0.95 is left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from games.craft.engine.board import Board
from games.craft.value.position import Numbered, numbered, positions, wanted
from games.craft.value.search import highest_progress

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


def best_progress(board: Board, target: Board, moves: int) -> float:
    """Give V(board, moves), as if no half of a domino could be taken away alone.

    Args:
        board: from where.
        target: progress towards what.
        moves: at least 0.
    """
    limit = _limited(moves)
    return _reach(_without_ghosts(board), target, limit, limit)[limit]


@lru_cache(maxsize=8192)  # of one turn, many moves are asked for; games of one target begin alike
def _reach(board: Board, target: Board, low: int, high: int) -> list[float]:
    return _searched([numbered(board)], target, [(low, high)], halves_go=False)[0]


def _searched(
    boards: Iterable[Numbered], target: Board, asked: Sequence[tuple[int, int]], *, halves_go: bool, first: Sequence[float] = ()
) -> list[list[float]]:
    low, high = zip(*asked, strict=True)
    values: list[list[float]] = highest_progress(positions(boards, halves_go=halves_go), wanted(target), low, high, first).tolist()
    return values


def turn_values(steps: Sequence[BoardTurn], target: Board) -> Iterator[ReachWorth]:
    """Value the turns of a game, in their order; one search a board."""
    if not steps:
        return
    rows: dict[Board, int] = {}
    places = [_places(step, rows) for step in steps]
    asked = _asked(steps, places)
    boards = [numbered(board) for board in rows]
    broken = [row for row, board in enumerate(boards) if any(board.halves)]
    first = _reach(next(iter(rows)), target, *asked[0])
    never = dict(enumerate(_searched(boards, target, asked, halves_go=False, first=first)))
    once = never | _of_rows(broken, boards, target, asked)
    for step, (before, after) in zip(steps, places, strict=True):
        now, then = _limited(step.turns_left), _limited(step.turns_left - 1)
        yield ReachWorth(
            before=never[before][now],
            after=never[after][then],
            stay=never[before][then],
            before_most=once[before][now],
            after_most=once[after][then],
            half_domino=before in broken or after in broken,
        )


def _of_rows(rows: Sequence[int], boards: Sequence[Numbered], target: Board, asked: Sequence[tuple[int, int]]) -> dict[int, list[float]]:
    """What some of a game's boards are worth if half dominoes can be taken away."""
    if not rows:
        return {}
    values = _searched([boards[row] for row in rows], target, [asked[row] for row in rows], halves_go=True)
    return dict(zip(rows, values, strict=True))


def _places(step: BoardTurn, rows: dict[Board, int]) -> tuple[int, int]:
    """Which of the game's boards the turn had before and after it."""
    before = rows.setdefault(_without_ghosts(step.before), len(rows))
    return before, rows.setdefault(_without_ghosts(step.after), len(rows))


def _asked(steps: Sequence[BoardTurn], places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The fewest and the most moves that are asked for at each board of a game."""
    asked: dict[int, tuple[int, int]] = {}
    for step, (before, after) in zip(steps, places, strict=True):
        now, then = _limited(step.turns_left), _limited(step.turns_left - 1)
        for row, low, high in ((before, then, now), (after, then, then)):
            known_low, known_high = asked.get(row, (low, high))
            asked[row] = min(low, known_low), max(high, known_high)
    return list(asked.values())


def _limited(moves: int) -> int:
    return min(max(moves, 0), _MOST_MOVES)


def _without_ghosts(board: Board) -> Board:
    return Board(board.stacks, board.spans) if board.ghosts else board
