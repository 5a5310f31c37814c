"""A store that is a lake: the same tables and views, in Parquet files that many machines can read and write at once.

Delta Lake's log states which files make up the lake; each commit adds one entry to it, whole or not at all. A write reads the lake as it
is, and its commit counts only if no one has committed meanwhile: else the write is done again on what there is then. So writers need no
lock, and what they leave is what they would have left one after the other.
"""

from __future__ import annotations

import math
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from schemas.common.errors import StoreError, UsageError
from schemas.common.packages import needed
from schemas.common.text import in_shell, in_sql
from schemas.store.lake.files import (
    BENCHMARK,
    LAKE_TABLES,
    PARTITION,
    RUN,
    TABLE,
    DataFile,
    Snapshot,
    is_partitioned,
    lake_schema,
    literal,
    selection,
    snapshot_of,
)
from schemas.store.lake.place import Address, Place, Seen, place_of
from schemas.store.lake.transaction import added, lake_transaction, removed, scratch, written
from schemas.store.store import RENAMES, SCHEMA_VERSION, SEALED, Store, Transaction
from schemas.tables import Table

if TYPE_CHECKING:
    import duckdb
    from deltalake import DeltaTable

    from schemas.store.lake.transaction import Actions


T = TypeVar("T")

_KIND: Final = "cotrace lake, schema version "
_TRIES_FOR_S: Final = 120.0
_LONGEST_REST_S: Final = 2.0
_LONGEST_RETAINED_H: Final = 24 * 365 * 100
_LONGEST_REASON: Final = 400
"""Characters; DuckDB quotes what it could not read."""


class _Views(Store):
    """The views of a lake: a store with empty tables, in whose place a connection sees the lake's."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.own / "views.duckdb")
        self._place = place
        self._sealed_with = {name: value for name, value in SEALED.items() if name != "enable_external_access"}

    def _damaged(self, finding: str) -> str:
        return f"the lake's file of views {self.path} was cut or is damaged ({finding}): delete it, and it is made anew; it holds no data"

    def _why_not_opened(self, error: Exception) -> str:
        if "not a valid DuckDB database file" in str(error):
            return self._damaged(str(error).splitlines()[0])
        return super()._why_not_opened(error)

    def _seal(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Leave the lake's data in reach, and nothing else."""
        self._place.serve(connection)
        if connection.execute("SELECT current_setting('lock_configuration')").fetchall() == [(True,)]:
            return
        roots = dict.fromkeys((self._place.uri, literal(self._place.uri)))  # DuckDB holds the pattern against them first, then the file
        folders = ", ".join(in_sql(f"{root}/{TABLE}={spec.name}") for root in roots for spec in LAKE_TABLES)
        connection.execute(f"SET allowed_directories = [{folders}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")


class LakeStore(Store):
    """A store in a folder, `lake:FOLDER`, or a bucket, `lake:s3://BUCKET/PREFIX`; of one benchmark or run: `...?benchmark=B&run=R`.

    Args:
        root: the folder, or the address.
        benchmark: leave out the games of others, without opening their files.
        run: the same, for the id of one run.
    """

    save_every_s = 10.0  # each time makes new files
    rows_a_write = 50_000

    def __init__(self, root: str | Path, *, benchmark: str | None = None, run: str | None = None) -> None:
        needed("deltalake", "a lake")
        self.place = place_of(root)
        parts = {name: value for name, value in (("benchmark", benchmark), ("run", run)) if value is not None}
        asked = urlencode(parts, quote_via=quote)  # a name may hold what parts an address, and paths are read again
        super().__init__(Address(f"lake:{self.place.uri}{f'?{asked}' if asked else ''}"))
        self._parts = {"benchmark": benchmark, "run": run}
        self._views = _Views(self.place)
        self._state: tuple[Seen, Snapshot] | None = None
        self._looking = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_state": None, "_looking": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state | {"_looking": threading.Lock()}

    @property
    def journals(self) -> Path:
        """Next to the data, so that whoever has the lake has them; those of one in a bucket lie on the machine that runs."""
        return self.place.own / "journal"

    @property
    def folder(self) -> Path:
        """Where it takes up space."""
        return self.place.disk

    @property
    def whole(self) -> LakeStore:
        """The lake that this is a part of."""
        return LakeStore(self.place.uri) if any(part is not None for part in self._parts.values()) else self

    def size(self) -> int:
        """What its files take up now, in bytes; older ones that have not been deleted yet are left out."""
        return sum(file.bytes for files in self.snapshot().files.values() for file in files)

    def exists(self) -> bool:
        """Whether there is a lake in the place."""
        return self.place.holds_table()

    def create(self) -> None:
        """Make the lake if there is none, and the columns that an older cotrace did not know."""
        from deltalake import DeltaTable, Field, Schema
        from deltalake.exceptions import CommitFailedError

        place, parts = self.place, list(PARTITION)
        with place.one_line_errors():
            if not self.exists():
                place.refuse_strangers()
                with suppress(CommitFailedError):  # another process has just made it
                    reported = f"{_KIND}{SCHEMA_VERSION}"
                    DeltaTable.create(
                        place.uri, lake_schema(), "ignore", parts, name="cotrace", description=reported, storage_options=place.options
                    )
        delta, _ = self._now()
        wanted = Schema.from_arrow(lake_schema())
        there = {column.name for column in delta.schema().fields}
        new: list[Field] = [column for column in wanted.fields if column.name not in there]
        if new:
            delta.alter.add_columns(new)
        version = self._check_kind(delta)
        if version < SCHEMA_VERSION:
            self.transact(lambda transaction: rename_values(transaction, version))
            with place.one_line_errors():
                self._now()[0].alter.set_table_description(f"{_KIND}{SCHEMA_VERSION}")
        self._make_views()

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection that sees the lake as it is now and can reach nothing else; closed on leaving."""
        _, snapshot = self._now()
        with self.place.one_line_errors():
            has_views = self._views.exists()
        if not has_views:
            self._make_views()
        with self._views.reading() as connection, self.explaining_loss(snapshot):
            for spec in LAKE_TABLES:
                connection.execute(f"CREATE OR REPLACE TEMP VIEW {spec.name} AS {selection(spec, snapshot.paths(spec.name))}")
            yield connection

    def _make_views(self) -> None:
        with self.place.one_line_errors():
            self.place.own.mkdir(exist_ok=True, parents=True)
        self._views.create()

    @contextmanager
    def explaining_loss(self, snapshot: Snapshot) -> Iterator[None]:
        """Say what to do where files are gone or damaged that the lake's log names, whoever has taken it for a mistake of a query.

        Raises:
            StoreError: the reason.
        """
        import duckdb

        try:
            yield
        except (duckdb.Error, UsageError) as error:
            cause = error if isinstance(error, duckdb.Error) else error.__cause__
            reason = isinstance(cause, duckdb.Error) and self._of_a_file(cause, snapshot)
            if not reason:
                raise
            raise StoreError(
                f"{self.path}: a file of the lake is gone or cannot be read ({reason}): put it back, or begin again "
                "if `cotrace lake compact` has just deleted what this reader still needed"
            ) from error

    def _of_a_file(self, error: duckdb.Error, snapshot: Snapshot) -> str | None:
        """What is wrong with which file, where DuckDB speaks of one; of damage it often states no more than `Out of buffer`."""
        import duckdb

        if isinstance(error, duckdb.PermissionException):
            return None
        reply = str(error).splitlines()[0][:_LONGEST_REASON]
        files = [file.path for files in snapshot.files.values() for file in files]
        reported = re.sub(r"\[([*?\[])\]", r"\1", str(error))  # its patterns have brackets around what would be a pattern
        if any(path in reported for path in files):
            return reply
        if type(error) is not duckdb.Error and "Parquet file" not in reply:  # errors of Parquet's own reader have no class
            return None
        with scratch(self.place) as connection:
            return next((f"{path}: {reply}" for path in files if not _can_be_read(connection, path)), None)

    @contextmanager
    def writing(self, *, sets_marks: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:  # noqa: ARG002 - as a file takes it
        """No one writes tables of a lake through a connection: see `transact`."""
        raise StoreError(f"{self.path} is a lake: it is written in transactions of its own")
        yield

    def define(self, work: Callable[[duckdb.DuckDBPyConnection], None]) -> None:
        """Make views and macros."""
        self._views.define(work)

    def transact(self, work: Callable[[Transaction], T]) -> T:
        """Do work on the lake as it is; where others commit meanwhile, do it again."""

        def write(snapshot: Snapshot) -> tuple[T, Actions]:
            with self.explaining_loss(snapshot), lake_transaction(self.place, snapshot) as transaction:
                return work(transaction), transaction.write(self.place)

        return self.commit(write)

    def commit(self, write: Callable[[Snapshot], tuple[T, Actions]]) -> T:
        """Write files and make them part of the lake; where others commit meanwhile, do it again.

        Args:
            write: gives its outcome and what the commit has to say of files, from what the lake holds.

        Raises:
            StoreError: the lake cannot be written, or others never left a moment for it.
        """
        last, tries = time.monotonic() + _TRIES_FOR_S, 0
        while True:
            _, snapshot = self._now()
            found, actions = write(snapshot)
            if self._committed(snapshot.version, actions):
                return found
            if time.monotonic() > last:
                raise StoreError(f"{self.path}: others have written all the time ({_TRIES_FOR_S:.0f} s): start again with fewer writers")
            tries += 1
            time.sleep(random.uniform(0, min(_LONGEST_REST_S, 0.02 * 2**tries)))

    def snapshot(self) -> Snapshot:
        """What the lake holds now.

        Raises:
            StoreError: there is no lake, or it cannot be read.
        """
        return self._now()[1]

    def vacuum(self, keep_hours: float) -> int:
        """Delete the files that only versions of the lake older than that need, and what killed writers left; gives how many."""
        hours = math.ceil(min(keep_hours, _LONGEST_RETAINED_H))  # deltalake takes whole ones, and 0 would be nothing at all
        with self.place.one_line_errors():
            return len(self.place.delta().vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True))

    def _committed(self, version: int, actions: Actions) -> bool:
        """Make files part of the lake, unless somebody has committed since that version; they are taken away then."""
        from deltalake import CommitProperties
        from deltalake.exceptions import DeltaError

        if not actions:
            return True
        with self.place.one_line_errors():
            at = self.place.delta(version)
        try:
            at.create_write_transaction(
                actions, "append", at.schema(), list(PARTITION), commit_properties=CommitProperties(max_commit_retries=0)
            )
        except (DeltaError, OSError):
            now = self._now()[0]
            if now.version() == version:
                self._drop(actions)
                with self.place.one_line_errors():
                    raise
            if not self._is_ours(now, actions):
                self._drop(actions)
                return False
        self.place.committed()
        return True

    def _is_ours(self, now: DeltaTable, actions: Actions) -> bool:
        """Whether a commit counts whose answer was lost on the way: its files must not be taken away."""
        new = set(added(actions))
        return any(file.logged in new for files in snapshot_of(now, self.place.uri).files.values() for file in files)

    def _drop(self, actions: Actions) -> None:
        for logged in added(actions):
            self.place.drop(logged)

    def _now(self) -> tuple[DeltaTable, Snapshot]:
        """The lake and what it holds; looked up again only where it has changed."""
        from deltalake.exceptions import TableNotFoundError

        with self._looking, self.place.one_line_errors():
            before = self._state[0] if self._state else None
            try:
                seen = self.place.newest(before)
            except TableNotFoundError:
                self._state = None
                made = f"make one with `cotrace ingest PATH --store {in_shell(self.path)}`"
                raise StoreError(f"no lake at {self.place.uri}: {made}") from None
            if self._state is None or seen is not before:
                self._check_kind(seen.delta)
                snapshot = snapshot_of(seen.delta, self.place.uri, **self._parts)
                self.place.know(file for files in snapshot.files.values() for file in files)
                self._state = (seen, snapshot)
            return seen.delta, self._state[1]

    def _check_kind(self, delta: DeltaTable) -> int:
        """The version of the lake's schema."""
        description = delta.metadata().description or ""
        version = description.removeprefix(_KIND)
        if not description.startswith(_KIND) or not version.isdecimal():
            raise StoreError(f"{self.place.uri} is a Delta table but no cotrace lake: name another with --store")
        if int(version) > SCHEMA_VERSION:
            raise StoreError(
                f"lake {self.place.uri} has schema version {version}, this cotrace knows up to {SCHEMA_VERSION}: upgrade cotrace"
            )
        return int(version)


def rename_values(transaction: Transaction, version: int) -> None:
    """Give rows of an older version the values of this one; a lake has no columns to rename yet."""
    for since, table, old, new, column in RENAMES:
        if since > version and column is not None:
            transaction.update(table, f'"{column}" = {in_sql(new)}', f'"{column}" = {in_sql(old)}')


def _can_be_read(connection: duckdb.DuckDBPyConnection, path: str) -> bool:
    """Whether all of a file can be."""
    import duckdb

    try:
        connection.execute(f"SELECT max(hash(row)) FROM read_parquet({in_sql(literal(path))}, hive_partitioning = false) AS row").fetchall()
    except duckdb.Error:
        return False
    return True


_LARGE_BYTES: Final = 64 << 20
"""Files of this size are not made larger: a reader opens them at small cost compared to reading them."""


class Compacted(NamedTuple):
    """What compacting has done."""

    before: int
    """Files of the lake."""
    after: int
    deleted: int
    """Files that no version of the lake young enough to be retained needs any more."""


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
    with store.writing() as connection, lake.explaining_loss(snapshot):
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
        keep_hours: files that a version of the lake this young needed are stored, for those who are reading it.

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
            with lake.explaining_loss(snapshot), scratch(lake.place) as connection, lake.place.receiving() as folder:
                actions += written(connection, _together(spec, files), spec, folder)
            actions += (removed(spec, file) for file in files)
    return actions


def _part(file: DataFile) -> tuple[str, str]:
    return file.benchmark or "", file.run or ""


def _together(spec: Table, files: Sequence[DataFile]) -> str:
    parts = (f"{'NULL' if name is None else in_sql(name)}::VARCHAR" for name in (files[0].benchmark, files[0].run))
    benchmark, run = parts
    return f"SELECT *, {benchmark} AS {BENCHMARK}, {run} AS {RUN} FROM ({selection(spec, [file.path for file in files])})"
