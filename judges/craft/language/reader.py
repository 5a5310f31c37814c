"""The reader: free director text, the speaker and the board before the move in, claims out; also as the records of `cotrace claims`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from judges.craft.language.amendments import amend, is_imagined, parts, unified, withdraw, without_void
from judges.craft.language.claims import Claim, TextReading
from judges.craft.language.clauses import Clause, clauses_of
from judges.craft.language.drafts import Draft, DraftBook, settle
from judges.craft.language.lexer import lexed
from judges.craft.language.perspective import remarks_in
from judges.craft.language.places import WALLS, Scene
from judges.craft.language.requests import Actions, Statements
from judges.craft.language.review import second_pass
from judges.craft.language.tokens import counted, sentences
from judges.craft.language.vocabulary import Stretch
from schemas.common.errors import BadInputError

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
    claims, unread = second_pass(settle(book.drafts), words, told, list(remarks_in(text)), scene)
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


def claims_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Read one record ``{id, speaker, utterance, board_before}`` and give ``{id, claims}``.

    Raises:
        BadInputError: a field is missing or has the wrong form; the message names it and the fix.
    """
    name, speaker, text, board = checked_record(record)
    return {"id": name, "claims": [claim_record(claim) for claim in read(text, speaker, board).claims]}


def checked_record(record: Mapping[str, Any]) -> tuple[str, str, str, dict[str, Sequence[str]]]:
    """The id, speaker, text and board of one record.

    Raises:
        BadInputError: a field is missing or has the wrong form; the message names it and the fix.
    """
    name = _text(record, "id", "?")
    where = f"record {name!r}"
    speaker = _text(record, "speaker", where)
    if speaker not in WALLS:
        raise BadInputError(f"{where}: speaker {speaker!r} is no director; give one of {', '.join(WALLS)}", locator="speaker")
    return name, speaker, _text(record, "utterance", where), _board(record, where)


def claim_record(claim: Claim) -> dict[str, Any]:
    """Give the claim as the annotated claims are written: verb, color, size, cells, layer, first and, if named, old."""
    result: dict[str, Any] = {
        "verb": claim.verb,
        "color": claim.color,
        "size": claim.size,
        "cells": list(claim.cells) if claim.cells is not None else None,
        "layer": claim.layer,
        "first": claim.first,
    }
    if claim.old is not None:
        result["old"] = {"color": claim.old.color, "size": claim.old.size}
    return result


def _text(record: Mapping[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        what = "is missing" if key not in record else f"is {type(value).__name__}, not text"
        raise BadInputError(f"{where}: {key} {what}; give {key} as a text", locator=key)
    return value


def _board(record: Mapping[str, Any], where: str) -> dict[str, Sequence[str]]:
    board = record.get("board_before")
    if not isinstance(board, Mapping):
        raise BadInputError(f"{where}: board_before must map cells such as '(0,1)' to lists of block codes", locator="board_before")
    for cell, stack in board.items():
        if not isinstance(stack, list) or not all(
            isinstance(code, str) and code[:1] and code[0] in "gbryo" and code[1:] in ("s", "l") for code in stack
        ):
            raise BadInputError(f"{where}: the stack of cell {cell} must be a list of codes such as 'bs', bottom first",
                                locator=f"board_before[{cell}]")  # fmt: skip
    return dict(board)
