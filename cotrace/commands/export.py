"""`cotrace export`: every table as Parquet."""

from __future__ import annotations

from pathlib import Path

import click

from cotrace.commands.options import say, store_option
from schemas.store import Store

__all__ = ["command"]


@click.command()
@click.option(
    "--to", "folder", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder to write to; made if missing."
)
@store_option
def command(folder: Path, store: Store) -> None:
    """Write each table into a folder of its own, as zstd Parquet.

    \b
    Example:
      cotrace export --to parquet/
    """
    from analytics.export import export_tables

    for path, count in export_tables(store, folder):
        say(f"{count:>9} rows  {path}")
    say(f"read them back with: duckdb -c \"SELECT * FROM '{folder}/turns/*.parquet'\"")
