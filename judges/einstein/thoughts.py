"""Reads what a player's thoughts claim of objects: where one belongs, or that this is unknown.

Only plain sentences about one object are read. Whatever else names an object or a corner bin counts as not understood, so that nothing is
called right by mistake.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from games.einstein.bins import DESTINATIONS

__all__ = ["Claim", "Thoughts", "read_thoughts"]


class Claim(NamedTuple):
    """What is said of an object."""

    block: str
    """Such as ``block2``."""

    goal: str | None
    """The corner bin it is said to belong to; None: said to be unknown."""


class Thoughts(NamedTuple):
    """What was read."""

    claims: tuple[Claim, ...]
    is_whole: bool
    """No sentence about objects or corner bins was left unread."""


_SENTENCE: Final = re.compile(r"[.!?;\n]+")
_BLOCK: Final = re.compile(r"\bblock[ _]?(\d+)\b", re.IGNORECASE)
_CORNER: Final = re.compile(r"\b(top|bottom|upper|lower)[-_ ](left|right)(?:[-_ ]bin)?(?![a-z])", re.IGNORECASE)
_ABOUT_OBJECTS: Final = re.compile(r"\bblocks?\b|\bblock\d|\b(?:object|piece)s?\b|\bcorner\b", re.IGNORECASE)
_BELONGS: Final = re.compile(
    r"\b(?:go(?:es)? (?:in)?to|goes in|belongs?|ends? up|(?:has|have|needs?|ought) to (?:be|go)|(?:must|should|will) (?:be|go)"
    r"|(?:place|bin|goal|target|home) (?:for|of)|(?:goal|target|place|home)(?: bin)? is|work(?:ed)? out|follows)\b",
    re.IGNORECASE,
)
_UNKNOWN: Final = re.compile(
    r"\b(?:(?:don't|do not|cannot|can't|can not|could not|couldn't) (?:yet )?(?:know|work out|tell|infer|figure|deduce|derive|say)"
    r"|unknown|not known|no idea|no knowledge|nothing\b.*\b(?:tells?|says?)|still open|(?:do|does) not reach|not sure where)\b",
    re.IGNORECASE,
)
_HEDGED: Final = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|if|unless|maybe|perhaps|may|might|could|would|try|guess|either|or|except|partner|wrong)\b|n't",
    re.IGNORECASE,
)
_ROWS: Final = {"top": "top", "upper": "top", "bottom": "bottom", "lower": "bottom"}


def read_thoughts(text: str) -> Thoughts:
    """Read a text sentence by sentence."""
    claims: list[Claim] = []
    is_whole = True
    for sentence in _SENTENCE.split(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")):
        if not _ABOUT_OBJECTS.search(sentence) and not _CORNER.search(sentence):
            continue
        claim = _claim(sentence)
        if claim is None:
            is_whole = False
        else:
            claims.append(claim)
    return Thoughts(tuple(claims), is_whole)


def _claim(sentence: str) -> Claim | None:
    blocks = {f"block{int(number)}" for number in _BLOCK.findall(sentence)}
    corners = {f"{_ROWS[row.lower()]}_{column.lower()}_bin" for row, column in _CORNER.findall(sentence)}
    if len(blocks) != 1 or len(corners) > 1:
        return None
    (block,) = blocks
    if not corners:
        return Claim(block, None) if _UNKNOWN.search(sentence) else None
    (corner,) = corners
    if _HEDGED.search(sentence) or not _BELONGS.search(sentence) or corner not in DESTINATIONS:
        return None
    return Claim(block, corner)
