"""What is done to a lake as a whole: filled from a store, copied into one, and its small files made into large ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.common.errors import UsageError
from schemas.common.text import in_sql
from schemas.store.lake.files import DataFile, Snapshot, selection
from schemas.store.lake.layout import BENCHMARK, LAKE_TABLES, RUN, is_partitioned
from schemas.store.lake.store import LakeStore, rename_values
from schemas.store.lake.transaction import removed, scratch, written
from schemas.store.store import Store, Transaction
from schemas.tables import Table

if TYPE_CHECKING:
    import duckdb

    from schemas.store.lake.transaction import Actions

__all__ = ["Compacted", "compact", "copy_from", "copy_to"]

_LARGE_BYTES: Final = 64 << 20
"""Files of this size are not made larger: a reader opens them at small cost beside what it reads."""


class Compacted(NamedTuple):
    """What compacting has done."""

    before: int
    """Files of the lake."""
    after: int
    deleted: int
    """Files that no version of the lake young enough to be kept needs any more."""


def copy_from(lake: LakeStore, store: Store) -> int:
    """Put all rows of a DuckDB store into an empty lake, in one commit; gives how many.

    Raises:
        StoreError: the store cannot be read, or the lake not written.
        UsageError: the lake holds something.
    """
    store.check()
    lake = lake.whole
    lake.create()

    def write(snapshot: Snapshot) -> tuple[int, Actions]:
        if snapshot.files:
            raise UsageError(f"{lake.path} holds games already: name a new folder, or read the logs with cotrace ingest")
        rows = 0
        actions: Actions = []
        with scratch(lake.place) as connection, lake.place.receiving() as folder:
            connection.execute(f"ATTACH {in_sql(str(store.path))} AS source (READ_ONLY)")
            for spec in LAKE_TABLES:
                if count := _count(connection, f"source.{spec.name}"):
                    actions += written(connection, _stored(spec), spec, folder)
                    rows += count
        return rows, actions

    count = lake.commit(write)
    lake.transact(lambda transaction: rename_values(transaction, 0))  # the store may be of an older version
    return count


def _stored(spec: Table) -> str:
    columns = ", ".join(f'rows."{column.name}"' for column in spec.columns)
    if not is_partitioned(spec):
        return f"SELECT {columns}, NULL::VARCHAR AS {BENCHMARK}, NULL::VARCHAR AS {RUN} FROM source.{spec.name} AS rows"
    games = "LEFT JOIN (SELECT episode_id, benchmark, run_id FROM source.episodes) AS games USING (episode_id)"
    return f"SELECT {columns}, games.benchmark AS {BENCHMARK}, games.run_id AS {RUN} FROM source.{spec.name} AS rows {games}"


def copy_to(lake: LakeStore, store: Store) -> int:
    """Put all rows of a lake into a DuckDB store that has none, in one transaction; gives how many.

    Raises:
        StoreError: the lake cannot be read, or the store not written.
        UsageError: the store holds something, or a part was named of which the lake has no game.
    """
    snapshot = lake.snapshot()  # before anything is made
    if lake is not lake.whole and not any(file.benchmark for files in snapshot.files.values() for file in files):
        raise UsageError(f"{lake.path}: the lake has no game of that part: is its name right? {lake.whole.path} is all of it")
    store.create()
    with store.writing() as connection, lake.loss_told(snapshot):
        lake.place.serve(connection)
        if any(_count(connection, spec.name) for spec in LAKE_TABLES):
            raise UsageError(f"{store.path} holds games already: name a new file")
        for spec in LAKE_TABLES:
            connection.execute(f"INSERT INTO {spec.name} {selection(spec, snapshot.paths(spec.name))}")
        rename_values(Transaction(connection), 0)  # the lake may be of an older version
        return sum(_count(connection, spec.name) for spec in LAKE_TABLES)


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0


def compact(lake: LakeStore, *, keep_hours: float) -> Compacted:
    """Make one file of the small ones of each part of a table, and delete what has long been out of use.

    Args:
        lake: which may be read and written meanwhile.
        keep_hours: files that a version of the lake this young needed are kept, for those who are reading it.

    Raises:
        StoreError: the lake cannot be written.
    """
    before = _files(lake.snapshot())
    for spec in LAKE_TABLES:
        lake.commit(lambda snapshot, spec=spec: (None, _compacted(lake, spec, snapshot)))  # type: ignore[misc]  # a default argument binds the loop's table
    return Compacted(before, _files(lake.snapshot()), lake.vacuum(keep_hours))


def _files(snapshot: Snapshot) -> int:
    return sum(len(files) for files in snapshot.files.values())


def _compacted(lake: LakeStore, spec: Table, snapshot: Snapshot) -> Actions:
    actions: Actions = []
    small = sorted((file for file in snapshot.files.get(spec.name, ()) if file.bytes < _LARGE_BYTES), key=_part)
    for _, found in groupby(small, key=_part):
        files = list(found)
        if len(files) > 1:
            with lake.loss_told(snapshot), scratch(lake.place) as connection, lake.place.receiving() as folder:
                actions += written(connection, _together(spec, files), spec, folder)
            actions += (removed(spec, file) for file in files)
    return actions


def _part(file: DataFile) -> tuple[str, str]:
    return file.benchmark or "", file.run or ""


def _together(spec: Table, files: Sequence[DataFile]) -> str:
    parts = (f"{'NULL' if name is None else in_sql(name)}::VARCHAR" for name in (files[0].benchmark, files[0].run))
    benchmark, run = parts
    return f"SELECT *, {benchmark} AS {BENCHMARK}, {run} AS {RUN} FROM ({selection(spec, [file.path for file in files])})"
