"""CSV with a header, row by row; the delimiter is the one of comma, semicolon and tab that the header has most of."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from typing import Final

from schemas.errors import BadInputError

__all__ = ["csv_rows", "header_of"]

_DELIMITERS: Final = ",;\t"


def header_of(text: str) -> list[str]:
    """The names of the columns in a text's first line; one alone where no delimiter is there."""
    first = _first_line(text)
    try:
        return [name.strip() for name in next(csv.reader([first], delimiter=_delimiter(first)), [])]
    except csv.Error:
        return []


def csv_rows(text: str) -> Iterator[tuple[int, dict[str, str] | BadInputError]]:
    """Number of its last line and fields of each row below the header that is not blank, or why it cannot be used."""
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=_delimiter(_first_line(text)), strict=True)
    names: list[str] | None = None
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield rows.line_num, BadInputError(f"no CSV ({error}): quote fields that hold the delimiter or a line break")
            continue
        if row is None:
            return
        if not any(field.strip() for field in row):
            continue
        if names is None:
            names = [name.strip() for name in row]
        elif len(row) != len(names):
            yield rows.line_num, BadInputError(f"{len(row)} fields where the header has {len(names)}: quote fields that hold the delimiter")
        else:
            yield rows.line_num, dict(zip(names, row, strict=True))


def _first_line(text: str) -> str:
    return text.removeprefix("\ufeff").lstrip().partition("\n")[0].rstrip("\r")


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)
