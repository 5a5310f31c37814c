"""The board as a director speaks of it: walls, cells, and the blocks that a description can mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from games.craft.engine import board as blocks

__all__ = ["LAYERS", "WALLS", "WALL_LENGTH", "WallBlock", "cells_of", "height", "wall_blocks"]

WALLS: Mapping[str, tuple[str, str, str]] = {str(director): cells for director, cells in blocks.WALLS.items()}
"""Cells of each director's wall from left to right (formats, 4.2)."""

LAYERS = range(blocks.MAX_HEIGHT)
"""Layers from bottom to top."""

WALL_LENGTH = 3
"""Cells of a wall."""

_DOMINO = 2
"""Cells of a large block."""

Board = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class WallBlock:
    """One block as it shows on a wall."""

    color: str
    size: str
    cells: tuple[str, ...]
    layer: int
    is_top: bool


def cells_of(speaker: str, places: Sequence[int]) -> tuple[str, ...]:
    """Give the cells at the named places (0 left to 2 right) of a director's wall."""
    return tuple(WALLS[speaker][place] for place in sorted(set(places)))


def height(board: Board, cell: str) -> int:
    """Number of blocks stacked on a cell."""
    return len(board.get(cell, ()))


def wall_blocks(board: Board, speaker: str) -> list[WallBlock]:
    """Give the blocks of a wall; two neighbours with the same large code in one layer count as one block.

    The text form of a board has no span records, so three equal large codes in a row cannot be told apart; they stay single cells.
    """
    found: list[WallBlock] = []
    wall = WALLS[speaker]
    for layer in LAYERS:
        codes = [board[cell][layer] if height(board, cell) > layer else "" for cell in wall]
        place = 0
        while place < WALL_LENGTH:
            code = codes[place]
            run = 1
            while code.endswith("l") and place + run < WALL_LENGTH and codes[place + run] == code:
                run += 1
            width = run if run == _DOMINO else 1
            if code:
                cells = wall[place : place + width]
                is_top = all(height(board, cell) == layer + 1 for cell in cells)
                found.append(WallBlock(code[0], code[1], cells, layer, is_top))
            place += width
    return found
