"""Tables and views of a store on their way out, as Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from analytics.query import query
from analytics.views import VIEWS
from schemas.store import Store
from schemas.tables import TABLES

__all__ = ["export_tables", "write_rows"]


def export_tables(store: Store, folder: Path, *, views: bool = False) -> Iterator[tuple[Path, int]]:
    """Write each table, and on demand each view, into a folder of its own, as zstd Parquet; gives each file with its rows when written.

    Raises:
        StoreError: the store cannot be read.
        OSError: a file cannot be written.
    """
    store.check()
    names = [spec.name for spec in TABLES] + ([spec.name for spec in VIEWS if spec.kind == "view"] if views else [])
    for name in names:
        yield write_rows(store, f"SELECT * FROM {name}", folder / name / "part-0.parquet")


def write_rows(store: Store, sql: str, path: Path) -> tuple[Path, int]:
    """Write the rows of a query as zstd Parquet; gives the file and its rows.

    Raises:
        StoreError: the store cannot be read.
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = query(store, sql)
    rows.write_parquet(path, compression="zstd")
    return path, len(rows)
