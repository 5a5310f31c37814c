"""The tables and figures of the papers from the store's logs, next to the printed numbers: their cells, and how they are shown.

`paper.yaml` of a family's folder lists them: `items` with the queries of their cells, and `notes` on what does not add up. The cells of an
item are a list: `units`, `ratios` or `given` with a query (and their arguments), or `computed` with the name of a function in the family's
`paper.py`, which takes the store and what fills in the pieces of a query.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
import yaml

from analytics.query import as_csv as rows_as_csv
from analytics.query import one_reading, query
from schemas.common.errors import UsageError
from schemas.common.text import in_sql, near
from schemas.families import families, offered
from schemas.store.store import Store

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from numpy import float64
    from numpy.typing import NDArray

    Floats = NDArray[float64]


class TableCell(NamedTuple):
    """A number of a table; None where the logs have too little."""

    row: str
    column: str
    value: float | None
    sem: float | None = None
    """As the paper forms it; None where it prints none."""
    low: float | None = None
    """95 % interval over tasks; the paper has none."""
    high: float | None = None
    n: int = 0
    """Units."""
    judge: str = ""
    """Whose answers it is made of; named behind the column. Each judge's number stands next to the printed one."""


TableCells = Callable[[Store], list[TableCell]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperItem:
    """A table or figure."""

    kind: str
    """table or figure."""
    number: str
    title: str
    needs: str
    """What the logs must hold; of one that no logs can give, what it is instead."""
    cells: TableCells | None = None
    """None: no log can give it."""

    @property
    def name(self) -> str:
        """As in `paper_numbers.csv`: `table 1`, `figure 3a`."""
        return f"{self.kind} {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that does not add up in the published results, with the query that shows it."""

    title: str
    text: str
    """What is wrong, and what it changes."""
    sql: str | None = None
    """Run on the store; None: no query can show it, and `text` names where to look."""
    printed: Sequence[str] = ()
    """Items of the paper, such as `table 8`, whose printed numbers the query reads as `printed`: item, row, column, value, sem."""


def units(sql: str, *, ddof: int = 1, with_sem: bool = True, percent: Sequence[str] = (), by_cluster: bool = False) -> TableCells:
    """Cells that are means of units, with intervals over clusters.

    The interval is that of a bounded mean where all values are between 0 and 1 (`analytics.statistics.intervals.mean_interval`),
    else Student's over clusters, which ends at 0 where no value is below, and is left out where all clusters are alike.

    Args:
        sql: gives row, col, cluster (the task), and value, one row a unit.
        ddof: of the standard error over units: 1, or 0 as some of the published scripts have it.
        with_sem: whether the paper prints one.
        percent: ends of the columns that the paper prints as a hundredfold.
        by_cluster: whether the paper takes the mean of the clusters' means.
    """
    grouped = (
        f'SELECT "row"::VARCHAR AS r, col::VARCHAR AS c, "cluster"::VARCHAR AS task, sum(value)::DOUBLE AS total, count(value) AS n, '
        "sum(value * value)::DOUBLE AS squares, min(value) >= 0 AND max(value) <= 1 AS is_share, min(value) < 0 AS falls_below "
        f"FROM ({sql}) WHERE value IS NOT NULL GROUP BY ALL ORDER BY ALL"
    )

    def cells(store: Store) -> list[TableCell]:
        found = query(store, grouped)
        parts = found.group_by("r", "c", maintain_order=True)
        return [_cell(str(row), str(column), part, _How(ddof, with_sem, percent, by_cluster)) for (row, column), part in parts]

    return cells


def ratios(sql: str, *, percent: Sequence[str] = (), counts_rows: bool = False) -> TableCells:
    """Cells that are shares of many units, counted by cluster, with the interval of `units`; the paper prints no standard error.

    Args:
        sql: gives row, col, cluster, hits and n, the units they are of; several rows of one cluster are summed.
        percent: as in `units`.
        counts_rows: whether the n of a cell is its rows, not their units.
    """
    grouped = (
        'SELECT "row"::VARCHAR AS r, col::VARCHAR AS c, "cluster"::VARCHAR AS task, sum(hits)::DOUBLE AS total, sum(n) AS n, '
        "sum(hits)::DOUBLE AS squares, true AS is_share, false AS falls_below, count(*) AS rows "
        f"FROM ({sql}) GROUP BY ALL HAVING sum(n) > 0 ORDER BY ALL"
    )
    how = _How(1, with_sem=False, percent=percent, by_cluster=False)

    def cells(store: Store) -> list[TableCell]:
        parts = query(store, grouped).group_by("r", "c", maintain_order=True)
        found = [(_cell(str(row), str(column), part, how), int(part["rows"].sum())) for (row, column), part in parts]
        return [cell._replace(n=rows) if counts_rows else cell for cell, rows in found]

    return cells


class _How(NamedTuple):
    ddof: int
    with_sem: bool
    percent: Sequence[str]
    by_cluster: bool


def _cell(row: str, column: str, part: pl.DataFrame, how: _How) -> TableCell:
    sums, sizes = part["total"].to_numpy().astype(float), part["n"].to_numpy().astype(float)
    n = float(sizes.sum())
    mean = float(sums.sum() / n)
    spread = max(float(part["squares"].sum()) / n - mean**2, 0.0) * n / (n - how.ddof) if n > how.ddof else None
    sem = float(np.sqrt(spread / n)) if spread is not None and how.with_sem and n > 1 else None
    if how.by_cluster:
        sums, sizes = sums / sizes, np.ones(len(sizes))
        mean = float(sums.mean())
    low, high = ends(sums, sizes, is_share=bool(part["is_share"].all()))
    low = low if low is None or part["falls_below"].any() else max(low, 0.0)
    scale = 100 if column.endswith(tuple(how.percent)) else 1
    value, sem, low, high = (None if number is None else number * scale for number in (mean, sem, low, high))
    return TableCell(row, column, value, sem, low, high, int(n))


def ends(sums: Floats, sizes: Floats, *, is_share: bool) -> tuple[float | None, float | None]:
    """95 % interval of a mean from the sums and sizes of its clusters, as `units` says; None of one cluster."""
    from scipy import stats

    from analytics.statistics.intervals import LEVEL, mean_interval

    clusters, total = len(sums), float(sizes.sum())
    if clusters < 2:  # noqa: PLR2004 - one task shows nothing about others
        return None, None
    if is_share:
        ends = mean_interval(sums, sizes)
        return float(ends.low), float(ends.high)
    mean = float(sums.sum()) / total
    error = float(np.sqrt(clusters / (clusters - 1) * ((sums - mean * sizes) ** 2).sum())) / total
    if error <= 1e-12 * max(abs(mean), 1.0):  # one without width would say that other tasks give the same
        return None, None
    half = float(stats.t.ppf((1 + LEVEL) / 2, clusters - 1)) * error
    return mean - half, mean + half


def given(sql: str) -> TableCells:
    """Cells as a query gives them: row, col, value, sem, low, high, n."""

    def cells(store: Store) -> list[TableCell]:
        return list(_read(query(store, f'SELECT "row"::VARCHAR, col::VARCHAR, value, sem, low, high, n::BIGINT FROM ({sql}) ORDER BY ALL')))

    return cells


def _read(rows: pl.DataFrame) -> Iterator[TableCell]:
    for row, column, *numbers, n in rows.iter_rows():
        value, sem, low, high = (None if number is None else float(number) for number in numbers)
        yield TableCell(str(row), str(column), value, sem, low, high, n or 0)


class PaperTable(NamedTuple):
    """An item, filled."""

    item: PaperItem
    cells: pl.DataFrame
    """One row a cell: row, column; value, sem, low, high, n: of the store; paper, paper_sem: as printed; difference: value minus paper,
    null where either is. Rows and columns in the paper's order, then those that only the store has."""
    missing: str
    """What is not there, and why; empty: nothing."""


_KINDS: Final[Mapping[str, Callable[..., TableCells]]] = {"units": units, "ratios": ratios, "given": given}


@cache
def _folders() -> dict[str, Traversable]:
    """Family -> its folder, of those with a paper."""
    folders = {known.name: files(known.package) / "analytics" if known.package else files("analytics") / known.name for known in families()}
    return {name: folder for name, folder in folders.items() if (folder / "paper.yaml").is_file()}


@cache
def _listed(name: str) -> dict[str, Any]:
    if name not in _folders():
        raise UsageError(f"no paper {name!r}{near(name, _folders())}")
    listed: dict[str, Any] = yaml.safe_load((_folders()[name] / "paper.yaml").read_text(encoding="utf-8"))
    return listed


def papers() -> tuple[str, ...]:
    """Families with a paper."""
    return tuple(_folders())


def items_of(name: str) -> tuple[PaperItem, ...]:
    """Tables, then figures, of a family's paper.

    Raises:
        UsageError: the family has none.
    """
    found = []
    for listed in _listed(name)["items"]:
        kind, _, number = listed["item"].partition(" ")
        cells = _cells_of(name, listed["cells"]) if "cells" in listed else None
        found.append(PaperItem(kind=kind, number=number, title=listed["title"], needs=listed["needs"], cells=cells))
    return tuple(found)


def _cells_of(name: str, parts: list[dict[str, Any]]) -> TableCells:
    def filled(sql: str) -> str:
        pieces = _listed(name)["pieces"]
        while (whole := re.sub(r"\{(\w+)\}", lambda found: pieces[found[1]], sql)) != sql:
            sql = whole
        return sql

    def cells(store: Store) -> list[TableCell]:
        found: list[TableCell] = []
        for (kind, what), *arguments in (part.items() for part in parts):
            if kind == "computed":
                found += dict(offered("analytics", "paper", what))[name](store, filled)
            else:
                found += _KINDS[kind](filled(what), **dict(arguments))(store)
        return found

    return cells


def notes_of(name: str) -> tuple[Note, ...]:
    """What does not add up in a family's paper; numbers that the paper prints stand in the queries, so that anybody can run them."""
    notes = tuple(Note(**listed) for listed in _listed(name)["notes"]) if name in _folders() else ()
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
    with one_reading(store):
        ours = item.cells(store) if item.cells else []
    printed = list(_printed(name, item.name))
    return PaperTable(item, _joined(ours, printed), _missing(item, ours, printed))


class _Printed(NamedTuple):
    row: str
    column: str
    value: float | None
    sem: float | None


def _printed(name: str, item: str) -> Iterator[_Printed]:
    path = _folders()[name] / "paper_numbers.csv"
    for line in csv.DictReader(path.read_text(encoding="utf-8").splitlines() if path.is_file() else ()):
        if line["item"] == item:
            value, sem = (float(line[key]) if re.fullmatch(r"-?[\d.]+", line[key]) else None for key in ("value", "sem"))
            yield _Printed(line["row"], line["column"], value, sem)


def _joined(ours: list[TableCell], printed: list[_Printed]) -> pl.DataFrame:
    by_key: dict[tuple[str, str], list[TableCell]] = {}
    judges: dict[str, dict[str, None]] = {}
    for cell in ours:
        by_key.setdefault((_key(cell.row), _key(cell.column)), []).append(cell)
        judges.setdefault(_key(cell.column), {})[cell.judge] = None
    by_place = {(_key(one.row), _key(one.column)): one for one in printed}
    rows = _order([one.row for one in printed], [cell.row for cell in ours])
    columns = _order([one.column for one in printed], [cell.column for cell in ours])
    found = []
    for row_key, row in rows.items():
        for column_key, column in columns.items():
            cells, one = by_key.get((row_key, column_key), []), by_place.get((row_key, column_key))
            found += [_tables_cell(row, _named(column, cell.judge), cell, one) for cell in cells]
            if one is not None and not cells:
                known = judges.get(column_key, {})
                found += [_tables_cell(row, _named(column, judge), None, one) for judge in [*filter(None, known)] or [""]]
    numbers = ("value", "sem", "low", "high", "paper", "paper_sem", "difference")
    schema = {"row": pl.String(), "column": pl.String(), **dict.fromkeys(numbers, pl.Float64()), "n": pl.Int64()}
    return pl.DataFrame(found, schema=schema, orient="row")


def _named(column: str, judge: str) -> str:
    return f"{column} ({judge})" if judge else column


def _tables_cell(row: str, column: str, cell: TableCell | None, one: _Printed | None) -> dict[str, object]:
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


_MOST_NOTE_ROWS = 12
_ROUNDING = 1e-9
_TEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", "±": r"$\pm$", "–": "--"}
)
_LAYOUT_NUMBERS = ("value", "sem", "low", "high", "n", "paper", "paper_sem", "difference")


def as_csv(family: str, found: Sequence[PaperTable]) -> str:
    """One row a cell, all numbers in full."""
    texts = dict.fromkeys(("family", "item", "row", "column"), pl.String)
    cells = [
        (family, one.item.name, cell["row"], cell["column"], *(cell[name] for name in _LAYOUT_NUMBERS))
        for one in found
        for cell in one.cells.iter_rows(named=True)
    ]
    return rows_as_csv(pl.DataFrame(cells, schema={**texts, **dict.fromkeys(_LAYOUT_NUMBERS, pl.Float64)}, orient="row"))


def as_text(family: str, found: Sequence[PaperTable]) -> str:
    """In the paper's layout, rows below one another; what is missing below each."""
    return "\n\n".join(_text(family, one) for one in found)


def _text(family: str, one: PaperTable) -> str:
    grid = _grid(one)
    widths = [max(len(row[place]) for row in grid) for place in range(len(grid[0]))] if grid else []
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid]
    return "\n".join([_title(family, one), "", *lines, *([f"({one.missing})"] if one.missing else [])])


def as_tex(family: str, found: Sequence[PaperTable]) -> str:
    """A `tabular` for each item, its title and what is missing as comments."""
    return "\n\n".join(_tex(family, one) for one in found)


def _tex(family: str, one: PaperTable) -> str:
    grid = [[cell.translate(_TEX) for cell in row] for row in _grid(one)]
    comments = [f"% {_title(family, one)}", *([f"% {one.missing}"] if one.missing else [])]
    if not grid:
        return "\n".join(comments)
    head, *body = [" & ".join(row) + r" \\" for row in grid]
    start = rf"\begin{{tabular}}{{l{'r' * (len(grid[0]) - 1)}}}"
    return "\n".join([*comments, start, r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"])


def as_html(family: str, found: Sequence[PaperTable]) -> str:
    """One self-contained page."""
    sections = "\n".join(_section(family, one) for one in found)
    style = "body{font:15px sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:right}td:first-child,th:first-child{text-align:left}"
    head = f"<head><meta charset='utf-8'><title>{html.escape(family)}</title><style>{style}</style></head>"
    return f"<!doctype html><html lang='en'>{head}<body>{sections}</body></html>"


def _section(family: str, one: PaperTable) -> str:
    grid = [[html.escape(cell) for cell in row] for row in _grid(one)]
    table = ""
    if grid:
        head, *body = [
            "".join(f"<{tag}>{cell}</{tag}>" for cell in row) for tag, row in zip(["th", *["td"] * (len(grid) - 1)], grid, strict=True)
        ]
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in body)}</tbody></table>"
    missing = f"<p>{html.escape(one.missing)}</p>" if one.missing else ""
    return f"<section><h2>{html.escape(_title(family, one))}</h2>{table}{missing}</section>"


_LABELS, _WIDTH, _LINE = 190, 420, 24
"""Pixels: for labels, from 0 to the largest end, and for each line."""


def as_svg(family: str, found: Sequence[PaperTable]) -> str:
    """One picture: a line for each number of the store, with its interval and n; numbers without an interval as circles."""
    height, parts = 0, []
    for one in found:
        cells = [cell for cell in one.cells.iter_rows(named=True) if cell["value"] is not None]
        several = len({cell["row"] for cell in cells}) > 1
        scale = _WIDTH / max([cell["high"] or cell["value"] for cell in cells] or [1.0])
        height += 2 * _LINE
        parts.append(f'<text x="4" y="{height}" font-weight="bold">{html.escape(f"{family}, {one.item.name}: {one.item.title}")}</text>')
        for cell in cells:
            height += _LINE
            label = html.escape(f"{cell['row']}, {cell['column']}" if several else str(cell["column"]))
            low, at, high = (_LABELS + scale * (cell[end] if cell[end] is not None else cell["value"]) for end in ("low", "value", "high"))
            fill = "#2a6f97" if cell["low"] is not None else "none"
            n = "" if cell["n"] is None else f" (n = {_plain(cell['n'])})"
            parts += [
                f'<text x="{_LABELS - 8}" y="{height + 4}" text-anchor="end">{label}</text>',
                f'<line x1="{low:.0f}" x2="{high:.0f}" y1="{height}" y2="{height}" stroke="#2a6f97" stroke-width="2"/>',
                f'<circle cx="{at:.0f}" cy="{height}" r="4" fill="{fill}" stroke="#2a6f97"/>',
                f'<text x="{high + 8:.0f}" y="{height + 4}" fill="#555">{_number(cell["value"])}{n}</text>',
            ]
        parts.append(f'<line x1="{_LABELS}" x2="{_LABELS}" y1="{height - _LINE * len(cells) + 8}" y2="{height + 12}" stroke="#888"/>')
    box = f'viewBox="0 0 {_LABELS + _WIDTH + 130} {height + _LINE}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" font-size="12" role="img">{"".join(parts)}</svg>'


def _title(family: str, one: PaperTable) -> str:
    ends = " (± standard error as the paper forms it, [95 % interval])" if one.cells["low"].is_not_null().any() else ""
    return f"{family}, {one.item.name}: {one.item.title}{ends}"


def _grid(one: PaperTable) -> list[list[str]]:
    """Head and rows as texts; rows of the store first, since they are what was asked for."""
    columns = list(dict.fromkeys(one.cells["column"]))
    cells = {(cell["row"], cell["column"]): cell for cell in one.cells.iter_rows(named=True)}
    rows = list(dict.fromkeys(one.cells["row"]))
    known = {row for row, _ in cells if any(cells.get((row, column), {}).get("value") is not None for column in columns)}
    ordered = [row for row in rows if row in known] + [row for row in rows if row not in known]
    return [["", *columns], *([row, *(_shown(cells.get((row, column))) for column in columns)] for row in ordered)] if columns else []


def _shown(cell: dict[str, float | None] | None) -> str:
    """`0.675 ± 0.052 [0.57, 0.77]; paper 0.675 ± 0.052 (+0.000)`; without an interval `0.193 (n = 1)`."""
    if cell is None:
        return ""
    parts = []
    if cell["value"] is not None:
        sem = "" if cell["sem"] is None else f" ± {_number(cell['sem'])}"
        ends = "" if cell["low"] is None or cell["high"] is None else f" [{_number(cell['low'])}, {_number(cell['high'])}]"
        parts.append(f"{_number(cell['value'])}{sem}{ends or _of(cell['n'])}")
    if cell["paper"] is not None:
        sem = "" if cell["paper_sem"] is None else f" ± {_number(cell['paper_sem'])}"
        apart = "" if cell["difference"] is None else f" ({cell['difference']:+.3g})"
        parts.append(f"paper {_number(cell['paper'])}{sem}{apart}")
    return "; ".join(parts)


def _of(n: float | None) -> str:
    """The size of the sample behind a number without an interval, next to a paper's mean of many."""
    return f" (n = {n:.0f})" if n else ""


def _plain(value: object) -> str:
    """Four digits that count, and 0 for what only rounding makes differ from it: no powers of ten."""
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return "0" if abs(value) < _ROUNDING else f"{value:.4g}"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"


def as_notes(store: Store, notes: Sequence[Note]) -> str:
    """Each with its query, and what that gives on this store."""
    return "\n\n".join(_note(store, number, note) for number, note in enumerate(notes, start=1)) or "no notes on this paper"


def _note(store: Store, number: int, note: Note) -> str:
    lines = [f"{number}. {note.title}", f"   {note.text}"]
    if note.sql is None:
        return "\n".join(lines)
    rows = query(store, note.sql)
    lines.append(f"   query: {note.sql}")
    if rows.is_empty():
        return "\n".join([*lines, "   (the store has no such rows)"])
    shown = rows.head(_MOST_NOTE_ROWS)
    lines.append("   " + ", ".join(shown.columns))
    lines += ["   " + ", ".join(_plain(value) for value in row) for row in shown.iter_rows()]
    more = len(rows) - len(shown)
    return "\n".join([*lines, *([f"   and {more} rows more: cotrace sql with this query"] if more else [])])
