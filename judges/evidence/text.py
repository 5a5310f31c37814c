"""Text from logs on its way into a prompt: data that cannot pass for the prompt's own frame.

Every line that comes from a log starts with ``| ``; no line of the frame does. So no log text can close its fence, open another
one, or pass for a turn border, whatever it says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

__all__ = ["LONGEST_TEXT", "Entry", "clean", "fenced", "one_line"]

LONGEST_TEXT = 20_000
"""Characters of one text that a judge is shown; what is longer is cut, and the cut is said."""

_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_UNUSUAL = re.compile("[^\t\n\x20-\x7e]")
_LONGEST_NAME = 60


class Entry(NamedTuple):
    """A part of a piece of evidence."""

    head: str
    """A line of the frame, such as ``D1 said:``; names from logs in it have passed through `one_line`."""
    text: str
    """Verbatim log text, or data rendered from the log."""


def clean(text: str) -> str:
    """The text without control, format, surrogate and private-use characters, every kind of line break a ``\\n``, cut at `LONGEST_TEXT`."""
    cut = text[:LONGEST_TEXT]
    plain = _UNUSUAL.sub(lambda found: _shown(found[0]), _BREAKS.sub("\n", cut))
    return plain if len(text) <= LONGEST_TEXT else f"{plain}\n(cut here: {len(text) - LONGEST_TEXT} more characters)"


@lru_cache(maxsize=4096)
def one_line(text: str) -> str:
    """A name from a log, fit for a line of the frame: one short line without brackets."""
    return clean(text[:_LONGEST_NAME]).replace("\n", " ").replace("[", "(").replace("]", ")").strip() or "(no name)"


def fenced(piece: str, entries: Sequence[Entry], nonce: str) -> str:
    """A piece of evidence between its two border lines."""
    lines = [f"[BEGIN {piece} {nonce}]"]
    for head, text in entries:
        lines.append(head)
        lines += [f"| {line}" for line in clean(text).split("\n")]
    if not entries:
        lines.append("(nothing)")
    lines.append(f"[END {piece} {nonce}]")
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    return "" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} else character
