"""What a director sees of a board or of the target.

A view has three rows, row 0 the bottom layer, each with the wall's three cells. The released code
lists the cells of every wall by increasing index, so D2's and D3's views are mirror images of what
a person sitting there would see.

Which *kind* of view an agent was shown differs between experiments, so it is named:

* ``spans``: as listed, size 2 where both halves of a large block lie on the wall (released code);
* ``flat``: as listed, every block size 1 (stored views of the 20-structure file);
* ``spans_mirrored``, ``flat_mirrored``: the same with D2's and D3's rows reversed (some published
  runs show targets ``flat_mirrored`` beside boards shown as ``spans``).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, get_args

from games.craft.engine.blocks import CELL_INDEX, COLORS, MAX_HEIGHT, WALLS, Cell, Director, is_large
from games.craft.engine.board import Board

ViewKind = Literal["spans", "flat", "spans_mirrored", "flat_mirrored"]
VIEW_KINDS: Final[tuple[ViewKind, ...]] = get_args(ViewKind)


@dataclass(frozen=True, slots=True)
class ViewedBlock:
    """One entry of a view."""

    color: str
    """Colour name, ``none`` where there is no block."""

    size: int
    """Apparent size in cells: 2 only if the whole large block lies on this wall."""


View = tuple[tuple[ViewedBlock, ...], ...]
"""Three rows (layers, bottom first) of three entries (cells, left to right)."""

_NOTHING: Final = ViewedBlock("none", 1)


def is_mirrored(director: Director, kind: ViewKind) -> bool:
    """Tell whether this director's rows run against the order of ``blocks.WALLS``."""
    return kind.endswith("_mirrored") and director != "D1"


def wall_cells(director: Director, kind: ViewKind = "spans") -> tuple[Cell, ...]:
    """Give the cells of a director's wall in the left-to-right order of this kind of view."""
    cells = WALLS[director]
    return cells[::-1] if is_mirrored(director, kind) else cells


@lru_cache(maxsize=4096)  # a target is looked at every turn, and a board by all who speak
def director_view(board: Board, director: Director, kind: ViewKind = "spans") -> View:
    """Give one director's view of a board or target."""
    cells = wall_cells(director, kind)
    with_spans = kind.startswith("spans")
    return tuple(tuple(_viewed(board, cell, layer, cells, with_spans=with_spans) for cell in cells) for layer in range(MAX_HEIGHT))


def all_views(board: Board, kind: ViewKind = "spans") -> dict[Director, View]:
    """Give the three wall views, as every director is shown them of the current board."""
    return {director: director_view(board, director, kind) for director in WALLS}


def views_json(views: dict[Director, View]) -> dict[str, dict[str, list[dict[str, str | int]]]]:
    """Give views as logs write them: director, ``row_<layer>``, list of colour and size."""
    return {
        director: {f"row_{layer}": [{"color": block.color, "size": block.size} for block in row] for layer, row in enumerate(view)}
        for director, view in views.items()
    }


def large_seen_as_small(board: Board) -> int:
    """Count wall entries that are large blocks but look small, summed over the three views."""
    return sum(
        is_large(stack[layer]) and view[layer][column].size == 1
        for director, view in all_views(board).items()
        for column, cell in enumerate(WALLS[director])
        for stack in (board.stacks[CELL_INDEX[cell]],)
        for layer in range(len(stack))
    )


def _viewed(board: Board, cell: Cell, layer: int, wall: tuple[Cell, ...], *, with_spans: bool) -> ViewedBlock:
    stack = board.stacks[CELL_INDEX[cell]]
    if layer >= len(stack):
        return _NOTHING
    block = stack[layer]
    whole = with_spans and is_large(block) and board.partner(cell, layer) in wall
    return ViewedBlock(COLORS.get(block[:1], "unknown"), 2 if whole else 1)
