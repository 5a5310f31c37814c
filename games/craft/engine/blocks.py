"""Cells, block codes, colours and walls of CRAFT: the constants all other modules share.

A cell is written ``"(i,j)"``: ``i`` is the row (0 far, 2 near), ``j`` the column (0 left, 2 right).
A block is a colour letter and a size letter: ``"gs"`` is a small green block, ``"bl"`` a large blue
one. A large block (domino) stands as the same code in the stacks of both cells it covers.
"""

from typing import Final, Literal

Cell = str
"""A cell name. Nine are canonical (``CELLS``); logs can hold others (``board``, ghost cells)."""

Director = Literal["D1", "D2", "D3"]

MAX_HEIGHT: Final = 3
"""Blocks a stack can hold; layers are 0, 1, 2 from the bottom."""

CELLS: Final[tuple[Cell, ...]] = tuple(f"({i},{j})" for i in range(3) for j in range(3))
"""The nine cells in canonical order: row by row, left to right."""

CELL_INDEX: Final[dict[Cell, int]] = {cell: index for index, cell in enumerate(CELLS)}

COLORS: Final[dict[str, str]] = {
    "g": "green",
    "b": "blue",
    "r": "red",
    "y": "yellow",
    "o": "orange",
}

COLOR_LETTERS: Final[dict[str, str]] = {name: letter for letter, name in COLORS.items()}

SIZES: Final[dict[str, str]] = {"s": "small", "l": "large"}

BLOCKS: Final[tuple[str, ...]] = tuple(color + size for color in COLORS for size in SIZES)
"""The ten block codes."""

DIRECTORS: Final[tuple[Director, ...]] = ("D1", "D2", "D3")

WALLS: Final[dict[Director, tuple[Cell, Cell, Cell]]] = {
    "D1": ("(0,0)", "(1,0)", "(2,0)"),
    "D2": ("(0,0)", "(0,1)", "(0,2)"),
    "D3": ("(0,2)", "(1,2)", "(2,2)"),
}
"""The cells a director sees, left to right as the released code lists them."""

HIDDEN_CELLS: Final[tuple[Cell, Cell]] = ("(1,1)", "(2,1)")
"""Cells no director sees; the engine refuses large blocks there."""

SEEN_BY: Final[dict[Cell, tuple[Director, ...]]] = {
    cell: tuple(director for director in DIRECTORS if cell in WALLS[director]) for cell in CELLS
}
"""The directors who see a cell: two at the corners (0,0) and (0,2), none at the hidden cells."""


def _neighbors(row: int, column: int) -> tuple[Cell, ...]:
    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))  # right, down, left, up: the order error texts list
    cells = (f"({row + down},{column + right})" for down, right in steps)
    return tuple(cell for cell in cells if cell in CELL_INDEX)


NEIGHBORS: Final[dict[Cell, tuple[Cell, ...]]] = {f"({i},{j})": _neighbors(i, j) for i in range(3) for j in range(3)}
"""Orthogonal neighbours of a cell, in the order right, down, left, up."""


def is_large(block: str) -> bool:
    """Tell whether a block code names a domino."""
    return block.endswith("l")
