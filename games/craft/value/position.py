"""A board and its target as numbers, cell by cell along the path on which dominoes can lie.

The engine refuses dominoes over the hidden cells (1,1) and (2,1). The other seven cells form a path, ``(2,0) (1,0) (0,0) (0,1) (0,2)
(1,2) (2,2)``: each domino lies over two neighbours of it. The hidden cells stand in front, joined to nothing.

How stacks become numbers: `games.craft.value.stacks`.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from games.craft.engine.blocks import BLOCKS, CELL_INDEX, CELLS, HIDDEN_CELLS, is_large
from games.craft.engine.board import Board, Stack
from games.craft.value.stacks import FIXED, FREE, LINK_BITS, STACK_BITS, TO_NEXT, TO_PREVIOUS, UNKNOWN, Ints, Positions

__all__ = ["ALONE", "Wanted", "has_halves", "positions", "wanted"]

_PATH: Final = ("(2,0)", "(1,0)", "(0,0)", "(0,1)", "(0,2)", "(1,2)", "(2,2)")
_CHAIN: Final = tuple(CELL_INDEX[cell] for cell in (*HIDDEN_CELLS, *_PATH))
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
    chain = [target.stacks[index] for index in _CHAIN]
    masks = [sum({_BIT.get(block, UNKNOWN) for block in stack}) for stack in chain]
    entries = max(1, sum(map(len, chain)))
    return Wanted(np.array([_numbered(stack) for stack in chain]), np.array(masks), sum(mask.bit_count() for mask in masks), entries)


def positions(boards: Iterable[Board], *, halves_go: bool) -> Positions:
    """Number boards; `halves_go`: whether one move takes away a domino whose record names no second cell of the board."""
    stacks, links = [], []
    for board in boards:
        stacks.append([_numbered(board.stacks[index]) for index in _CHAIN])
        found = [0] * len(_CHAIN)
        for place, layer, link in _linked(board):
            found[place] |= ((FREE if halves_go else FIXED) if link is None else link) << layer * LINK_BITS
        links.append(found)
    return Positions(np.array(stacks), np.array(links))


def has_halves(board: Board) -> bool:
    """Tell whether a domino stands there whose record names a cell that is none of the nine, or does not hold its other half."""
    return any(link is None for _, _, link in _linked(board))


@lru_cache(maxsize=4096)
def _numbered(stack: Stack) -> int:
    return sum(_BIT.get(block, UNKNOWN) << layer * STACK_BITS for layer, block in enumerate(stack))


@lru_cache(maxsize=256)  # a board's halves are looked for before it is numbered
def _linked(board: Board) -> list[tuple[int, int, int | None]]:
    """Place in the chain, layer and link of every half."""
    return [
        (place, layer, _link(board, place, layer)) for place, index in enumerate(_CHAIN) for layer in _large_layers(board.stacks[index])
    ]


@lru_cache(maxsize=4096)
def _large_layers(stack: Stack) -> tuple[int, ...]:
    return tuple(layer for layer, block in enumerate(stack) if is_large(block))


def _link(board: Board, place: int, layer: int) -> int | None:
    """How a half hangs together with the rest; None where its record names no other half."""
    cell = CELLS[_CHAIN[place]]
    partner = board.partner(cell, layer)
    if partner is None:
        return FIXED  # pre-filled: the engine has no record of it
    other = _PLACE.get(partner)
    if other is None or min(place, other) < ALONE or abs(place - other) != 1:
        return None
    if board.stack(partner)[layer : layer + 1] != board.stack(cell)[layer : layer + 1]:
        return None
    return TO_PREVIOUS if other < place else TO_NEXT
