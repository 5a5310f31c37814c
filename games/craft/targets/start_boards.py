"""The board before turn 1.

Pre-filled large blocks get no span record, as in the released engine: they look small in every view
and cannot be removed (error R3).

One fault is not copied: the released engine lets a pre-filled wall share its stacks with the target, so
that a block removed there leaves the target as well.
"""

from typing import Final, Literal, get_args

from games.craft.engine.blocks import CELLS, WALLS, Cell, Director
from games.craft.engine.board import EMPTY_BOARD, Board

StartBoard = Literal["empty", "firstLayer", "firstTwoLayers", "D1Wall", "D2Wall", "D3Wall"]
START_BOARDS: Final[tuple[StartBoard, ...]] = get_args(StartBoard)

_LAYERS: Final[dict[StartBoard, int]] = {"firstLayer": 1, "firstTwoLayers": 2}
_WALL_OF: Final[dict[StartBoard, Director]] = {"D1Wall": "D1", "D2Wall": "D2", "D3Wall": "D3"}


def start_board(target: Board, kind: StartBoard) -> Board:
    """Give the start board of a kind: lowest layers, or the whole stacks of one wall."""
    if kind == "empty":
        return EMPTY_BOARD
    if kind in _LAYERS:
        return Board(tuple(stack[: _LAYERS[kind]] for stack in target.stacks))
    wall: tuple[Cell, ...] = WALLS[_WALL_OF[kind]]
    return Board(tuple(stack if cell in wall else () for cell, stack in zip(CELLS, target.stacks, strict=True)))
