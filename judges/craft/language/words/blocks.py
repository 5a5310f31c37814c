"""Words to blocks: determiner, count, size, colour and noun, in any usual order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judges.craft.language.words.items import Found, at, make
from judges.craft.language.words.vocabulary import (
    ADJECTIVES,
    BLOCK_NOUNS,
    CELL_NOUNS,
    COLORS,
    COUNTS,
    DETERMINERS,
    LAYER_NOUNS,
    SIZES,
    word_set,
)

__all__ = ["leads_to_block", "opens_block", "read_block"]


_OFTEN_PLAIN = frozenset(("single", "short", "long", "little", "wide", "double", "narrow"))
"""Size words that say nothing about a block unless a noun or a colour follows: ``a little higher``."""

_TINTING = frozenset(("in", "of", "color", "colour", "colored", "coloured", "the"))
"""Words between a noun and its colour."""

_SIZING = frozenset(("size", "sized", "kind", "variety", "format", "type"))
"""Nouns that a size alone may stand before."""

_LETTERS = frozenset("sl")
"""Sizes as one letter, next to a colour only."""

_JOINING = word_set("blocks", "joining")
"""Words that may follow a size without a noun; others are nouns of their own: ``a tiny correction``."""

_CODE = re.compile("[gbryo][sl]")


@dataclass
class _Words:
    """What the words of one block have said so far."""

    color: str | None = None
    size: str | None = None
    noun: bool = False
    named: bool = False
    """A noun proper stood there, not only a plural colour or a code."""

    again: bool = False
    indefinite: bool = False
    definite: bool = False
    absent: bool = False
    number: int | None = None
    topmost: bool = False
    labelled: bool = False
    """The size was given as ``size 1``."""

    def take(self, words: Sequence[str], here: int, *, opening: bool) -> int:
        """Take in the next words; gives how many, 0 if they do not belong to the block."""
        for part in (self._take_size, self._take_color, self._take_noun, self._take_count):
            taken = part(words, here)
            if taken:
                self.labelled = self.labelled or (opening and taken > 1 and words[here] == "size")
                return taken
        return self._take_filler(words, here, opening=opening)

    def _take_size(self, words: Sequence[str], here: int) -> int:
        pair = " ".join(words[here : here + 2])
        if self.size is None and " " in pair and pair in SIZES:
            self.size = SIZES[pair]
            return 2
        before_noun = not self.noun or words[here - 1] == "bloque"  # Spanish puts the size behind the noun
        if self.size is None and before_noun and words[here] in SIZES and words[here] not in BLOCK_NOUNS:
            self.size = SIZES[words[here]]
            return 1
        if self.size is None and words[here] in _LETTERS and (self.color or at(words, here + 1) in COLORS):
            self.size = words[here]
            return 1
        return 0

    def _take_color(self, words: Sequence[str], here: int) -> int:
        word = words[here]
        if self.color is not None:
            return 0
        if self.named and (tinted := _tint(words, here)):
            self.color = COLORS[words[here + tinted - 1]]
            return tinted
        if word in COLORS:
            self.color = COLORS[word]
            self.noun = self.noun or word.endswith("s")
            return 1
        if _CODE.fullmatch(word):
            self.color, self.size, self.noun = word[0], self.size or word[1], True
            return 1
        return 0

    def _take_noun(self, words: Sequence[str], here: int) -> int:
        word = words[here]
        if word not in BLOCK_NOUNS or self.named or (word == "one" and _counts(words, here)):
            return 0
        self.named = self.noun = True
        self.size = self.size or BLOCK_NOUNS[word]
        self.again = self.again or word in ("one", "ones")
        return 1

    def _take_count(self, words: Sequence[str], here: int) -> int:
        if words[here] not in COUNTS or self.noun:
            return 0
        self.number = COUNTS[words[here]]
        return 1

    def _take_filler(self, words: Sequence[str], here: int, *, opening: bool) -> int:
        word = words[here]
        if (word in DETERMINERS or self._denies(words, here)) and not (self.color or self.size or self.noun):
            self.again = self.again or word in ("another", "those", "these")
            self.absent = self.absent or word == "no"
            self.definite = self.definite or word in ("the", "that", "this", "those", "these")
            self.indefinite = self.indefinite or word in ("a", "an", "another")
            return 1
        if word in ADJECTIVES and (not self.noun or word in ("de", "color")):
            return int(bool(self.color or self.size or not opening or leads_to_block(words, here + 1)))
        if word in ("top", "topmost", "upper", "uppermost") and not self.noun and leads_to_block(words, here + 1):
            self.topmost = True
            return 1
        return 0

    @staticmethod
    def _denies(words: Sequence[str], here: int) -> bool:
        """Tell ``no red block`` and ``no more red`` from ``no, red``."""
        more = at(words, here + 1) in ("more", "other", "further", "such")
        if words[here] == "more":
            return at(words, here - 1) == "no"
        return words[here] == "no" and leads_to_block(words, here + 1 + more) and at(words, here + 1 + more) != "one"


def read_block(words: Sequence[str], index: int) -> Found:
    """Read a block: determiner, count, size, colour and noun in any usual order; at least a colour, a size or a noun."""
    seen = _Words()
    here = index
    while here < len(words) and (taken := seen.take(words, here, opening=here == index)):
        here += taken
    while here > index + 1 and (seen.color or seen.noun) and words[here - 1] in ADJECTIVES - SIZES.keys():
        here -= 1  # "blue, same spot"
    if not (seen.color or seen.size or seen.noun):
        return (make("block", again=True, number=1), 1) if here == index + 1 and words[index] == "another" else None
    if not (seen.color or seen.noun) and at(words, here) in _SIZING:
        return make("block", value="size", size=seen.size), here - index + 1
    if not (seen.color or seen.noun) and words[here - 1] in _OFTEN_PLAIN and not _is_apart(words, index, here):
        return None
    after = at(words, here)
    own_noun = after.isalpha() and after not in _JOINING and not leads_to_block(words, here + 1)
    if not (seen.color or seen.noun) and not seen.labelled and own_noun:
        return None
    of_all = words[index] in ("all", "both", "each")
    block = make("block", value="size" if seen.labelled else "all" if of_all else "", color=seen.color, size=seen.size, noun=seen.noun,
                 number=seen.number, again=seen.again, topmost=seen.topmost, indefinite=seen.indefinite,
                 definite=seen.definite, absent=seen.absent)  # fmt: skip
    return block, here - index


def _is_apart(words: Sequence[str], index: int, here: int) -> bool:
    """Whether a size stands before a noun, or between two commas: ``a brick, long, painted red``."""
    return at(words, here) in BLOCK_NOUNS or (at(words, index - 1) == "," and at(words, here) in (",", "and", "."))


def _tint(words: Sequence[str], here: int) -> int:
    """Give the length of ``in red``, ``of colour red``, ``colored red`` behind a noun, 0 if none stands there."""
    if words[here] not in _TINTING:
        return 0
    end = here
    while at(words, end) in _TINTING:
        end += 1
    return end + 1 - here if at(words, end) in COLORS and at(words, end + 1) not in BLOCK_NOUNS else 0


def _counts(words: Sequence[str], here: int) -> bool:
    """Tell the number ``one`` (one small block) from the pronoun (a small one)."""
    after = at(words, here + 1)
    return after in COLORS or after in SIZES or after in BLOCK_NOUNS or after in CELL_NOUNS


def leads_to_block(words: Sequence[str], here: int) -> bool:
    """Whether a colour, a size or a block noun follows, with only adjectives and counts before it."""
    for word in words[here : here + 4]:
        if word in COLORS or word in BLOCK_NOUNS or word in SIZES:
            return True
        if word not in ADJECTIVES and word not in COUNTS:
            return False
    return False


def opens_block(words: Sequence[str], index: int) -> bool:
    """Tell ``left of the red block`` from ``left of my top layer``."""
    word = at(words, index)
    if word in ("it", "that", "them"):
        return at(words, index + 1) not in LAYER_NOUNS | CELL_NOUNS
    return leads_to_block(words, index + 1 if word in DETERMINERS else index)
