"""Cells, block codes, colours and walls; the board with its stacks, large blocks and ghost cells; what a director sees of it.

A cell is written ``"(i,j)"``: ``i`` is the row (0 far, 2 near), ``j`` the column (0 left, 2 right). A block is a colour letter and a size
letter: ``"gs"`` is a small green block, ``"bl"`` a large blue one. A large block is the same code in the stacks of both cells it covers.
A board is immutable, so keeping it costs nothing and it can key a dictionary.

*Ghost cells*: the released engine checks a move by its tidied coordinate but carries it out under the text the builder wrote. A blank
inside a coordinate therefore makes a tenth key, such as ``"(0, 0)"``, that stays in every later board of the game. Metrics, heights and
views do not see it; the board stores it, so that a logged game can be replayed exactly.

A view has three rows, row 0 the bottom layer, each with the wall's three cells. The released code lists the cells of every wall by
increasing index, so D2's and D3's views are mirror images of what a person at that side would see. Experiments differ in the kind of view:

* ``spans``: as listed, size 2 where both halves of a large block lie on the wall (released code);
* ``flat``: as listed, every block size 1 (stored views of the 20-structure file);
* ``spans_mirrored``, ``flat_mirrored``: the same with D2's and D3's rows reversed (some published runs show targets ``flat_mirrored`` next
  to boards shown as ``spans``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, get_args

from msgspec import Struct

Cell = str
"""A cell name. Nine are canonical (``CELLS``); logs can hold others (``board``, ghost cells)."""

Director = Literal["D1", "D2", "D3"]

MAX_HEIGHT: Final = 3
"""Blocks a stack can hold; layers are 0, 1, 2 from the bottom."""

CELLS: Final[tuple[Cell, ...]] = tuple(f"({i},{j})" for i in range(3) for j in range(3))
"""The nine cells in canonical order: row by row, left to right."""

CELL_INDEX: Final[dict[Cell, int]] = {cell: index for index, cell in enumerate(CELLS)}

COLORS: Final[dict[str, str]] = {"g": "green", "b": "blue", "r": "red", "y": "yellow", "o": "orange"}

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


NEIGHBORS: Final[dict[Cell, tuple[Cell, ...]]] = {
    f"({i},{j})": tuple(cell for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)) if (cell := f"({i + down},{j + right})") in CELL_INDEX)
    for i in range(3)
    for j in range(3)
}
"""Orthogonal neighbours of a cell, in the order right, down, left, up, in which error texts list them."""


def is_large(block: str) -> bool:
    """Tell whether a block code names a domino."""
    return block.endswith("l")


Stack = tuple[str, ...]
"""Block codes of one cell, bottom to top."""

Span = tuple[Cell, Cell]
"""The two cells of a large block, in the order in which the builder named them."""

LayerSpans = tuple[tuple[int, tuple[Span, ...]], ...]
"""Span records by layer; a layer that lost its last record stays, empty."""

_NO_STACKS: tuple[Stack, ...] = ((),) * len(CELLS)
_TEXT: Final = frozenset((str,))


class Board(Struct, frozen=True, cache_hash=True):
    """Stacks in canonical cell order, span records by layer, ghost cells by their odd name."""

    stacks: tuple[Stack, ...] = _NO_STACKS
    spans: LayerSpans = ()
    ghosts: tuple[tuple[str, Stack], ...] = ()

    @classmethod
    def from_json(cls, structure: Mapping[str, Sequence[str]], spans: Mapping[str, Sequence[Sequence[str]]] | None = None) -> Board:
        """Read a board as logs write it: ``"(i,j)"`` keys, spans ``layer -> [[cell, cell], ...]``.

        A canonical cell that is missing is empty; any other key becomes a ghost cell.

        Raises:
            ValueError: a stack is not a list of texts, a span layer not a number, or a span not two cells.
        """
        stacks = tuple(_stack(structure.get(cell, ())) for cell in CELLS)
        ghosts = tuple((key, _stack(stack)) for key, stack in structure.items() if key not in CELL_INDEX)
        records = tuple((int(layer), tuple(_span(cells) for cells in pairs)) for layer, pairs in (spans or {}).items())
        return cls(stacks, records, ghosts)

    def stack(self, cell: Cell) -> Stack:
        """Give the stack stored under a name, canonical or ghost; empty if there is none."""
        index = CELL_INDEX.get(cell)
        if index is not None:
            return self.stacks[index]
        return dict(self.ghosts).get(cell, ())

    def height(self, cell: Cell) -> int:
        """Give the number of blocks stored under a name."""
        return len(self.stack(cell))

    def layer_spans(self, layer: int) -> tuple[Span, ...]:
        """Give the span records of a layer, oldest first."""
        for recorded, spans in self.spans:
            if recorded == layer:
                return spans
        return ()

    def partner(self, cell: Cell, layer: int) -> Cell | None:
        """Give the cell that shares a large block with this one, as recorded; None if unrecorded."""
        for first, second in self.layer_spans(layer):
            if cell == first:
                return second
            if cell == second:
                return first
        return None

    def blocks_total(self) -> int:
        """Count cell entries on the nine canonical cells; a large block counts twice."""
        return sum(map(len, self.stacks))

    def with_stack(self, cell: Cell, stack: Stack) -> Board:
        """Give a copy with one stack replaced; an unknown name makes a ghost cell."""
        index = CELL_INDEX.get(cell)
        if index is None:
            ghosts = dict(self.ghosts)
            ghosts[cell] = stack
            return Board(self.stacks, self.spans, tuple(ghosts.items()))
        stacks = (*self.stacks[:index], stack, *self.stacks[index + 1 :])
        return Board(stacks, self.spans, self.ghosts)

    def with_layer_spans(self, layer: int, spans: tuple[Span, ...]) -> Board:
        """Give a copy with the span records of one layer replaced."""
        records = dict(self.spans)
        records[layer] = spans
        return Board(self.stacks, tuple(records.items()), self.ghosts)

    def structure_json(self, *, ghosts: bool = False) -> dict[str, list[str]]:
        """Give the stacks as logs write them; ghost cells only on request."""
        structure = {cell: list(stack) for cell, stack in zip(CELLS, self.stacks, strict=True)}
        if ghosts:
            structure.update((name, list(stack)) for name, stack in self.ghosts)
        return structure

    def spans_json(self) -> dict[str, list[list[str]]]:
        """Give the span records as logs write them: text layer keys, two-element lists."""
        return {str(layer): [list(span) for span in spans] for layer, spans in self.spans}


def _stack(blocks: Sequence[str]) -> Stack:
    if isinstance(blocks, list | tuple) and _TEXT.issuperset(map(type, blocks)):
        return tuple(blocks)
    raise ValueError(f"{blocks!r} is no stack; a stack is a list of block codes, bottom to top")


def _span(cells: Sequence[str]) -> Span:
    match cells:
        case [str(first), str(second)]:
            return (first, second)
    raise ValueError(f"{cells!r} is no span; a span is a list of two cells")


EMPTY_BOARD = Board()


ViewKind = Literal["spans", "flat", "spans_mirrored", "flat_mirrored"]
VIEW_KINDS: Final[tuple[ViewKind, ...]] = get_args(ViewKind)


@dataclass(frozen=True, slots=True)
class ViewedBlock:
    """One entry of a view."""

    color: str
    """Colour name, ``none`` without a block."""
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
