"""Readings as rows of the table `claims`, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson

from judges.claims.reading import Read, Told, Unread
from judges.evidence.transcript import ClaimView, UtteranceView
from schemas.claims import kind_of, read_claim, text_hash, written
from schemas.errors import BadInputError
from schemas.records import Claim, Json

READ: Final = "read"
"""Kind of the row that says that a reader has read a text."""

UNREAD: Final = "unread"
"""Kind of the rows of what it did not understand."""


class TextPlace(NamedTuple):
    """Where a text stands."""

    episode_id: str
    turn: int
    said: UtteranceView


def rows_of(read: Read[object], place: TextPlace, reader: str, prompt_hash: str | None = None) -> Iterator[Claim]:
    """The rows of a reading: first the one that says who read the text."""
    said = place.said
    views = [
        ClaimView(READ, {"kind": READ}, None, None, None, certain=True, reason=None),
        *map(_told_view, read.told),
        *map(_unread_view, read.unread),
    ]
    for number, view in enumerate(views):
        key = (place.episode_id, place.turn, said.seq, said.agent, reader, number)
        facts = (view.words, view.start, view.end, view.certain, view.reason)
        yield Claim(*key, view.kind, Json(orjson.dumps(view.claim).decode()), *facts, text_hash(said.text), prompt_hash)


def _told_view(told: Told[object]) -> ClaimView:
    words = getattr(told.claim, "words", "") or None
    return ClaimView(kind_of(type(told.claim)), written(told.claim), words, told.start, told.end, told.certain, told.doubt)


def _unread_view(clause: Unread) -> ClaimView:
    facts = {"kind": UNREAD, "may_hold": [kind_of(kind) for kind in clause.may_hold]}
    return ClaimView(UNREAD, facts, clause.words, clause.start, clause.end, certain=False, reason=clause.why)


def read_of(views: Iterable[ClaimView], types: Sequence[type]) -> Read[Any] | None:
    """The reading that rows of one text and one reader hold; None if there is no row: it was not read.

    A claim of no type that the family has, such as another program's log may state, is a stretch that was not understood.
    """
    told: list[Told[Any]] = []
    unread: list[Unread] = []
    was_read = False
    vouched: tuple[type, ...] | None = None
    for view in views:
        was_read = True
        if view.kind == READ and "kinds" in view.claim:
            vouched = tuple(kind for kind in types if kind_of(kind) in view.claim["kinds"])
        elif view.kind == UNREAD:
            held = view.claim.get("may_hold")
            kinds = tuple(kind for kind in types if held is None or kind_of(kind) in held)
            unread.append(Unread(view.words or "", view.reason or "", kinds, view.start, view.end))
        elif view.kind != READ:
            doubt = None if view.certain else (view.reason or "the reader is not sure")
            try:
                told.append(Told(read_claim(types, view.claim, view.words or ""), view.start, view.end, doubt))
            except BadInputError as error:
                unread.append(Unread(view.words or "", error.reason, tuple(types), view.start, view.end))
    return Read(tuple(told), tuple(unread), vouched) if was_read else None
