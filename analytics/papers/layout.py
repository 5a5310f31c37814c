"""A paper's items as text, CSV, TeX and HTML, and its notes as text."""

from __future__ import annotations

import html
from collections.abc import Sequence

from analytics import csv_text
from analytics.papers.item import Note
from analytics.papers.tables import PaperTable
from analytics.query import query
from schemas.store import Store

__all__ = ["as_csv", "as_html", "as_notes", "as_tex", "as_text"]

_MOST_NOTE_ROWS = 12
_ROUNDING = 1e-9
_TEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", "±": r"$\pm$", "–": "--"}
)
_NUMBERS = ("value", "sem", "low", "high", "n", "paper", "paper_sem", "difference")


def as_csv(family: str, found: Sequence[PaperTable]) -> str:
    """One row a cell, all numbers in full."""
    import polars as pl

    texts = dict.fromkeys(("family", "item", "row", "column"), pl.String)
    cells = [
        (family, one.item.name, cell["row"], cell["column"], *(cell[name] for name in _NUMBERS))
        for one in found
        for cell in one.cells.iter_rows(named=True)
    ]
    return csv_text.as_csv(pl.DataFrame(cells, schema={**texts, **dict.fromkeys(_NUMBERS, pl.Float64)}, orient="row"))


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
    grid = [[_escaped(cell) for cell in row] for row in _grid(one)]
    comments = [f"% {_title(family, one)}", *([f"% {one.missing}"] if one.missing else [])]
    if not grid:
        return "\n".join(comments)
    head, *body = [" & ".join(row) + r" \\" for row in grid]
    start = rf"\begin{{tabular}}{{l{'r' * (len(grid[0]) - 1)}}}"
    return "\n".join([*comments, start, r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"])


def _escaped(text: str) -> str:
    return text.translate(_TEX)


def as_html(family: str, found: Sequence[PaperTable]) -> str:
    """One page that needs nothing beside it."""
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
    told = []
    if cell["value"] is not None:
        sem = "" if cell["sem"] is None else f" ± {_number(cell['sem'])}"
        ends = "" if cell["low"] is None or cell["high"] is None else f" [{_number(cell['low'])}, {_number(cell['high'])}]"
        told.append(f"{_number(cell['value'])}{sem}{ends or _of(cell['n'])}")
    if cell["paper"] is not None:
        sem = "" if cell["paper_sem"] is None else f" ± {_number(cell['paper_sem'])}"
        apart = "" if cell["difference"] is None else f" ({cell['difference']:+.3g})"
        told.append(f"paper {_number(cell['paper'])}{sem}{apart}")
    return "; ".join(told)


def _of(n: float | None) -> str:
    """On how little a number without an interval stands, beside a paper's mean of many."""
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
    lines = [f"{number}. {note.title}", f"   {note.says}"]
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
