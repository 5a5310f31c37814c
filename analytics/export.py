"""Tables of a store on their way out, as Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from analytics.query import query
from schemas.store import Store
from schemas.tables import TABLES

__all__ = ["export_tables"]


def export_tables(store: Store, folder: Path) -> Iterator[tuple[Path, int]]:
    """Write each table into a folder of its own, as zstd Parquet; gives each file with its rows as it is written.

    Raises:
        StoreError: the store cannot be read.
        OSError: a file cannot be written.
    """
    store.check()
    for spec in TABLES:
        target = folder / spec.name
        target.mkdir(parents=True, exist_ok=True)
        rows = query(store, f"SELECT * FROM {spec.name}")
        rows.write_parquet(target / "part-0.parquet", compression="zstd")
        yield target / "part-0.parquet", len(rows)
