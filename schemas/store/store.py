"""How a store is opened: short transactions, so that other processes can read and write in between; and what a write may do.

DuckDB lets one process at a time hold a file for writing, and no other reads meanwhile. So no connection stays open: each read
and each write opens the file, does its work and closes it, and waits its turn when another process uses it.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeVar

from schemas.common.errors import StoreError
from schemas.common.text import in_shell, in_sql
from schemas.store.batches import Columns, Struck, insert, insert_columns
from schemas.tables import TABLES, Table, table

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


Parameters = Sequence[object] | Mapping[str, object] | None


class Transaction:
    """All of it comes to be, or nothing. This one writes to the tables of the DuckDB file that the connection is open on."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Parameters = None) -> duckdb.DuckDBPyConnection:
        """Run a query, or make a temporary table; tables of the store are changed by the methods below."""
        return self.connection.execute(sql, parameters)

    def insert(self, batches: Struck[pa.Table]) -> None:
        """Append rows: table name -> rows with all columns of the table, in order."""
        insert(self.connection, batches)
        for name in _JUDGED & batches.keys():
            self._unmark("SELECT unnest(?::VARCHAR[])", [batches[name]["episode_id"].unique().to_pylist()])

    def insert_columns(self, columns: Columns) -> None:
        """Append rows that `schemas.store.batches` has checked."""
        insert_columns(self.connection, columns)
        for name in _JUDGED & columns.keys():
            self._unmark("SELECT unnest(?::VARCHAR[])", [list(set(columns[name][table(name).column_names.index("episode_id")]))])

    def delete(self, table: str, where: str, parameters: Parameters = None) -> None:
        """Take out the rows of a table that meet a condition."""
        self._unmark_of(table, where, parameters)
        self.connection.execute(f"DELETE FROM {table} WHERE {where}", parameters)

    def update(self, table: str, assignments: str, where: str, parameters: Parameters = None) -> None:
        """Change columns (`column = expression, ...`) of the rows of a table that meet a condition."""
        self._unmark_of(table, where, parameters)
        self.connection.execute(f"UPDATE {table} SET {assignments} WHERE {where}", parameters)

    def _unmark_of(self, table: str, where: str, parameters: Parameters) -> None:
        if table in _JUDGED:
            self._unmark(f"SELECT episode_id FROM {table} WHERE {where}", parameters)

    def _unmark(self, games: str, parameters: Parameters) -> None:
        """Rows that are stored of these games are out of date."""
        if self.marks:
            self.connection.execute(f"DELETE FROM judged.games WHERE episode_id IN ({games})", parameters)

    @cached_property
    def marks(self) -> int:
        """Games with valid stored rows of views that read verdicts and labels (`analytics.views`), when this was first asked."""
        return _marks(self.connection)


def _marks(connection: duckdb.DuckDBPyConnection) -> int:
    if not connection.execute(_MARKS).fetchall():
        return 0
    ((games,),) = connection.execute("SELECT count(*) FROM judged.games").fetchall()
    return int(games)


_MANY_GAMES: Final = 500
SCHEMAS: Final = ("materialized", "judged")
"""Schemas of stored rows of views (`analytics.views`): of what follows from logs alone, and from verdicts, labels and attributions."""
_JUDGED: Final = frozenset({"verdicts", "labels", "attributions"})
_MARKS: Final = "SELECT 1 FROM duckdb_schemas() WHERE schema_name = 'judged'"
"""Asked with each write: `duckdb_tables()` looks into every table, which takes longer than opening the file."""
DEFAULT_STORE = "cotrace.duckdb"
SCHEMA_VERSION = 2
"""Raised when a table of `schemas.records` changes in a way that an older cotrace cannot read, and with each entry of `RENAMES`."""


class Rename(NamedTuple):
    """A column with a new name or, if `column` is given, a value of that column that is written differently."""

    since: int
    """First schema version with the new name."""
    table: str
    old: str
    new: str
    column: str | None = None


RENAMES: tuple[Rename, ...] = (Rename(2, "attributions", "said_wrong", "wrong_instruction", column="link"),)
"""In the order of their versions. A store of an older version gets them when it is first opened for writing."""

_SLOW_TO_PLAN: Final = "projection_pullup"
"""Optimizers of DuckDB that take longer on views of views than they save: this one a third of a query of a small store, and none of the
queries that were measured on a store of 1.5 GB was slower without it (decision 282)."""
SEALED: Final[dict[str, str | bool | int | float | list[str]]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "arrow_large_buffer_size": "true",
    "disabled_optimizers": _SLOW_TO_PLAN,
}
"""What a connection for reading is opened with. Without a folder for them, large results are not spilled to files next to the store; with
large buffers, texts of more than 2 GiB come through."""

T = TypeVar("T")

_HEAD_AT, _HEAD = 8, b"DUCK"
"""How every DuckDB file begins."""
_SEALING = threading.Lock()
"""Threads of a process share the database that they open: one of them seals it, the others find it sealed."""


def seal(connection: duckdb.DuckDBPyConnection) -> None:
    """Switch off the file system of the connection's database and lock its settings; what is open stays readable."""
    if connection.execute("SELECT current_setting('lock_configuration')").fetchall() == [(True,)]:
        return
    connection.execute("SET disabled_filesystems = 'LocalFileSystem'")
    connection.execute("SET lock_configuration = true")


@contextmanager
def sealed_memory(**tables: object) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an empty database in memory with the given Arrow tables, as sealed as those to a store."""
    import duckdb

    with duckdb.connect(config=SEALED) as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        seal(connection)
        yield connection


class Store:
    """A cotrace store: one DuckDB file."""

    blank: ClassVar[Callable[[], Path | None]] = staticmethod(lambda: None)
    """Gives a store without rows that new ones begin as a copy of; None where there is none. Set by who knows the views."""
    settle: ClassVar[Callable[[Store], None]] = staticmethod(lambda _: None)
    """Called when many games have come: finds out ahead what readers need of them. Set by who knows the views."""

    def __init__(self, path: str | Path, *, lock_wait_s: float = 30.0) -> None:
        self.path = path if isinstance(path, Path) else Path(path)
        self.lock_wait_s = lock_wait_s
        """How long to wait for another process that holds the file, in seconds."""
        self._marks = 0

    save_every_s = 1.0
    """How often a run that goes on for long writes what it has, in seconds."""
    rows_a_write = 10_000
    """How many rows a run gathers that need no time to come by; they are in memory until then."""

    @property
    def journals(self) -> Path:
        """The folder in which runs on this store keep their journals."""
        return Path(f"{self.path}.journal")

    @property
    def folder(self) -> Path:
        """Where it takes up space."""
        return self.path.resolve().parent

    @property
    def whole(self) -> Store:
        """Itself, or of a part the store that it is a part of: what takes the place of rows has to see all of them."""
        return self

    def size(self) -> int:
        """What it takes up, in bytes."""
        return self.path.stat().st_size

    def create(self) -> None:
        """Make the tables if the file does not exist yet or lacks some, and the columns that an older cotrace did not know.

        A store that has them all is only read: opening it for writing takes longer, and waits for every reader.

        Raises:
            StoreError: the file cannot be made or written, is not a store, or is of a newer version.
        """
        if self.exists():
            self._check_writable()
            if self._is_current():
                return
        elif self._begin_as_copy():
            return
        with self.writing(sets_marks=True) as connection:
            comments = dict(connection.execute("SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'main'").fetchall())
            for spec in TABLES:
                if spec.name in comments:
                    _add_columns(connection, spec)
                else:
                    connection.execute(spec.ddl())
                if comments.get(spec.name) != spec.grain:
                    connection.execute(f"COMMENT ON TABLE {spec.name} IS {in_sql(spec.grain)}")
            connection.execute(
                "INSERT INTO store_info SELECT 'schema_version', ? WHERE NOT EXISTS (FROM store_info WHERE name = 'schema_version')",
                [str(SCHEMA_VERSION)],
            )

    def update(self) -> None:
        """As `create`, where there must be a store already.

        Raises:
            StoreError: there is none at the path; and as `create`.
        """
        if not self.exists():
            raise self._missing()
        self.create()

    def _is_current(self) -> bool:
        """Whether the store has this version's tables, with their columns and comments."""
        with self.reading() as connection:
            return self._check_version(connection) == SCHEMA_VERSION and _has_all_tables(connection)

    def _missing(self) -> StoreError:
        made = f"make one with `cotrace ingest PATH --store {in_shell(self.path)}`"
        return StoreError(f"no store at {self.path}: {made}, or name another with --store")

    def _begin_as_copy(self) -> bool:
        """Whether the new store's file is there, as a copy of the blank one; two processes that begin it at once make one of them."""
        blank = type(self).blank()
        if blank is None:
            return False
        self._check_writable()
        try:
            _put(blank.read_bytes(), self.path)
        except (AttributeError, OSError) as error:  # made from nothing it takes longer, and reports what is wrong
            if _full(error):  # DuckDB would leave a beginning that is not a store
                raise StoreError(self._disk_full(error)) from error
            return False
        return True

    def exists(self) -> bool:
        """Whether there is a file at the store's path."""
        return self.path.exists()

    def check(self) -> None:
        """Make sure that the store can be read, before anything is promised on top of it.

        Raises:
            StoreError: it cannot.
        """
        with self.reading():
            pass

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection that can neither reach a file (not even next to the store) nor change its settings; closed on leaving.

        Raises:
            StoreError: there is no store at the path, it is not a DuckDB file, of a newer version, or stays locked.
        """
        if not self.path.exists():
            raise self._missing()
        self._check_file()
        connection = self._open(read_only=True)
        try:
            with self._explaining_damage():
                self._check_version(connection)
                yield connection
        finally:
            connection.close()

    def transact(self, work: Callable[[Transaction], T]) -> T:
        """Do work that reads and changes rows, all of it or nothing, and give what it gives.

        Args:
            work: may be done again where others have written meanwhile: it has to find out anew what there is.

        Raises:
            StoreError: the store cannot be written.
        """
        with self.writing(sets_marks=True) as connection:
            transaction = Transaction(connection)
            self._marks = transaction.marks
            return work(transaction)

    def come_to_rest(self) -> None:
        """After a job that wrote: where many games have stored rows, compute those of games that changed, so that no reader has to."""
        if self._marks >= _MANY_GAMES:
            type(self).settle(self)

    def define(self, work: Callable[[duckdb.DuckDBPyConnection], None]) -> None:
        """Make views and macros, in one transaction.

        Raises:
            StoreError: the store cannot be written.
        """
        with self.writing(sets_marks=True) as connection:
            work(connection)

    @contextmanager
    def writing(self, *, sets_marks: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection inside one transaction: committed on leaving, rolled back on any exception, then closed.

        Args:
            sets_marks: whoever writes removes the marks of the games that change; else all marks of the schema `judged` are removed.

        Raises:
            StoreError: the file cannot be written, is not a DuckDB file, of a newer version, or stays locked.
        """
        self._check_writable()
        is_new = not self.exists()
        connection = self._open(read_only=False)
        try:
            with self._explaining_damage(), self._explaining_full_disk():
                version = None if is_new and _has_no_tables(connection) else self._check_version(connection)
                connection.execute(_WRITTEN_ONCE)
                if version is not None and version < SCHEMA_VERSION:
                    _migrate(connection, version)
                connection.execute("BEGIN TRANSACTION")
                try:
                    if not sets_marks and _marks(connection):
                        connection.execute("DELETE FROM judged.games")
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
        finally:
            connection.close()

    @contextmanager
    def _explaining_damage(self) -> Iterator[None]:
        """Say what to do about a file whose damage shows only when the damaged part is read."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            if "Corrupt database file" not in str(error):
                raise
            raise StoreError(self._damaged(str(error).splitlines()[0])) from error

    @contextmanager
    def _explaining_full_disk(self) -> Iterator[None]:
        """Say which disk is full; what DuckDB had written down by then counts, and doing it again changes nothing of it."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            if not _full(error):
                raise
            raise StoreError(self._disk_full(error)) from error

    def _disk_full(self, error: Exception) -> str:
        return f"store {self.path} cannot be written ({_full(error)}): free some space and try again"

    def _damaged(self, finding: str) -> str:
        return f"store {self.path} was cut or is damaged ({finding}): put a copy in its place, or delete it and ingest the logs again"

    def _check_name(self) -> None:
        if self.path.stem.lower() in SCHEMAS:  # DuckDB names the database after the file, and could not tell the two apart
            raise StoreError(f"a store cannot be called {self.path.name}: a schema in it has that name; give the file another name")

    def _check_file(self) -> None:
        self._check_name()
        if self.path.is_dir():
            raise StoreError(f"{self.path} is a folder: name a file with --store")
        if not os.access(self.path, os.R_OK):
            raise StoreError(f"store {self.path} cannot be read: make it readable (chmod u+r), or name another with --store")

    def _check_writable(self) -> None:
        parent = self.path.parent
        self._check_name()
        if "?" in str(self.path):  # what follows it is not part of the name of DuckDB's log next to the store
            raise StoreError(f"store {self.path}: DuckDB cannot write to a path with '?' in it: name another with --store")
        if self.path.is_dir():
            raise StoreError(f"{self.path} is a folder: name a file with --store")
        if not parent.is_dir():
            raise StoreError(f"no folder {parent} for the store: make it first, or name another place with --store")
        if self.path.exists() and not os.access(self.path, os.W_OK):
            raise StoreError(f"store {self.path} is read-only: make it writable (chmod u+w), or name another with --store")
        if not os.access(parent, os.W_OK):
            raise StoreError(
                f"folder {parent} is read-only, and a store needs a journal there: make it writable, or name another place with --store"
            )

    def _open(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        import duckdb
        from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

        retrying = Retrying(
            retry=retry_if_exception(_is_locked),
            wait=wait_random_exponential(multiplier=0.01, max=0.5),
            stop=stop_after_delay(self.lock_wait_s),
            reraise=True,
        )
        try:
            return retrying(self._open_sealed if read_only else duckdb.connect, str(self.path))
        except duckdb.Error as error:
            raise StoreError(self._why_not_opened(error)) from error

    _sealed_with = SEALED
    """What a connection for reading is opened with."""

    def _seal(self, connection: duckdb.DuckDBPyConnection) -> None:
        seal(connection)

    def _open_sealed(self, path: str) -> duckdb.DuckDBPyConnection:
        import duckdb

        with _SEALING:
            connection = duckdb.connect(path, read_only=True, config=self._sealed_with)
            self._seal(connection)
        return connection

    def _why_not_opened(self, error: Exception) -> str:
        first_line = str(error).splitlines()[0]
        if _full(error):
            return self._disk_full(error)
        if _is_locked(error):
            return (
                f"store {self.path} is held by another process or thread (waited {self.lock_wait_s:g} s): close the program that holds it "
                f"open ({first_line.partition('Conflicting lock is held in ')[2].partition('. See')[0] or 'unknown'})"
            )
        if "newer version" in str(error) or "version number" in str(error).lower():
            return f"store {self.path} was written by another DuckDB: open it with that version, or ingest the logs again ({first_line})"
        if "Could not read enough bytes" in str(error) or "Corrupt database file" in str(error):
            return self._damaged(first_line)
        if "not a valid DuckDB database file" in str(error) or self._is_another_file():
            return f"{self.path} is not a DuckDB file: name a store with --store"
        return f"store {self.path} cannot be opened: {first_line}"

    def _is_another_file(self) -> bool:
        """Whether there is a file that begins otherwise: one that DuckDB would read itself, such as JSON, it refuses in other words."""
        if not self.path.is_file():
            return False
        with self.path.open("rb") as file:
            return file.read(len(_HEAD) + _HEAD_AT)[_HEAD_AT:] != _HEAD

    def _check_version(self, connection: duckdb.DuckDBPyConnection) -> int | None:
        """The version of the store's schema; None if it has none yet."""
        import duckdb

        try:
            rows = connection.execute("SELECT value FROM store_info WHERE name = 'schema_version'").fetchall()
        except duckdb.CatalogException:
            if connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() != [(0,)]:
                raise StoreError(f"{self.path} is a DuckDB file but not a cotrace store: name another with --store") from None
            return None
        if rows and not rows[0][0].isdecimal():
            raise StoreError(
                f"{self.path} has no readable schema version ({rows[0][0][:20]!r}): it is not a cotrace store, name another with --store"
            )
        if rows and int(rows[0][0]) > SCHEMA_VERSION:
            raise StoreError(
                f"store {self.path} has schema version {rows[0][0]}, this cotrace knows up to {SCHEMA_VERSION}: "
                "upgrade cotrace, or name another store with --store"
            )
        return int(rows[0][0]) if rows else None


_WRITTEN_ONCE = f"SET checkpoint_threshold = '0b'; SET disabled_optimizers = '{_SLOW_TO_PLAN}'"
"""A commit writes to the file at once. By default it writes all rows next to the file first, to be read and written again on closing."""


def _migrate(connection: duckdb.DuckDBPyConnection, version: int) -> None:
    """Give a store of an older version the names of this one: all of them or none."""
    connection.execute("BEGIN TRANSACTION")
    try:
        tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        for since, table, old, new, column in RENAMES:
            if since <= version or table not in tables:
                continue
            known = {name for (name,) in connection.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchall()}
            if column is None and old in known:
                connection.execute(f'ALTER TABLE {table} RENAME COLUMN "{old}" TO "{new}"')
            elif column in known:
                connection.execute(f'UPDATE {table} SET "{column}" = ? WHERE "{column}" = ?', [new, old])
        connection.execute("UPDATE store_info SET value = ? WHERE name = 'schema_version'", [str(SCHEMA_VERSION)])
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _has_no_tables(connection: duckdb.DuckDBPyConnection) -> bool:
    """Reported at once, where asking for a table that is not there makes DuckDB look for names like it."""
    return not connection.execute("SELECT 1 FROM duckdb_tables() LIMIT 1").fetchall()


def _put(content: bytes, path: Path) -> None:
    """Make a file that has all its bytes when it gets its name, takes no one's place, and is gone if this process is killed before.

    Raises:
        AttributeError, OSError: the system has no files without names, or there is no space, or there is such a file already.
    """
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with os.fdopen(os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb") as file:
            file.write(content)
            file.flush()
            os.link(f"/proc/self/fd/{file.fileno()}", path.name, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _full(error: Exception) -> str:
    """How the system reports that there is no space; empty where the error is another."""
    return next((claimed for claimed in map(os.strerror, (errno.ENOSPC, errno.EDQUOT)) if claimed in str(error)), "")


def _is_locked(error: BaseException) -> bool:
    """Whether another process holds the file, or another thread of this one holds it in the other way (reading, writing)."""
    return any(claimed in str(error) for claimed in _LOCKED)


_LOCKED = ("Could not set lock on file", "with a different configuration", "Unique file handle conflict")
"""What DuckDB reports then; the last where two threads of one process open the file at the same moment."""


def _add_columns(connection: duckdb.DuckDBPyConnection, spec: Table) -> None:
    """A column that may be null can be added to the rows there are, and one that might not be can come to be so.

    Any other change of a table raises SCHEMA_VERSION.
    """
    # not from duckdb_columns(), which binds every view of the store
    rows = connection.execute(f"SELECT name, NOT \"notnull\" FROM pragma_table_info('{spec.name}')").fetchall()
    known: dict[str, bool] = dict(rows)
    for column in spec.columns:
        if column.name not in known:
            connection.execute(f'ALTER TABLE {spec.name} ADD COLUMN "{column.name}" {column.sql_type}')
        elif column.nullable and not known[column.name]:
            connection.execute(f'ALTER TABLE {spec.name} ALTER COLUMN "{column.name}" DROP NOT NULL')


def _has_all_tables(connection: duckdb.DuckDBPyConnection) -> bool:

    comments = dict(connection.execute("SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'main'").fetchall())
    if any(comments.get(spec.name) != spec.grain for spec in TABLES):
        return False
    shape = " UNION ALL ".join(f"SELECT '{spec.name}', name, NOT \"notnull\" FROM pragma_table_info('{spec.name}')" for spec in TABLES)
    found = {(table, column): nullable for table, column, nullable in connection.execute(shape).fetchall()}
    return all(found.get((spec.name, column.name)) in (True, column.nullable) for spec in TABLES for column in spec.columns)
