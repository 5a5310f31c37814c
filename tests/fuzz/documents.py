"""A log as a tree of values that can be changed one at a time, whatever its layout: JSON, lines or archives of it, CSV, Parquet, text."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

Layout = Literal["json", "lines", "csv", "text", "archive", "parquet"]

Place = tuple[str | int, ...]
"""Keys and indices on the way to a value."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]*")
_NUMBERED: Final = re.compile(r"\d$")
_TOKEN: Final = re.compile(r"\d+|[A-Za-z_]+|[^A-Za-z_\d]+")
_LONGEST_TEMPLATE: Final = 60
_ARCHIVE: Final = b"PK"
_PARQUET: Final = b"PAR1"
_HEADING: Final = re.compile(r"[\w ]*(?:,\w[\w ]*)+\r?\n")
"""Of a CSV file."""


class Document(NamedTuple):
    """A log, decoded."""

    layout: Layout
    root: Any
    """JSON: the value. Lines: a list of values. CSV: a list of rows by column. Text: a list of lines, each a list of tokens.
    Archive: the values of its members by name. Parquet: a list of values by column."""

    def to_bytes(self) -> bytes:
        """The log again."""
        return _WRITERS[self.layout](self.root)


def read_document(data: bytes) -> Document:
    """Decode a sound log; its layout shows in the first bytes."""
    if data.startswith(_ARCHIVE):
        return Document("archive", {name: json.loads(member) for name, member in members_of(data).items()})
    if data.startswith(_PARQUET):
        return Document("parquet", pq.read_table(io.BytesIO(data)).to_pydict())
    text = data.decode()
    if text.lstrip()[:1] in {"{", "["}:
        try:
            return Document("json", json.loads(text))
        except json.JSONDecodeError:
            return Document("lines", [json.loads(line) for line in text.splitlines() if line.strip()])
    if text.startswith(",") or _HEADING.match(text):
        return Document("csv", list(csv.DictReader(io.StringIO(text, newline=""))))
    return Document("text", [_TOKEN.findall(line) for line in text.splitlines()])


def members_of(data: bytes) -> dict[str, bytes]:
    """What lies in an archive: name -> bytes; nothing in what is none."""
    if not data.startswith(_ARCHIVE):
        return {}
    import inspect_ai.log  # noqa: F401 - teaches zipfile the compression of newer logs, where Python does not know it

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: Mapping[str, bytes]) -> bytes:
    """An archive of these members, of no time: the same members give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def places(document: Document) -> Iterator[Place]:
    """Every value of the document, containers before what they hold; the document itself is left out."""
    yield from _below(document.root, ())


def value_at(document: Document, place: Place) -> Any:
    """The value at a place."""
    value = document.root
    for step in place:
        value = value[step]
    return value


def field_of(document: Document, place: Place) -> str:
    """The place without what counts or names instances: `turn.actions[].verb`, `state_before.stacks.*`."""
    if document.layout == "text":
        return _template(document.root[place[0]])
    parts: list[str] = []
    value = document.root
    for step in place:
        if isinstance(value, list):
            at_top = value is document.root and document.layout == "lines"
            parts.append(_kind_of_line(value[int(step)]) if at_top else "[]")
        else:
            parts.append(f".{step if document.layout == 'csv' or _are_names(value) else '*'}")
        value = value[step]
    return "".join(parts).lstrip(".") or "line"


def _below(value: Any, place: Place) -> Iterator[Place]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, entry in inner:
        yield (*place, step)
        yield from _below(entry, (*place, step))


def _are_names(value: dict[str, Any]) -> bool:
    """Whether a dictionary's keys are names of fields; those of cells, rooms and layers are values."""
    return all(_NAME.fullmatch(key) and not re.search(r"\d$| \d", key) for key in value)


def _kind_of_line(line: Any) -> str:
    if not isinstance(line, dict):
        return "line"
    kind = line.get("type")
    if isinstance(kind, str) and kind.islower() and "schema" not in line:
        return kind
    return "header" if {"cotrace_log", "game_id"} & set(line) else "end" if set(line) == {"end"} else "turn" if "turn" in line else "line"


def _template(tokens: list[str]) -> str:
    """A line of text with its numbers left open."""
    return "".join("#" if token.isdigit() else token for token in tokens)[:_LONGEST_TEMPLATE].strip() or "(blank line)"


def _lines(root: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in root)


def _csv(root: Any) -> bytes:
    out = io.StringIO(newline="")
    names = max((list(row) for row in root), key=len, default=[])
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(root)
    return out.getvalue().encode()


def _text(root: Any) -> bytes:
    return "".join("".join(tokens) + "\n" for tokens in root).encode()


def _parquet(root: Any) -> bytes:
    rows = max((len(cells) for cells in root.values() if isinstance(cells, list)), default=1)
    out = io.BytesIO()
    pq.write_table(pa.table({name: _column(cells, rows) for name, cells in root.items()}), out)
    return out.getvalue()


def _column(cells: Any, rows: int) -> pa.Array:
    """A column of the type of its cells, as texts where they have none in common; what is no list stands in every row."""
    whole = [*cells, *[None] * rows][:rows] if isinstance(cells, list) else [cells] * rows
    try:
        return pa.array(whole)
    except (pa.ArrowException, OverflowError):
        return pa.array([cell if cell is None or isinstance(cell, str) else json.dumps(cell, default=str) for cell in whole])


_WRITERS: Final[dict[Layout, Callable[[Any], bytes]]] = {
    "json": lambda root: json.dumps(root).encode(),
    "lines": _lines,
    "csv": _csv,
    "text": _text,
    "archive": lambda root: packed({name: json.dumps(value).encode() for name, value in root.items()}),
    "parquet": _parquet,
}
