"""The board: nine stacks, the records of which cells a large block covers, and ghost cells.

A board is immutable, so keeping it costs nothing and it can key a dictionary.

*Ghost cells*: the released engine checks a move by its tidied coordinate but carries it out under
the text the builder wrote. A blank inside a coordinate therefore makes a tenth key, such as
``"(0, 0)"``, that stays in every later board of the game. Metrics, heights and views do not see it;
the board keeps it, so that a logged game can be replayed exactly.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from games.craft.engine.blocks import CELL_INDEX, CELLS, Cell

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
    def from_json(
        cls,
        structure: Mapping[str, Sequence[str]],
        spans: Mapping[str, Sequence[Sequence[str]]] | None = None,
    ) -> "Board":
        """Read a board as logs write it: ``"(i,j)"`` keys, spans ``layer -> [[cell, cell], ...]``.

        A canonical cell that is missing is empty; any other key becomes a ghost cell.

        Raises:
            ValueError: a stack is no list of texts, a span layer no number, or a span no two cells.
        """
        stacks = tuple(_stack(structure.get(cell, ())) for cell in CELLS)
        ghosts = tuple((key, _stack(stack)) for key, stack in structure.items() if key not in CELL_INDEX)
        return cls(stacks, _spans_from_json(spans or {}), ghosts)

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

    def with_stack(self, cell: Cell, stack: Stack) -> "Board":
        """Give a copy with one stack replaced; an unknown name makes a ghost cell."""
        index = CELL_INDEX.get(cell)
        if index is None:
            ghosts = dict(self.ghosts)
            ghosts[cell] = stack
            return Board(self.stacks, self.spans, tuple(ghosts.items()))
        stacks = (*self.stacks[:index], stack, *self.stacks[index + 1 :])
        return Board(stacks, self.spans, self.ghosts)

    def with_layer_spans(self, layer: int, spans: tuple[Span, ...]) -> "Board":
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


def _spans_from_json(spans: Mapping[str, Sequence[Sequence[str]]]) -> LayerSpans:
    return tuple((int(layer), tuple(_span(cells) for cells in records)) for layer, records in spans.items())


def _span(cells: Sequence[str]) -> Span:
    match cells:
        case [str(first), str(second)]:
            return (first, second)
    raise ValueError(f"{cells!r} is no span; a span is a list of two cells")


EMPTY_BOARD = Board()
