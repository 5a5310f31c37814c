"""What the cells to come can still add to progress, at most: each on its own, half a domino for half a move."""

from typing import Final

import numpy as np

from games.compiled import compiled
from games.craft.value.position import ALONE, Position, Wanted
from games.craft.value.stacks import (
    BLOCK,
    CELLS,
    FIXED,
    LARGE,
    LAYERS,
    SMALL,
    STACK_BITS,
    TO_NEXT,
    TO_PREVIOUS,
    Floats,
    Ints,
    combinations,
    link_of,
    ones,
    standing,
)

__all__ = ["bounds"]

_IMPOSSIBLE: Final = -1e9
_MOST: Final = 12
"""Half moves that a cell can take: three blocks away, three blocks there."""
_OTHER_SMALL: Final = 1 << STACK_BITS
_OTHER_LARGE: Final = 1 << STACK_BITS + 1
"""Any code that the cell does not want."""


@compiled
def bounds(board: Position, target: Wanted, moves: int, rows: Ints) -> Floats:
    """Bound what is still to come.

    Args:
        board: from where.
        target: progress towards what.
        moves: how many there are at most.
        rows: memory for combinations.

    Returns:
        (10, 2 x moves + 13): the most that the cells from one on can add to three times the progress, by half moves.
    """
    limits = 2 * moves + _MOST + 1
    found, gains = np.full((CELLS + 1, limits), _IMPOSSIBLE), np.empty(_MOST + 1)
    found[CELLS] = 0.0
    stacks, heights, links, goals, masks = board.stacks, board.heights, board.links, target.stacks, target.masks
    per_kind, per_entry = 1.0 / max(target.kinds, 1), 1.0 / target.entries
    for cell in range(CELLS - 1, -1, -1):
        gains[:] = _IMPOSSIBLE
        wanted = masks[cell] & (SMALL | LARGE) | _OTHER_LARGE if cell >= ALONE else masks[cell] & SMALL | _OTHER_SMALL
        for kept in range(heights[cell] + 1):
            cost = _cost(heights[cell], links[cell], kept)
            if cost >= 0:
                _gains(stacks[cell], goals[cell], masks[cell], kept, cost, wanted, per_kind, per_entry, rows, gains)
        for limit in range(limits):
            for own in range(min(limit, _MOST) + 1):
                found[cell, limit] = max(found[cell, limit], gains[own] + found[cell + 1, limit - own])
    return found


@compiled
def _cost(height: int, links: int, kept: int) -> int:
    """Half moves that take away what stands above a height; -1 if something there cannot be moved."""
    cost = 0
    for layer in range(kept, height):
        link = link_of(links, layer)
        if link == FIXED:
            return -1
        cost += 1 if link in (TO_PREVIOUS, TO_NEXT) else 2
    return cost


@compiled
def _gains(
    stack: int, goal: int, mask: int, kept: int, cost: int, wanted: int, per_kind: float, per_entry: float, rows: Ints, gains: Floats
) -> None:
    """Raise the gains by half moves to what a cell can add of which so much is kept."""
    kept_kinds, kept_right = standing(stack, goal, kept)
    for full in range(kept, LAYERS + 1):
        count = combinations(_free(wanted, kept, 0, full), _free(wanted, kept, 1, full), _free(wanted, kept, 2, full), rows)
        for row in range(count):
            kinds, right, spent = kept_kinds, kept_right, cost
            for layer in range(kept, full):
                block = rows[row, layer]
                kinds |= block & BLOCK
                right += block == goal >> layer * STACK_BITS & BLOCK
                spent += 1 if block & (LARGE | _OTHER_LARGE) else 2
            gain = ones(kinds & mask) * per_kind + right * per_entry + (kinds == mask) / CELLS
            gains[spent] = max(gains[spent], gain)


@compiled
def _free(wanted: int, kept: int, layer: int, full: int) -> int:
    """What can go into a layer; nothing where it is kept or stays empty."""
    return wanted if kept <= layer < full else 0
