"""Files that hold one JSON value a line, or should."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ingest.reading.json_text import loads
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["Line", "is_whole", "lines_of", "refuse_spread_objects"]


class Line(NamedTuple):
    """A line, and the value on it, or why there is none."""

    locator: str
    value: Any


def lines_of(data: bytes) -> Iterator[Line]:
    """Each line that is not blank, in order; of one that is no JSON the value is a `BadInputError`."""
    for number, text in enumerate(data.split(b"\n"), start=1):
        if not text.strip():
            continue
        locator = f"line {number}"
        try:
            yield Line(locator, loads(text))
        except BadInputError as error:
            yield Line(locator, BadInputError(error.reason, locator=locator, excerpt=error.excerpt))


def refuse_spread_objects(data: bytes) -> None:
    """Refuse a file whose first object is whole, but spread over several lines: one fault, not one a line.

    Raises:
        BadInputError: it is so; says how to write the file again.
    """
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest or is_whole(first):
        return
    text = data.decode(errors="replace").lstrip()
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):  # cut or damaged: told line by line
        return
    if "\n" in text[:end]:
        raise BadInputError(
            "not JSON Lines: an object is spread over several lines, so the file is lost; write one object a line (jq -c . FILE > NEW)",
            locator="line 1",
            excerpt=excerpt(text[:200]),
        )


def is_whole(line: bytes) -> bool:
    """Tell whether the bytes are one JSON value."""
    try:
        loads(line)
    except BadInputError:
        return False
    return True
