"""Changes of one value of a log: to another that could stand there, to one that could not, or away."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tests.fuzz.documents import Document, Place, field_of, places, value_at

_GARBLED: Final = " (changed) "
_NUMBER: Final = re.compile(r"\d+")


class Change(NamedTuple):
    """A log with one value changed."""

    field: str
    kind: str
    """What was done: `another value`, `negative`, `above one`, `garbled`, `a number in it`, `left out`; of a list's entries `one fewer`,
    `one twice`, `swapped`, `entry left out`."""

    data: bytes


def changes_of(document: Document, occurrences: int, seed: int = 0) -> Iterator[Change]:
    """Change every field in a few of its places, in every way that its values allow.

    Args:
        document: the sound log; it is the same again afterwards.
        occurrences: how many places of each field: the first, the last, and others drawn from the seed.
        seed: fixes the draw.
    """
    draw = random.Random(seed)
    by_field: dict[str, list[Place]] = defaultdict(list)
    for place in places(document):
        if document.layout != "text" or _is_token(document, place):
            by_field[field_of(document, place)].append(place)
    seen = {document.to_bytes()}
    for field, found in by_field.items():
        for place in _some(found, occurrences, draw):
            for change in _changes(document, field, place, found):
                if change.data not in seen:
                    seen.add(change.data)
                    yield change


def _is_token(document: Document, place: Place) -> bool:
    """Of a text: its lines as wholes, and the numbers and words in them."""
    return len(place) == 1 or str(value_at(document, place)).isalnum()


def _some(found: Sequence[Place], occurrences: int, draw: random.Random) -> list[Place]:
    if len(found) <= occurrences:
        return list(found)
    inner = draw.sample(found[1:-1], max(0, occurrences - 2))
    return [found[0], *inner, found[-1]][:occurrences]


def _changes(document: Document, field: str, place: Place, siblings: Sequence[Place]) -> Iterator[Change]:
    value = value_at(document, place)
    *way, last = place
    holder = value_at(document, tuple(way))
    others = [value_at(document, other) for other in siblings] if not isinstance(value, list | dict) else []
    for kind, changed in _values(value, others).items():
        holder[last] = changed
        yield Change(field, kind, document.to_bytes())
        holder[last] = value
    if isinstance(holder, dict):
        yield from _left_out(document, field, holder, last)
    elif not isinstance(value, str | int | float):
        del holder[last]
        yield Change(field, "entry left out", document.to_bytes())
        holder.insert(last, value)


def _left_out(document: Document, field: str, holder: dict[Any, Any], key: Any) -> Iterator[Change]:
    if document.layout == "csv":
        return  # a cell is empty or it is not; a row has all of them
    before = dict(holder)
    del holder[key]
    yield Change(field, "left out", document.to_bytes())
    holder.clear()
    holder.update(before)


def _values(value: Any, others: Sequence[Any]) -> Mapping[str, Any]:
    """Kind of change -> the value that stands there instead."""
    if isinstance(value, bool):
        return {"another value": not value}
    if isinstance(value, int | float):
        return _numbers(value, others)
    if isinstance(value, str):
        return _texts(value, others)
    if isinstance(value, list):
        return _lists(value)
    if value is None:
        known = [other for other in others if other is not None]
        return {"another value": known[0]} if known else {}
    return {}


def _numbers(value: float, others: Sequence[Any]) -> Mapping[str, Any]:
    numbers = [other for other in others if isinstance(other, int | float) and not isinstance(other, bool)]
    is_share = isinstance(value, float) and all(0 <= number <= 1 for number in numbers)
    another = next((number for number in numbers if number != value), value + 1 if not is_share else (value + 0.37) % 1)
    return {"another value": another, "negative": -abs(value) - 1} | ({"above one": value + 1.5} if is_share else {})


def _texts(value: str, others: Sequence[Any]) -> Mapping[str, Any]:
    if value.isdigit():
        return {"another value": str(int(value) + 1), "garbled": value + "x"}
    another = next((other for other in others if isinstance(other, str) and other != value and other), None)
    middle = len(value) // 2
    garbled = value[:middle] + _GARBLED + value[middle:]
    found = {} if another is None else {"another value": another}
    return {**found, "garbled": garbled, **_numbers_inside(value)}


def _numbers_inside(text: str) -> Mapping[str, str]:
    """The text with the number in its middle one higher."""
    found = list(_NUMBER.finditer(text))
    if not found or len(text) == len(found[0][0]):
        return {}
    number = found[len(found) // 2]
    return {"a number in it": f"{text[: number.start()]}{int(number[0]) + 1}{text[number.end() :]}"}


def _lists(value: list[Any]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    if value:
        found |= {"one fewer": value[:-1], "one twice": [*value, value[-1]]}
    if len(value) > 1 and value[0] != value[1]:
        found["swapped"] = [value[1], value[0], *value[2:]]
    return found
