"""What a director may see and has heard: its own target wall, the three walls of the board, the conversation."""

from collections.abc import Iterator
from dataclasses import dataclass

from games.craft.engine.blocks import COLOR_LETTERS, MAX_HEIGHT, SEEN_BY, WALLS, Cell, Director
from games.craft.engine.move import Move
from games.craft.engine.views import View, ViewedBlock
from games.craft.players.instruction import Instruction, Verb


@dataclass(frozen=True, slots=True)
class Heard:
    """A public message of a director."""

    turn: int
    director: Director
    said: Instruction | None


@dataclass(frozen=True, slots=True)
class BuiltMove:
    """A move of the builder, as the conversation reports it to everybody."""

    turn: int
    move: Move
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Everything a scripted director decides on."""

    director: Director
    turn: int
    target: View
    walls: dict[Director, View]
    heard: tuple[Heard, ...]
    """Messages so far, those of this turn included."""

    done: tuple[BuiltMove, ...]

    @property
    def wall(self) -> tuple[Cell, Cell, Cell]:
        """The director's own cells, left to right."""
        return WALLS[self.director]

    def height(self, cell: Cell) -> int:
        """Give the height of a stack on any wall.

        Raises:
            IndexError: nobody sees the cell.
        """
        return sum(self.seen(cell, layer) is not None for layer in range(MAX_HEIGHT))

    def seen(self, cell: Cell, layer: int) -> ViewedBlock | None:
        """Give the block on the board as this director's wall shows it, or else the first wall that does."""
        owner = self.director if cell in self.wall else SEEN_BY[cell][0]
        return _entry(self.walls[owner], owner, cell, layer)

    def wanted(self, cell: Cell, layer: int) -> ViewedBlock | None:
        """Give the block of the target on the own wall; None if there is none or the cell is not on it."""
        return _entry(self.target, self.director, cell, layer) if cell in self.wall else None

    def looks_right(self, cell: Cell, layer: int) -> bool:
        """Tell whether board and target show the same block there on the own wall."""
        wanted = self.wanted(cell, layer)
        return wanted is not None and wanted == self.seen(cell, layer)

    def to_place(self, cell: Cell, layer: int) -> Instruction | None:
        """Give the order for the target's block on the own wall, as large as it looks."""
        return self._order("place", self.target, self.director, cell, layer) if cell in self.wall else None

    def to_remove(self, cell: Cell, layer: int) -> Instruction | None:
        """Give the order to take off a block of the board, as large as it looks."""
        owner = self.director if cell in self.wall else SEEN_BY[cell][0]
        return self._order("remove", self.walls[owner], owner, cell, layer)

    def said_this_turn(self) -> Iterator[Heard]:
        """Give what the other directors have said in this turn, latest first."""
        return (heard for heard in reversed(self.heard) if heard.turn == self.turn and heard.director != self.director)

    def asked_before(self, order: Instruction) -> int:
        """Count this director's own earlier requests for the same action at the same place."""
        place = (order.verb, order.cell, order.layer)
        return sum(
            heard.director == self.director and heard.said is not None and (heard.said.verb, heard.said.cell, heard.said.layer) == place
            for heard in self.heard
        )

    def built(self, cell: Cell, layer: int, action: str) -> bool:
        """Tell whether a move of this kind has been carried out there."""
        return any(
            done.accepted and done.move.action == action and done.move.layer == layer and cell in done.move.covered() for done in self.done
        )

    @staticmethod
    def _order(verb: Verb, view: View, owner: Director, cell: Cell, layer: int) -> Instruction | None:
        block = _entry(view, owner, cell, layer)
        if block is None:
            return None
        size = "l" if block.size == 2 else "s"  # noqa: PLR2004 - sizes are counted in cells
        partner = (
            next((other for other in WALLS[owner] if other != cell and _entry(view, owner, other, layer) == block), None)
            if size == "l"
            else None
        )
        return Instruction(verb, COLOR_LETTERS[block.color], size, cell, layer, partner)


def _entry(view: View, owner: Director, cell: Cell, layer: int) -> ViewedBlock | None:
    if not 0 <= layer < MAX_HEIGHT:
        return None
    block = view[layer][WALLS[owner].index(cell)]
    return None if block.color == "none" else block
