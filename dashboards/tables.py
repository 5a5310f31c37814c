"""Tables as data: which rows, which columns, how each kind is written. DuckDB sorts, filters and cuts: a page holds what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from analytics.query import frame, literal
from dashboards.address import FILTERS
from dashboards.computed import kept, kept_already
from dashboards.foreign_sql import MOST_BYTES_OF_A_FILE, MOST_BYTES_OF_A_PAGE, foreign_rows
from schemas import wording
from schemas.errors import UsageError
from schemas.families import title_of
from schemas.read_only_sql import sealed_memory
from schemas.text import in_name, printable

if TYPE_CHECKING:
    import polars as pl

    from dashboards.reader import Reader

__all__ = ["CODE", "HREF", "GridColumn", "Kind", "RowBlock", "RowRange", "TableRows", "block", "every_row", "query_of", "written"]

Kind = Literal[
    "text",
    "words",
    "team",
    "judge",
    "name",
    "family",
    "condition",
    "truth",
    "share",
    "score",
    "count",
    "number",
    "cost",
    "money",
    "seconds",
    "p",
    "when",
]

HREF: Final = "→ href"
CODE: Final = "→ code"
"""Beside the columns of a row: no query calls its own so. `assets/grid.js` reads them."""
_IN_ALL: Final = "→ rows in all"
NUMERIC: Final = frozenset({"share", "score", "count", "number", "cost", "money", "seconds", "p"})

_WRITERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "share": wording.share,
    "score": wording.score,
    "count": wording.count,
    "number": wording.number,
    "cost": lambda value: wording.without_zero(wording.number(value)),
    "money": wording.money,
    "seconds": wording.seconds,
    "p": wording.p_value,
    "truth": wording.truth,
    "name": lambda value: printable(wording.in_words(value)),
    "family": title_of,
}


@dataclass(frozen=True, kw_only=True)
class GridColumn:
    """How a column is headed and written."""

    heading: str
    kind: Kind = "text"
    """`name` is a category or metric, written without its code's marks; `words` are sentences, `team` is long, `judge` its provider and
    model, `cost` what turns lost."""
    low: str = ""
    """Column with the lower end of its interval, which is then written beside it."""
    high: str = ""
    part: str = ""
    """Column with the count that a share is made of, written beside it with `whole`."""
    whole: str = ""
    hint: str = ""
    """What it is, where the heading does not say."""


@dataclass(frozen=True, kw_only=True)
class TableRows:
    """The rows of a table: a query under the filters of the address, or a frame that a report has computed."""

    columns: Mapping[str, GridColumn]
    """Shown ones, in order."""
    sql: str = ""
    """`{filters}` stands for the condition that the address sets; ordered as the table is at first."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    filter_on: Sequence[str] = FILTERS
    frame: pl.DataFrame | None = None
    source: str = ""
    """The command that gives the same rows, where they are no query."""
    link: Callable[[Mapping[str, Any]], str] | None = None
    """The address a row leads to, from the row."""
    stays: bool = True
    """Whether the query gives the same until the store changes; one that a user writes need not: `random()`, `now()`."""


@dataclass(frozen=True, kw_only=True)
class RowRange:
    """Which rows a grid asks for."""

    start: int = 0
    size: int = 100
    sort: Sequence[tuple[str, bool]] = ()
    """Column and whether it falls."""
    filters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Column -> condition, as AG Grid writes it."""


@dataclass(frozen=True)
class RowBlock:
    """Some rows of a table, and how many there are in all."""

    rows: pl.DataFrame
    total: int


def block(read: Reader, rows: TableRows, request: RowRange) -> RowBlock:
    """The rows that a grid asks for.

    Raises:
        UsageError: the request names a column that the table has not, or a condition that there is not.
    """
    sql, values = _chosen(read, rows, request)
    drawn = kept_already(read.store.path, (sql, repr(values))) if rows.stays and rows.frame is None else None
    if drawn is not None:  # the figure above the table is of the same rows
        return RowBlock(drawn.slice(request.start, request.size), len(drawn))
    cut = f"LIMIT {request.size} OFFSET {request.start}"
    found = _kept(read, rows, f"SELECT *, count(*) OVER () AS {in_name(_IN_ALL)} FROM ({sql}) {cut}", values)
    total = int(found[_IN_ALL][0]) if len(found) else 0
    if not len(found) and request.start:
        total = int(_run(read, rows, f"SELECT count(*) FROM ({sql})", values).item())
    return RowBlock(found.drop(_IN_ALL), total)


def every_row(read: Reader, rows: TableRows) -> pl.DataFrame:
    """All rows with all columns, as the query gives them: what a file of the table holds."""
    return _run(read, rows, *_chosen(read, rows, RowRange()), MOST_BYTES_OF_A_FILE)


def written(read: Reader, rows: TableRows, found: pl.DataFrame) -> Iterator[dict[str, str]]:
    """The rows as texts for the shown columns; beside them where a row leads (`HREF`), and the code of its condition (`CODE`)."""
    for row in found.iter_rows(named=True):
        texts = {name: _cell(read, column, name, row) for name, column in rows.columns.items()}
        if rows.link is not None:
            texts[HREF] = rows.link(row)
        if "condition" in row:
            texts[CODE] = printable(str(row["condition"]))
        yield texts


def _cell(read: Reader, column: GridColumn, name: str, row: Mapping[str, Any]) -> str:
    value = row[name]
    if column.part:
        return wording.share_of(row[column.part], row[column.whole])
    if column.kind == "condition":
        return read.condition_in_words(value)
    if value is None:
        return wording.NOTHING
    writer = _WRITERS.get(column.kind)
    text = printable(str(value)) if writer is None else writer(value)
    write_ends = wording.share_interval if column.kind == "share" else wording.interval
    ends = write_ends(row[column.low], row[column.high]) if column.low else ""
    return f"{text} {ends}".rstrip()


def _kept(read: Reader, rows: TableRows, sql: str, values: dict[str, object]) -> pl.DataFrame:
    """As `_run`, until the store changes: a grid is drawn as high as its rows need, then asks for the very rows that told how many."""
    if rows.frame is not None or not rows.stays:
        return _run(read, rows, sql, values)
    return kept(read.store.path, (sql, repr(values)), lambda: _run(read, rows, sql, values))


def _run(read: Reader, rows: TableRows, sql: str, values: dict[str, object], most_bytes: int = MOST_BYTES_OF_A_PAGE) -> pl.DataFrame:
    if rows.frame is None:
        if not rows.stays:
            return foreign_rows(read.store, sql, values or None, most_bytes=most_bytes)
        return frame(read.connection, sql, values or None)
    with sealed_memory(computed_rows=rows.frame.to_arrow()) as connection:
        return frame(connection, sql, values)


def _chosen(read: Reader, rows: TableRows, request: RowRange) -> tuple[str, dict[str, object]]:
    """The query under the grid's own conditions and order."""
    sql, values = "SELECT * FROM computed_rows", dict[str, object]()
    if rows.frame is None:
        sql, values = query_of(read, rows)
    conditions: list[str] = []
    for name, asked in request.filters.items():
        _check(rows, name)
        try:
            conditions.append(_condition(in_name(name), asked, rows.columns[name].kind))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise UsageError(f"the condition on {name} makes no sense") from error
    if conditions:
        sql = f"SELECT * FROM ({sql}) WHERE {' AND '.join(conditions)}"
    if request.sort:
        for name, _ in request.sort:
            _check(rows, name)
        order = ", ".join(f"{in_name(name)} {'DESC' if falls else 'ASC'} NULLS LAST" for name, falls in request.sort)
        sql = f"SELECT * FROM ({sql}) ORDER BY {order}"
    return sql, values


def query_of(read: Reader, rows: TableRows) -> tuple[str, dict[str, object]]:
    """The rows' query under the filters of the address, and the values of its parameters; a query of the user is no template."""
    return read.bound(rows.sql, rows.parameters, filter_on=rows.filter_on) if rows.stays else (rows.sql, {})


def _check(rows: TableRows, name: str) -> None:
    if name not in rows.columns:
        raise UsageError(f"the table has no column {name!r}: it has {', '.join(rows.columns)}")


_COMPARISONS: Final = {
    "equals": "{c} = {v}",
    "notEqual": "{c} <> {v}",
    "lessThan": "{c} < {v}",
    "lessThanOrEqual": "{c} <= {v}",
    "greaterThan": "{c} > {v}",
    "greaterThanOrEqual": "{c} >= {v}",
    "inRange": "{c} BETWEEN {v} AND {to}",
    "blank": "{c} IS NULL",
    "notBlank": "{c} IS NOT NULL",
}
_TEXTS: Final = {
    "contains": "contains({c}, {v})",
    "notContains": "NOT contains({c}, {v})",
    "equals": "{c} = {v}",
    "notEqual": "{c} <> {v}",
    "startsWith": "starts_with({c}, {v})",
    "endsWith": "ends_with({c}, {v})",
    "blank": "coalesce({c}, '') = ''",
    "notBlank": "coalesce({c}, '') <> ''",
}


def _condition(column: str, asked: Mapping[str, Any], kind: Kind) -> str:
    """SQL of one column's condition; texts compare without case, and with spaces where the page shows them.

    Values stand in it as they are read by DuckDB: a PIVOT takes no parameters.
    """
    if "operator" in asked:
        parts = [_condition(column, part, kind) for part in asked["conditions"]]
        return f"({(' AND ' if asked['operator'] == 'AND' else ' OR ').join(parts)})"
    known = _COMPARISONS if kind in NUMERIC else _TEXTS
    if asked.get("type") not in known:
        raise UsageError(f"no condition {asked.get('type')!r}: there are {', '.join(known)}")
    template = known[str(asked["type"])]
    if kind in NUMERIC:
        scale = 100 if kind == "share" else 1  # a share is shown, and asked for, in percent
        ends = {end: literal(float(asked[key]) / scale) for end, key in (("v", "filter"), ("to", "filterTo")) if f"{{{end}}}" in template}
        return template.format(c=column, **ends)
    value = literal(str(asked["filter"]).casefold()) if "{v}" in template else ""
    return template.format(c=f"replace(lower({column}::VARCHAR), '_', ' ')", v=value)
