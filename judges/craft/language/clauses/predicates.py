"""Predicates: helper verbs join the verb they carry, and participles that only describe a block are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judges.craft.language.words.items import PLACES, Stretch

__all__ = ["ACTS", "PREDICATES", "merge_predicates"]

ACTS = frozenset({"act_base", "act_ing", "act_ed"})
PREDICATES = ACTS | {"need", "should", "state", "confirm", "wrong", "empty", "go_away", "belong", "ensure"}
_STAYING = frozenset({"keep", "is", "are", "sitting"})


def merge_predicates(items: list[Stretch]) -> list[Stretch]:
    """Join helper verbs to the verb they carry: ``need you to place``, ``should be removed``, ``want it taken off``."""
    result: list[Stretch] = []
    for item in items:
        previous = next((other for other in reversed(result) if other.kind not in ("first", "instead")), None)
        if previous is None:
            result.append(item)
        elif _ensured(result) and item.kind in ("state", "act_base") and item.value in _STAYING:
            if item.value == "keep":
                result[:] = [replace(item, start=o.start, end=o.end) if o.kind == "ensure" else o for o in result]
        elif item.kind in ACTS:
            _merge_verb(result, previous, item)
        elif previous.kind == "state" and item.kind in ("confirm", "wrong", "empty", "need", "go_away", "belong"):
            result.remove(previous)
            result.append(replace(item, start=previous.start))
        elif item.kind == previous.kind == "state":
            result[result.index(previous)] = replace(item, start=previous.start)
        elif not (item.kind in ("state", "confirm") and previous.kind in ("need", "state", "confirm", "wrong")):
            result.append(item)
    return result


def _merge_verb(result: list[Stretch], previous: Stretch, item: Stretch) -> None:
    """Join a verb to the helper before it, or leave out a participle that only describes a block."""
    done = item.kind == "act_ed"
    if not done and result and (result[-1].kind, result[-1].value) == ("with", "to"):
        _drop_carrier(result)
    elif previous.kind == "should" and (done or item.value == "place"):
        result.remove(previous)
        item = replace(item, kind="act_ed", start=previous.start, number=1)
    elif previous.kind in ("state", "confirm") and (done or item.value == "place"):
        result.remove(previous)
        item = Stretch(kind="confirm", start=previous.start, end=item.end, value=item.value)
    elif done and item.value != "keep":
        carrier = _carrier(result)
        if carrier is not None:
            result[carrier] = replace(item, start=result[carrier].start, number=2, end=result[carrier].end)
            return
        if any(other.kind in PREDICATES for other in result):
            return
    result.append(item)


def _ensured(result: Sequence[Stretch]) -> bool:
    """Whether the talk is of ``make sure`` and the block it is about."""
    last = next((item for item in reversed(result) if item.kind in PREDICATES or item.kind in ("comma", "but")), None)
    return last is not None and last.kind == "ensure"


def _drop_carrier(result: list[Stretch]) -> None:
    """Forget ``need (you) to`` before a verb, so that the verb itself is the predicate."""
    result.pop()
    while (
        result
        and result[-1].kind in ("subject", "first", "pron")
        and len(result) > 1
        and any(o.kind in ("need", "ensure", "should") for o in result[-3:])
    ):
        result.pop()
    if result and result[-1].kind in ("need", "state", "ensure", "should"):
        carrier = result.pop()
        result.append(Stretch(kind="subject", start=carrier.start, end=carrier.end, value="i"))


def _carrier(result: Sequence[Stretch]) -> int | None:
    """Find the wish whose object a participle closes: ``I want the red one removed``."""
    for index in range(len(result) - 1, -1, -1):
        if result[index].kind == "need" or (result[index].kind == "state" and result[index].value == "have"):
            blocks = [item for item in result[index + 1 :] if item.kind in ("block", "pron")]
            return index if len(blocks) == 1 else None
        if result[index].kind in PREDICATES or (result[index].kind == "comma" and not _only_places(result[index + 1 :])):
            return None
    return None


def _only_places(items: Sequence[Stretch]) -> bool:
    return all(item.kind in PLACES | {"comma", "prep", "wall"} for item in items)
