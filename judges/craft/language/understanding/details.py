"""Words that may give what a request seems to leave out.

That a colour, a size or a place is left out is a negative statement. It needs more than a reading without unknown words: a size can be
given by ordinary words, as in ``it takes just the one cell``. So the sentence of the request must hold nothing but words of a closed list
(`plain.yaml`), and the other sentences no word that may go on about the block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import Final, NamedTuple

from judges.craft.language.model import Claim
from judges.craft.language.text.tokens import sentences
from judges.craft.language.words.items import Token
from judges.craft.language.words.lexer import lexed
from judges.craft.language.words.vocabulary import CELL_NOUNS, COLORS, LAYER_NOUNS, SIZES
from schemas.packaged import packaged_yaml

__all__ = ["Carrier", "carriers"]

_TABLES: Final[Mapping[str, str]] = packaged_yaml(__package__, "plain.yaml")
_REQUEST, _VAGUE, _BESIDE_VAGUE, _LOCATED, _CARRYING, _RECALLING = (
    frozenset(_TABLES[name].split()) for name in ("request", "vague", "beside_vague", "located", "carrying", "recalling")
)
_SIZING: Final = frozenset(("kind", "size"))
_NOUNS: Final = CELL_NOUNS | LAYER_NOUNS | {"hand"}
_ACTIONS: Final = frozenset(("place", "remove", "replace"))
_WORD: Final = re.compile(r"\w")


class Carrier(NamedTuple):
    """A word that may give what a request leaves out."""

    word: str
    start: int
    end: int
    why: str


def carriers(text: str, claims: Sequence[Claim]) -> Iterator[Carrier]:
    """Give the first word of a text that may complete one of its requests, or recall one where it makes none; nothing if there is none."""
    words = sentences(text)
    asked = [claim for claim in claims if claim.verb in _ACTIONS and claim.certain]
    found = chain.from_iterable(_completing(claim, lacks, words) for claim in asked if (lacks := _lacks(claim)))
    yield from islice(found if asked else _asking(claims, words, text), 1)


def _asking(claims: Sequence[Claim], words: Sequence[Sequence[Token]], text: str) -> Iterator[Carrier]:
    """Give what may ask for something in a text without a request: a block that is not called right, a word like ``again``."""
    for claim in claims:
        if claim.verb in ("ask", "other"):
            yield Carrier(text[claim.start : claim.end], claim.start, claim.end, "it may ask for this block")
    yield from (_carrier(token, "a request made before") for sentence in words for token in sentence if token.word in _RECALLING)


def _lacks(claim: Claim) -> tuple[str, ...]:
    if claim.verb == "remove":
        return () if claim.cells else ("a place",)
    parts = (("a colour", claim.color), ("a size", claim.size), ("a place", claim.cells))
    return tuple(name for name, part in parts if not part)


def _completing(claim: Claim, lacks: Sequence[str], words: Sequence[Sequence[Token]]) -> Iterator[Carrier]:
    if "a size" in lacks and len(claim.cells or ()) > 1:
        yield Carrier(claim.verb, claim.start, claim.end, "two cells may give a size")
    for number, sentence in enumerate(words):
        own = number in claim.told_in
        plain = _plain(sentence, lacks) if own else frozenset(token.start for token in sentence if _is_apart(token, lacks))
        yield from (_carrier(token, " and ".join(lacks)) for token in sentence if _WORD.search(token.word) and token.start not in plain)


def _plain(sentence: Sequence[Token], lacks: Sequence[str]) -> frozenset[int]:
    """Offsets of the words in the sentence of a request that cannot give what the request lacks."""
    items = lexed(sentence).items
    words = {token.word for token in sentence}
    sizes = frozenset() if "a size" in lacks else SIZES.keys() | _SIZING
    named = COLORS.keys() | sizes
    harmless = _REQUEST | sizes | (_VAGUE | _BESIDE_VAGUE if words & _VAGUE else frozenset())
    plain: set[int] = set()
    after_place = False
    for before, token in pairwise((sentence[0], *sentence)):
        item = next((item for item in items if item.start <= token.start < item.end), None)
        kind = "" if item is None else item.kind
        after_place = (kind in _LOCATED and ("a place" not in lacks or kind == "layer")) or (
            after_place and token.word in _NOUNS
        )  # "left end"
        in_block = kind == "block" and (token.word in named or (token.word == "one" and before.word in named))
        after_next = token.word == "up" and before.word == "next"
        if token.word in harmless or after_place or in_block or after_next:
            plain.add(token.start)
    return frozenset(plain)


def _is_apart(token: Token, lacks: Sequence[str]) -> bool:
    """Whether a word in another sentence says nothing of what the request lacks."""
    if token.word in SIZES:
        return "a size" not in lacks
    return token.word not in _CARRYING | COLORS.keys() and not any(letter.isdigit() for letter in token.word)


def _carrier(token: Token, what: str) -> Carrier:
    return Carrier(token.word, token.start, token.end, f'"{token.word}" may give {what}')
