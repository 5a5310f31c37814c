"""The words of directors (`words.yaml`, `sets.yaml`, `ordinary.yaml`, `english.txt`), the types of words and items, and claims.

A claim has its text span and the origin of every field. Fields and their closed sets follow the annotation of the shared director messages
(claims of real utterances, sections 3 to 5).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final, Literal, NamedTuple

import yaml

from schemas.common.packages import packaged_yaml

Verb = Literal["place", "remove", "replace", "keep", "confirm", "ask", "other"]
Color = Literal["g", "b", "r", "y", "o"]
Size = Literal["s", "l"]
Layer = Literal[0, 1, 2]
Origin = Literal["stated", "resolved", "carried"]
"""``stated``: in the claim's own words. ``resolved``: from a reference and the board. ``carried``: from an earlier sentence."""

INSTRUCTIONS: frozenset[str] = frozenset({"place", "remove", "replace", "keep"})


@dataclass(frozen=True, kw_only=True)
class BlockType:
    """Colour and size of a block as far as the text names them."""

    color: Color | None = None
    size: Size | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One thing the text asks for or states; a field that the text does not settle is None."""

    verb: Verb
    color: Color | None = None
    size: Size | None = None
    cells: tuple[str, ...] | None = None
    """Cells such as ``"(0,1)"`` in canonical order: one small block each, or both cells of one large block."""
    layer: Layer | None = None
    """0 bottom, 1 middle, 2 top."""
    first: bool = False
    """The instruction to be carried out first; true for exactly one claim of a text with instructions."""
    old: BlockType | None = None
    """The block that is stated to be there now."""
    start: int = 0
    """Character offset in the text where the words of the claim begin."""
    end: int = 0
    """Character offset just behind the last word of the claim."""
    origins: dict[str, Origin] = field(default_factory=dict)
    """Where each field that is not None comes from, keyed ``color``, ``size``, ``cells``, ``layer``."""
    clause_numbers: frozenset[int] = frozenset()
    """Numbers of the clauses whose words went into the claim."""
    doubt: str = ""
    """Why the words around it do not bear the claim out; empty if what it gives is certain, though it need not be all that was stated."""

    @property
    def certain(self) -> bool:
        """Whether the words around it bear the claim out."""
        return not self.doubt

    @property
    def is_instruction(self) -> bool:
        """Whether something is to be done: place, remove, replace or keep."""
        return self.verb in INSTRUCTIONS


@dataclass(frozen=True, kw_only=True)
class UnreadClause:
    """A clause that was not understood."""

    start: int
    end: int
    why: str
    """The words without a meaning here, or what does not fit together."""
    may_ask: bool
    """Whether it may ask for something or speak of a block; else it has no word of the game."""
    may_name: bool
    """Whether it may name a cell that was not read."""
    may_judge: bool
    """Whether it may say who sees a place, or what is thought of another director."""
    states: bool = False
    """Whether it only states how something is or should be, and has no word of a step to be taken."""


@dataclass(frozen=True, kw_only=True)
class TextReading:
    """All that was read from one text."""

    claims: tuple[Claim, ...]
    """In text order."""
    unread: tuple[UnreadClause, ...] = ()
    """The clauses that were not understood, in text order; only for a text without any it is known what it does not state."""

    @property
    def first(self) -> Claim | None:
        """The instruction to be carried out first, None without any instruction."""
        return next((claim for claim in self.claims if claim.first), None)


class Meaning(NamedTuple):
    """What a phrase means: a kind of item and, within the kind, a value."""

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

TYPO_TARGETS: Final = tuple(_WORDS["corrected"].split())
"""Words in which typing errors (one letter lost, doubled or swapped with its neighbour) are corrected."""

PHRASES: Final[Mapping[tuple[str, ...], Meaning]] = {tuple(phrase.split()): meaning for phrase, meaning in _phrases()}
"""Words of a phrase -> what it means; where a phrase is listed twice, the later entry holds."""


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
    """Block: a noun such as ``block`` or ``one`` is present, not only a colour."""
    topmost: bool = False
    """Block: called the top one of its stack."""
    indefinite: bool = False
    """Block: introduced by ``a`` or ``another``, so not one that is on the board."""
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


_SHORTEST = 3
"""Letters that an ending must leave over."""

_ENDINGS = (("ies", "y"), ("ied", "y"), ("ing", "e"), ("ing", ""), ("ed", ""), ("ed", "e"), ("es", ""), ("s", ""), ("d", ""), ("ly", ""),
            ("er", ""), ("er", "e"), ("est", ""), ("n", ""))  # fmt: skip


@cache
def kind_of(word: str) -> str:
    """Give the list that a lower-case word is in: ``talk``, ``denial``, ``quantity``, ``vague``, ``particle``; empty if in none.

    For talk the word without its ending counts, too.
    """
    exact = next((kind for kind in ("denial", "quantity", "vague", "particle") if word in _ordinary_words()[kind]), "")
    return exact or ("talk" if any(form in _ordinary_words()["talk"] for form in _forms(word)) else "")


def _forms(word: str) -> Iterator[str]:
    yield word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            stem = word[: -len(ending)]
            yield stem + instead
            if stem[-1] == stem[-2]:
                yield stem[:-1]


@cache
def _ordinary_words() -> Mapping[str, frozenset[str]]:
    folder = resources.files(__package__)
    kinds = yaml.safe_load(folder.joinpath("ordinary.yaml").read_text(encoding="utf-8"))
    kinds["talk"] += " " + folder.joinpath("english.txt").read_text(encoding="utf-8")
    return {kind: frozenset(words.split()) for kind, words in kinds.items()}
