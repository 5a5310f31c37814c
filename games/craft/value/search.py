"""The dynamic program behind a board's value, compiled to machine code by Numba.

A final board retains a part of the blocks (with a block everything under it; of a domino both halves or none) and has new blocks on top.
It costs one move for each block taken away and each block placed, and every such plan can be carried out: take away from the top, then
place layer by layer. Progress depends on sums over the cells alone: wanted kinds, extra kinds, right entries, cells that match.
So cells are decided one after another along the path. What a cell must know of the one before is the height retained there and the new
dominoes that reach over (layer and code). For each such *state* all plans so far are stored that no other plan beats in moves, extra
kinds and worth.

Four things make it fast and change no result. A first pass tries few blocks: where a cell wants a small one in a layer, that one, and
dominoes only where one of their cells wants them; what it finds is nearly always the best. The second pass tries every block, and
drops plans that cannot beat the first pass: what the cells to come can still add is bounded by treating each on its own
(`games.craft.value.fills`). Boards of a game come together: what the first pass and the bounds found for the cells that a board has in
common with the one before is used again. And two boards that are one move apart differ in value by no more than that move: where the first
pass reaches what another board allows, there is no second one.

A code that neither cell of a domino wants is tried only if the first of the cells holds it already: else a wanted code of either cell in
its place adds no more extra kinds. Where neither cell wants any domino, every code is tried.

The worth of a board is the highest progress within reach (formats/values.md, section 2): ``V(board, k)`` is the highest overall progress of
all boards that at most ``k`` accepted moves reach, whoever would have to know what. That a game stops at 0.95 is left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from games.compiled import compiled, compiled_inside
from games.craft.engine.board import Board
from games.craft.value.fills import FILL_FIELDS, MOST_FILLS, PLAN_BITS, STATE_NUMBERS, Bounds, Cell, bound, fill_cell, new_bounds
from games.craft.value.position import (
    ALONE,
    CELL_COUNT,
    LAYERS,
    Floats,
    Ints,
    Numbered,
    Positions,
    Wanted,
    first_difference,
    is_one_move,
    numbered,
    positions,
    wanted,
)

_STATES: Final = 259
"""States a cell can have: retained height 0 with six choices (no domino, five codes) in three layers; 1 with two; 2 with one; 3."""
_ROUNDING: Final = 1e-9
_WIDTH: Final = 16
_MOVES: Final = 24
"""Memory is made for a multiple of so many budgets: few sizes serve all games."""
_FIELD: Final = (1 << PLAN_BITS) - 1
_NO_EXTRA: Final = (1 << 2 * PLAN_BITS) - 1
_NO_PLAN: Final = -(1 << 62)
"""A rank so low that adding the ranks of all cells leaves it below 0."""


class _Best(NamedTuple):
    """The best plan before each cell, by state and moves: stored by the first pass."""

    ranks: Ints
    """(cells + 1, states, moves): how good the plan is, see `_rank`; below 0 where there is none."""
    plans: Ints
    """The same shape: sums over the cells before, as `games.craft.value.fills` packs them."""
    fewest: Ints
    """(cells + 1, states): least moves of a plan."""
    states: Ints
    """(cells + 1, states): what the cell before hands on, as `games.craft.value.fills` numbers it."""
    used: Ints
    """(cells + 1,): how many states there are."""


class _Fronts(NamedTuple):
    """The plans before each cell that no other one beats, by state and moves: stored by the second pass."""

    plans: Ints
    """(cells + 1, states, moves, width): sums over the cells before."""
    counts: npt.NDArray[np.int32]
    """(cells + 1, states, moves): how many plans there are."""
    states: Ints
    """As those of `_Best`."""
    used: Ints
    """As that of `_Best`."""


class _Scratch(NamedTuple):
    """Memory for a search, used again by the next one."""

    best: _Best
    fronts: _Fronts
    rows: Ints
    fills: Ints
    held: Ints
    """(plans, 2): moves and plan of each in a state."""
    reached: Floats
    """(plans,): three times the progress of each."""
    slots: Ints
    """State number -> its place in the fronts, -1 where it has none."""
    bounds: Bounds


def highest_progress(boards: Positions, target: Wanted, low: Sequence[int], high: Sequence[int], first: Sequence[float] = ()) -> Floats:
    """Highest progress that at most so many moves reach from each of some boards; it is quickest where they follow one another in a game.

    Args:
        boards: from where.
        target: progress towards what.
        low: the fewest moves asked for, of each board.
        high: the most moves asked for, at least ``low``.
        first: what the first board is worth, up to its ``high``; empty where that is not known.

    Returns:
        (boards, highest ``high`` + 1): entry k is for k moves, from a board's ``low`` to its ``high``.
    """
    width, most = _WIDTH, max(high) + 1
    floors = np.empty((len(low), most))
    floors[0, : len(first)] = first
    while True:
        scratch = _scratch(-(-most // _MOVES) * _MOVES, width)
        if _search(boards, target, np.array(low), np.array(high), 1 if first else 0, floors, scratch):
            return floors
        scratch.slots.fill(-1)  # the search was stopped
        width *= 2  # a state has more plans that do not beat one another than were expected


@lru_cache(maxsize=8)
def _scratch(moves: int, width: int) -> _Scratch:
    per_state = CELL_COUNT + 1, _STATES
    return _Scratch(
        _Best(
            np.empty((*per_state, moves), np.int64),
            np.empty((*per_state, moves), np.int64),
            np.empty(per_state, np.int64),
            np.empty(per_state, np.int64),
            np.empty(CELL_COUNT + 1, np.int64),
        ),
        _Fronts(
            np.empty((*per_state, moves, width), np.int64),
            np.empty((*per_state, moves), np.int32),
            np.empty(per_state, np.int64),
            np.empty(CELL_COUNT + 1, np.int64),
        ),
        np.empty((MOST_FILLS, LAYERS), np.int64),
        np.empty((MOST_FILLS, FILL_FIELDS), np.int64),
        np.empty((moves * width, 2), np.int64),
        np.empty(moves * width),
        np.full(STATE_NUMBERS, -1),
        new_bounds(moves),
    )


@compiled
def _search(boards: Positions, target: Wanted, low: Ints, high: Ints, start: int, floors: Floats, scratch: _Scratch) -> bool:
    """Find the highest progress from each board, those in the first rows left out; False if the width does not suffice."""
    aims = np.empty(floors.shape[1])
    for row in range(start, len(low)):
        floors[row] = -1.0
        known = row > start and high[row] <= high[row - 1]
        first, last = first_difference(boards, row) if known else (0, CELL_COUNT - 1)
        bound(boards, target, row, first, last, high[row] + 1, scratch.rows, scratch.bounds)
        _try_few(boards, target, row, first, high[row], floors, scratch)
        least, most = _aimed(boards, row, low, high, floors, aims)
        if most >= 0 and not _try_every(boards, target, row, least, most, floors, aims, scratch):
            return False
    return True


@compiled_inside
def _aimed(boards: Positions, row: int, low: Ints, high: Ints, floors: Floats, aims: Floats) -> tuple[int, int]:
    """Set the aims to what would beat the floors; gives the fewest and the most moves for which boards before this one allow more, or -1.

    From a board that is a move away, what this one reaches is in reach with one move more.
    """
    least, most = high[row] + 1, -1
    for budget in range(low[row], high[row] + 1):
        aims[budget] = 3 * floors[row, budget] + _ROUNDING
        for other in range(row):
            covered = low[other] <= budget + 1 <= high[other]
            if covered and floors[other, budget + 1] <= floors[row, budget] + _ROUNDING and is_one_move(boards, other, row):
                aims[budget] = np.inf
        if aims[budget] < np.inf:
            least, most = min(least, budget), budget
    return least, most


@compiled_inside
def _try_few(boards: Positions, target: Wanted, row: int, first: int, high: int, floors: Floats, scratch: _Scratch) -> None:
    """Raise a board's floors by plans of few blocks. The best plans up to the first cell asked for are there from the board before."""
    best, rows, fills, slots = scratch.best, scratch.rows, scratch.fills, scratch.slots
    ranks, plans, fewest, states, used = best
    kinds, entries = target.kinds, target.entries
    if first == 0:
        used[0], states[0, 0], fewest[0, 0] = 1, 0, 0
        _clear(best, 0, 0, high)
        ranks[0, 0, 0] = plans[0, 0, 0] = 0
    for cell in range(first, CELL_COUNT):
        here = _cell(boards, target, row, cell, True)
        after = 0
        for slot in range(used[cell]):
            ways = fill_cell(here, states[cell, slot], high - fewest[cell, slot], rows, fills)
            for way in range(ways):
                goal = slots[fills[way, 0]]
                if goal < 0:
                    goal = after
                    slots[fills[way, 0]] = goal
                    states[cell + 1, goal], fewest[cell + 1, goal] = fills[way, 0], high + 1
                    _clear(best, cell + 1, goal, high)
                    after += 1
                _extend_best(best, cell, slot, goal, fills[way, 1], fills[way, 3], _rank(fills[way, 3], kinds, entries), high)
        _free_slots(slots, states, cell + 1, after)
        used[cell + 1] = after
    for slot in range(used[CELL_COUNT]):
        for moves in range(fewest[CELL_COUNT, slot], high + 1):
            if ranks[CELL_COUNT, slot, moves] >= 0:
                _raise(floors, row, high, moves, plans[CELL_COUNT, slot, moves], kinds, entries)


@compiled_inside
def _cell(boards: Positions, target: Wanted, row: int, cell: int, few: bool) -> Cell:
    """What there is to know of a cell."""
    stacks, links, goals, masks = boards.stacks, boards.links, target.stacks, target.masks
    joined = ALONE <= cell < CELL_COUNT - 1
    return Cell(
        stacks[row, cell],
        links[row, cell],
        goals[cell],
        masks[cell],
        goals[cell + 1] if joined else -1,
        masks[cell + 1] if joined else 0,
        links[row, cell + 1] if joined else 0,
        target.entries,
        few,
    )


@compiled_inside
def _free_slots(slots: Ints, states: Ints, cell: int, count: int) -> None:
    """Take back the places that were given to the states before a cell."""
    for slot in range(count):
        slots[states[cell, slot]] = -1


@compiled_inside
def _rank(plan: int, kinds: int, entries: int) -> int:
    """How good a plan is if extra kinds did not count; that of two plans together is the sum of theirs."""
    return (plan >> PLAN_BITS & _FIELD) * CELL_COUNT * entries + (plan & _FIELD) * kinds


@compiled_inside
def _clear(best: _Best, cell: int, slot: int, high: int) -> None:
    for moves in range(high + 1):
        best.ranks[cell, slot, moves] = _NO_PLAN


@compiled_inside
def _extend_best(best: _Best, cell: int, slot: int, goal: int, moves: int, more: int, rank: int, high: int) -> None:
    """Add a way to fill a cell to the best plans of a state; of two with as many moves, the better one stays."""
    ranks, plans, fewest = best.ranks, best.plans, best.fewest
    start = fewest[cell, slot]
    fewest[cell + 1, goal] = min(fewest[cell + 1, goal], start + moves)
    for before in range(start, high + 1 - moves):
        found = ranks[cell, slot, before] + rank
        if found > ranks[cell + 1, goal, before + moves]:
            ranks[cell + 1, goal, before + moves] = found
            plans[cell + 1, goal, before + moves] = plans[cell, slot, before] + more


@compiled_inside
def _try_every(boards: Positions, target: Wanted, row: int, low: int, high: int, floors: Floats, aims: Floats, scratch: _Scratch) -> bool:
    """Raise a board's floors by plans of any blocks that could beat the aims; False if they do not fit."""
    fronts, rows, fills, slots = scratch.fronts, scratch.rows, scratch.fills, scratch.slots
    plans, counts, states, used = fronts
    kinds, entries = target.kinds, target.entries
    used[0], states[0, 0], plans[0, 0, 0, 0] = 1, 0, 0
    counts[0, 0] = 0
    counts[0, 0, 0] = 1
    for cell in range(CELL_COUNT):
        here = _cell(boards, target, row, cell, False)
        after = 0
        for slot in range(used[cell]):
            count = _hold(fronts, cell, slot, high, kinds, entries, scratch)
            ways = fill_cell(here, states[cell, slot], high - scratch.held[0, 0], rows, fills) if count else 0
            for way in range(ways):
                goal = slots[fills[way, 0]]
                if goal < 0:
                    goal = after
                    slots[fills[way, 0]] = goal
                    states[cell + 1, goal], counts[cell + 1, goal] = fills[way, 0], 0
                    after += 1
                if not _extend(fronts, count, cell, goal, way, aims, low, high, kinds, entries, scratch):
                    return False
        _free_slots(slots, states, cell + 1, after)
        used[cell + 1] = after
    for slot in range(used[CELL_COUNT]):
        for moves in range(high + 1):
            for index in range(counts[CELL_COUNT, slot, moves]):
                _raise(floors, row, high, moves, plans[CELL_COUNT, slot, moves, index], kinds, entries)
    return True


# Slices of arrays are costly here: each counts references. So whole arrays are handed on, with the places to look at.


@compiled_inside
def _hold(fronts: _Fronts, cell: int, slot: int, high: int, kinds: int, entries: int, scratch: _Scratch) -> int:
    """Gather the moves, plans and progress of a state, fewest moves first; gives how many there are."""
    plans, counts, held, reached = fronts.plans, fronts.counts, scratch.held, scratch.reached
    count = 0
    for moves in range(high + 1):
        for index in range(counts[cell, slot, moves]):
            plan = plans[cell, slot, moves, index]
            held[count, 0], held[count, 1], reached[count] = moves, plan, _progress(plan, kinds, entries)
            count += 1
    return count


@compiled_inside
def _progress(plan: int, kinds: int, entries: int) -> float:
    """Three times the progress of the cells of a plan."""
    extra, shared, worth = plan >> 2 * PLAN_BITS, plan >> PLAN_BITS & _FIELD, plan & _FIELD
    return shared / max(kinds + extra, 1) + worth / (CELL_COUNT * entries)


@compiled_inside
def _extend(
    fronts: _Fronts,
    count: int,
    cell: int,
    goal: int,
    way: int,
    aims: Floats,
    low: int,
    high: int,
    kinds: int,
    entries: int,
    scratch: _Scratch,
) -> bool:
    """Add a way to fill a cell to all plans of a state; False if a state cannot hold another plan.

    What the way adds to progress is first taken as if its extra kinds did not count: it is the same for all plans.
    """
    fills, held, reached, limits = scratch.fills, scratch.held, scratch.reached, scratch.bounds.limits
    moves, ahead, more = fills[way, 1], fills[way, 2], fills[way, 3]
    most = _progress(more & _NO_EXTRA, kinds, entries)
    for index in range(count):
        used = held[index, 0] + moves
        if used > high:
            return True
        if not _beats(reached[index] + most, used, ahead, cell, limits, aims, low, high):
            continue
        plan = held[index, 1] + more
        if not _beats(_progress(plan, kinds, entries), used, ahead, cell, limits, aims, low, high):
            continue
        if not _insert(fronts, cell + 1, goal, used, plan, kinds, entries):
            return False
    return True


@compiled_inside
def _beats(progress: float, used: int, ahead: int, cell: int, limits: Floats, aims: Floats, low: int, high: int) -> bool:
    """Whether a plan up to a cell could beat the aim of a budget."""
    for budget in range(max(low, used), high + 1):  # noqa: SIM110  # a generator takes longer, compiled too
        if progress + limits[cell + 1, 2 * (budget - used) + ahead] > aims[budget]:
            return True
    return False


@compiled_inside
def _insert(fronts: _Fronts, cell: int, slot: int, moves: int, plan: int, kinds: int, entries: int) -> bool:
    """Store a plan unless another one beats it, and drop those that it beats; False if it does not fit.

    Progress is (wanted kinds / (kinds of the target + extra kinds) + worth) / 3. Which of two plans is better can depend on the extra kinds
    still to come, at most three a cell, but not if one is better for none and for the most: between them it is linear.
    """
    plans, counts = fronts.plans, fronts.counts
    many = kinds + CELL_COUNT * LAYERS
    extra, best, worst = plan >> 2 * PLAN_BITS, _rank(plan, kinds, entries), _rank(plan, many, entries)
    count, index = counts[cell, slot, moves], 0
    while index < count:
        other = plans[cell, slot, moves, index]
        other_extra, other_best, other_worst = other >> 2 * PLAN_BITS, _rank(other, kinds, entries), _rank(other, many, entries)
        if other_best >= best and other_extra <= extra and other_worst >= worst:
            return True
        if best >= other_best and extra <= other_extra and worst >= other_worst:
            count -= 1
            plans[cell, slot, moves, index] = plans[cell, slot, moves, count]
        else:
            index += 1
    if count == plans.shape[3]:
        return False
    plans[cell, slot, moves, count] = plan
    counts[cell, slot, moves] = count + 1
    return True


@compiled_inside
def _raise(floors: Floats, row: int, high: int, moves: int, plan: int, kinds: int, entries: int) -> None:
    """Raise the floors to what a whole plan reaches."""
    reached = _progress(plan, kinds, entries) / 3
    for budget in range(moves, high + 1):
        floors[row, budget] = max(floors[row, budget], reached)


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
    """A half domino is on one of the boards."""


def best_progress(board: Board, target: Board, moves: int) -> float:
    """Give V(board, moves), moves at least 0, as if no half of a domino could be taken away alone."""
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
