"""Which letter the published scoring takes out of a response, its faults included.

Source: formats description of LLM-Coordination, section 1.6; what goes wrong with it is measured in section 1.9.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from games.coordination.qa.questions import QaQuestion
from games.coordination.qa.wratio import best_match

_MARKERS: Final = (re.compile(r"Action:\s*(.*)"), re.compile(r"Answer:\s*(.*)"))
_LETTER: Final = re.compile(r"([A-Z])[.)]")
_OPTION_LETTER: Final = re.compile(r"^[a-z]\.\s*")
_MARKER_LENGTH: Final = 7


class Extraction(NamedTuple):
    """A letter and how it was found."""

    letter: str
    """`2` where the published code fails on the response; it is never right."""

    way: Literal["marker_letter", "letter", "fuzzy", "failed"]
    """A letter on a marked line, a letter anywhere in an unmarked response, the most similar option, or none."""

    similarity: int | None
    """0 to 100 of the most similar option; None where nothing was compared."""


def extract(question: QaQuestion, response: str | None) -> Extraction:
    """The letter that the published scoring reads; None as response is a call that came to nothing."""
    if response is None:
        return Extraction("2", "failed", None)
    marked = next((found[1] for marker in _MARKERS if (found := marker.search(response))), None)
    text = response if marked is None else marked
    if found := _LETTER.search(text):
        return Extraction(found[1], "letter" if marked is None else "marker_letter", None)
    index, similarity = best_match(_answer_text(text), _fuzzy_options(question.text))
    return Extraction(chr(ord("A") + index), "fuzzy", similarity)


def correct_upstream(question: QaQuestion, letter: str) -> bool:
    """Whether the published scoring counts a letter as right: the key is split at commas and its blanks stay."""
    return letter in question.key.split(",")


def _answer_text(text: str) -> str:
    for marker in ("Action:", "Answer:"):
        if marker in text:
            text = text[text.index(marker) + _MARKER_LENGTH :].strip()
            break
    return _OPTION_LETTER.sub("", text).strip()


@lru_cache(maxsize=1024)
def _fuzzy_options(question: str) -> tuple[str, ...]:
    """Option texts; a line of two blanks stays as an option of its own, so that the letters after it are off by one."""
    lowered = question.strip().lower()
    header = "available actions:" if "actions" in lowered else "available answers:"
    items = [item for item in lowered.split(header)[-1].split("\n") if item not in {"", " "}]
    texts = [_OPTION_LETTER.sub("", item).strip() for item in items]
    return tuple(texts)
