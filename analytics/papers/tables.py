"""Cells of a paper's item beside the paper's own numbers, as rows that any format is made from."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from analytics.papers.item import Note, PaperItem, TableCell
from schemas.errors import UsageError
from schemas.families import family, offered
from schemas.store import Store
from schemas.text import in_sql, near

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PaperTable", "items_of", "notes_of", "paper_table", "papers"]

_NUMBERS = "paper_numbers.csv"


class PaperTable(NamedTuple):
    """An item, filled."""

    item: PaperItem
    cells: pl.DataFrame
    """One row a cell: row, column; value, sem, low, high, n: of the store; paper, paper_sem: as printed; difference: value minus paper,
    null where either is. Rows and columns in the paper's order, then those that only the store has."""
    missing: str
    """What is not there, and why; empty: nothing."""


def papers() -> tuple[str, ...]:
    """Families with a paper."""
    return tuple(name for name, _ in offered("analytics", "paper", "ITEMS"))


def items_of(name: str) -> tuple[PaperItem, ...]:
    """Tables, then figures, of a family's paper.

    Raises:
        UsageError: the family has none.
    """
    found = dict(offered("analytics", "paper", "ITEMS"))
    if name not in found:
        raise UsageError(f"no paper {name!r}{near(name, found)}")
    items: tuple[PaperItem, ...] = found[name]
    return items


def notes_of(name: str) -> tuple[Note, ...]:
    """What does not add up in a family's paper; numbers that the paper prints stand in the queries, so that anybody can run them."""
    notes: tuple[Note, ...] = dict(offered("analytics", "paper", "NOTES")).get(name, ())
    return tuple(replace(note, sql=_with_printed(name, note)) if note.printed else note for note in notes)


def _with_printed(name: str, note: Note) -> str:
    values = ", ".join(
        f"({', '.join(_literal(part) for part in (item, one.row, one.column, one.value, one.sem))})"
        for item in note.printed
        for one in _printed(name, item)
    )
    return f'WITH printed(item, "row", "column", value, sem) AS (VALUES {values}) {note.sql}'


def _literal(value: str | float | None) -> str:
    if value is None:
        return "NULL::DOUBLE"
    return f"{value}::DOUBLE" if isinstance(value, float) else in_sql(value)


def paper_table(store: Store, name: str, kind: str, number: str) -> PaperTable:
    """One table or figure.

    Args:
        store: a store with the views.
        name: the family.
        kind: table or figure.
        number: as printed, such as 1 or 3a.

    Raises:
        UsageError: the paper has no such item.
    """
    items = {item.name: item for item in items_of(name)}
    if f"{kind} {number}" not in items:
        raise UsageError(f"paper {name}: no {kind} {number}: there are {', '.join(items)}")
    item = items[f"{kind} {number}"]
    ours = item.cells(store) if item.cells else []
    printed = list(_printed(name, item.name))
    return PaperTable(item, _joined(ours, printed), _missing(item, ours, printed))


class _Printed(NamedTuple):
    row: str
    column: str
    value: float | None
    sem: float | None


def _printed(name: str, item: str) -> Iterator[_Printed]:
    known = family(name)
    path = files(known.package or "analytics").joinpath(*(("analytics",) if known.package else (name,)), _NUMBERS) if known else None
    if path is None or not path.is_file():
        return
    for line in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        if line["item"] == item:
            value, sem = (float(line[key]) if re.fullmatch(r"-?[\d.]+", line[key]) else None for key in ("value", "sem"))
            yield _Printed(line["row"], line["column"], value, sem)


def _joined(ours: list[TableCell], printed: list[_Printed]) -> pl.DataFrame:
    import polars as pl

    by_key = {(_key(cell.row), _key(cell.column)): cell for cell in ours}
    beside = {(_key(one.row), _key(one.column)): one for one in printed}
    rows = _order([one.row for one in printed], [cell.row for cell in ours])
    columns = _order([one.column for one in printed], [cell.column for cell in ours])
    found = []
    for row_key, row in rows.items():
        for column_key, column in columns.items():
            cell, one = by_key.get((row_key, column_key)), beside.get((row_key, column_key))
            if cell is not None or one is not None:
                found.append(_cell(row, column, cell, one))
    numbers = ("value", "sem", "low", "high", "paper", "paper_sem", "difference")
    schema = {"row": pl.String(), "column": pl.String(), **dict.fromkeys(numbers, pl.Float64()), "n": pl.Int64()}
    return pl.DataFrame(found, schema=schema, orient="row")


def _cell(row: str, column: str, cell: TableCell | None, one: _Printed | None) -> dict[str, object]:
    value, paper = (None if cell is None else cell.value), (None if one is None else one.value)
    return {
        "row": row,
        "column": column,
        "value": value,
        "sem": cell and cell.sem,
        "low": cell and cell.low,
        "high": cell and cell.high,
        "paper": paper,
        "paper_sem": one and one.sem,
        "difference": value - paper if value is not None and paper is not None else None,
        "n": cell.n if cell else 0,
    }


def _order(printed: list[str], ours: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in (*printed, *ours):
        found.setdefault(_key(name), name)
    return found


def _key(name: str) -> str:
    """Names that are the same but for case, signs and the provider in front: `openai/gpt-4o` is GPT-4o."""
    return re.sub(r"[^a-z0-9:+|]", "", name.rpartition("/")[2].lower())


def _missing(item: PaperItem, ours: list[TableCell], printed: list[_Printed]) -> str:
    if item.cells is None:
        return f"{item.name} cannot come from logs: {item.needs}"
    if not ours:
        return f"the store has nothing for {item.name}: it needs {item.needs}"
    rows = {_key(cell.row) for cell in ours}
    absent = list(dict.fromkeys(one.row for one in printed if _key(one.row) not in rows))
    return f"not in the store: {', '.join(absent)}; they need {item.needs}" if absent else ""
