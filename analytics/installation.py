"""Install the views in a store and keep them current; a new store begins as a copy of an empty one that has them."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from analytics.views import BASIS, DUE, VIEWS, Meaning, files_of
from schemas.common.errors import StoreError
from schemas.store.store import SCHEMA_VERSION, SCHEMAS, Store
from schemas.tables import TABLES

if TYPE_CHECKING:
    import duckdb


_FINGERPRINT: Final = "views_hash"
"""Name of the row of store_info that records the views of a store."""


def install(connection: duckdb.DuckDBPyConnection) -> None:
    """Make all views and macros anew in the store of this connection, and remember which they are; the caller holds the transaction.

    Stored rows stay where they are those of the same view: its games lack those of the others.

    Raises:
        StoreError: the SQL of a view is wrong.
    """
    import duckdb

    connection.execute(BASIS)
    for schema in SCHEMAS:
        _forget_changed(connection, schema)
    for spec in VIEWS:
        try:
            connection.execute(spec.sql)
        except duckdb.Error as error:
            first_line = str(error).splitlines()[0]
            raise StoreError(f"{spec.kind} {spec.name} cannot be made ({first_line}): correct {spec.file}") from error
        if spec.kind == "view":
            connection.execute(f"comment on view {spec.name} is {_quoted(spec.summary)}")
    connection.execute(_comments(connection))
    connection.execute("delete from store_info where name = ?", [_FINGERPRINT])
    connection.execute("insert into store_info (name, value) values (?, ?)", [_FINGERPRINT, _fingerprint()])


def _forget_changed(connection: duckdb.DuckDBPyConnection, schema: str) -> None:
    """Drop the stored rows of views that are not as they were."""
    here = "database_name = current_database() and table_name <> 'games' and schema_name"
    made = dict(connection.execute(f"select table_name, comment from duckdb_tables() where {here} = ?", [schema]).fetchall())
    versions = {spec.name: spec.version for spec in VIEWS if spec.schema == schema}
    same = {name for name, comment in made.items() if name in versions and versions[name] in comment}
    for name in made.keys() - same:
        connection.execute(f"drop table {schema}.{name}")
    if changed := sorted(versions.keys() - same):
        connection.execute(f"update {schema}.games set lacks = list_distinct(list_concat(lacks, ?))", [changed])


def columns(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, Meaning]]:
    """View or table macro -> column -> meaning, in the order of its columns, in the store of this connection, which has the views.

    Raises:
        StoreError: a column has no meaning.
    """
    found: dict[str, dict[str, Meaning]] = {spec.name: {} for spec in VIEWS if spec.kind != "macros"}
    here = "database_name = current_database() and schema_name = 'main'"
    rows = connection.execute(f"select table_name, column_name from duckdb_columns() where {here} order by column_index").fetchall()
    for spec in VIEWS:
        if spec.kind == "table macro":
            parameters = spec.sql.partition(f"create or replace macro {spec.name}(")[2].partition(")")[0]
            call = f"{spec.name}({', '.join('null' for name in parameters.split(',') if name and ':=' not in name)})"
            rows += [(spec.name, row[0]) for row in connection.execute(f"describe select * from {call}").fetchall()]
    known = {spec.name: spec for spec in VIEWS}
    for name, column in rows:
        if name in found:
            if column not in known[name].meanings:
                raise StoreError(f"{name}: column {column} has no meaning: add it to columns.csv next to {known[name].file}")
            found[name][column] = known[name].meanings[column]
    return found


def _comments(connection: duckdb.DuckDBPyConnection) -> str:
    """What each column of every table and view is."""
    views = {spec.name for spec in VIEWS if spec.kind == "view"}
    described = [(spec.name, column.name, column.doc, column.unit) for spec in TABLES for column in spec.columns]
    described += [
        (name, column, doc, unit) for name, of in columns(connection).items() if name in views for column, (unit, doc) in of.items()
    ]
    return ";".join(
        f'comment on column {name}."{column}" is {_quoted(f"{doc} [{unit}]" if unit else doc)}' for name, column, doc, unit in described
    )


def _quoted(text: str) -> str:
    return f"'{text.replace(chr(39), chr(39) * 2)}'"


def ensure_installed(store: Store) -> None:
    """Make the views, and the columns they and the reports read, in a store of another cotrace; writes nothing where all is current.

    Raises:
        StoreError: the store cannot be read, or cannot be written and has other views.
    """
    with store.reading() as connection:
        if are_current(connection):
            return
    store.create()  # the views may read columns that an older store lacks
    store.define(install)
    materialize(store)


def materialize(store: Store) -> None:
    """Compute and store the rows of materialized views for the games that are due, so many turns in a transaction.

    A store that cannot be written now (held by others, on a full disk), has views of another cotrace, or is a lake, is left as it is: its
    readers compute what is due.
    """
    import duckdb

    is_left = True
    with suppress(StoreError, duckdb.Error):
        while is_left:
            with store.writing(sets_marks=True) as connection:
                is_left = are_current(connection) and any(_store_rows(connection, schema) for schema in SCHEMAS)


def _store_rows(connection: duckdb.DuckDBPyConnection, schema: str) -> bool:
    """Store the rows of the first games that are due, those that lack some views first; whether more are."""
    connection.execute(_NEXT.format(schema=schema), {"most": _TURNS_AT_ONCE})
    found = f"select count(*), count(*) < (select count(*) from {schema}.due), any_value(lacks) from due"
    ((games, is_left, lacks),) = connection.execute(found).fetchall()
    if is_left:  # all statements see these games alone as due
        connection.execute(f"create table {schema}.batch as from due; create or replace view {schema}.due as from {schema}.batch")
    for spec in VIEWS:
        if spec.schema == schema and (lacks is None or spec.name in lacks):
            connection.execute(_CLEAR.format(table=f"{schema}.{spec.name}"))
            if games:  # planning it takes longer than all the rest
                connection.execute(spec.fill)
    connection.execute(_CLEAR.format(table=f"{schema}.games"))
    connection.execute(_MARK.format(schema=schema))
    if is_left:
        connection.execute(f"{DUE.format(schema=schema)}drop table {schema}.batch")
    return bool(is_left and games)


_TURNS_AT_ONCE: Final = 100_000
"""More take gigabytes of memory."""
_NEXT: Final = """
create or replace temp table due as
with waiting as (
    select episode_id, any_value(lacks) as lacks, count(turn) as turns
    from {schema}.due
    inner join episodes using (episode_id)
    inner join sources using (source_id)
    left join {schema}.marked using (episode_id)
    left join turns using (episode_id)
    group by episode_id
)

select episode_id, lacks
from (
    select episode_id, lacks, sum(turns) over (order by episode_id) - turns as before
    from waiting
    where lacks is not distinct from (select min(lacks) from waiting)
)
where before < $most
"""
"""Games without a source are never marked, and stay due."""
_CLEAR: Final = (
    "delete from {table} where episode_id in (select episode_id from due) or episode_id not in (select episode_id from episodes)"
)
_MARK: Final = """
insert into {schema}.games by name
select episode_id, source_id, adapter_version, ingested_at
from due
inner join episodes using (episode_id)
inner join sources using (source_id)
"""


def are_current(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the store of this connection has the views of this cotrace."""
    return connection.execute("select value from store_info where name = ?", [_FINGERPRINT]).fetchall() == [(_fingerprint(),)]


@cache
def _fingerprint() -> str:
    """Over the views and the tables: reports read both, so an older store is brought up to date in either."""
    return hashlib.sha256(
        "\0".join([BASIS, str(SCHEMA_VERSION), *(spec.sql for spec in VIEWS), *(spec.ddl() for spec in TABLES)]).encode()
    ).hexdigest()


@cache
def blank() -> Path | None:
    """A store with all views and no rows, made once on a machine and stored in the user's cache; None where no cache can be written.

    All views and the comments on two thousand columns take DuckDB one to two seconds, a copy some milliseconds.
    """
    meanings = [(spec.summary, spec.special) for spec in VIEWS], [path.read_text("utf-8") for path in files_of("columns.csv")]
    key = hashlib.sha256(f"{_fingerprint()}{meanings}{SCHEMA_VERSION}{version('duckdb')}".encode()).hexdigest()[:16]
    cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cotrace" / f"blank-{key}.duckdb"
    try:
        if not _is_whole(cached):
            cached.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=cached.parent) as scratch:
                made = _FromNothing(Path(scratch) / "blank.duckdb")
                made.create()
                made.define(install)
                made.path.replace(cached)
    except (OSError, RuntimeError, StoreError):  # RuntimeError: the home folder is unknown
        return None
    return cached


class _FromNothing(Store):
    blank = staticmethod(lambda: None)


def _is_whole(cached: Path) -> bool:
    if not cached.exists():
        return False
    try:
        with Store(cached).reading() as connection:
            return are_current(connection)
    except StoreError:
        return False


Store.blank = staticmethod(blank)  # whoever can make the views begins new stores with them
Store.settle = staticmethod(materialize)
