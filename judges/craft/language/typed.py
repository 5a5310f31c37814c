"""The rule reader's work as typed claims: what is asked for, remarked, named, who sees it, and who is spoken of.

That a colour, a size or a place is left out is a negative statement. It needs more than a reading without unknown words: a size can be
given by ordinary words, as in ``it takes just the one cell``. So the sentence of the request must hold nothing but words of a closed list
(`plain.yaml`), and the other sentences no word that may go on about the block.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import Final, Literal, NamedTuple, cast

from games.craft.claims import CraftClaim, Named, Remark, Request, Stance, View, compatible
from judges.claims.reading import Read, ReadClaim, Unread
from judges.craft.language.lexer import lexed
from judges.craft.language.places import stances, views
from judges.craft.language.reader import read
from judges.craft.language.tokens import sentences
from judges.craft.language.vocabulary import CELL_NOUNS, COLORS, LAYER_NOUNS, SIZES, Claim, Token, UnreadClause
from schemas.common.packages import packaged_yaml

_TABLES: Final[Mapping[str, str]] = packaged_yaml(__package__, "plain.yaml")
_REQUEST, _VAGUE, _NEAR_VAGUE, _LOCATED, _CARRYING, _RECALLING = (
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
        own = number in claim.clause_numbers
        plain = _plain(sentence, lacks) if own else frozenset(token.start for token in sentence if _is_apart(token, lacks))
        yield from (_carrier(token, " and ".join(lacks)) for token in sentence if _WORD.search(token.word) and token.start not in plain)


def _plain(sentence: Sequence[Token], lacks: Sequence[str]) -> frozenset[int]:
    """Offsets of the words in the sentence of a request that cannot give what the request lacks."""
    items = lexed(sentence).items
    words = {token.word for token in sentence}
    sizes = frozenset() if "a size" in lacks else SIZES.keys() | _SIZING
    named = COLORS.keys() | sizes
    harmless = _REQUEST | sizes | (_VAGUE | _NEAR_VAGUE if words & _VAGUE else frozenset())
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
    """Whether a word in another sentence states nothing of what the request lacks."""
    if token.word in SIZES:
        return "a size" not in lacks
    return token.word not in _CARRYING | COLORS.keys() and not any(letter.isdigit() for letter in token.word)


def _carrier(token: Token, what: str) -> Carrier:
    return Carrier(token.word, token.start, token.end, f'"{token.word}" may give {what}')


_COORDINATE: Final = re.compile(r"\(\s*([0-2])\s*,\s*([0-2])\s*\)")


class Detail:
    """A colour, a size or a place of something that is asked for, which words next to the request may give.

    No text claims one by itself; but only of a text that may hold none can be concluded what its requests leave out.
    """


def read_text(text: str, speaker: str, board: Mapping[str, Sequence[str]]) -> Read[CraftClaim]:
    """Read a director's text, places in that director's frame; the board before the move is cell -> block codes, bottom to top."""
    found = read(text, speaker, board)
    seen = tuple(views(text))
    reported = chain(_without_echoes(found.claims, text), seen, stances(text), _named(text, found.claims))
    doubtful = (Unread(one.claim.words, one.doubt, (View,), one.start, one.end) for one in seen if one.doubt is not None)
    details = (Unread(one.word, one.why, (Detail,), one.start, one.end) for one in carriers(text, found.claims))
    return Read(tuple(reported), (*(_unread(clause, text) for clause in found.unread), *doubtful, *details))


def _unread(clause: UnreadClause, text: str) -> Unread:
    kinds: tuple[tuple[bool, tuple[type, ...]], ...] = (
        (clause.may_ask, (Request, Remark)),
        (clause.may_name, (Named,)),
        (clause.may_judge, (View, Stance)),
    )
    may_hold = tuple(kind for holds, several in kinds if holds for kind in several)
    return Unread(text[clause.start : clause.end], clause.why, may_hold, clause.start, clause.end, clause.states)


def _without_echoes(claims: Sequence[Claim], text: str) -> Iterator[ReadClaim[Request | Remark]]:
    """Leave out a request that only repeats parts of another, and a remark without a place that speaks of what is asked for."""
    requests = [_typed(claim, text) for claim in claims if claim.verb in _ACTIONS]
    remarks = [_typed(claim, text) for claim in claims if claim.verb not in _ACTIONS]
    asked = [claimed for index, claimed in enumerate(requests) if not _is_echo(claimed, index, requests)]
    yield from asked
    for claimed in remarks:
        if claimed.claim.cells or not any(compatible(claimed.claim, other.claim, ignoring=("verb",)) for other in asked):
            yield claimed


def _typed(claim: Claim, text: str) -> ReadClaim[Request | Remark]:
    words = text[claim.start : claim.end]
    cells = tuple(claim.cells or ())
    typed: Request | Remark
    if claim.verb in _ACTIONS:
        typed = Request(
            verb=cast("Literal['place', 'remove', 'replace']", claim.verb),
            color=claim.color,
            size=claim.size,
            cells=cells,
            layer=claim.layer,
            words=words,
            stated=bool(cells) and claim.origins.get("cells") != "resolved",
            first=claim.first,
            old_color=claim.old.color if claim.old else None,
            old_size=claim.old.size if claim.old else None,
        )
    else:
        verb = cast("Literal['confirm', 'keep', 'ask', 'other']", claim.verb)
        typed = Remark(verb=verb, color=claim.color, size=claim.size, cells=cells, layer=claim.layer, words=words)
    return ReadClaim(typed, claim.start, claim.end, claim.doubt or None)


def _is_echo(claimed: ReadClaim[Request | Remark], index: int, found: Sequence[ReadClaim[Request | Remark]]) -> bool:
    for other_index, other in enumerate(found):
        if other_index == index or not compatible(claimed.claim, other.claim) or _known(claimed.claim) > _known(other.claim):
            continue
        if _known(claimed.claim) < _known(other.claim) or other_index < index:
            return True
    return False


def _known(claim: Request | Remark) -> int:
    return sum(part is not None for part in (claim.color, claim.size, claim.layer)) + len(claim.cells)


def _named(text: str, claims: Sequence[Claim]) -> Iterator[ReadClaim[Named]]:
    """Give every cell that is in the text as a coordinate, or that a certain claim puts there, once."""
    places = {f"({match[1]},{match[2]})": (match.start(), match.end()) for match in reversed(list(_COORDINATE.finditer(text)))}
    for claim in claims:
        if claim.certain and claim.origins.get("cells") != "resolved":
            places |= {cell: (claim.start, claim.end) for cell in claim.cells or () if cell not in places}
    for cell, (start, end) in places.items():
        yield ReadClaim(Named(cell=cell, words=text[start:end]), start, end)
