"""Rows to stdout: as a table, CSV, JSON or Parquet."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from analytics.csv_text import as_csv
from schemas.text import printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["emit"]

_WIDEST_CELL = 60


def emit(rows: pl.DataFrame, output_format: str) -> None:
    """Print the rows in the given format; `table` shortens long cells and drops control characters, JSON and Parquet keep all.

    CSV keeps all too, but a text that a spreadsheet would run as a formula gets an apostrophe in front: texts come out of logs.
    """
    if output_format == "csv":
        click.echo(as_csv(rows), nl=False)
    elif output_format == "json":
        click.echo(rows.write_json())
    elif output_format == "parquet":
        rows.write_parquet(sys.stdout.buffer)
    else:
        _print_table(rows)


def _print_table(rows: pl.DataFrame) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name, kind in rows.schema.items():
        table.add_column(name, justify="right" if kind.is_numeric() else "left", overflow="fold")
    for row in rows.iter_rows():
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console()
    wide = Console(width=None if console.is_terminal else 100_000)
    wide.print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = printable(str(value))
    return text if len(text) <= _WIDEST_CELL else text[: _WIDEST_CELL - 1] + "…"
