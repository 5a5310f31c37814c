"""A director's answer before it is put into words: what is thought, what is said, what is wrong with it."""

from dataclasses import dataclass
from typing import Literal

from games.craft.engine.blocks import Cell, Director
from games.craft.players.instruction import Instruction

Kind = Literal["request", "filler", "done"]
"""``done``: the director takes its wall for complete and says so."""

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

    said: Instruction | None = None
    """What the message says of it; None for filler and "all done"."""

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
