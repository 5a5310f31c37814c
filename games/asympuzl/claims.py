"""What a message can claim of the puzzle, whoever read it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from games.asympuzl.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A shape, a color and a position are said to go together: two of the three, or all."""

    position: Annotated[int, Field(ge=1)] | None = None
    """From 1."""

    shape: str | None = None
    """One word, in lower case."""

    color: str | None = None
    """One word, in lower case."""

    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The partner is asked for something."""

    about: Literal["colors", "order", "other"]
    """Which colors the shapes have; which shapes stand where; anything else."""

    words: str = ""


AsymPuzlClaim = Fact | Question

TYPES: Final[tuple[type, ...]] = (Fact, Question)
"""All kinds of claim that a message can make."""


def facts_of(claims: Iterable[Fact]) -> Facts:
    """Claims as the rules of the game take them."""
    told = list(claims)
    return Facts(
        order=frozenset((one.position, one.shape) for one in told if one.position is not None and one.shape is not None),
        colors=frozenset((one.shape, one.color) for one in told if one.shape is not None and one.color is not None),
        places=frozenset((one.position, one.color) for one in told if one.position is not None and one.color is not None),
    )
