"""The reader: a director's text, the speaker and the board before the move in, claims out; also as the records of `cotrace claims`.

After each sentence its drafts may change: corrections on the way (``the left, sorry, the right``), withdrawn orders, imagined things. In a
sentence about one block, the one colour, size, layer and place that it names belong together, whatever its grammar.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from judges.craft.language.clause_words import ASKS, TAKES, cues_of
from judges.craft.language.clauses import Clause, clauses_of
from judges.craft.language.drafts import Draft, DraftBook, settle
from judges.craft.language.lexer import lexed
from judges.craft.language.places import WALLS, Scene, remarks_in
from judges.craft.language.requests import Actions, Statements
from judges.craft.language.review import second_pass
from judges.craft.language.tokens import counted, sentences
from judges.craft.language.vocabulary import INSTRUCTIONS, Claim, Stretch, TextReading, word_set
from schemas.common.errors import BadInputError

_UNREAL = frozenset(("were", "turned", "turns", "had", "ever", "someday", "later", "wanted"))
_RESUMING = frozenset(("subject", "act_base", "then", "first"))
_MODAL = frozenset(("would", "might", "could"))


def parts(items: Sequence[Stretch]) -> list[list[Stretch]]:
    """Split a sentence at its repairs; the first part may be empty."""
    result: list[list[Stretch]] = [[]]
    for item in items:
        if item.kind == "repair":
            result.append([])
        else:
            result[-1].append(item)
    return result


def without_void(items: list[Stretch]) -> list[Stretch]:
    """Leave out what is only reported, imagined or ruled out: from ``I was going to`` to the next ``but`` or semicolon."""
    retained: list[Stretch] = []
    void = False
    for index, item in enumerate(items):
        resumed = item.value == "," and index + 1 < len(items) and items[index + 1].kind in _RESUMING
        void = (void or item.kind == "void") and not (item.kind in ("but", "end") or item.value == ";" or resumed)
        if not void:
            retained.append(item)
    return retained


def is_imagined(words: Sequence[str]) -> bool:
    """Tell ``if the left were empty, I would ask for red`` from the polite ``if you could put a red block there``."""
    if "if" not in words:
        return False
    begin = words.index("if")
    condition = words[begin + 1 : begin + 1 + next((at for at, word in enumerate(words[begin + 1 :]) if word == ","), len(words))]
    unreal = bool(_UNREAL & set(condition)) and not _MODAL.isdisjoint(words)
    wishing = any(pair in itertools.product(("i", "we"), _MODAL) for pair in itertools.pairwise(words))
    another = condition[:1] in (["d1"], ["d2"], ["d3"], ["nobody"], ["someone"], ["somebody"])
    return (unreal or (wishing and another)) and "you" not in condition[:1]


def withdraw(items: Sequence[Stretch], book: DraftBook) -> None:
    """Turn the requests of the last sentences into mere talk: ``please do not act on that yet``, ``forget it``."""
    taken_back = next((at for at, item in enumerate(items) if item.kind == "retract"), None)
    if taken_back is None or any(item.kind == "director" for item in items):
        return
    for draft in book.drafts:
        if draft.verb in INSTRUCTIONS:
            draft.verb, draft.droppable = "other", True


def amend(book: DraftBook, written: int, clauses: Sequence[Clause]) -> None:
    """Apply what follows a repair, whose drafts begin at ``written``, to the request before it."""
    target = next((draft for draft in reversed(book.drafts[:written]) if draft.verb in INSTRUCTIONS and not draft.pointing), None)
    new = [draft for draft in book.drafts[written:] if draft.verb in INSTRUCTIONS]
    if target is None or not clauses or clauses[0].sentence - target.sentence > 1:
        return
    repeated = next((draft for draft in new if draft.color and draft.place.cells), None)
    if repeated is not None:
        repeated.size = repeated.size or target.size
        book.drafts.remove(target)
        return
    del book.drafts[written:]
    for group in (group for clause in clauses for group in (*clause.subject_groups(), *clause.groups())):
        place = book.scene.place_of(group, target.verb)
        block = group.block
        if block is not None:
            target.color, target.size = block.color or target.color, block.size or target.size
        if place.cells is not None:
            target.place = replace(target.place, cells=place.cells, cells_origin="stated")
        if place.layer is not None:
            target.place = replace(target.place, layer=place.layer, layer_origin="stated")


_Value = TypeVar("_Value")
_INTRICATE = word_set("simple", "intricate")
"""Items with which a sentence means more than the sum of what it names."""

_TWO_BLOCKS = frozenset({"replace", "move", "cap"})
_WIDTH = {"s": (0, 1), "l": (0, 1, 2), None: (0, 1)}
"""Size -> how many cells may be named."""

_ASKED = ("place", "remove")


class Named(NamedTuple):
    """What a sentence names; None or empty where nothing of the kind."""

    color: str | None
    size: str | None
    cells: tuple[str, ...]
    layer: int | None


def named_once(items: Sequence[Stretch], speaker: str) -> Named | None:
    """Give what a sentence names; None if it names two of a kind, or puts things in relation."""
    if any(item.kind in _INTRICATE or (item.kind.startswith("act") and item.value in _TWO_BLOCKS) for item in items):
        return None
    blocks = [item for item in items if item.kind == "block"]
    colors, sizes = _kinds(block.color for block in blocks), _kinds(block.size for block in blocks)
    layers = _kinds(item.number for item in items if item.kind == "layer")
    cells = _cells(items, speaker)
    odd = any(block.absent or block.topmost or (block.number or 1) > 1 for block in blocks)
    if odd or cells is None or max(len(colors), len(sizes), len(layers)) > 1:
        return None
    size = next(iter(sizes), None)
    if len(cells) not in _WIDTH[size]:
        return None
    return Named(next(iter(colors), None), size, cells, next(iter(layers), None))


def _kinds(values: Iterable[_Value | None]) -> set[_Value]:
    return {value for value in values if value is not None}


def _cells(items: Sequence[Stretch], speaker: str) -> tuple[str, ...] | None:
    walls = {f"D{item.number}" for item in items if item.kind == "director"} or {speaker}
    found: set[str] = set()
    for item in items:
        if item.kind == "cell":
            found.add(item.value)
        elif item.kind in ("side", "cells"):
            if len(walls) > 1 or item.value in ("?", "side") or (item.kind == "side" and item.number is None):
                return None
            (wall,) = walls
            places = [item.number or 0] if item.kind == "side" else [int(digit) for digit in item.value]
            found |= {WALLS[wall][place] for place in places}
    return tuple(cell for wall in WALLS.values() for cell in wall if cell in found) if not found else tuple(sorted(found))


def unified(book: DraftBook, begun: int, items: Sequence[Stretch]) -> None:
    """Make one draft of those from ``begun`` on where their sentence names only one of everything."""
    drafts = book.drafts[begun:]
    named = named_once(items, book.scene.speaker)
    if named is None or named.color is None or not drafts or any(draft.pointing or draft.tentative for draft in drafts):
        return
    asked = {draft.verb for draft in drafts if draft.verb in _ASKED}
    if len(asked) > 1 or not all(_fits(draft, named) for draft in drafts):
        return
    verb = _meant(next(iter(asked), drafts[0].verb), items, named, book)
    retained = next((draft for draft in drafts if draft.verb == verb), drafts[0])
    others = [draft for draft in drafts if draft is not retained]
    if retained.old is not None or any(draft.verb != verb and (draft.verb != "other" or (draft.color and asked)) for draft in others):
        return
    if retained.verb != verb:
        retained.verb, retained.droppable, retained.explicit = verb, False, False
    retained.color, retained.size = named.color, named.size or retained.size
    retained.start, retained.end = min(draft.start for draft in drafts), max(draft.end for draft in drafts)
    place = retained.place
    if named.cells and place.cells_origin == "stated":
        place = replace(place, cells=named.cells)
    if named.layer is not None:
        place = replace(place, layer=named.layer, layer_origin="stated")
    retained.place = place
    book.drafts[begun:] = [retained]


def _meant(reported: str, items: Sequence[Stretch], named: Named, book: DraftBook) -> str:
    """Give what the words around a block ask for after all, where it was taken for a remark or a wish and the board allows it."""
    cues = cues_of(items)
    if not named.cells or named.layer is None or cues & {"denial", "void", "condition", "asking", "board", "praise"}:
        return reported
    standing = book.scene.find(color=named.color, size=None, layer=named.layer, cells=named.cells[:1]) is not None
    known = not any(item.kind == "block" and item.indefinite for item in items)
    if standing and known and cues & {"act.remove", "leave"} and "act.place" not in cues and reported in ("other", "place"):
        return "remove"
    return "place" if reported == "other" and cues & (ASKS - {"target"}) and not cues & TAKES and not standing else reported


def _fits(draft: Draft, named: Named) -> bool:
    """Whether a draft gives nothing in its own words that the sentence does not name."""
    cells = draft.place.cells if draft.place.cells_origin == "stated" else None
    return draft.color in (None, named.color) and draft.size in (None, named.size) and set(cells or ()) <= set(named.cells)


_ASKING = frozenset(("did", "was", "were", "has", "have", "why", "who", "whose", "does"))
"""First words of questions that are no requests, unlike ``could`` or ``is there a way``."""


def read(text: str, speaker: str, board: Mapping[str, Sequence[str]]) -> TextReading:
    """Give the claims of a public message or of private reasoning.

    ``speaker`` is ``D1``, ``D2`` or ``D3``: places are read in that director's frame (formats, 4.2). ``board`` maps cells to stacks
    of block codes, bottom to top, before the builder's move.

    Raises:
        ValueError: the speaker is not a director.
    """
    if speaker not in WALLS:
        raise ValueError(f"speaker {speaker!r} is not a director; it must be one of {', '.join(WALLS)}")
    scene = Scene(speaker, board)
    book = DraftBook(scene)
    actions, statements = Actions(book), Statements(book)
    section: int | None = None
    words = counted(sentences(text))
    reported = [lexed(sentence) for sentence in words]
    for number, (items, _) in enumerate(reported):
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
    claims, unread = second_pass(settle(book.drafts), words, reported, list(remarks_in(text)), scene)
    return TextReading(claims=claims, unread=unread)


def _read_clause(clause: Clause, actions: Actions, statements: Statements, section: int | None) -> None:
    book = actions.book
    written = len(book.drafts)
    if "if" in clause.marks and not clause.personal:
        return
    (actions if clause.kind.startswith("act") else statements).read(clause)
    drafts = book.drafts[written:]
    if "purpose" in clause.marks:
        drafts = [draft for draft in drafts if draft.place.cells is not None or draft.pointing]
    for draft in drafts:
        if "first" in clause.marks:
            draft.first = draft.verb not in ("other", "confirm", "ask")
        draft.explicit = draft.explicit and "because" not in clause.marks
        draft.later = draft.later or "before" in clause.marks
    book.drafts[written:] = drafts
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
    """Whether several blocks are named for one place, so that one layer cannot hold for all."""
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
        raise BadInputError(f"{where}: speaker {speaker!r} is not a director; give one of {', '.join(WALLS)}", locator="speaker")
    board = record.get("board_before")
    if not isinstance(board, Mapping):
        raise BadInputError(f"{where}: board_before must map cells such as '(0,1)' to lists of block codes", locator="board_before")
    for cell, stack in board.items():
        if not isinstance(stack, list) or not all(
            isinstance(code, str) and code[:1] and code[0] in "gbryo" and code[1:] in ("s", "l") for code in stack
        ):
            raise BadInputError(f"{where}: the stack of cell {cell} must be a list of codes such as 'bs', bottom first",
                                locator=f"board_before[{cell}]")  # fmt: skip
    return name, speaker, _text(record, "utterance", where), dict(board)


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
