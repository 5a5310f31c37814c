"""Stacks as numbers, for compiled functions.

A block is one bit of eleven: bits 0 to 4 the small ones, 5 to 9 the large ones in the same order of colours, 10 any code that no player can
place. A stack is one number, eleven bits a layer, the lowest layer in the lowest bits. How its blocks hang together with other cells
is another, two bits a layer.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from games.compiled import compiled

__all__ = [
    "BLOCK",
    "CELLS",
    "FIXED",
    "FREE",
    "LARGE",
    "LAYERS",
    "LINK_BITS",
    "SMALL",
    "STACK_BITS",
    "TO_NEXT",
    "TO_PREVIOUS",
    "UNKNOWN",
    "Floats",
    "Ints",
    "combinations",
    "link_of",
    "ones",
    "standing",
]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

CELLS: Final = 9
LAYERS: Final = 3

SMALL: Final = 0b0_00000_11111
LARGE: Final = 0b0_11111_00000
UNKNOWN: Final = 0b1_00000_00000
BLOCK: Final = 0b1_11111_11111
STACK_BITS: Final = 11

FREE: Final = 0
"""One move takes the block away, once nothing stands on it."""
FIXED: Final = 1
"""No move ever takes it away."""
TO_PREVIOUS: Final = 2
"""A domino that also stands on the cell before: both halves stay or both go."""
TO_NEXT: Final = 3
LINK_BITS: Final = 2


@compiled
def link_of(links: int, layer: int) -> int:
    """How the block of a layer hangs together: FREE, FIXED, TO_PREVIOUS or TO_NEXT."""
    return links >> layer * LINK_BITS & 0b11


@compiled
def ones(mask: int) -> int:
    """Count the bits that are set."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@compiled
def standing(stack: int, goal: int, kept: int) -> tuple[int, int]:
    """Bits of the codes in the lowest layers, and how many of them are right."""
    kinds = right = 0
    for layer in range(kept):
        block = stack >> layer * STACK_BITS & BLOCK
        kinds |= block
        right += block == goal >> layer * STACK_BITS & BLOCK
    return kinds, right


@compiled
def combinations(first: int, second: int, third: int, rows: Ints) -> int:
    """Write every choice of one bit from each of three masks as a row; an empty mask chooses 0. Gives how many there are."""
    count = 0
    rest0 = first
    while True:
        block0 = rest0 & -rest0
        rest1 = second
        while True:
            block1 = rest1 & -rest1
            rest2 = third
            while True:
                block2 = rest2 & -rest2
                rows[count, 0], rows[count, 1], rows[count, 2] = block0, block1, block2
                count += 1
                rest2 ^= block2
                if not rest2:
                    break
            rest1 ^= block1
            if not rest1:
                break
        rest0 ^= block0
        if not rest0:
            return count
