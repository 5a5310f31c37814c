"""The words of directors, out of `words.yaml`: phrases with their meanings, and the closed sets of words about blocks and places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from schemas.packaged import packaged_yaml

__all__ = [
    "ADJECTIVES",
    "AMBIGUOUS",
    "BLOCK_NOUNS",
    "CELL_NOUNS",
    "COLORS",
    "COUNTS",
    "DETERMINERS",
    "LAYER_NOUNS",
    "NUMERALS",
    "PHRASES",
    "SIZES",
    "TYPO_TARGETS",
    "Meaning",
    "word_set",
]


class Meaning(NamedTuple):
    """What a phrase stands for: a kind of item and, within the kind, a value."""

    kind: str
    value: str = ""


_WORDS: Final[Mapping[str, Any]] = packaged_yaml(__package__, "words.yaml")
_SETS: Final[Mapping[str, Mapping[str, str]]] = packaged_yaml(__package__, "sets.yaml")


def word_set(module: str, name: str) -> frozenset[str]:
    """Words that a module tells constructions apart by."""
    return frozenset(_SETS[module][name].split())


_HISSING: Final = ("s", "x", "ch", "sh", "o")
"""Endings behind which a third person takes -es."""


def _listed(text: str) -> list[str]:
    """Give phrases parted by bars."""
    return [" ".join(phrase.split()) for phrase in text.split("|")]


def _phrases() -> Iterator[tuple[str, Meaning]]:
    for verb, rows in _WORDS["verbs"].items():
        forms = [row.split() for row in _listed(rows)]
        for base, gerund, participle in forms:
            yield base + ("es" if base.endswith(_HISSING) else "s"), Meaning("act_base", verb)
            yield from ((participle, Meaning("act_ed", verb)), (gerund, Meaning("act_ing", verb)), (base, Meaning("act_base", verb)))
    for name, phrases in _WORDS["phrases"].items():
        kind, _, value = name.partition(".")
        yield from ((phrase, Meaning(kind, value)) for phrase in _listed(phrases))


COLORS: Final[Mapping[str, str]] = {word: letter for letter, words in _WORDS["colors"].items() for word in words.split()}
SIZES: Final[Mapping[str, str]] = {phrase: letter for letter, phrases in _WORDS["sizes"].items() for phrase in _listed(phrases)}
BLOCK_NOUNS: Final[Mapping[str, str | None]] = dict.fromkeys(_WORDS["block_nouns"]["any"].split()) | dict.fromkeys(
    _WORDS["block_nouns"]["l"].split(), "l"
)
"""Noun of a block -> the size it tells, None for most."""

DETERMINERS: Final = frozenset(_WORDS["determiners"].split())
ADJECTIVES: Final = frozenset(_WORDS["adjectives"].split())
CELL_NOUNS: Final = frozenset(_WORDS["cell_nouns"].split())
LAYER_NOUNS: Final = frozenset(_WORDS["layer_nouns"].split())
COUNTS: Final[Mapping[str, int]] = _WORDS["counts"]
NUMERALS: Final[Mapping[str, int]] = _WORDS["numerals"]
AMBIGUOUS: Final = frozenset(_WORDS["ambiguous"].split())
"""Verbs that put something down as well as throw it away."""

TYPO_TARGETS: Final = tuple(_WORDS["mended"].split())
"""Words whose slips of the finger (one letter lost, doubled or swapped with its neighbour) are mended."""

PHRASES: Final[Mapping[tuple[str, ...], Meaning]] = {tuple(phrase.split()): meaning for phrase, meaning in _phrases()}
"""Words of a phrase -> what it means; where a phrase stands twice, the later entry holds."""
