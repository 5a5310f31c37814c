"""The reader: free director text, the speaker and the board before the move in, typed claims out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judges.craft.language.clauses.clauses import Clause, clauses_of
from judges.craft.language.model import TextReading
from judges.craft.language.places.places import Scene
from judges.craft.language.places.walls import WALLS
from judges.craft.language.requests.actions import Actions
from judges.craft.language.requests.amendments import amend, is_imagined, parts, withdraw, without_void
from judges.craft.language.requests.discourse import settle
from judges.craft.language.requests.drafts import Draft, DraftBook
from judges.craft.language.requests.simple import unified
from judges.craft.language.requests.statements import Statements
from judges.craft.language.text.numbering import counted
from judges.craft.language.text.tokens import sentences
from judges.craft.language.understanding.perspective import remarks_in
from judges.craft.language.understanding.review import looked_at_again
from judges.craft.language.words.items import Stretch
from judges.craft.language.words.lexer import lexed

__all__ = ["read"]

_ASKING = frozenset(("did", "was", "were", "has", "have", "why", "who", "whose", "does"))
"""First words of questions that are no requests, unlike ``could`` or ``is there a way``."""


def read(text: str, speaker: str, board: Mapping[str, Sequence[str]]) -> TextReading:
    """Give the claims of a public message or of private reasoning.

    ``speaker`` is ``D1``, ``D2`` or ``D3``: places are read in that director's frame (formats, 4.2). ``board`` maps cells to stacks
    of block codes, bottom to top, before the builder's move.

    Raises:
        ValueError: the speaker is no director.
    """
    if speaker not in WALLS:
        raise ValueError(f"speaker {speaker!r} is no director; it must be one of {', '.join(WALLS)}")
    scene = Scene(speaker, board)
    book = DraftBook(scene)
    actions, statements = Actions(book), Statements(book)
    section: int | None = None
    words = counted(sentences(text))
    told = [lexed(sentence) for sentence in words]
    for number, (items, _) in enumerate(told):
        sentence = [token.word for token in words[number]]
        section = _section(items, section)
        begun = len(book.drafts)
        withdraw(items, book)
        for again, part in enumerate(parts(without_void(items))):
            written = len(book.drafts)
            clauses = clauses_of(part, number)
            for clause in clauses:
                _read_clause(clause, actions, statements, section)
            if not _is_stack(book.drafts[written:]):
                _fill_layers(book.drafts[written:], _only_layer(part, clauses))
            if again:
                amend(book, written, clauses)
        unified(book, begun, items)
        if is_imagined(sentence):
            book.drafts[begun:] = []
        elif sentence[-1:] == ["?"] and sentence[0] in _ASKING and sentence[:2] != ["why", "not"]:
            for draft in book.drafts[begun:]:
                draft.verb = "ask"  # "Did the builder put it there?"
    claims, unread = looked_at_again(settle(book.drafts), words, told, list(remarks_in(text)), scene)
    return TextReading(claims=claims, unread=unread)


def _read_clause(clause: Clause, actions: Actions, statements: Statements, section: int | None) -> None:
    book = actions.book
    written = len(book.drafts)
    if "if" in clause.marks and not clause.personal:
        return
    (actions if clause.kind.startswith("act") else statements).read(clause)
    book.drafts[written:] = _steered(book.drafts[written:], clause)
    _fill_layers(book.drafts[written:], section)


def _section(items: Sequence[Stretch], current: int | None) -> int | None:
    """Give the layer that a heading such as ``Top layer:`` sets for its list; any other mention of a layer ends it."""
    layers = [item for item in items if item.kind == "layer"]
    if not layers:
        return current
    if len(layers) == 1 and [item.value for item in items[-2:]] == [":", "\n"]:
        return layers[0].number
    opening = [item for item in items if item.kind not in ("wall", "prep")][:2]
    heading = len(layers) == 1 and opening[0] is layers[0] and len(opening) > 1 and opening[1].value == ":"
    return layers[0].number if heading else None


def _is_stack(drafts: Sequence[Draft]) -> bool:
    """Whether several blocks are told for one place, so that one layer cannot hold for all."""
    places = [draft.place.cells for draft in drafts if draft.verb == "place" and draft.place.cells]
    return len(places) > len(set(places))


def _only_layer(items: Sequence[Stretch], clauses: Sequence[Clause]) -> int | None:
    """Give the layer that a whole sentence is about: ``to complete the bottom layer, put ...``; not one that is done or comes later."""
    layers = {item.number for item in items if item.kind == "layer"}
    if len(layers) != 1 or any(item.kind in ("before", "cond", "middle_side", "on_top", "top_of") for item in items):
        return None
    settled = [clause for clause in clauses if clause.kind == "confirm" or clause.denied]
    if any(item.kind == "layer" for clause in settled for item in (*clause.subject, *clause.body)):
        return None
    return layers.pop()


def _fill_layers(drafts: Sequence[Draft], layer: int | None) -> None:
    for draft in drafts:
        place = draft.place
        known = place.cells is not None and place.layer is None and not (place.relative or draft.moved)
        if layer is not None and draft.verb in ("place", "remove", "replace") and known:
            draft.place = replace(place, layer=layer, layer_origin="carried")


def _steered(drafts: list[Draft], clause: Clause) -> list[Draft]:
    """Apply what order words, reasons and purposes say about the drafts of their clause."""
    if "purpose" in clause.marks:
        drafts = [draft for draft in drafts if draft.place.cells is not None or draft.pointing]
    for draft in drafts:
        if "first" in clause.marks:
            draft.first = draft.verb not in ("other", "confirm", "ask")
        draft.explicit = draft.explicit and "because" not in clause.marks
        draft.later = draft.later or "before" in clause.marks
    return drafts
