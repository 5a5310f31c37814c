"""What cooks can claim in what they write, whoever read it."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

Action = Annotated[str, Field(pattern=r"^\w+\([^()]*\)$")]
"""Without blanks, such as ``pickup(egg,ingredient_dispenser)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The partner is asked for an action."""

    action: Action
    """Without blanks, such as ``pickup(egg,ingredient_dispenser)``."""

    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The speaker means to do an action, now or next."""

    action: Action
    """Without blanks."""

    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The speaker agrees to what it was asked, refuses it, or says that something is done."""

    stance: Literal["agrees", "refuses", "done"]
    words: str = ""


OvercookedClaim = Asked | Planned | Reported

TYPES: Final[tuple[type, ...]] = (Asked, Planned, Reported)
"""All kinds of claim that cooks' texts can make."""
