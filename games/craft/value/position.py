"""A board and its target as numbers, cell by cell along the path on which dominoes can lie.

The engine refuses dominoes over the hidden cells (1,1) and (2,1). The other seven cells form a path, ``(2,0) (1,0) (0,0) (0,1) (0,2)
(1,2) (2,2)``: each domino lies over two neighbours of it. The hidden cells stand in front, joined to nothing.

A block is one bit of eleven: bits 0 to 4 the small ones, 5 to 9 the large ones in the same order of colours, 10 any code that no player can
place. A stack is one number, eleven bits a layer, the lowest layer in the lowest bits. How its blocks hang together with other cells
is another, two bits a layer.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from games.compiled import compiled_inside
from games.craft.engine.board import BLOCKS, CELL_INDEX, CELLS, HIDDEN_CELLS, Board, LayerSpans, Stack, is_large

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

CELL_COUNT: Final = 9
LAYERS: Final = 3

SMALL: Final = 0b0_00000_11111
LARGE: Final = 0b0_11111_00000
UNKNOWN: Final = 0b1_00000_00000
BLOCK: Final = 0b1_11111_11111
STACK_BITS: Final = 11
CHOICE_BITS: Final = STACK_BITS + 2
"""Bits of what a layer can have: of the codes, and of two that stand for any other."""

FREE: Final = 0
"""One move takes the block away, once nothing is on it."""
FIXED: Final = 1
"""No move ever takes it away."""
TO_PREVIOUS: Final = 2
"""A domino that also covers the cell before: both halves stay or both go."""
TO_NEXT: Final = 3
LINK_BITS: Final = 2


class Positions(NamedTuple):
    """Some boards; the arrays have a row a board, an entry a cell of the chain."""

    stacks: Ints
    links: Ints
    """FREE, FIXED, TO_PREVIOUS or TO_NEXT of each block, two bits a layer."""


@compiled_inside
def link_of(links: int, layer: int) -> int:
    """How the block of a layer hangs together: FREE, FIXED, TO_PREVIOUS or TO_NEXT."""
    return links >> layer * LINK_BITS & 0b11


@compiled_inside
def ones(mask: int) -> int:
    """Count the bits that are set."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@compiled_inside
def standing(stack: int, goal: int, retained: int) -> tuple[int, int]:
    """Bits of the codes in the lowest layers, and how many of them are right."""
    kinds = right = 0
    for layer in range(retained):
        block = stack >> layer * STACK_BITS & BLOCK
        kinds |= block
        right += block == goal >> layer * STACK_BITS & BLOCK
    return kinds, right


@compiled_inside
def combinations(choices: int, rows: Ints) -> int:
    """Write every choice of one bit from each layer's mask as a row; an empty mask chooses 0. Gives how many there are."""
    mask = (1 << CHOICE_BITS) - 1
    second, third = choices >> CHOICE_BITS & mask, choices >> 2 * CHOICE_BITS
    count = 0
    rest0 = choices & mask
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


@compiled_inside
def height_of(stack: int) -> int:
    """How many blocks a stack holds."""
    height = 0
    while stack >> height * STACK_BITS:
        height += 1
    return height


@compiled_inside
def first_difference(boards: Positions, row: int) -> tuple[int, int]:
    """The first and the last cell that a search has to decide anew for a board, after the one in the row before.

    What a cell hands on depends on the links of the next one.
    """
    stacks, links = boards
    first, last = CELL_COUNT - 1, 0
    for cell in range(CELL_COUNT):
        relinked = links[row, cell] != links[row - 1, cell]
        if relinked or stacks[row, cell] != stacks[row - 1, cell]:
            first, last = min(first, cell - relinked), cell
    return max(first, 0), last


@compiled_inside
def is_one_move(boards: Positions, one: int, other: int) -> bool:
    """Whether the boards of two rows differ by one block that a move can take away: a small one, or a whole domino, on top."""
    stacks, links = boards
    is_whole, begun, half = False, -1, 0
    for cell in range(CELL_COUNT):
        stack, other_stack = stacks[one, cell], stacks[other, cell]
        if stack == other_stack and links[one, cell] == links[other, cell]:
            continue
        layer = max(height_of(max(stack, other_stack)) - 1, 0)
        block, linked = stack ^ other_stack, links[one, cell] ^ links[other, cell]
        link = link_of(linked, layer)
        is_top = min(stack, other_stack) >> layer * STACK_BITS == 0 and not block & (1 << layer * STACK_BITS) - 1
        if is_whole or not block or not is_top or linked != link << layer * LINK_BITS:
            return False
        if stack < other_stack:
            block = -block
        if link == TO_NEXT and begun < 0:
            begun, half = cell, block
        elif (link == FREE and begun < 0) or (link == TO_PREVIOUS and begun == cell - 1 and half == block):
            is_whole = True
        else:
            return False
    return is_whole


_PATH: Final = ("(2,0)", "(1,0)", "(0,0)", "(0,1)", "(0,2)", "(1,2)", "(2,2)")
_CHAIN: Final = tuple(CELL_INDEX[cell] for cell in (*HIDDEN_CELLS, *_PATH))
_chained: Final = itemgetter(*_CHAIN)
ALONE: Final = len(HIDDEN_CELLS)
"""How many cells of the chain, its first ones, no domino can cover."""

_PLACE: Final = {CELLS[index]: place for place, index in enumerate(_CHAIN)}
_BIT: Final = {block: 1 << place for place, block in enumerate(sorted(BLOCKS, key=is_large))}


class Wanted(NamedTuple):
    """A target; the arrays have an entry a cell of the chain."""

    stacks: Ints
    masks: Ints
    """Bits of the codes in each cell."""
    kinds: int
    """Codes summed over the cells, equal ones in a cell once."""
    entries: int
    """Blocks, a domino twice; at least 1."""


@lru_cache(maxsize=1024)
def wanted(target: Board) -> Wanted:
    """Number a target."""
    chain = _chained(target.stacks)
    masks = [sum({_BIT.get(block, UNKNOWN) for block in stack}) for stack in chain]
    entries = max(1, sum(map(len, chain)))
    return Wanted(np.array([_numbered(stack)[0] for stack in chain]), np.array(masks), sum(mask.bit_count() for mask in masks), entries)


class Numbered(NamedTuple):
    """A board; the lists have an entry a cell of the chain."""

    stacks: list[int]
    links: list[int]
    """Dominoes whose record names no second cell of the board are FIXED."""
    halves: list[int]
    """The links of those, 0 where there is none."""


def numbered(board: Board) -> Numbered:
    """Number a board."""
    chain = _chained(board.stacks)
    read = [_numbered(stack) for stack in chain]
    found = Numbered([number for number, _ in read], [0] * len(_CHAIN), [0] * len(_CHAIN))
    partners = _partners(board.spans)
    for place, (_, layers) in enumerate(read):
        for layer in layers:
            link = _link(chain, place, layer, partners)
            shift = layer * LINK_BITS
            found.links[place] |= (FIXED if link is None else link) << shift
            if link is None:
                found.halves[place] |= FIXED << shift
    return found


def positions(boards: Iterable[Numbered], *, halves_go: bool) -> Positions:
    """Put boards together; `halves_go`: whether one move takes away a domino whose record names no second cell of the board."""
    stacks, links, halves = zip(*boards, strict=True)
    return Positions(np.array(stacks), np.array(links) ^ np.array(halves) if halves_go else np.array(links))


@lru_cache(maxsize=4096)
def _numbered(stack: Stack) -> tuple[int, tuple[int, ...]]:
    """The number of a stack, and the layers of its large blocks."""
    number = sum(_BIT.get(block, UNKNOWN) << layer * STACK_BITS for layer, block in enumerate(stack))
    return number, tuple(layer for layer, block in enumerate(stack) if is_large(block))


@lru_cache(maxsize=4096)
def _partners(spans: LayerSpans) -> dict[tuple[int, int], int | None]:
    """Place and layer of each recorded half -> place of the other half; None if that is not a neighbour on the path.

    As `Board.partner` has it: the first record counts.
    """
    partners: dict[tuple[int, int], int | None] = {}
    for layer, records in dict(reversed(spans)).items():
        for record in records:
            for one, other in (record, record[::-1]):
                if one in _PLACE:
                    here, there = _PLACE[one], _PLACE.get(other)
                    joined = there is not None and min(here, there) >= ALONE and abs(here - there) == 1
                    partners.setdefault((here, layer), there if joined else None)
    return partners


def _link(chain: Sequence[Stack], place: int, layer: int, partners: Mapping[tuple[int, int], int | None]) -> int | None:
    """How a half hangs together with the rest; None where its record names no other half."""
    other = partners.get((place, layer), place)
    if other == place:
        return FIXED  # pre-filled: the engine has no record of it
    if other is None or chain[other][layer : layer + 1] != chain[place][layer : layer + 1]:
        return None
    return TO_PREVIOUS if other < place else TO_NEXT
