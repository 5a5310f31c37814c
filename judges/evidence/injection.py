"""Finds text in logs that tries to speak to a judge, so that such units can be counted and looked at.

Blinding does not rest on this: no text can leave its fence (`judges.evidence.text`) and the answer type admits nothing else. A flag says
that somebody tried, or that a game's text happens to look like it. Text is looked at as a reader would see it: compatibility forms
normalized (Unicode NFKC), invisible characters taken out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from judges.evidence.text import Entry

_LOOKED_AT: Final = 20_000
"""Characters of a text that a judge is shown, and so that are looked at."""

_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1a\x7f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Invisible characters and characters that turn the reading direction; not the joiner that emoji are made with."""

_PATTERNS: Final[dict[str, re.Pattern[str]]] = {
    "order": re.compile(
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|prompts?|guidelines?|rubrics?)\b"
        r"|\b(?:judges?|evaluators?|graders?|raters?)\b[^.\n]{0,40}\b(?:must|should|please|have to|answer|give|mark|rate|score|note)\b"
        r"|\b(?:answer|mark|rate|score|grade|respond)\b[^.\n]{0,30}\b(?:every|all|each)\b[^.\n]{0,15}\bquestions?\b"
        r"|\byou are now\b|\bnew instructions?\s*:|\bsystem (?:prompt|override|message)\b",
        re.IGNORECASE,
    ),
    "verdict": re.compile(
        r"[\"']?(?:answer|verdict|score|rating)[\"']\s*:\s*[\"']?(?:yes|no|unclear|n/?a|pass|fail|\d)|\bfinal verdict\s*:", re.IGNORECASE
    ),
    "frame": re.compile(
        r"^\W{0,3}\[?/?(?:BEGIN|END) [a-z_]+(?: [0-9a-f]{8})?\]|^\s*(?:#+\s*)?(?:system|assistant)\s*:"
        r"|^\s*\W?\s*turn \d+, [^\n]{1,40} (?:said|thought|tried):|answer the questions about this evidence"
        r"|<\|(?:im_start|im_end|endoftext|eot_id)|</?(?:system|assistant|evidence|instructions?|transcript)>|\[/?INST\]",
        re.IGNORECASE | re.MULTILINE,
    ),
    "markup": re.compile(r"<(?:script|iframe|object|embed|svg|img|style|meta)\b[^>]*>|\bjavascript:|!\[[^\]]*\]\(https?:", re.IGNORECASE),
    "sql": re.compile(
        r"[;'\"]\s*(?:drop|delete|insert|update|alter|attach|copy|truncate)\s+(?:table|from|into|database|\w+\s+set)\b"
        r"|\bunion\s+(?:all\s+)?select\b|'\s*or\s+'?1'?\s*=\s*'?1",
        re.IGNORECASE,
    ),
    "formula": re.compile(r"^[ \t]*[=+@-](?:[A-Z]{2,}\(|cmd\|)", re.IGNORECASE | re.MULTILINE),
}

KINDS: Final = (*_PATTERNS, "hidden")
"""What an attempt can be."""


@lru_cache(maxsize=8192)
def attempts(text: str) -> tuple[str, ...]:
    """Kinds of attempt in the text, in the order of `KINDS`; the same text turns up in many prompts, so it is looked at once."""
    text = text[:_LOOKED_AT]
    hidden = _HIDDEN.search(text) is not None
    seen = text if text.isascii() and not hidden else unicodedata.normalize("NFKC", _HIDDEN.sub("", text))
    found = [kind for kind, pattern in _PATTERNS.items() if pattern.search(seen)]
    return (*found, "hidden") if hidden else tuple(found)


def flags(entries: Iterable[Entry]) -> str | None:
    """Kinds of attempt in all that a judge is shown, joined by |; None if there is none."""
    found = {kind for entry in entries for kind in attempts(entry.text)}
    return "|".join(kind for kind in KINDS if kind in found) or None
