"""What a director wants done, or the part of it that a message says."""

from dataclasses import dataclass
from typing import Literal

from games.craft.engine.blocks import Cell
from games.craft.engine.move import Move

Verb = Literal["place", "remove"]


@dataclass(frozen=True, slots=True)
class Instruction:
    """One action. In a message None means: not said, or not said exactly."""

    verb: Verb
    color: str | None
    """Colour letter."""

    size: str | None
    """Size letter. A director who sees half of a large block takes it for a small one."""

    cell: Cell | None
    layer: int | None
    span_to: Cell | None = None
    """Second cell of a large block."""

    @property
    def cells(self) -> frozenset[Cell]:
        """The cells named: none, one or two."""
        return frozenset(cell for cell in (self.cell, self.span_to) if cell is not None)

    @property
    def block(self) -> str | None:
        """Block code; None unless colour and size are given."""
        return None if self.color is None or self.size is None else self.color + self.size

    @property
    def complete(self) -> bool:
        """Whether colour, size, place, layer and, of a large block, the second cell are given."""
        whole = self.size != "l" or self.span_to is not None
        return whole and None not in (self.color, self.size, self.cell, self.layer)

    def says_what(self, move: Move) -> bool:
        """Tell whether a move is exactly this instruction; the ends of a large block may be swapped."""
        same_block = (move.action, move.block, move.layer) == (self.verb, self.block, self.layer)
        return self.complete and same_block and move.covered() == self.cells

    def allows(self, move: Move) -> bool:
        """Tell whether nothing that is said speaks against a move."""
        block = move.block or ""
        given = (
            (self.color, block[:1]),
            (self.size, block[1:]),
            (self.layer, move.layer),
        )
        agrees = move.action == self.verb and all(said is None or said == is_ for said, is_ in given)
        return agrees and self.cells <= move.covered()
