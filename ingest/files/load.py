"""The store's side of ingest: what is there already, what is replaced, what is added."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from ingest.files.worker import FileResult, KnownPath
from schemas.batches import to_arrow
from schemas.errors import BadInputError
from schemas.records import Reject, Source
from schemas.tables import TABLES
from schemas.text import printable
from schemas.transaction import Transaction

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["Loaded", "known_sources", "load", "only_episodes", "without_episodes"]

_KEPT: Final = frozenset({"verdicts", "labels", "notes", "claims"})
"""Verdicts and what models read hang on what they were shown, labels on people: they outlive a game's rows."""

_DERIVED: Final = tuple(spec.name for spec in TABLES if "episode_id" in spec.column_names and spec.name not in _KEPT)


@dataclass(slots=True)
class Loaded:
    """What became of the files of one transaction."""

    ingested: list[FileResult] = field(default_factory=list)
    replaced: list[FileResult] = field(default_factory=list)
    duplicates: list[tuple[FileResult, str]] = field(default_factory=list)
    """Files whose bytes the store has from another path, and that path."""

    rows: dict[str, int] = field(default_factory=dict)
    """Rows added to each table."""


def known_sources(connection: duckdb.DuckDBPyConnection) -> dict[str, KnownPath]:
    """What the store has of each path."""
    rows = connection.execute("SELECT path, source_id, format, adapter_version, episodes FROM sources").fetchall()
    rejects: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for source, locator, reason in connection.execute("SELECT source_id, locator, reason FROM rejects").fetchall():
        rejects[source].add((locator, reason))
    return {
        path: KnownPath(
            source_id=source, format=log_format, adapter_version=version, episodes=episodes, rejects=frozenset(rejects.get(source, ()))
        )
        for path, source, log_format, version, episodes in rows
    }


def load(transaction: Transaction, files: Sequence[FileResult], tables: Mapping[str, pa.Table]) -> Loaded:
    """Put files into the store, as part of a transaction.

    A file replaces what the store had from its path. A file whose bytes the store has from another path is left out.
    """
    loaded = Loaded()
    outdated = _sort(transaction, files, loaded)
    unwanted = [episode for file, _ in loaded.duplicates for episode in file.episodes]
    tables = without_episodes(tables, unwanted)
    if outdated:
        _delete(transaction, outdated)
    taken = loaded.ingested + loaded.replaced
    rejects = [_reject(file, reject) for file in taken for reject in file.rejects]
    own = to_arrow({"sources": [_source(file) for file in taken], "rejects": rejects})
    runs = tables.get("runs")
    episodes = {name: table for name, table in tables.items() if name != "runs" and len(table)}
    transaction.insert(own | episodes)
    loaded.rows = {name: len(table) for name, table in (own | episodes).items()}
    if runs is not None:
        loaded.rows["runs"] = _insert_runs(transaction, runs)
    return loaded


def _sort(transaction: Transaction, files: Sequence[FileResult], loaded: Loaded) -> list[str]:
    """Tell new, changed and doubled files apart; gives the ids of sources that are to be deleted."""
    stored = _stored(transaction, files)
    by_path = {path: source_id for source_id, path, _, _ in stored}
    by_bytes = {source_id: (path, log_format, version) for source_id, path, log_format, version in stored}
    outdated: list[str] = []
    for file in files:
        path = file.found.stored_path
        before = by_path.pop(path, None)
        if before is not None:
            outdated.append(before)
            del by_bytes[before]
        twin = by_bytes.get(file.source_id)
        if twin is not None and twin[1:] == (file.format, file.adapter_version):
            loaded.duplicates.append((file, twin[0]))
            continue
        if twin is not None:  # the same bytes, read by an older adapter from another path
            outdated.append(file.source_id)
            del by_path[twin[0]]
        (loaded.ingested if before is None and twin is None else loaded.replaced).append(file)
        by_path[path], by_bytes[file.source_id] = file.source_id, (path, file.format, file.adapter_version)
    return outdated


def _stored(transaction: Transaction, files: Sequence[FileResult]) -> list[tuple[str, str, str | None, int | None]]:
    """Sources with the path or the bytes of one of the files, and no others: to fetch all with each batch would grow with the square."""
    return transaction.execute(
        "SELECT source_id, path, format, adapter_version FROM sources "
        "WHERE path IN (SELECT unnest($1::VARCHAR[])) OR source_id IN (SELECT unnest($2::VARCHAR[]))",
        [[file.found.stored_path for file in files], [file.source_id for file in files]],
    ).fetchall()


def _delete(transaction: Transaction, source_ids: Sequence[str]) -> None:
    """Remove what came from sources: their episodes with all derived rows, rejects, labels they bring, and runs left without episodes."""
    transaction.execute(
        "CREATE OR REPLACE TEMP TABLE outdated AS SELECT episode_id FROM episodes WHERE source_id IN (SELECT unnest($1::VARCHAR[]))",
        [list(source_ids)],
    )
    transaction.delete("labels", "source = 'planted' AND episode_id IN (SELECT episode_id FROM outdated)")
    transaction.delete("claims", "reader NOT LIKE 'llm:%' AND episode_id IN (SELECT episode_id FROM outdated)")
    paths = "SELECT path FROM sources WHERE source_id IN (SELECT unnest($1::VARCHAR[]))"
    transaction.delete("labels", f"source IN ({paths})", [list(source_ids)])
    for name in _DERIVED:
        transaction.delete(name, "episode_id IN (SELECT episode_id FROM outdated)")
    for name in ("sources", "rejects"):
        transaction.delete(name, "source_id IN (SELECT unnest($1::VARCHAR[]))", [list(source_ids)])
    transaction.delete("runs", "run_id NOT IN (SELECT run_id FROM episodes)")


def _insert_runs(transaction: Transaction, runs: pa.Table) -> int:
    """Add the runs that are new, after their episodes, and set each run's start to its earliest episode's; gives how many are new."""
    transaction.connection.register("runs_read", runs)
    new = transaction.connection.sql(
        "SELECT DISTINCT ON (run_id) * FROM runs_read "
        "WHERE run_id NOT IN (SELECT run_id FROM runs) AND run_id IN (SELECT run_id FROM episodes)"
    ).to_arrow_table()
    transaction.insert({"runs": new})
    transaction.update(
        "runs", f"started_at = {_START}", f"run_id IN (SELECT run_id FROM runs_read) AND started_at IS DISTINCT FROM {_START}"
    )
    transaction.connection.unregister("runs_read")
    return int(new.num_rows)


_START: Final = "(SELECT min(started_at) FROM episodes WHERE episodes.run_id = runs.run_id)"


def only_episodes(tables: Mapping[str, pa.Table], episodes: Sequence[str]) -> dict[str, pa.Table]:
    """The rows of some episodes; runs all stay."""
    return _filtered(tables, episodes, keep=True)


def without_episodes(tables: Mapping[str, pa.Table], episodes: Sequence[str]) -> dict[str, pa.Table]:
    """The tables without the rows of some episodes; runs all stay."""
    return _filtered(tables, episodes, keep=False) if episodes else dict(tables)


def _filtered(tables: Mapping[str, pa.Table], episodes: Sequence[str], *, keep: bool) -> dict[str, pa.Table]:
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(episodes, pa.string())

    def rows(table: pa.Table) -> pa.Table:
        found = pc.is_in(table["episode_id"], value_set=wanted)
        return table.filter(found if keep else pc.invert(found))

    return {name: table if name == "runs" else rows(table) for name, table in tables.items()}


def _source(file: FileResult) -> Source:
    return Source(
        source_id=file.source_id,
        path=file.found.stored_path,
        file=printable(file.found.file),
        format=file.format,
        adapter_version=file.adapter_version,
        bytes=file.size,
        episodes=len(file.episodes),
        rejected=len(file.rejects),
        ingested_at=datetime.now(UTC).replace(tzinfo=None),
    )


def _reject(file: FileResult, reject: BadInputError) -> Reject:
    return Reject(file.source_id, file.found.stored_path, reject.locator, printable(reject.reason), reject.excerpt)
