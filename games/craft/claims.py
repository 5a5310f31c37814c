"""What a director's text can claim: the typed record of requests, remarks, who sees a place, and what is said of another director.

The same records come from every reader: of the text by rules or by a model, or from the plan of a scripted director.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from games.craft.engine.board import CELLS, COLORS, SIZES, WALLS, Cell, Director

_DOMINO: Final = 2
_QUOTE_LIMIT: Final = 160

Color = Literal["g", "b", "r", "y", "o"]
Size = Literal["s", "l"]
Layer = Literal[0, 1, 2]
Place = Annotated[Cell, Field(pattern=r"^\([0-2],[0-2]\)$"), WithJsonSchema({"type": "string", "enum": list(CELLS)})]
SeenBy = Literal["speaker", "shared", "not_speaker", "seat"]
"""Only the speaker sees the place; others see it, too; the speaker does not; the place is only called "my", and no more is said."""

_Unasked = Annotated[bool, SkipJsonSchema()]
"""Not asked of a model: rules and older readings have it."""

Attitude = Literal["agrees", "disputes", "named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Where something is, by another block: on it, under it, beside it, over several, on the same cells, on the same layer."""

    how: Literal["on", "under", "beside", "left_of", "right_of", "covering", "same_cells", "same_layer"]
    """``covering``: over several blocks, all of them; left and right from the speaker's place."""
    color: Color | None = None
    """Of the other block."""
    size: Size | None = None
    cells: tuple[Place, ...] = ()
    layer: Layer | None = None
    count: int = 1
    """How many other blocks: 2 for "over both"."""
    asked: bool = False
    """The other block is one that this text asks for, and not one on the board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _About:
    """A block and where it is, as far as a text tells; what it does not tell is None, cells then are empty."""

    color: Color | None = None
    """Letter of the colour: green, blue, red, yellow, orange."""
    size: Size | None = None
    """``s`` (small, one cell) or ``l`` (large, two cells)."""
    cells: tuple[Place, ...] = ()
    """One cell, or both of a large block; one of a large block where the text gives one; of several small blocks, all."""
    layer: Layer | None = None
    """0 bottom, 1 middle, 2 top."""
    relations: tuple[Relation, ...] = ()
    """Places given by other blocks ("on the orange one")."""
    seen_by: SeenBy | None = None
    """Who sees the place, as far as the same words say."""
    count: int = 1
    """How many blocks."""
    words: str = ""
    """The words it stands on."""

    @property
    def block(self) -> str | None:
        """Block code; None unless colour and size are both known."""
        return None if self.color is None or self.size is None else self.color + self.size

    @property
    def one_block(self) -> bool:
        """Whether the cells fit one block of the size named."""
        return len(self.cells) == (_DOMINO if self.size == "l" else 1)

    @property
    def place_open(self) -> bool:
        """Whether another block gives its place, and where that is could not be worked out."""
        return bool(self.relations) and not self.cells

    def on_wall(self, director: Director) -> bool:
        """Whether it names cells, all of them on that director's wall."""
        return bool(self.cells) and all(cell in WALLS[director] for cell in self.cells)

    def _written(self, verb: str) -> str:
        names = (SIZES[self.size] if self.size else "", COLORS[self.color] if self.color else "")
        block = " ".join(name for name in names if name) or "some block"
        layer = f"layer {self.layer}" if self.layer is not None else "no layer"
        return f'{verb} {block} at {"+".join(self.cells) or "an unnamed cell"}, {layer} ("{_quote(self.words)}")'


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(_About):
    """Something is to be done."""

    verb: Literal["place", "remove", "replace"]
    when: Literal["now", "next", "later"] = "now"
    """``next``: after another thing that this text wants first; ``later``: not to be done yet."""
    condition: str | None = None
    """On what the text makes it depend."""
    retracted: bool = False
    """Asked for and taken back in the same text."""
    stated: _Unasked = True
    """Whether the cells stand in the text; otherwise they were worked out from the board ("the red one")."""
    first: _Unasked = False
    """To be done before the other things that the text asks for."""
    old_color: Color | None = None
    """Colour of the block that is to be replaced."""
    old_size: Size | None = None

    @property
    def complete(self) -> bool:
        """Whether action, colour, size, cell (both of a large block) and layer are all said."""
        return self.stated and self.verb != "replace" and self.block is not None and self.layer is not None and self.one_block

    def __str__(self) -> str:
        return self._written(self.verb)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark(_About):
    """Something is said about a block, and nothing asked for."""

    verb: Literal["stands", "confirm", "keep", "target", "ask", "other"]
    """Is on the board; is right or done; is to stay; is in the target, a view or a plan; is asked about; anything else."""

    def __str__(self) -> str:
        return self._written(self.verb)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A cell that the text names, whatever it says of it."""

    cell: Place
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Who sees a place that is spoken of."""

    seen_by: SeenBy
    cells: tuple[Place, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stance:
    """Another director is named, perhaps with an attitude to what that director says."""

    director: Director | None
    """None: somebody is agreed with or contradicted, and not named."""
    attitude: Attitude
    asks: bool = False
    """Whether the speaker wants done what the other asked for ("yes, do that")."""
    words: str = ""


CraftClaim = Request | Remark | Named | View | Stance


def compatible(one: Request | Remark, other: Request | Remark, *, ignoring: Iterable[str] = ()) -> bool:
    """Tell whether no attribute known of both differs; cells are compatible if one set holds the other."""
    cells, others = set(one.cells), set(other.cells)
    pairs: Mapping[str, bool] = {
        "verb": one.verb == other.verb,
        "color": None in (one.color, other.color) or one.color == other.color,
        "size": None in (one.size, other.size) or one.size == other.size,
        "layer": None in (one.layer, other.layer) or one.layer == other.layer,
        "cells": not cells or not others or cells <= others or others <= cells,
    }
    return all(agrees for name, agrees in pairs.items() if name not in ignoring)


def same_place(one: Request | Remark, other: Request | Remark) -> bool:
    """Tell whether two claims are about a common cell, and about the same layer as far as named."""
    layers = None in (one.layer, other.layer) or one.layer == other.layer
    return layers and not set(one.cells).isdisjoint(other.cells)


def _quote(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= _QUOTE_LIMIT else flat[: _QUOTE_LIMIT - 1] + "…"


TYPES: Final[tuple[type, ...]] = (Request, Remark, Named, View, Stance)
"""All kinds of claim that a director's text can make."""
