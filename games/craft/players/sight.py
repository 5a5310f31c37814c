"""What a scripted director sees and has heard, what it wants done (or a message states of that), and its plan of an answer."""

from dataclasses import dataclass
from typing import Literal

from games.craft.engine.board import COLOR_LETTERS, MAX_HEIGHT, SEEN_BY, WALLS, Cell, Director, View, ViewedBlock
from games.craft.engine.rules import Move

Verb = Literal["place", "remove"]


@dataclass(frozen=True, slots=True)
class Instruction:
    """One action. In a message None means: not stated, or not stated exactly."""

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
    def definiteness(self) -> int:
        """How many of colour, size, cell, layer and second cell are given."""
        return sum(part is not None for part in (self.color, self.size, self.cell, self.layer, self.span_to))

    @property
    def complete(self) -> bool:
        """Whether colour, size, place, layer and, of a large block, the second cell are given."""
        whole = self.size != "l" or self.span_to is not None
        return whole and None not in (self.color, self.size, self.cell, self.layer)

    def names_block(self, move: Move) -> bool:
        """Tell whether a move is exactly this instruction; the ends of a large block may be swapped."""
        same_block = (move.action, move.block, move.layer) == (self.verb, self.block, self.layer)
        return self.complete and same_block and move.covered() == self.cells

    def allows(self, move: Move) -> bool:
        """Whether no request contradicts a move."""
        block = move.block or ""
        given = ((self.color, block[:1]), (self.size, block[1:]), (self.layer, move.layer))
        agrees = move.action == self.verb and all(request is None or request == is_ for request, is_ in given)
        return agrees and self.cells <= move.covered()


@dataclass(frozen=True, slots=True)
class Heard:
    """A public message of a director."""

    turn: int
    director: Director
    request: Instruction | None


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
            IndexError: no director sees the cell.
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

    def last_request(self) -> tuple[Director, Instruction] | None:
        """The latest whole request of another director in this turn, and whose it is."""
        spoken = [heard for heard in reversed(self.heard) if heard.turn == self.turn and heard.director != self.director]
        return next(((heard.director, heard.request) for heard in spoken if heard.request is not None and heard.request.complete), None)

    def asked_before(self, order: Instruction) -> int:
        """Count this director's own earlier requests for the same action at the same place."""
        place = (order.verb, order.cell, order.layer)
        return sum(
            heard.director == self.director
            and heard.request is not None
            and (heard.request.verb, heard.request.cell, heard.request.layer) == place
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
        halves = [other for other in WALLS[owner] if other != cell and _entry(view, owner, other, layer) == block]
        partner = halves[0] if size == "l" and halves else None
        return Instruction(verb, COLOR_LETTERS[block.color], size, cell, layer, partner)


def _entry(view: View, owner: Director, cell: Cell, layer: int) -> ViewedBlock | None:
    if not 0 <= layer < MAX_HEIGHT:
        return None
    block = view[layer][WALLS[owner].index(cell)]
    return None if block.color == "none" else block


Kind = Literal["request", "filler", "done"]
"""``done``: the director takes its wall for complete and reports it."""

Perspective = Literal["explicit", "possessive", "bare"]
"""Explicit remark on who sees the place; mere "my"; no marker at all."""

OutputFault = Literal[
    "output_empty_message", "output_no_close", "output_no_tags", "output_unclosed_think", "output_blank", "output_api_error"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One answer of a director."""

    kind: Kind = "request"
    thought: Instruction | None = None
    """What the reasoning arrives at; None if nothing."""
    request: Instruction | None = None
    """What the message requests; None for filler and "all done"."""
    vague_place: bool = False
    """The message points at a place without naming one."""
    defects: tuple[str, ...] = ()
    """Names as in docs/dev/planted_labels.md."""
    endorses: Director | None = None
    """The message names this director as the one who asked for the same."""
    disputes: Director | None = None
    """The message acknowledges that this director wants something else there."""
    right_block: tuple[Cell, int, str] | None = None
    """A block in place (cell, layer, colour letter) that the reasoning mentions."""
    other_wall: Cell | None = None
    """A cell of another wall that the reasoning wanders to."""
    perspective: Perspective = "possessive"
    fault: OutputFault | None = None
    """How the raw answer breaks the output format."""
