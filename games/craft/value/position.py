"""A board and its target as numbers, cell by cell along the path on which dominoes can lie.

The engine refuses dominoes over the hidden cells (1,1) and (2,1). The other seven cells form a path, ``(2,0) (1,0) (0,0) (0,1) (0,2)
(1,2) (2,2)``: each domino lies over two neighbours of it. The hidden cells stand in front, joined to nothing.

How stacks become numbers: `games.craft.value.stacks`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np

from games.craft.engine.blocks import BLOCKS, CELL_INDEX, CELLS, HIDDEN_CELLS, is_large
from games.craft.engine.board import Board, LayerSpans, Stack
from games.craft.value.stacks import FIXED, LINK_BITS, STACK_BITS, TO_NEXT, TO_PREVIOUS, UNKNOWN, Ints, Positions

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
    """Place and layer of each recorded half -> place of the other half; None where that is no neighbour on the path.

    As `Board.partner` has it: the first record counts.
    """
    partners: dict[tuple[int, int], int | None] = {}
    for layer, records in dict(reversed(spans)).items():
        for record in records:
            for one, other in (record, record[::-1]):
                if one in _PLACE:
                    partners.setdefault((_PLACE[one], layer), _neighbour(_PLACE[one], _PLACE.get(other)))
    return partners


def _neighbour(place: int, other: int | None) -> int | None:
    return other if other is not None and min(place, other) >= ALONE and abs(place - other) == 1 else None


def _link(chain: Sequence[Stack], place: int, layer: int, partners: Mapping[tuple[int, int], int | None]) -> int | None:
    """How a half hangs together with the rest; None where its record names no other half."""
    other = partners.get((place, layer), place)
    if other == place:
        return FIXED  # pre-filled: the engine has no record of it
    if other is None or chain[other][layer : layer + 1] != chain[place][layer : layer + 1]:
        return None
    return TO_PREVIOUS if other < place else TO_NEXT
