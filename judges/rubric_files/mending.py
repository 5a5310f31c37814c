"""A rubric file with mistakes of form, mended as far as it takes to look for the others: all mistakes are then told in one pass."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic import ValidationError

from judges.rubric.model import Rubric

_STAND_INS: Final[dict[str, Any]] = {
    "name": "unnamed",
    "version": 1,
    "unit": "turn",
    "benchmarks": ["any"],
    "shows": ["public_messages"],
    "answers": {"yes": 1, "no": 0},
    "instructions": "...",
    "questions": {"Q1": {"ask": "..."}},
    "ask": "...",
    "why": "...",
}
"""What takes the place of a key that is missing or holds nothing usable."""

_HANG_TOGETHER: Final[dict[str, frozenset[str]]] = {
    "answers": frozenset({"answers", "examples", "demonstrations"}),
    "shows": frozenset({"shows", "about", "instructions", "ask", "na_when", "also_shows", "variants", "demonstrations"}),
    "unit": frozenset({"unit", "unit_sql", "engine"}),
    "benchmarks": frozenset({"benchmarks", "engine", "roles"}),
    "questions": frozenset({"questions", "answers"}),
    "na_when": frozenset({"answers"}),
}
"""Key that was mended -> keys about which nothing can be said then."""

_PASSES: Final = 3
"""A mended part can show a mistake below it."""


def mended(data: Any, errors: Iterable[Any]) -> tuple[Rubric, list[tuple[Any, ...]]] | None:
    """The content with stand-ins, and the places that were mended; None where nothing is left to look at."""
    if not isinstance(data, dict):
        return None
    data = copy.deepcopy(data)
    places: list[tuple[Any, ...]] = []
    for _ in range(_PASSES):
        for error in errors:
            place = tuple(part for part in error["loc"] if part != "[key]")
            places.append(place)
            _mend(data, place)
        try:
            return Rubric.model_validate(data), places
        except ValidationError as error:
            errors = error.errors()
    return None


def hangs_on(where: Sequence[Any], places: Sequence[Sequence[Any]]) -> bool:
    """Whether what is said of a place could come from a stand-in."""
    for place in places:
        if tuple(where[: len(place)]) == tuple(place) or tuple(place[: len(where)]) == tuple(where):
            return True
        parts = place if len(place) == 1 else (place[-1],) if place[0] == "questions" else (place[0], place[-1])
        if any(set(where) & _HANG_TOGETHER.get(str(part), frozenset()) for part in parts):
            return True
    return False


def _mend(data: Any, place: Sequence[Any]) -> None:
    """Put the stand-in there, or take the entry out."""
    holder = data
    for part in place[:-1]:
        if not isinstance(holder, dict | list) or (isinstance(holder, dict) and part not in holder):
            return
        holder = holder[part]
    key = place[-1] if place else None
    if isinstance(holder, dict):
        if key in _STAND_INS:
            holder[key] = copy.deepcopy(_STAND_INS[key])
        else:
            holder.pop(key, None)
    elif isinstance(holder, list) and isinstance(key, int) and key < len(holder):
        holder[key] = "..."
