"""The rule reader's work as typed claims: what is asked for, remarked, named, who sees it, and who is spoken of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, Literal, cast

from games.craft.claims import CraftClaim, Named, Remark, Request, Stance, View, compatible
from judges.claims.reading import Read, Told, Unread
from judges.craft.language import model
from judges.craft.language.reader import read
from judges.craft.language.understanding.details import carriers
from judges.craft.language.understanding.perspective import stances, views

__all__ = ["Detail", "read_text"]

_ACTIONS: Final = frozenset({"place", "remove", "replace"})
_COORDINATE: Final = re.compile(r"\(\s*([0-2])\s*,\s*([0-2])\s*\)")


class Detail:
    """A colour, a size or a place of something that is asked for, which words beside the request may give.

    No text claims one by itself; but only of a text that may hold none can be concluded what its requests leave out.
    """


def read_text(text: str, speaker: str, board: Mapping[str, Sequence[str]]) -> Read[CraftClaim]:
    """Read a director's text.

    Args:
        text: a public message or private reasoning.
        speaker: ``D1``, ``D2`` or ``D3``; places are read in that director's frame.
        board: cell -> stack of block codes, bottom to top, before the builder's move.
    """
    found = read(text, speaker, board)
    seen = tuple(views(text))
    told = chain(_without_echoes(found.claims, text), seen, stances(text), _named(text, found.claims))
    doubtful = (Unread(one.claim.words, one.doubt, (View,), one.start, one.end) for one in seen if one.doubt is not None)
    details = (Unread(one.word, one.why, (Detail,), one.start, one.end) for one in carriers(text, found.claims))
    return Read(tuple(told), (*(_unread(clause, text) for clause in found.unread), *doubtful, *details))


def _unread(clause: model.UnreadClause, text: str) -> Unread:
    kinds: tuple[tuple[bool, tuple[type, ...]], ...] = (
        (clause.may_ask, (Request, Remark)),
        (clause.may_name, (Named,)),
        (clause.may_judge, (View, Stance)),
    )
    may_hold = tuple(kind for holds, several in kinds if holds for kind in several)
    return Unread(text[clause.start : clause.end], clause.why, may_hold, clause.start, clause.end, clause.states)


def _without_echoes(claims: Sequence[model.Claim], text: str) -> Iterator[Told[Request | Remark]]:
    """Leave out a request that only repeats parts of another, and a remark without a place that speaks of what is asked for."""
    requests = [_typed(claim, text) for claim in claims if claim.verb in _ACTIONS]
    remarks = [_typed(claim, text) for claim in claims if claim.verb not in _ACTIONS]
    asked = [told for index, told in enumerate(requests) if not _is_echo(told, index, requests)]
    yield from asked
    for told in remarks:
        if told.claim.cells or not any(compatible(told.claim, other.claim, ignoring=("verb",)) for other in asked):
            yield told


def _typed(claim: model.Claim, text: str) -> Told[Request | Remark]:
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
    return Told(typed, claim.start, claim.end, claim.doubt or None)


def _is_echo(told: Told[Request | Remark], index: int, found: Sequence[Told[Request | Remark]]) -> bool:
    for other_index, other in enumerate(found):
        if other_index == index or not compatible(told.claim, other.claim) or _known(told.claim) > _known(other.claim):
            continue
        if _known(told.claim) < _known(other.claim) or other_index < index:
            return True
    return False


def _known(claim: Request | Remark) -> int:
    return sum(part is not None for part in (claim.color, claim.size, claim.layer)) + len(claim.cells)


def _named(text: str, claims: Sequence[model.Claim]) -> Iterator[Told[Named]]:
    """Give every cell that stands in the text as a coordinate, or that a certain claim puts there, once."""
    places = {f"({match[1]},{match[2]})": (match.start(), match.end()) for match in reversed(list(_COORDINATE.finditer(text)))}
    for claim in claims:
        if claim.certain and claim.origins.get("cells") != "resolved":
            places |= {cell: (claim.start, claim.end) for cell in claim.cells or () if cell not in places}
    for cell, (start, end) in places.items():
        yield Told(Named(cell=cell, words=text[start:end]), start, end)
