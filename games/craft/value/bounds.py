"""What the cells to come can still add to progress, at most: each on its own, half a domino for half a move."""

from typing import Final, NamedTuple

import numpy as np

from games.compiled import compiled_inside
from games.craft.value.position import ALONE, Wanted
from games.craft.value.stacks import (
    BLOCK,
    CELLS,
    CHOICE_BITS,
    FIXED,
    LARGE,
    LAYERS,
    SMALL,
    STACK_BITS,
    TO_NEXT,
    TO_PREVIOUS,
    Floats,
    Ints,
    Positions,
    combinations,
    height_of,
    link_of,
    ones,
    standing,
)

_IMPOSSIBLE: Final = -1e9
_MOST: Final = 12
"""Half moves that a cell can take: three blocks away, three blocks there."""
_OTHER_SMALL: Final = 1 << STACK_BITS
_OTHER_LARGE: Final = 1 << STACK_BITS + 1
"""Any code that the cell does not want."""


class Bounds(NamedTuple):
    """What the cells of a board can add, in three times the progress, by half moves."""

    gains: Floats
    """(9, 13): each cell on its own."""

    limits: Floats
    """(10, 2 x moves + 13): the cells from one on."""


def new_bounds(moves: int) -> Bounds:
    """Memory for the bounds of boards with so many budgets."""
    return Bounds(np.empty((CELLS, _MOST + 1)), np.empty((CELLS + 1, 2 * moves + _MOST + 1)))


@compiled_inside
def bound(boards: Positions, target: Wanted, row: int, first: int, last: int, budgets: int, rows: Ints, found: Bounds) -> None:
    """Bound what is still to come.

    Args:
        boards: some boards.
        target: progress towards what.
        row: which of the boards is meant.
        first: the first cell whose own gains ``found`` does not hold already; at most ``last``.
        last: the last cell for which ``found`` does not hold already what it is to hold, with those after it.
        budgets: how many there are, from 0 moves on.
        rows: memory for combinations.
        found: where to.
    """
    gains, limits = found
    width = 2 * budgets + _MOST + 1
    if last == CELLS - 1:
        limits[CELLS] = 0.0
    for cell in range(last, -1, -1):
        if cell >= first:
            _bound_cell(boards, target, row, cell, rows, gains)
        _add_cell(gains, limits, cell, width)


@compiled_inside
def _bound_cell(boards: Positions, target: Wanted, row: int, cell: int, rows: Ints, gains: Floats) -> None:
    """What a cell can add by half moves."""
    stack, links, goal, mask = boards.stacks[row, cell], boards.links[row, cell], target.stacks[cell], target.masks[cell]
    per_kind, per_entry = 1.0 / max(target.kinds, 1), 1.0 / target.entries
    height = height_of(stack)
    wanted = mask & (SMALL | LARGE) | _OTHER_LARGE if cell >= ALONE else mask & SMALL | _OTHER_SMALL
    gains[cell] = _IMPOSSIBLE
    for kept in range(height + 1):
        cost = _cost(height, links, kept)
        if cost >= 0:
            _gains(stack, goal, mask, kept, cost, wanted, per_kind, per_entry, rows, gains, cell)


@compiled_inside
def _add_cell(gains: Floats, limits: Floats, cell: int, width: int) -> None:
    """The limits from a cell on: its gains and the limits of the cells after it, the half moves shared out in the best way."""
    limits[cell, :width] = _IMPOSSIBLE
    most = _IMPOSSIBLE
    for own in range(_MOST + 1):
        gain = gains[cell, own]
        if gain > most:  # else fewer half moves gain as much
            most = gain
            for limit in range(own, width):
                limits[cell, limit] = max(limits[cell, limit], gain + limits[cell + 1, limit - own])


@compiled_inside
def _cost(height: int, links: int, kept: int) -> int:
    """Half moves that take away what stands above a height; -1 if something there cannot be moved."""
    cost = 0
    for layer in range(kept, height):
        link = link_of(links, layer)
        if link == FIXED:
            return -1
        cost += 1 if link in (TO_PREVIOUS, TO_NEXT) else 2
    return cost


@compiled_inside
def _gains(
    stack: int,
    goal: int,
    mask: int,
    kept: int,
    cost: int,
    wanted: int,
    per_kind: float,
    per_entry: float,
    rows: Ints,
    gains: Floats,
    cell: int,
) -> None:
    """Raise the gains by half moves to what a cell can add of which so much is kept."""
    kept_kinds, kept_right = standing(stack, goal, kept)
    for full in range(kept, LAYERS + 1):
        choices = 0
        for layer in range(kept, full):
            choices |= wanted << layer * CHOICE_BITS
        count = combinations(choices, rows)
        for row in range(count):
            kinds, right, spent = kept_kinds, kept_right, cost
            for layer in range(kept, full):
                block = rows[row, layer]
                kinds |= block & BLOCK
                right += block == goal >> layer * STACK_BITS & BLOCK
                spent += 1 if block & (LARGE | _OTHER_LARGE) else 2
            gain = ones(kinds & mask) * per_kind + right * per_entry + (kinds == mask) / CELLS
            gains[cell, spent] = max(gains[cell, spent], gain)
