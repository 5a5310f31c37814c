"""The dynamic program behind a board's value, compiled to machine code by Numba.

A final board keeps a part of what stands (with a block everything under it; of a domino both halves or none) and has new blocks on top.
It costs one move for each block taken away and each block placed, and every such plan can be carried out: take away from the top, then
place layer by layer. Progress depends on sums over the cells alone: wanted kinds, extra kinds, right entries, cells that match.
So cells are decided one after another along the path. What a cell must know of the one before is the height kept there and the new
dominoes that reach over (layer and code). For each such *state* all plans so far are kept that no other plan beats in moves, extra
kinds and worth.

Two things make it fast and change no result. A first pass tries few blocks: where a cell wants a small one in a layer, that one, and
dominoes only where one of their cells wants them; what it finds is nearly always the best. The second pass tries every block, and
drops plans that cannot beat the first pass: what the cells to come can still add is bounded by treating each on its own
(`games.craft.value.bounds`).

A code that neither cell of a domino wants is tried only if the first of the cells holds it already: else a wanted code of either cell in
its place adds no more extra kinds. Where neither cell wants any domino, every code is tried.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from games.compiled import compiled
from games.craft.value.bounds import bounds
from games.craft.value.fills import FILL_FIELDS, MOST_FILLS, STATE_NUMBERS, Cell, fill_cell
from games.craft.value.position import ALONE, Position, Wanted
from games.craft.value.stacks import CELLS, LAYERS, Floats, Ints

__all__ = ["highest_progress"]

_STATES: Final = 259
"""States a cell can have: kept height 0 with six choices (no domino, five codes) in three layers; 1 with two; 2 with one; 3."""
_ROUNDING: Final = 1e-9
_WIDTH: Final = 16


_Plans = npt.NDArray[np.int32]
"""(states, moves, width, 3): extra kinds, wanted kinds, worth of right entries and matching cells in 1 / (9 x entries)."""
_Counts = npt.NDArray[np.int32]
"""(states, moves): how many plans there are."""


class _Fronts(NamedTuple):
    """The plans kept after a cell, by state and moves."""

    plans: _Plans
    counts: _Counts
    states: Ints
    """(states,): what the cell hands on, as `games.craft.value.fills` numbers it."""


class _Scratch(NamedTuple):
    """Memory for a search, used again by the next one."""

    one: _Fronts
    other: _Fronts
    rows: Ints
    fills: Ints
    slots: Ints
    """State number -> its place in the fronts, -1 where it has none."""


def highest_progress(board: Position, target: Wanted, low: int, high: int) -> Floats:
    """Highest progress that at most so many moves reach.

    Args:
        board: from where.
        target: progress towards what.
        low: the fewest moves asked for.
        high: the most moves asked for, at least ``low``.

    Returns:
        (high + 1,): entry k is for k moves. Entries under ``low`` are only reached, not proven to be the highest.
    """
    width = _WIDTH
    while True:
        floor, scratch = np.full(high + 1, -1.0), _scratch(high + 1, width)
        if _search(board, target, low, floor, scratch):
            return np.maximum.accumulate(floor)
        scratch.slots.fill(-1)  # the search broke off
        width *= 2  # a state has more plans that do not beat one another than were expected


@lru_cache(maxsize=128)
def _scratch(moves: int, width: int) -> _Scratch:
    one, other = (
        _Fronts(np.empty((_STATES, moves, width, 3), np.int32), np.empty((_STATES, moves), np.int32), np.empty(_STATES, np.int64))
        for _ in range(2)
    )
    return _Scratch(
        one,
        other,
        np.empty((MOST_FILLS, LAYERS), np.int64),
        np.empty((MOST_FILLS, FILL_FIELDS), np.int64),
        np.full(STATE_NUMBERS, -1),
    )


@compiled
def _search(board: Position, target: Wanted, low: int, floor: Floats, scratch: _Scratch) -> bool:
    """Raise the floor to the highest progress; False if the width does not suffice."""
    limits = bounds(board, target, len(floor), scratch.rows)
    few = _pass(board, target, low, floor, scratch, limits, True)
    return few and _pass(board, target, low, floor, scratch, limits, False)


@compiled
def _pass(board: Position, target: Wanted, low: int, floor: Floats, scratch: _Scratch, limits: Floats, few: bool) -> bool:
    stacks, heights, links, goals, masks = board.stacks, board.heights, board.links, target.stacks, target.masks
    kinds, entries, moves = target.kinds, target.entries, len(floor)
    rows, fills, slots = scratch.rows, scratch.fills, scratch.slots
    plans, counts, states = scratch.one
    new_plans, new_counts, new_states = scratch.other
    used = 1
    states[0], plans[0, 0, 0], counts[0] = 0, 0, 0
    counts[0, 0] = 1
    for cell in range(CELLS):
        new_used = 0
        joined = ALONE <= cell < CELLS - 1
        here = Cell(
            stacks[cell],
            heights[cell],
            links[cell],
            goals[cell],
            masks[cell],
            goals[cell + 1] if joined else -1,
            masks[cell + 1] if joined else 0,
            entries,
        )
        for slot in range(used):
            least = 0
            while least < moves and counts[slot, least] == 0:
                least += 1
            ways = fill_cell(here, states[slot], moves - 1 - least, few, rows, fills)
            for way in range(ways):
                goal = slots[fills[way, 0]]
                if goal < 0:
                    goal = new_used
                    slots[fills[way, 0]] = goal
                    new_states[goal], new_counts[goal] = fills[way, 0], 0
                    new_used += 1
                if not _extend(
                    plans, counts, slot, new_plans, new_counts, goal, fills, way, limits, cell + 1, low, floor, kinds, entries, few
                ):
                    return False
        for slot in range(new_used):
            slots[new_states[slot]] = -1
        plans, new_plans = new_plans, plans
        counts, new_counts = new_counts, counts
        states, new_states = new_states, states
        used = new_used
    for slot in range(used):
        _raise(floor, plans, counts, slot, kinds, entries)
    return True


# Slices of arrays are costly here: each counts references. So whole arrays are handed on, with the places to look at.


@compiled
def _extend(
    plans: _Plans,
    counts: _Counts,
    slot: int,
    new_plans: _Plans,
    new_counts: _Counts,
    goal: int,
    fills: Ints,
    way: int,
    limits: Floats,
    cell: int,
    low: int,
    floor: Floats,
    kinds: int,
    entries: int,
    few: bool,
) -> bool:
    """Add a way to fill a cell to all plans of a state; False if a state has no room for another plan."""
    moves, ahead, more_extra, more_shared, more_worth = fills[way, 1], fills[way, 2], fills[way, 3], fills[way, 4], fills[way, 5]
    unit = 1.0 / (CELLS * entries)
    for earlier in range(len(floor) - moves):
        used = earlier + moves
        for index in range(counts[slot, earlier]):
            extra = plans[slot, earlier, index, 0] + more_extra
            shared = plans[slot, earlier, index, 1] + more_shared
            worth = plans[slot, earlier, index, 2] + more_worth
            so_far = shared / max(kinds + extra, 1) + worth * unit
            for budget in range(max(low, used), len(floor)):
                if so_far + limits[cell, 2 * (budget - used) + ahead] > 3 * floor[budget] + _ROUNDING:
                    if not _insert(new_plans, new_counts, goal, used, extra, shared, worth, kinds, entries, few):
                        return False
                    break
    return True


@compiled
def _insert(
    plans: _Plans, counts: _Counts, slot: int, moves: int, extra: int, shared: int, worth: int, kinds: int, entries: int, few: bool
) -> bool:
    """Keep a plan unless another one beats it, and drop those that it beats; False if there is no room. Of few, only the best one is kept.

    Progress is (wanted kinds / (kinds of the target + extra kinds) + worth) / 3. Which of two plans is better can depend on the extra kinds
    still to come, at most three a cell, but not if one is better for none and for the most: between them it is linear.
    """
    unit, many = CELLS * entries, kinds + CELLS * LAYERS
    best, worst = shared * unit + worth * kinds, shared * unit + worth * many
    count, index = counts[slot, moves], 0
    while index < count:
        other_extra, other_shared, other_worth = plans[slot, moves, index, 0], plans[slot, moves, index, 1], plans[slot, moves, index, 2]
        other_best, other_worst = other_shared * unit + other_worth * kinds, other_shared * unit + other_worth * many
        if other_best >= best and (few or (other_extra <= extra and other_worst >= worst)):
            return True
        if best >= other_best and (few or (extra <= other_extra and worst >= other_worst)):
            count -= 1
            for field in range(3):
                plans[slot, moves, index, field] = plans[slot, moves, count, field]
        else:
            index += 1
    if count == plans.shape[2]:
        return False
    plans[slot, moves, count, 0], plans[slot, moves, count, 1], plans[slot, moves, count, 2] = extra, shared, worth
    counts[slot, moves] = count + 1
    return True


@compiled
def _raise(floor: Floats, plans: _Plans, counts: _Counts, slot: int, kinds: int, entries: int) -> None:
    """Raise the floor to what whole plans of a state reach."""
    for moves in range(len(floor)):
        for index in range(counts[slot, moves]):
            extra, shared, worth = plans[slot, moves, index, 0], plans[slot, moves, index, 1], plans[slot, moves, index, 2]
            reached = (shared / max(kinds + extra, 1) + worth / (CELLS * entries)) / 3
            for budget in range(moves, len(floor)):
                floor[budget] = max(floor[budget], reached)
