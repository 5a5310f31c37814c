"""Text from logs, made safe to show."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["excerpt", "near", "printable"]


def printable(text: str) -> str:
    """The text with control, format and surrogate characters replaced, so that it cannot steer a terminal; line breaks become ⏎."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def excerpt(text: str, length: int = 200) -> str:
    """The first characters, printable."""
    return printable(text[:length])


def _shown(character: str) -> str:
    if character == "\n":
        return "⏎"
    if character == "\t":
        return " "
    return "�" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} else character


def near(word: str, known: Iterable[str]) -> str:
    """`: did you mean ...?`, or all that is known."""
    import difflib

    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    return f": did you mean {close[0]}?" if close else f": there are {', '.join(names) or 'none'}"
