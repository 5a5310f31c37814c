"""How texts of CRAFT are read: the claims that directors make, by rules or by a model."""

from __future__ import annotations

from typing import Any, Final

from games.craft.claims import TYPES, CraftClaim
from games.craft.engine.blocks import CELLS, WALLS
from games.craft.text.director_output import FAILED_CALL_MESSAGE, NO_MESSAGE, NO_THINKING
from judges.claims.reading import Read
from judges.craft.language.typed import read_text
from judges.evidence.text import in_frame
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.packaged import packaged_yaml

__all__ = ["INSTRUCTIONS", "TYPES", "frame", "read", "reads"]

_FAILED_THOUGHT: Final = "Error in generation:"
_PROMPT: Final = packaged_yaml(__package__, "reading.yaml")
_SIDES: Final = ("left", "middle", "right")

INSTRUCTIONS: Final = str(_PROMPT["instructions"])
"""What a model is told of the game, whoever speaks."""


def reads(said: UtteranceView) -> bool:
    """Whether a text is one that makes claims: a director's, and not one that the log itself wrote where nothing came."""
    if said.agent not in WALLS:
        return False
    text = said.text.replace("</message>", "").strip()
    if said.channel == "private":
        return text not in ("", NO_THINKING) and not text.startswith(_FAILED_THOUGHT)
    return text not in ("", NO_MESSAGE, FAILED_CALL_MESSAGE)


def read(game: Transcript, turn: int, said: UtteranceView) -> Read[CraftClaim]:
    """Read a director's text by rules, before the board of its turn."""
    stacks: dict[str, Any] = game.turn(turn).state_before.get("stacks", {})
    text = said.text.replace("</message>", " " * len("</message>"))
    return read_text(text, said.agent, {cell: stacks.get(cell, ()) for cell in CELLS})


def frame(_game: Transcript, _turn: int, said: UtteranceView) -> str:
    """What a director's words of place refer to: all that a model is told of the speaker."""
    kind = "a public message" if said.channel == "public" else "private reasoning"
    walls = "; ".join(f"{name}: {_told(cells)}" for name, cells in WALLS.items())
    return str(_PROMPT["frame"]).format(kind=kind, speaker=in_frame(said.agent), walls=walls)


def _told(cells: tuple[str, ...]) -> str:
    return ", ".join(f"{side} {cell}" for side, cell in zip(_SIDES, cells, strict=True))
