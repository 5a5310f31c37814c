"""Damages a log: its bytes as broken copies and disks do, its values as broken programs and people do."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from tests.fuzz.documents import Document, Layout, Place, members_of, packed, places, read_document, value_at

_HOSTILE: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    7,
    2**31,
    2**63,
    -(2**63) - 1,
    10**40,
    0.5,
    -0.0,
    1e308,
    1e400,
    float("nan"),
    "",
    " ",
    "0",
    "null",
    "text",
    "\u0000\x1b[31m",
    "\ud83d",
    "</script><img src=x onerror=alert(1)>",
    "'; DROP TABLE episodes; --",
    "x" * 70_000,
    "(0,0)",
    "room 1",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"a": {"b": [1, "2", None]}},
    ["(0,0)", "(0,1)"],
)
"""Values that some program has once written where another belonged."""

_HOSTILE_IN: Final[Mapping[Layout, tuple[Any, ...]]] = {
    "parquet": (
        b"",
        b"\xff\xfe{",
        datetime.max.replace(tzinfo=UTC),
        date.min,
        timedelta.max,
        Decimal("1e-30"),
        Decimal(10) ** 30,
        [1, None],
        {"a": b"\xff"},
    ),
}
"""The same, of values that only some layouts can hold."""

_NUMBER: Final = re.compile(rb"\d+")
_DEEP: Final = 3_000
_LONG: Final = b"9" * 5_000
"""Python makes no number of so many digits out of a text."""
_MOST_CHANGES: Final = 4


def damaged(data: bytes, draw: random.Random) -> bytes:
    """Damage a log in one to four ways; the same draw gives the same bytes."""
    document: Document | None = None
    if draw.random() < 0.75:  # most damage is to values: bytes alone seldom reach the adapters
        document = read_document(data)
        for _ in range(draw.randint(1, _MOST_CHANGES)):
            draw.choice(_TO_VALUES)(document, draw)
        data = _written(document, data)
    if document is None or draw.random() < 0.2:
        data = _in_bytes(data, draw)
    return data


def _in_bytes(data: bytes, draw: random.Random) -> bytes:
    """Damage the bytes; of an archive also those of a member, so that what unpacks it is not alone in seeing damage."""
    members = members_of(data)
    if members and draw.random() < 0.5:
        name = draw.choice(sorted(members))
        return packed(members | {name: _in_bytes(members[name], draw)})
    for _ in range(draw.randint(1, _MOST_CHANGES)):
        data = draw.choice(_TO_BYTES)(data, draw)
    return data


def _written(document: Document, before: bytes) -> bytes:
    """The damaged document; where it cannot be written in its layout any more, the sound bytes."""
    try:
        return document.to_bytes()
    except (AttributeError, TypeError, ValueError, NotImplementedError):
        return before


# -- values -------------------------------------------------------------------------------------------------------------------------------


def _somewhere(document: Document, draw: random.Random) -> Place | None:
    """A place, deep and shallow ones alike: first a depth, then a place of it."""
    by_depth: dict[int, list[Place]] = {}
    for place in places(document):
        by_depth.setdefault(len(place), []).append(place)
    return draw.choice(by_depth[draw.choice(sorted(by_depth))]) if by_depth else None


def _put(document: Document, place: Place, value: Any) -> None:
    value_at(document, place[:-1])[place[-1]] = copy.deepcopy(value)  # else later damage would reach all its places at once


def _replace(document: Document, draw: random.Random) -> None:
    place = _somewhere(document, draw)
    if place is not None:
        _put(document, place, draw.choice((*_HOSTILE, *_HOSTILE_IN.get(document.layout, ()))))


def _retype(document: Document, draw: random.Random) -> None:
    """The same value as another type: a number in quotes, a text in a list."""
    place = _somewhere(document, draw)
    if place is not None:
        value = value_at(document, place)
        _put(document, place, draw.choice((str(value), [value], {"value": value}, not value)))


def _remove(document: Document, draw: random.Random) -> None:
    place = _somewhere(document, draw)
    if place is not None:
        del value_at(document, place[:-1])[place[-1]]


def _splice(document: Document, draw: random.Random) -> None:
    """A value of another place."""
    first, second = _somewhere(document, draw), _somewhere(document, draw)
    if first is not None and second is not None and second[: len(first)] != first != second:
        _put(document, second, value_at(document, first))


def _double(document: Document, draw: random.Random) -> None:
    place = _somewhere(document, draw)
    if place is not None:
        holder = value_at(document, place[:-1])
        if isinstance(holder, list):
            holder.insert(draw.randint(0, len(holder)), holder[int(place[-1])])
        else:
            holder[f"{place[-1]}x"] = holder[place[-1]]


def _shuffle(document: Document, draw: random.Random) -> None:
    place = _somewhere(document, draw)
    if place is not None and isinstance(value_at(document, place[:-1]), list):
        draw.shuffle(value_at(document, place[:-1]))


def _rename(document: Document, draw: random.Random) -> None:
    place = _somewhere(document, draw)
    if place is not None:
        holder = value_at(document, place[:-1])
        if isinstance(holder, dict):
            holder[draw.choice(("", "turn", "(0, 0)", str(place[-1]).upper()))] = holder.pop(place[-1])


def _count(document: Document, draw: random.Random) -> None:
    """A number that is off by one, or by far."""
    numbers = [place for place in places(document) if type(value_at(document, place)) in {int, float}]
    if numbers:
        place = draw.choice(numbers)
        _put(document, place, value_at(document, place) + draw.choice((1, -1, 1000, -1000, 0.5)))


def _within(document: Document, draw: random.Random) -> None:
    """A value of JSON that stands in a text."""
    texts = [place for place in places(document) if _holds_json(value_at(document, place))]
    if texts:
        place = draw.choice(texts)
        inner = Document("json", json.loads(value_at(document, place)))
        draw.choice(_TO_VALUES)(inner, draw)
        _put(document, place, json.dumps(inner.root))


def _holds_json(value: Any) -> bool:
    if not isinstance(value, str) or value[:1] not in {"{", "["}:
        return False
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


_TO_VALUES: Final[Sequence[Callable[[Document, random.Random], None]]] = (
    _replace,
    _replace,
    _retype,
    _remove,
    _splice,
    _double,
    _shuffle,
    _rename,
    _count,
    _within,
)


# -- bytes --------------------------------------------------------------------------------------------------------------------------------


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randint(0, len(data))]


def _beheaded(data: bytes, draw: random.Random) -> bytes:
    return data[draw.randint(0, len(data)) :]


def _hole(data: bytes, draw: random.Random) -> bytes:
    first, last = sorted(draw.randint(0, len(data)) for _ in range(2))
    return data[:first] + data[last:]


def _zeros(data: bytes, draw: random.Random) -> bytes:
    """Blocks of a file that never reached the disk."""
    first = draw.randint(0, len(data))
    return data[:first] + bytes(min(4096, len(data) - first)) + data[first + 4096 :]


def _flipped(data: bytes, draw: random.Random) -> bytes:
    if not data:
        return data
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1 :]


def _lengthened(data: bytes, draw: random.Random) -> bytes:
    numbers = [found.span() for found in _NUMBER.finditer(data)]
    first, last = draw.choice(numbers) if numbers else (0, 0)
    return data[:first] + _LONG + data[last:]


def _twice(data: bytes, draw: random.Random) -> bytes:
    first, last = sorted(draw.randint(0, len(data)) for _ in range(2))
    return data[:last] + data[first:last] + data[last:]


def _inserted(data: bytes, draw: random.Random) -> bytes:
    at = draw.randint(0, len(data))
    odd = draw.choice((b"\xff\xfe", b"\r\n", b"}", b"]", b'"', b",", b"NaN", b"\x00", b"[" * _DEEP, b"9" * 5000, draw.randbytes(20)))
    return data[:at] + odd + data[at:]


def _recoded(data: bytes, draw: random.Random) -> bytes:
    return data.decode(errors="replace").encode(draw.choice(("utf-16", "utf-8-sig", "latin-1", "utf-32")), errors="replace")


_TO_BYTES: Final[Sequence[Callable[[bytes, random.Random], bytes]]] = (
    _cut,
    _beheaded,
    _hole,
    _zeros,
    _flipped,
    _twice,
    _inserted,
    _recoded,
    _lengthened,
)
