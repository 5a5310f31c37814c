"""Rows to stdout: as a table that fits the terminal, CSV, JSON or Parquet."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from analytics.query import as_csv
from cotrace.tables import SCREEN, draw, with_ends, without_ends
from cotrace.terminal import echo, is_terminal, write
from schemas.common.errors import UsageError
from schemas.common.text import in_json, in_shell, near, printable

if TYPE_CHECKING:
    import polars as pl

    from analytics.findings import Finding
    from schemas.store.store import Store

__all__ = ["SCREEN", "chosen", "emit", "tell", "tell_findings"]


def emit(
    rows: pl.DataFrame,
    output_format: str,
    *,
    columns: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    most: int | None = None,
) -> int:
    """Print the rows in the given format; gives how many. CSV, JSON and Parquet have all columns.

    A table has the given columns (none: all; see `cotrace.tables.draw`). CSV keeps all too, but a text that a spreadsheet would run as a
    formula gets an apostrophe in front: texts come out of logs.

    Args:
        rows: what to print.
        output_format: table, csv, json or parquet.
        columns: of a table.
        units: column -> unit, of a table.
        most: rows; None: all; `SCREEN`: of a table a screen or two, of data all.
    """
    if output_format == "table":
        return draw(rows, columns or rows.columns, units or {}, most)
    rows = rows.head(most) if most else rows
    if output_format == "csv":
        write(as_csv(rows))
    elif output_format == "json":
        write(f"{in_json(rows.write_json())}\n")
    else:
        rows.write_parquet(sys.stdout.buffer)
    return rows.height


def chosen(rows: pl.DataFrame, asked: str | None, usual: Sequence[str], *, wide: bool) -> list[str]:
    """The columns of a table: those asked for (joined by commas), all, or the usual ones.

    Raises:
        UsageError: one asked for is none; suggests the nearest.
    """
    if asked is None:
        if wide or not usual:
            return list(rows.columns)
        shown = without_ends(usual, rows.columns)
        return shown if is_terminal() else with_ends(shown, rows.columns)
    names = [name.strip() for name in asked.split(",")]
    for name in names:
        if name not in rows.columns:
            raise UsageError(f"--columns: no column {name!r}{near(name, rows.columns)}")
    return names


def tell(sentence: str, *, indent: str = "") -> None:
    """Print a sentence, on a terminal folded between words."""
    from rich.console import Console

    console = Console()
    text = printable(sentence)
    echo(click.wrap_text(text, console.width, indent, f"{indent}  ") if is_terminal() else indent + text)


def tell_findings(found: Sequence[Finding], store: Store) -> None:
    """The findings under what they are about, each with the command that shows its numbers."""
    from analytics.findings import TOPICS

    for topic, title in TOPICS.items():
        for place, one in enumerate(finding for finding in found if finding.topic == topic):
            if place == 0:
                echo(f"\n{title}")
            echo(f"  {printable(one.sentence)}\n    cotrace report {one.report} --store {in_shell(store.path)}")
