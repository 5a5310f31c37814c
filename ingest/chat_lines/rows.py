"""Rows out of JSON Lines, JSON, Parquet and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from datetime import time as clock
from decimal import Decimal
from io import BytesIO
from typing import Any, Final

from ingest.chat_lines.conversations import Row
from ingest.reading.csv_rows import csv_rows, header_of
from ingest.reading.json_lines import is_whole, lines_of
from ingest.reading.json_text import loads
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["PARQUET", "csv_columns", "parquet_rows", "rows_of"]

PARQUET: Final = b"PAR1"

_BATCH_ROWS: Final = 256
_ALWAYS_READ: Final = 256 * 2**20
_TIMES: Final = 100
"""A Parquet file may unpack to 256 MiB, or to a hundred times its size: a few kilobytes can stand for more than any memory holds."""


def rows_of(data: bytes, rejects: list[BadInputError], within: str | None = None) -> Iterator[Row]:
    """The rows of a file; one that is no object goes to `rejects`.

    Args:
        data: the file.
        rejects: takes what is no row.
        within: name, with points, under which objects of the file hold their rows; None: the objects are the rows.

    Raises:
        BadInputError: the file is damaged as a whole.
    """
    found = _rows(data, rejects)
    for row in found if within is None else _inner(found, within, rejects):
        if isinstance(row.values, Mapping):
            yield row
        else:
            rejects.append(BadInputError("no object: a row has columns", locator=row.locator, excerpt=excerpt(str(row.values))))


def _inner(outer: Iterator[Row], within: str, rejects: list[BadInputError]) -> Iterator[Row]:
    for row in outer:
        held: Any = row.values
        for name in within.split("."):
            held = held.get(name) if isinstance(held, Mapping) else None
        if not isinstance(held, list):
            reason = f"no list under {within}, which the mapping names as conversation.rows: name where the rows are"
            rejects.append(BadInputError(reason, locator=row.locator))
            continue
        for index, values in enumerate(held):
            yield Row(f"{row.locator} {within}[{index}]".strip(), values)


def csv_columns(data: bytes) -> list[str]:
    """The columns that a file's first line names, if it may be CSV: text that begins as no JSON does, with several names."""
    if data.startswith(PARQUET) or data.lstrip()[:1] in {b"{", b"["}:
        return []
    names = header_of(data.decode(errors="replace"))
    return names if len(names) > 1 else []


def _rows(data: bytes, rejects: list[BadInputError]) -> Iterator[Row]:
    if data.startswith(PARQUET):
        return parquet_rows(data)
    return _csv_rows(data, rejects) if csv_columns(data) else _json_rows(data, rejects)


def _csv_rows(data: bytes, rejects: list[BadInputError]) -> Iterator[Row]:
    """One row after the other; a field without text holds nothing."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadInputError(f"byte {error.start} is not UTF-8: convert the file first (iconv -f latin1 -t utf-8)") from error
    for number, fields in csv_rows(text):
        if isinstance(fields, BadInputError):
            rejects.append(BadInputError(fields.reason, locator=f"line {number}"))
        else:
            yield Row(f"line {number}", {name: field or None for name, field in fields.items()})


def _json_rows(data: bytes, rejects: list[BadInputError]) -> Iterator[Row]:
    """One object a line; or a whole document: an object, or a list of them."""
    if is_whole(data.lstrip().partition(b"\n")[0]) and b"\n" in data.strip():
        for line in lines_of(data):
            if isinstance(line.value, BadInputError):
                rejects.append(line.value)
            else:
                yield Row(line.locator, line.value)
        return
    document = loads(data)
    entries: list[Any] = document if isinstance(document, list) else [document]
    for index, entry in enumerate(entries):
        yield Row(f"[{index}]" if isinstance(document, list) else "", entry)


def parquet_rows(data: bytes) -> Iterator[Row]:
    """The rows of a Parquet file, with plain values, some at a time.

    Raises:
        BadInputError: it is damaged, or unpacks to far more than it is.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        number, unpacked = 0, 0
        for batch in pq.ParquetFile(BytesIO(data)).iter_batches(_BATCH_ROWS):
            unpacked += batch.nbytes
            if unpacked > max(_ALWAYS_READ, _TIMES * len(data)):
                raise BadInputError(
                    f"it unpacks to more than {unpacked // 2**20} MiB, {_TIMES} times its size: split it into smaller files"
                )
            for values in batch.to_pylist():
                number += 1
                yield Row(f"row {number}", {key: _plain(value) for key, value in values.items() if value is not None})
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:  # the latter two: values beyond what Python has for them
        raise BadInputError(f"the Parquet file cannot be read ({excerpt(str(error))}): it was cut or damaged, copy it again") from error


def _plain(value: Any) -> Any:
    """A value of Parquet as JSON has it."""
    if isinstance(value, str | bool | int | float | None):
        return value
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date | clock) else str(value)
