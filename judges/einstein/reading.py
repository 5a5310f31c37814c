"""How texts of Einstein puzzles are read: what players' thoughts claim of objects."""

from __future__ import annotations

from typing import Any, Final

from games.einstein.claims import TYPES, EinsteinClaim
from judges.claims.reading import Read
from judges.einstein.thoughts import read_thoughts
from judges.evidence.text import in_frame
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.packaged import packaged_yaml

__all__ = ["FORM", "INSTRUCTIONS", "TYPES", "frame", "read", "reads"]

_PROMPT: Final[dict[str, Any]] = packaged_yaml(__package__, "reading.yaml")

INSTRUCTIONS: Final = str(_PROMPT["instructions"])
"""What a model is told of the game, whoever speaks."""

FORM: Final = str(_PROMPT["form"])
"""What it is shown of the form, after the text."""


def reads(said: UtteranceView) -> bool:
    """Whether a text can make claims: thoughts do; what is said aloud is an action in its own form."""
    return said.channel == "private" and bool(said.text.strip())


def frame(_game: Transcript, _turn: int, said: UtteranceView) -> str:
    """Whose thoughts they are."""
    return str(_PROMPT["frame"]).format(kind="private reasoning", speaker=in_frame(said.agent))


def read(_game: Transcript, _turn: int, said: UtteranceView) -> Read[EinsteinClaim]:
    """Read a player's thoughts by rules."""
    return read_thoughts(said.text)
