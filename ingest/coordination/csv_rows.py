"""Rows of the CSV files that the published players write, and what of them is cut."""

from __future__ import annotations

import csv
import io
import sys
from typing import NamedTuple

from ingest.reading.json_text import utf8
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["TextTable", "read_rows"]


class TextTable(NamedTuple):
    """A table of text."""

    names: tuple[str, ...]
    """Of its columns; the first one, which numbers the rows, is empty."""

    rows: list[dict[str, str]]
    """Whole rows, numbered from 0 without a gap."""

    cut: BadInputError | None
    """Why the table ends before the file does; None if it does not."""


def read_rows(data: bytes) -> TextTable:
    """Read a file up to the first row that is cut or missing.

    Raises:
        BadInputError: it has no row.
    """
    csv.field_size_limit(sys.maxsize)
    data = utf8(data)
    reader = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""))
    names = tuple(next(reader, ()))
    if data and not names:
        raise BadInputError("no heading in the first line: the file is damaged")
    rows: list[dict[str, str]] = []
    cut = None
    for fields in reader:
        cut = _fault(names, fields, len(rows))
        if cut is not None:
            break
        rows.append(dict(zip(names, fields, strict=True)))
    if cut is None and rows and not data.endswith((b"\n", b"\r")):
        rows.pop()
        cut = BadInputError("the last row breaks off: the record ends before it", locator=f"row {len(rows)}")
    if not rows:
        raise cut or BadInputError("no row: the game broke off at once, or the file was cut")
    return TextTable(names, rows, cut)


def _fault(names: tuple[str, ...], fields: list[str], expected: int) -> BadInputError | None:
    place = f"row {expected}"
    if len(fields) != len(names):
        reason = f"{len(fields)} fields where the heading has {len(names)}: the record ends before it"
        return BadInputError(reason, locator=place, excerpt=excerpt(",".join(fields)))
    if fields[0] != str(expected):
        return BadInputError(f"row {excerpt(fields[0])!r} comes where {expected} belongs: the record ends there", locator=place)
    return None
