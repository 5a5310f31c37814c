"""What a player's thoughts can claim of objects, whoever read them."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

Block = Annotated[str, Field(pattern=r"^block\d+$")]
Corner = Literal["top_left_bin", "top_right_bin", "bottom_left_bin", "bottom_right_bin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Belongs:
    """An object is said to belong to a corner bin, or that it is not known to which."""

    block: Block
    """Such as ``block2``."""
    goal: Corner | None
    """The corner bin; None: said to be unknown."""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lies:
    """An object is said to lie in a corner bin: a fact about the table, or loosely said that it belongs there."""

    block: Block
    """Such as ``block2``."""
    corner: Corner
    """Where it lies."""
    words: str = ""


EinsteinClaim = Belongs | Lies

TYPES: Final[tuple[type, ...]] = (Belongs, Lies)
"""All kinds of claim that thoughts can make."""
