"""What the reader gives: claims, each with its text span and the origin of every field.

The fields and their closed sets follow the annotation of the shared director messages (claims of real utterances, sections 3 to 5).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Verb = Literal["place", "remove", "replace", "keep", "confirm", "ask", "other"]
Color = Literal["g", "b", "r", "y", "o"]
Size = Literal["s", "l"]
Layer = Literal[0, 1, 2]
Origin = Literal["stated", "resolved", "carried"]
"""``stated``: in the claim's own words. ``resolved``: from a reference and the board. ``carried``: from an earlier sentence."""

INSTRUCTIONS: frozenset[str] = frozenset({"place", "remove", "replace", "keep"})


@dataclass(frozen=True, kw_only=True)
class BlockType:
    """Colour and size of a block as far as the text names them."""

    color: Color | None = None
    size: Size | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One thing the text asks for or says; a field that the text does not settle is None."""

    verb: Verb
    color: Color | None = None
    size: Size | None = None
    cells: tuple[str, ...] | None = None
    """Cells such as ``"(0,1)"`` in canonical order: one small block each, or both cells of one large block."""

    layer: Layer | None = None
    """0 bottom, 1 middle, 2 top."""

    first: bool = False
    """The instruction to be carried out first; true for exactly one claim of a text with instructions."""

    old: BlockType | None = None
    """The block that is said to be there now."""

    start: int = 0
    """Character offset in the text where the words of the claim begin."""

    end: int = 0
    """Character offset just behind the last word of the claim."""

    origins: dict[str, Origin] = field(default_factory=dict)
    """Where each field that is not None comes from, keyed ``color``, ``size``, ``cells``, ``layer``."""

    clause_numbers: frozenset[int] = frozenset()
    """Numbers of the clauses whose words went into the claim."""

    doubt: str = ""
    """Why the words around it do not bear the claim out; empty if what it gives is certain, though it need not be all that was said."""

    @property
    def certain(self) -> bool:
        """Whether the words around it bear the claim out."""
        return not self.doubt

    @property
    def is_instruction(self) -> bool:
        """Whether something is to be done: place, remove, replace or keep."""
        return self.verb in INSTRUCTIONS


@dataclass(frozen=True, kw_only=True)
class UnreadClause:
    """A clause that was not understood."""

    start: int
    end: int
    why: str
    """The words without a meaning here, or what does not fit together."""

    may_ask: bool
    """Whether it may ask for something or speak of a block; else it has no word of the game."""

    may_name: bool
    """Whether it may name a cell that was not read."""

    may_judge: bool
    """Whether it may say who sees a place, or what is thought of another director."""

    states: bool = False
    """Whether it only states how something is or should be, and has no word of a step to be taken."""


@dataclass(frozen=True, kw_only=True)
class TextReading:
    """All that was read from one text."""

    claims: tuple[Claim, ...]
    """In text order."""

    unread: tuple[UnreadClause, ...] = ()
    """The clauses that were not understood, in text order; only of a text without any can be told what it does not say."""

    @property
    def first(self) -> Claim | None:
        """The instruction to be carried out first, None without any instruction."""
        return next((claim for claim in self.claims if claim.first), None)
