"""One write to a lake: gathered in memory, written to files next to the others, and made part of the lake by one commit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from schemas.common.text import in_sql
from schemas.store.batches import Columns, Struck, insert, insert_columns
from schemas.store.lake.files import BENCHMARK, LAKE_TABLES, RUN, TABLE, DataFile, Snapshot, is_partitioned, layout_of, selection
from schemas.store.lake.place import Place
from schemas.store.store import Parameters, Transaction
from schemas.tables import Table, table

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from deltalake.transaction import AddAction, RemoveAction

    Actions = list[AddAction | RemoveAction]
    """The entries of a commit: files that come, files that go."""

_HEAD = "SELECT new.*, {benchmark} AS " + BENCHMARK + ", {run} AS " + RUN + " FROM new_{table} AS new"


class LakeTransaction(Transaction):
    """Sees the lake as it was when the transaction began, and its own changes.

    Rows are never changed in a file: a file of which some rows go is read, and its other rows are written anew with those that come.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, snapshot: Snapshot) -> None:
        super().__init__(connection)
        self._files = {spec.name: {file.path: file for file in snapshot.files.get(spec.name, ())} for spec in LAKE_TABLES}
        self._gone: list[RemoveAction] = []
        self._touched: set[str] = set()
        for spec in LAKE_TABLES:
            self._show(spec)

    def insert(self, batches: Struck[pa.Table]) -> None:
        """Append rows."""
        for name, batch in batches.items():
            self._touch(name)
            insert(self.connection, Struck({name: batch}), prefix="new_")

    def insert_columns(self, columns: Columns) -> None:
        """Append rows."""
        for name, values in columns.items():
            self._touch(name)
            insert_columns(self.connection, Struck({name: values}), prefix="new_")

    def delete(self, table: str, where: str, parameters: Parameters = None) -> None:
        """Take out rows."""
        if self._take_over(table, where, parameters):
            self.connection.execute(f"DELETE FROM new_{table} AS {table} WHERE {where}", parameters)

    def update(self, table: str, assignments: str, where: str, parameters: Parameters = None) -> None:
        """Change rows."""
        if self._take_over(table, where, parameters):
            self.connection.execute(f"UPDATE new_{table} AS {table} SET {assignments} WHERE {where}", parameters)

    def _take_over(self, name: str, where: str, parameters: Parameters) -> bool:
        """Take the files that hold rows of the condition into this transaction; whether there is anything of the table in it now."""
        spec, files = table(name), self._files[name]
        if files:
            read = selection(spec, list(files), more=", filename")
            rows = self.connection.execute(f"SELECT DISTINCT filename FROM ({read}) AS {name} WHERE {where}", parameters).fetchall()
            if rows:
                self._rewrite(spec, [path for (path,) in rows])
        return name in self._touched

    def _rewrite(self, spec: Table, paths: list[str]) -> None:
        self._touch(spec.name)
        in_order = [path for path in self._files[spec.name] if path in set(paths)]
        self.connection.execute(f"INSERT INTO new_{spec.name} {selection(spec, in_order)}")
        self._gone += [removed(spec, self._files[spec.name].pop(path)) for path in in_order]
        self._show(spec)

    def _touch(self, name: str) -> None:
        if name not in self._touched:
            self._touched.add(name)
            spec = table(name)
            self.connection.execute(spec.ddl().replace(f"EXISTS {name} ", f"EXISTS new_{name} "))
            self._show(spec)

    def _show(self, spec: Table) -> None:
        """The table as the transaction sees it."""
        new = f" UNION ALL SELECT * FROM new_{spec.name}" if spec.name in self._touched else ""
        self.connection.execute(f"CREATE OR REPLACE VIEW {spec.name} AS {selection(spec, list(self._files[spec.name]))}{new}")

    def write(self, place: Place) -> Actions:
        """Write the files of the transaction; what a commit has to say of them and of those that they replace."""
        with place.receiving() as folder:
            return [*(action for name in sorted(self._touched) for action in self._written(table(name), folder)), *self._gone]

    def _written(self, spec: Table, folder: Path) -> Iterator[AddAction]:
        if self.connection.execute(f"SELECT 1 FROM new_{spec.name} LIMIT 1").fetchone() is None:
            return
        query = _HEAD.format(table=spec.name, benchmark="NULL::VARCHAR", run="NULL::VARCHAR")
        if is_partitioned(spec):
            query = _HEAD.format(table=spec.name, benchmark="games.benchmark", run="games.run_id")
            query += " LEFT JOIN episodes AS games USING (episode_id)"
        yield from written(self.connection, query, spec, folder)


def written(connection: duckdb.DuckDBPyConnection, query: str, spec: Table, root: Path) -> Iterator[AddAction]:
    """Write rows of a table, with the two columns of their part, to files of the lake; they belong to it once they are committed."""
    from deltalake.transaction import AddAction

    folder = root / f"{TABLE}={spec.name}"
    folder.mkdir(exist_ok=True)
    rows = connection.execute(
        f"COPY ({query}) TO {in_sql(str(folder))} (FORMAT parquet, COMPRESSION zstd, PARTITION_BY ({BENCHMARK}, {RUN}), "
        f"FILENAME_PATTERN '{layout_of(spec)}-{time.time_ns():016x}-{{uuid}}', APPEND true, RETURN_STATS true)"
    ).fetchall()
    for path, count, size, _, statistics, parts, *_ in rows:
        Path(path).chmod(0o444)
        part = {TABLE: spec.name, BENCHMARK: parts[BENCHMARK], RUN: parts[RUN]}
        logged = Path(path).relative_to(root).as_posix()
        reported = _statistics_json(spec, int(count), statistics)
        yield AddAction(logged, int(size), part, int(time.time() * 1000), True, reported)  # noqa: FBT003 - the library's signature


def removed(spec: Table, file: DataFile) -> RemoveAction:
    """The entry of a commit for a file whose rows stand in others now."""
    from deltalake.transaction import RemoveAction

    part = {TABLE: spec.name, BENCHMARK: file.benchmark, RUN: file.run}
    return RemoveAction(file.logged, True, int(time.time() * 1000), file.bytes, part)  # noqa: FBT003 - the library's signature


def _statistics_json(spec: Table, count: int, statistics: Mapping[str, Mapping[str, Any]]) -> str:
    """The log's entry for a file, so that readers who look for a game or a run can pass over it."""
    numbers = {column.name for column in spec.columns if column.python_type is int}
    ends: dict[str, dict[str, object]] = {"min": {}, "max": {}}
    for column in sorted({"episode_id", "turn", "run_id"} & set(spec.column_names)):
        found = statistics.get(f'"{column}"', {})
        for end, values in ends.items():
            if found.get(f"{end}_is_exact") == "true":
                values[column] = int(found[end]) if column in numbers else found[end]
    return orjson.dumps({"numRecords": count, "minValues": ends["min"], "maxValues": ends["max"], "nullCount": {}}).decode()


def scratch(place: Place) -> duckdb.DuckDBPyConnection:
    """An empty database in memory, which reads and writes the files of a lake without a word."""
    import duckdb

    connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "python_enable_replacements": "false"})
    connection.execute("SET enable_progress_bar = false")
    place.serve(connection)
    return connection


@contextmanager
def lake_transaction(place: Place, snapshot: Snapshot) -> Iterator[LakeTransaction]:
    """A transaction over what the lake holds; its changes are gone on leaving unless they were written and committed."""
    with scratch(place) as connection:
        yield LakeTransaction(connection, snapshot)


def added(actions: Actions) -> list[str]:
    """The files that a commit would make part of the lake, from its place."""
    from deltalake.transaction import AddAction

    return [action.path for action in actions if isinstance(action, AddAction)]
