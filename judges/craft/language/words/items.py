"""Words, and items: the meaningful stretches of a sentence that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from judges.craft.language.words.vocabulary import word_set

__all__ = ["PLACES", "Found", "Stretch", "Token", "at", "has_block", "make"]

PLACES: Final = word_set("items", "places")
"""Kinds of items that name a place."""


@dataclass(frozen=True)
class Token:
    """One word or mark with its character offsets in the text."""

    word: str
    start: int
    end: int


@dataclass(kw_only=True, slots=True)
class Stretch:
    """One meaningful stretch of text; which fields are used depends on the kind. Once its offsets are set it stays as it is."""

    kind: str
    start: int
    end: int
    value: str = ""
    number: int | None = None
    """Index of a position (0 left), number of a layer, count of blocks, or number of a director."""

    color: str | None = None
    size: str | None = None
    noun: bool = False
    """Block: a noun such as ``block`` or ``one`` stands there, not only a colour."""

    topmost: bool = False
    """Block: called the top one of its stack."""

    indefinite: bool = False
    """Block: introduced by ``a`` or ``another``, so not one that stands on the board."""

    definite: bool = False
    """Block: introduced by ``the`` or ``that``, so one that is spoken of as known."""

    absent: bool = False
    """Block: introduced by ``no``, so one that is not there or not wanted."""

    again: bool = False
    """Block: ``one``, ``another``, ``those``: takes its colour or size from an earlier block."""


Found = tuple[Stretch | None, int] | None
"""What was read, None for words without a meaning, and how many words it took; None if it is none of the reader's."""


def make(kind: str, **fields: object) -> Stretch:
    """Give an item whose offsets are set once its words are known."""
    return Stretch(kind=kind, start=0, end=0, **fields)  # type: ignore[arg-type]


def at(words: Sequence[str], index: int) -> str:
    """Give the word at an index, an empty one outside the sentence."""
    return words[index] if 0 <= index < len(words) else ""


def has_block(span: Sequence[Stretch]) -> bool:
    """Whether a block is named."""
    return any(item.kind == "block" for item in span)
