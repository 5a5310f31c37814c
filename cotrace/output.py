"""Rows to stdout: as a table that fits the terminal, CSV, JSON or Parquet."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from analytics.csv_text import as_csv
from schemas import wording
from schemas.errors import UsageError
from schemas.text import printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["chosen", "emit"]

_WIDEST_CELL = 60
_NARROWEST_TEXT = 10
"""Characters to which a text column may be folded."""
_SHARES = ("_rate", "share", "_share")
"""Ends of the names of shares of counts, which are written in percent."""


def emit(rows: pl.DataFrame, output_format: str, *, columns: Sequence[str] = (), units: Mapping[str, str] | None = None) -> None:
    """Print the rows in the given format; CSV, JSON and Parquet have all columns, and control characters are dropped from tables.

    A table on a terminal has the given columns (none: all), numbers as in print, and long texts folded; where there are too many columns
    for its width, each row stands as a block of lines. Into a file or a pipe a table goes as wide as it is. CSV keeps all too, but a text
    that a spreadsheet would run as a formula gets an apostrophe in front: texts come out of logs.
    """
    if output_format == "csv":
        click.echo(as_csv(rows), nl=False)
    elif output_format == "json":
        click.echo(rows.write_json())
    elif output_format == "parquet":
        rows.write_parquet(sys.stdout.buffer)
    else:
        _print_table(rows, columns or rows.columns, units or {})


def chosen(rows: pl.DataFrame, asked: str | None, usual: Sequence[str], *, wide: bool) -> list[str]:
    """The columns of a table: those asked for (joined by commas), all, or the usual ones.

    Raises:
        UsageError: one asked for is none; suggests the nearest.
    """
    import difflib

    if asked is None:
        return list(rows.columns if wide or not usual else usual)
    names = [name.strip() for name in asked.split(",")]
    for name in names:
        if name not in rows.columns:
            near = difflib.get_close_matches(name, rows.columns, n=1)
            raise UsageError(
                f"--columns: no column {name!r}{f': did you mean {near[0]!r}?' if near else '; there are ' + ', '.join(rows.columns)}"
            )
    return names


def _print_table(rows: pl.DataFrame, columns: Sequence[str], units: Mapping[str, str]) -> None:
    from rich.console import Console

    console = Console()
    cells = [[_cell(row, name, units, in_print=console.is_terminal) for name in columns] for row in rows.iter_rows(named=True)]
    numeric = [rows.schema[name].is_numeric() for name in columns]
    if console.is_terminal and _least_width(columns, cells, numeric) > console.width:
        _print_blocks(columns, cells)
    else:
        _print_grid(console, columns, cells, numeric)


def _least_width(columns: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> int:
    """How narrow a table can be: numbers are not folded, texts are, but not into columns of a few letters."""
    widths = (max((len(line[index]) for line in cells), default=0) for index in range(len(columns)))
    return sum((width if right else min(width, _NARROWEST_TEXT)) + 2 for width, right in zip(widths, numeric, strict=True))


def _print_grid(console: Any, columns: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name, right in zip(columns, numeric, strict=True):
        table.add_column(
            name.replace("_", " ") if console.is_terminal else name, justify="right" if right else "left", overflow="fold", no_wrap=right
        )
    for line in cells:
        table.add_row(*map(Text, line))
    Console(width=None if console.is_terminal else 100_000).print(table)


def _print_blocks(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """One row a block, a line a column: for rows that are wider than the terminal."""
    width = max(map(len, columns))
    for number, line in enumerate(cells, start=1):
        click.echo(f"-- {number}")
        for name, cell in zip(columns, line, strict=True):
            click.echo(f"{name:<{width}}  {cell}")


def _cell(row: Mapping[str, object], name: str, units: Mapping[str, str], *, in_print: bool) -> str:
    value, unit = row[name], units.get(name, "")
    if value is None:
        return ""
    if isinstance(value, bool):
        return wording.truth(value)
    if isinstance(value, float):
        return f"{_number(value, name, unit)} {_interval(row, name, unit)}".strip()
    text = printable(wording.in_words(value) if in_print and name in {"condition", "category", "outcome", "kind"} else str(value))
    return text if len(text) <= _WIDEST_CELL else text[: _WIDEST_CELL - 1] + "…"


def _number(value: float, name: str, unit: str) -> str:
    if unit == "0..1" and name.endswith(_SHARES):
        return wording.share(value)
    if unit in {"0..1", "-1..1"} or (unit == "number" and abs(value) <= 1):
        return wording.score(value)
    if unit == "USD":
        return wording.money(value)
    return wording.number(value)


def _interval(row: Mapping[str, object], name: str, unit: str) -> str:
    """The 95 % interval that stands in two more columns of the row, if there is one."""
    stem = name.removesuffix("_mean").removesuffix("_rate")
    low, high = row.get(f"{stem}_low"), row.get(f"{stem}_high")
    if not isinstance(low, float) or not isinstance(high, float):
        return ""
    return f"[{_number(low, name, unit)}, {_number(high, name, unit)}]".replace(" %", "")
