"""The ways to fill one cell, behind what the cell before hands on.

A *state* is what a cell hands on: the height retained there, as far as its dominoes reach into the next cell, and for each layer
the new domino that does, as a digit: 0 for none, 1 to 5 for the large codes in their order.

What the cells to come can still add to progress, at most: each on its own, half a domino for half a move.
"""

from typing import Final, NamedTuple

import numpy as np

from games.compiled import compiled_inside
from games.craft.value.position import (
    ALONE,
    BLOCK,
    CELL_COUNT,
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
    Wanted,
    combinations,
    height_of,
    link_of,
    ones,
    standing,
)

_SHIFT: Final = 5
"""From the bit of a small block to that of the large block of its colour."""
_DIGIT_BITS: Final = 3
_DIGIT: Final = 0b111
_RETAINED_SHIFT: Final = LAYERS * _DIGIT_BITS
STATE_NUMBERS: Final = (LAYERS + 1) << _RETAINED_SHIFT
MOST_FILLS: Final = 4096
FILL_FIELDS: Final = 4
"""State, moves, half moves paid for the next cell, plan: extra kinds, wanted kinds, worth in 1 / (9 x entries), packed into one number."""
PLAN_BITS: Final = 20
"""Bits of each field of a plan: enough that plans of all cells can be added."""
_DIGITS: Final = np.array([0, 1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5])
"""By the bit of a large code, shifted down to the small ones."""


class Cell(NamedTuple):
    """A cell and what is wanted there; stacks are numbers as in `games.craft.value.position`."""

    stack: int
    links: int
    goal: int
    mask: int
    """Bits of the wanted codes."""
    next_goal: int
    """What is wanted in the next cell; -1 if no domino can reach there."""
    next_mask: int
    next_links: int
    entries: int
    """Blocks of the target."""
    few: bool
    """Whether to try few blocks only."""


class _Base(NamedTuple):
    """A cell of which a part is retained."""

    state: int
    """What the cell before hands on."""
    retained: int
    handed: int
    """What the next cell must know of it."""
    kinds: int
    """Bits of the codes that are retained or reach over from the cell before."""
    right: int
    """How many of those are right."""
    moves: int
    """Blocks taken away, a domino in its first cell."""
    ahead: int
    """Half moves that are thereby paid for the next cell."""


@compiled_inside
def fill_cell(cell: Cell, state: int, moves_left: int, rows: Ints, fills: Ints) -> int:
    """List the ways to fill a cell as rows of ``fills``, see `FILL_FIELDS`; gives how many there are.

    Args:
        cell: the cell.
        state: what the cell before hands on.
        moves_left: ways that take more moves are left out.
        rows: memory for combinations.
        fills: where to.
    """
    count, lowest, top, reaching, reached = 0, LAYERS, -1, 0, 0
    for layer in range(LAYERS):
        digit = state >> layer * _DIGIT_BITS & _DIGIT
        if digit:
            lowest, top, reaching = min(lowest, layer), layer, reaching + 1
            reached |= 1 << digit + _SHIFT - 1
    height = height_of(cell.stack)
    for retained in range(min(height, lowest) + 1):
        moves, ahead = _taken_away(cell, height, retained, state >> _RETAINED_SHIFT)
        if moves < 0:
            continue
        kinds, right = standing(cell.stack, cell.goal, retained)
        base = _Base(state, retained, _handed(cell.next_links, retained), kinds | reached, right, moves, ahead)
        for full in range(max(retained, top + 1), LAYERS + 1):
            if moves + full - retained - reaching <= moves_left:
                count = _fill_to(cell, base, full, rows, fills, count)
    return count


@compiled_inside
def _handed(next_links: int, retained: int) -> int:
    """The least height that retains the same halves of the dominoes that reach into the next cell."""
    while retained and link_of(next_links, retained - 1) != TO_PREVIOUS:
        retained -= 1
    return retained


@compiled_inside
def _taken_away(cell: Cell, height: int, retained: int, retained_before: int) -> tuple[int, int]:
    """Moves for all above the retained height, dominoes counted in their first cell, and half moves paid thereby for the next cell.

    Moves are -1 where that cannot be: a block that cannot be moved, or a domino of which one half would stay.
    """
    moves = ahead = 0
    for layer in range(height):
        link = link_of(cell.links, layer)
        if (link == FIXED and layer >= retained) or (link == TO_PREVIOUS and (retained > layer) != (retained_before > layer)):
            return -1, 0
        if layer >= retained:
            moves += link != TO_PREVIOUS
            ahead += link == TO_NEXT
    return moves, ahead


@compiled_inside
def _fill_to(cell: Cell, base: _Base, full: int, rows: Ints, fills: Ints, count: int) -> int:
    """List the ways to fill a cell up to a height; gives how many ways there are now."""
    right, choices = base.right, 0
    for layer in range(LAYERS):
        choices |= _choices(cell, base, layer, full) << layer * CHOICE_BITS
        digit = base.state >> layer * _DIGIT_BITS & _DIGIT
        right += digit > 0 and 1 << digit + _SHIFT - 1 == cell.goal >> layer * STACK_BITS & BLOCK
    ways = combinations(choices, rows)
    for way in range(ways):
        _write(cell, base, right, rows, way, fills, count + way)
    return count + ways


@compiled_inside
def _choices(cell: Cell, base: _Base, layer: int, full: int) -> int:
    """Bits of the codes worth placing in a layer; none if a block is there or reaches over already."""
    if layer < base.retained or layer >= full or base.state >> layer * _DIGIT_BITS & _DIGIT:
        return 0
    goal = cell.goal >> layer * STACK_BITS & BLOCK
    small = cell.mask & SMALL
    if not small:  # one that adds no kind, else any
        held = base.kinds & SMALL
        small = held & -held if held else 1
    elif cell.few:
        small = goal & SMALL or small & -small
    if cell.next_goal < 0:
        return small
    if cell.few:
        return small | (goal | cell.next_goal >> layer * STACK_BITS & BLOCK) & LARGE
    large = (cell.mask | cell.next_mask) & LARGE
    return small | (large | base.kinds & LARGE if large else LARGE)


@compiled_inside
def _write(cell: Cell, base: _Base, right: int, rows: Ints, row: int, fills: Ints, fill: int) -> None:
    """Write down one way."""
    kinds, moves, ahead, state = base.kinds, base.moves, base.ahead, base.handed << _RETAINED_SHIFT
    for layer in range(LAYERS):
        block = rows[row, layer]
        if block:
            kinds |= block
            moves += 1
            right += block == cell.goal >> layer * STACK_BITS & BLOCK
            if block & LARGE:
                ahead += 1
                state |= _DIGITS[block >> _SHIFT] << layer * _DIGIT_BITS
    fills[fill, 0], fills[fill, 1], fills[fill, 2] = state, moves, ahead
    worth = CELL_COUNT * right + cell.entries * (kinds == cell.mask)
    fills[fill, 3] = (ones(kinds & ~cell.mask) << PLAN_BITS | ones(kinds & cell.mask)) << PLAN_BITS | worth


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
    return Bounds(np.empty((CELL_COUNT, _MOST + 1)), np.empty((CELL_COUNT + 1, 2 * moves + _MOST + 1)))


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
    if last == CELL_COUNT - 1:
        limits[CELL_COUNT] = 0.0
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
    for retained in range(height + 1):
        cost = _cost(height, links, retained)
        if cost >= 0:
            _gains(stack, goal, mask, retained, cost, wanted, per_kind, per_entry, rows, gains, cell)


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
def _cost(height: int, links: int, retained: int) -> int:
    """Half moves that remove what is above a height; -1 if something there cannot be moved."""
    cost = 0
    for layer in range(retained, height):
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
    retained: int,
    cost: int,
    wanted: int,
    per_kind: float,
    per_entry: float,
    rows: Ints,
    gains: Floats,
    cell: int,
) -> None:
    """Raise the gains by half moves to what a cell can add of which so much is retained."""
    retained_kinds, retained_right = standing(stack, goal, retained)
    for full in range(retained, LAYERS + 1):
        choices = 0
        for layer in range(retained, full):
            choices |= wanted << layer * CHOICE_BITS
        count = combinations(choices, rows)
        for row in range(count):
            kinds, right, spent = retained_kinds, retained_right, cost
            for layer in range(retained, full):
                block = rows[row, layer]
                kinds |= block & BLOCK
                right += block == goal >> layer * STACK_BITS & BLOCK
                spent += 1 if block & (LARGE | _OTHER_LARGE) else 2
            gain = ones(kinds & mask) * per_kind + right * per_entry + (kinds == mask) / CELL_COUNT
            gains[cell, spent] = max(gains[cell, spent], gain)
