"""The text similarity of the published scoring, on the standard library's matcher.

Source: formats description of LLM-Coordination, section 1.7. The published runs used `difflib`, not edit distances, and rounded each part
to whole per cent; libraries that compute the same score otherwise choose other options for texts that resemble none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

_LONGER: Final = 1.5
"""From this ratio of lengths on, parts of the longer text are compared."""

_MUCH_LONGER: Final = 8
_WHOLE: Final = 0.995
_NON_WORD: Final = re.compile(r"\W")
_LATIN_1: Final = re.compile("[\x80-\xff]")

_Ratio = Callable[[str, str], int]


def best_match(text: str, options: Sequence[str]) -> tuple[int, int]:
    """Index of the option that resembles a text most, the first of equals, and its similarity; no minimum.

    Raises:
        ValueError: there are no options.
    """
    scores = [similarity(text, option) for option in options]
    best = max(scores)
    return scores.index(best), best


@lru_cache(maxsize=65536)
def similarity(first: str, second: str) -> int:
    """Weighted ratio of two texts, 0 to 100."""
    a, b = _clean(first), _clean(second)
    if not a or not b:
        return 0
    lengths = max(len(a), len(b)) / min(len(a), len(b))
    if lengths < _LONGER:
        return round(max(_ratio(a, b), 0.95 * _sorted(_ratio, a, b), 0.95 * _sets(_ratio, a, b)))
    weight = 0.6 if lengths > _MUCH_LONGER else 0.9
    parts = (weight * _partial(a, b), 0.95 * weight * _sorted(_partial, a, b), 0.95 * weight * _sets(_partial, a, b))
    return round(max(_ratio(a, b), *parts))


@lru_cache(maxsize=4096)
def _clean(text: str) -> str:
    once = _LATIN_1.sub("", _NON_WORD.sub(" ", text).lower().strip())
    return _NON_WORD.sub(" ", once).lower().strip()


def _ratio(a: str, b: str) -> int:
    if a == b:
        return 100 if a else 0
    return round(100 * SequenceMatcher(None, a, b).ratio()) if a and b else 0


def _partial(a: str, b: str) -> int:
    """The best of the pieces of the longer text that begin where a common block does."""
    if not a or not b:
        return 0
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    best = 0.0
    for block in SequenceMatcher(None, short, long).get_matching_blocks():
        start = max(block.b - block.a, 0)
        score = SequenceMatcher(None, short, long[start : start + len(short)]).ratio()
        if score > _WHOLE:
            return 100
        best = max(best, score)
    return round(100 * best)


def _sorted(ratio: _Ratio, a: str, b: str) -> int:
    return ratio(" ".join(sorted(a.split())), " ".join(sorted(b.split())))


def _sets(ratio: _Ratio, a: str, b: str) -> int:
    words_a, words_b = set(a.split()), set(b.split())
    common = " ".join(sorted(words_a & words_b))
    with_a = f"{common} {' '.join(sorted(words_a - words_b))}".strip()
    with_b = f"{common} {' '.join(sorted(words_b - words_a))}".strip()
    return max(ratio(common, with_a), ratio(common, with_b), ratio(with_a, with_b))
