"""How texts of CRAFT are read: the claims that directors make, by rules or by a model."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from games.craft.claims import TYPES, CraftClaim
from games.craft.engine.board import CELLS, DIRECTORS, WALLS
from games.craft.text.replies import FAILED_CALL_MESSAGE, NO_MESSAGE, NO_THINKING
from judges.claims.reading import Read
from judges.craft.language.typed import read_text
from judges.craft.resolution import blocks_of, board_of, resolved
from judges.evidence.text import in_frame
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.packaged import packaged_yaml

__all__ = ["FORM", "INSTRUCTIONS", "TYPES", "WEAK", "frame", "read", "reads", "resolve"]

_FAILED_THOUGHT: Final = "Error in generation:"
_PROMPT: Final = packaged_yaml(__package__, "reading.yaml")
_SIDES: Final = ("left", "middle", "right")

INSTRUCTIONS: Final = str(_PROMPT["instructions"])
"""What a model is told of the game, whoever speaks."""

FORM: Final = str(_PROMPT["form"])
"""What it is shown of the form, after the text."""

WEAK: Final = frozenset({("view", "seen_by", "seat"), ("stance", "attitude", "named"), ("remark", "verb", None)})
"""What contradicts nothing where two readers differ: other values say more (`judges.claims.readers`)."""

_REFERS: Final = frozenset(str(_PROMPT["refers"]).split())
"""Words that may speak of a block on the board."""

_WORD: Final = re.compile(r"[a-z]+")


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
    return _read(said.text, said.agent, tuple(tuple(stacks.get(cell, ())) for cell in CELLS))


@lru_cache(maxsize=4096)
def _read(text: str, speaker: str, stacks: tuple[tuple[str, ...], ...]) -> Read[CraftClaim]:
    """Cached: every rubric, attribution and pages ask for the same messages."""
    return read_text(text.replace("</message>", " " * len("</message>")), speaker, dict(zip(CELLS, stacks, strict=True)))


def resolve(read: Read[CraftClaim], game: Transcript, turn: int, said: UtteranceView) -> Read[CraftClaim]:
    """Work out what a model's reading leaves to the program: places given by other blocks, and what follows from the words."""
    speaker = next(name for name in DIRECTORS if name == said.agent)
    return resolved(read, said.text, speaker, board_of(game.turn(turn).state_before))


def frame(game: Transcript, turn: int, said: UtteranceView) -> str:
    """What a director's words refer to: the walls, and the board where the text may speak of what is on it."""
    kind = "a public message" if said.channel == "public" else "private reasoning"
    walls = "; ".join(f"{name}: {_told(cells)}" for name, cells in WALLS.items())
    shown = str(_PROMPT["frame"]).format(kind=kind, speaker=in_frame(said.agent), walls=walls)
    if _REFERS.isdisjoint(_WORD.findall(said.text.casefold())):
        return shown
    blocks = "; ".join(map(str, blocks_of(board_of(game.turn(turn).state_before))))
    return f"{shown}\n\n{str(_PROMPT['board']).format(blocks=blocks or 'none, it is empty')}"


def _told(cells: tuple[str, ...]) -> str:
    return ", ".join(f"{side} {cell}" for side, cell in zip(_SIDES, cells, strict=True))
