"""Scores of logs as numbers: grades (`C`, `I`, `P`, `N`) as Inspect counts them, words, objects key by key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

__all__ = ["SampleOutcome", "number", "numbers", "outcome"]

_WORDS: Final[Mapping[str, float]] = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class SampleOutcome(NamedTuple):
    """How a sample ended."""

    success: bool | None
    """None: no score says so."""
    score: float | None
    by_number: bool = False
    """`success` is only that the score is 0 or 1, which says nothing on a scale that goes further."""


def number(value: Any) -> float | None:
    """A value as Inspect's metrics count it; None for what is no number, or a larger one than a float can be."""
    if not isinstance(value, bool | int | float | str):
        return None
    if isinstance(value, str) and (value in _WORDS or value.lower() in _WORDS):
        return _WORDS.get(value, _WORDS.get(value.lower()))
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def numbers(scores: Mapping[str, Any]) -> dict[str, float]:
    """Name of the score, with the key of an object after a point -> its number; values that are no numbers are left out."""
    return {name: found for scorer, value in scores.items() for name, found in _flat(scorer, value)}


def _flat(name: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _flat(f"{name}.{index}", inner)
    else:
        found = number(value)
        if found is not None:
            yield name, found


def outcome(scores: Mapping[str, Any]) -> SampleOutcome:
    """Success and score by the first scorer whose value is one number; success is known where that is 0, 1 or one of the words."""
    for value in scores.values():
        found = number(value)
        if found is not None:
            is_word = isinstance(value, bool) or (isinstance(value, str) and (value in _WORDS or value.lower() in _WORDS))
            return SampleOutcome(found >= 1 if is_word or found in (0.0, 1.0) else None, found, by_number=not is_word)
    return SampleOutcome(None, None)
