"""Sentences about one block: whatever their grammar, the one colour, size, layer and place that they name belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from judges.craft.language.places.walls import WALLS
from judges.craft.language.requests.drafts import Draft, DraftBook
from judges.craft.language.understanding.clause_words import ASKS, TAKES, cues_of
from judges.craft.language.words.items import Stretch
from judges.craft.language.words.vocabulary import word_set

__all__ = ["Named", "named_once", "unified"]

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
    kept = next((draft for draft in drafts if draft.verb == verb), drafts[0])
    others = [draft for draft in drafts if draft is not kept]
    if kept.old is not None or any(draft.verb != verb and (draft.verb != "other" or (draft.color and asked)) for draft in others):
        return
    if kept.verb != verb:
        kept.verb, kept.droppable, kept.explicit = verb, False, False
    kept.color, kept.size = named.color, named.size or kept.size
    kept.start, kept.end = min(draft.start for draft in drafts), max(draft.end for draft in drafts)
    place = kept.place
    if named.cells and place.cells_origin == "stated":
        place = replace(place, cells=named.cells)
    if named.layer is not None:
        place = replace(place, layer=named.layer, layer_origin="stated")
    kept.place = place
    book.drafts[begun:] = [kept]


def _meant(told: str, items: Sequence[Stretch], named: Named, book: DraftBook) -> str:
    """Give what the words around a block ask for after all, where it was taken for a remark or a wish and the board allows it."""
    cues = cues_of(items)
    if not named.cells or named.layer is None or cues & {"denial", "void", "condition", "asking", "board", "praise"}:
        return told
    standing = book.scene.find(color=named.color, size=None, layer=named.layer, cells=named.cells[:1]) is not None
    known = not any(item.kind == "block" and item.indefinite for item in items)
    if standing and known and cues & {"act.remove", "leave"} and "act.place" not in cues and told in ("other", "place"):
        return "remove"
    return "place" if told == "other" and cues & (ASKS - {"target"}) and not cues & TAKES and not standing else told


def _fits(draft: Draft, named: Named) -> bool:
    """Whether a draft gives nothing in its own words that the sentence does not name."""
    cells = draft.place.cells if draft.place.cells_origin == "stated" else None
    return draft.color in (None, named.color) and draft.size in (None, named.size) and set(cells or ()) <= set(named.cells)
