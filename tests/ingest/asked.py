"""A store of some logs, asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from analytics.query import query
from ingest.files.run import ingest_paths
from ingest.files.writer import Report
from ingest.reading.adapter_types import Adapter
from schemas.store.store import Store


class Ingested:
    """What came of reading some paths into a new store."""

    def __init__(self, store: Store, report: Report) -> None:
        self.store = store
        self.report = report

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return query(self.store, sql).rows()

    @property
    def refused(self) -> list[str]:
        """Where, and why, of each part that was refused."""
        return [f"{part.locator}: {part.reason}" for part in self.report.rejected]


def rows(store: Store, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query that needs no views."""
    with store.reading() as connection:
        return connection.execute(query).fetchall()


def ingested(folder: Path, *paths: Path, reader: str | Adapter | None = None) -> Ingested:
    """Read paths into the store of a folder."""
    store = Store(folder / "s.duckdb")
    report = ingest_paths(paths, store, log_format=reader, workers=1)
    return Ingested(store, report)


def written(path: Path, *documents: Any) -> Path:
    """A file of JSON, one document a line; text as it stands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in documents), encoding="utf-8")
    return path
