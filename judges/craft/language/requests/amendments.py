"""What takes back earlier words: slips mended on the way (``the left, sorry, the right``), orders withdrawn, things only imagined."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from judges.craft.language.clauses.clauses import Clause
from judges.craft.language.model import INSTRUCTIONS
from judges.craft.language.requests.drafts import Draft, DraftBook
from judges.craft.language.words.items import Stretch

__all__ = ["amend", "is_imagined", "parts", "withdraw", "without_void"]

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
    kept: list[Stretch] = []
    void = False
    for index, item in enumerate(items):
        resumed = item.value == "," and index + 1 < len(items) and items[index + 1].kind in _RESUMING
        void = (void or item.kind == "void") and not (item.kind in ("but", "end") or item.value == ";" or resumed)
        if not void:
            kept.append(item)
    return kept


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
    """Apply what stands behind a repair, whose drafts begin at ``written``, to the request before it."""
    target = next((draft for draft in reversed(book.drafts[:written]) if draft.verb in INSTRUCTIONS and not draft.pointing), None)
    new = [draft for draft in book.drafts[written:] if draft.verb in INSTRUCTIONS]
    if target is None or not clauses or clauses[0].sentence - target.sentence > 1:
        return
    said_again = next((draft for draft in new if draft.color and draft.place.cells), None)
    if said_again is not None:
        said_again.size = said_again.size or target.size
        book.drafts.remove(target)
        return
    del book.drafts[written:]
    for group in (group for clause in clauses for group in (*clause.subject_groups(), *clause.groups())):
        place = book.scene.place_of(group, target.verb)
        _patch(target, group.block, place.cells, place.layer)


def _patch(target: Draft, block: Stretch | None, cells: tuple[str, ...] | None, layer: int | None) -> None:
    if block is not None:
        target.color, target.size = block.color or target.color, block.size or target.size
    if cells is not None:
        target.place = replace(target.place, cells=cells, cells_origin="stated")
    if layer is not None:
        target.place = replace(target.place, layer=layer, layer_origin="stated")
