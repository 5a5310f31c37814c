"""How cooks' texts are read: what they ask of the partner, what they plan, and what they report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from games.overcooked.claims import TYPES, Asked, OvercookedClaim, Planned, Reported
from games.overcooked.text.grammar import calls_in, requests_meant
from judges.claims.cues import any_of
from judges.claims.reading import Read, Told, Unread
from judges.evidence.text import in_frame
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.packaged import packaged_yaml

__all__ = ["INSTRUCTIONS", "TYPES", "frame", "read", "reads"]

_TABLES: Final[dict[str, Any]] = packaged_yaml(__package__, "reading.yaml")
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_PLAN: Final = re.compile(r"\s*\w+ plan\s*:", re.IGNORECASE)
_STANCES: Final = {stance: any_of(words) for stance, words in _TABLES["stances"].items()}
_ASKS: Final = any_of(_TABLES["asks"])

INSTRUCTIONS: Final = str(_TABLES["instructions"])
"""What a model is told of the game, whoever speaks."""


def reads(said: UtteranceView) -> bool:
    """Whether a text can make claims: whether there is one."""
    return bool(said.text.strip())


def frame(_game: Transcript, _turn: int, said: UtteranceView) -> str:
    """Who wrote it, and for whom."""
    kind = "a message" if said.channel == "public" else "a plan" if _PLAN.match(said.text) else "private analysis"
    return str(_TABLES["frame"]).format(kind=kind, speaker=in_frame(said.agent))


def read(_game: Transcript, _turn: int, said: UtteranceView) -> Read[OvercookedClaim]:
    """Read a text by rules: plans by their grammar; of free text whether it agrees, refuses or reports, and no request."""
    if _PLAN.match(said.text):
        return Read(tuple(_planned(said.text)))
    told: list[Told[OvercookedClaim]] = []
    unread: list[Unread] = []
    for sentence in _SENTENCE.finditer(said.text) if said.channel == "public" else ():
        words, place = sentence[0].strip(), (sentence.start(), sentence.end())
        stance: Any = next((name for name, pattern in _STANCES.items() if pattern.search(words)), None)
        if _ASKS.search(words):
            unread.append(Unread(words, "a request in free words", (Asked,), *place))
        elif stance is not None:
            told.append(Told(Reported(stance=stance, words=words), *place))
    return Read(tuple(told), tuple(unread))


def _planned(plan: str) -> Iterator[Told[OvercookedClaim]]:
    for action in requests_meant(plan):
        yield Told(Asked(action=action), None, None)
    for action in calls_in(plan) or ():
        yield Told(Planned(action=action), None, None)
