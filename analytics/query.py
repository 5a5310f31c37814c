"""Read the store: queries, their values as frames, as CSV that is safe in a spreadsheet, and as SQL that a person can run."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import orjson

from schemas.common.errors import UsageError
from schemas.common.interrupts import interruptible
from schemas.common.text import in_name, in_sql
from schemas.store.read_only_sql import as_condition, as_query
from schemas.store.store import Store, sealed_memory

if TYPE_CHECKING:
    import duckdb
    import polars as pl

T = TypeVar("T")

_AS_TEXT: Final = frozenset(
    {
        "bignum", "bit", "blob", "geometry", "interval", "time", "time with time zone", "timestamp_s", "uhugeint", "union", "variant",
    }
)  # fmt: skip
"""Polars makes nothing of 24:00:00, and another time of an infinite one in seconds."""
_NESTED: Final = frozenset({"array", "list", "map", "struct"})
_DAY: Final = 86_400
_FIRST_S, _LAST_S = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999, in seconds since 1970: dates outside, infinite ones among them, are none to Python and Polars."""
_UNITS: Final = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_BATCH: Final = 8192
"""Rows that are taken over at once."""
_ALWAYS: Final = 2**28
"""Bytes of a result that are never too many."""


def to_frame(relation: duckdb.DuckDBPyRelation, most: int | None = None) -> pl.DataFrame:
    """The rows of a query; intervals, times of day, bytes, maps by other keys than texts and the like are texts.

    So are columns with dates outside the years 1 to 9999, however deep in them those stand.

    Args:
        relation: the query.
        most: bytes that the rows may take; None: half of what DuckDB may have on this machine.

    Raises:
        UsageError: the rows take more.
    """
    names = list(relation.columns)
    as_text = {place for place, kind in enumerate(relation.types) if not _can_be_held(kind)}
    rows = _fetched(relation, names, as_text, most)
    outside = {place for place, name in enumerate(rows.columns) if any(map(_has_outside, _leaves(rows[name])))}
    return _fetched(relation, names, as_text | outside, most) if outside else rows


def _fetched(relation: duckdb.DuckDBPyRelation, names: list[str], as_text: Collection[int], most: int | None) -> pl.DataFrame:
    if not as_text:
        return _taken_over(relation, most)
    columns = [
        f"{f'CAST(#{place + 1} AS VARCHAR)' if place in as_text else f'#{place + 1}'} AS {in_name(name)}"
        for place, name in enumerate(_one_of_each(names))
    ]
    return _taken_over(relation.project(", ".join(columns)), most)


def _taken_over(relation: duckdb.DuckDBPyRelation, most: int | None) -> pl.DataFrame:
    """The rows batch by batch: what DuckDB gives away, its own limit of memory does not count."""
    import duckdb
    import polars as pl
    import pyarrow as pa

    batches, taken = [], 0
    with relation.to_arrow_reader(_BATCH) as reader:  # one that is left open holds the database, even when its connection is closed
        try:
            for batch in reader:
                batches.append(batch)
                taken += batch.nbytes
                if most is not None and taken > most:
                    raise UsageError(f"the rows take more than {most / 2**20:g} MiB: ask for fewer or shorter ones, or aggregate them")
                if taken > _ALWAYS and taken > most_bytes():
                    raise UsageError(
                        f"the rows take more than {most_bytes() / 2**30:.1f} GiB, half of what DuckDB may have on this machine: "
                        "ask for fewer rows or columns, or aggregate them"
                    )
        except OSError as error:  # of all but the first batch Arrow passes on the message of DuckDB
            raise duckdb.Error(str(error)) from error
        rows = pa.Table.from_batches(batches, reader.schema)
    return pl.DataFrame(rows.rename_columns([*_one_of_each(rows.column_names)]))


@cache
def most_bytes() -> int:
    """That a result may take: half of what DuckDB allows itself on this machine."""
    import duckdb

    with duckdb.connect() as connection:
        ((limit,),) = connection.execute("SELECT parse_formatted_bytes(current_setting('memory_limit'))").fetchall()
    return int(limit) // 2


def _can_be_held(kind: Any) -> bool:
    if kind.id in _AS_TEXT or (kind.id == "map" and kind.key.id != "varchar"):
        return False
    return kind.id not in _NESTED or all(_can_be_held(part) for name, part in kind.children if name != "size")


def _leaves(column: pl.Series) -> Iterator[pl.Series]:
    """The column, or the values in it where it is one of lists, records or maps."""
    import polars as pl

    kind = column.dtype
    if isinstance(kind, pl.List | pl.Array):
        yield from _leaves(column.explode())
    elif isinstance(kind, pl.Map):
        yield from _leaves(column.map.values())
    elif isinstance(kind, pl.Struct):
        for part in kind.fields:
            yield from _leaves(column.struct.field(part.name))
    else:
        yield column


def _has_outside(column: pl.Series) -> bool:
    import polars as pl

    if column.dtype == pl.Date:
        first, last = _FIRST_S // _DAY, _LAST_S // _DAY
    elif isinstance(column.dtype, pl.Datetime):
        unit = _UNITS[column.dtype.time_unit]
        first, last = _FIRST_S * unit, (_LAST_S + 1) * unit - 1
    else:
        return False
    found: Any = column.to_physical()
    return bool(len(found)) and found.min() is not None and (found.min() < first or found.max() > last)


def _one_of_each(names: list[str]) -> Iterator[str]:
    """Names that a query gives twice are numbered, as DuckDB does."""
    taken: set[str] = set()
    for name in names:
        number, fresh = 0, name
        while fresh in taken or (number and fresh in names):
            number += 1
            fresh = f"{name}_{number}"
        taken.add(fresh)
        yield fresh


_WORD: Final = re.compile(r"\w+")
_CATALOG: Final = re.compile(r"(?i)\b(information_schema|(duckdb|pragma)_\w+)\b")
"""What lists views: a connection that reads stored rows alone has a second one of the same name for each."""
_ALL: Final = "true"
"""The condition that every row meets."""


def query(store: Store, sql: str, parameters: Mapping[str, object] | None = None) -> pl.DataFrame:
    """Run one query, which may come from anywhere, and give its rows: it can read the store, reach nothing else, and write nowhere.

    Where all games have stored rows, it reads these alone, as reports do.

    Args:
        store: where to read.
        sql: one statement that reads; `$name` is a parameter.
        parameters: values of the parameters.

    Raises:
        UsageError: the SQL is wrong, or no query that reads.
        StoreError: the store cannot be read.
    """
    from analytics.views import NAMES

    reads_views = not NAMES.isdisjoint(_WORD.findall(sql.lower())) and not _CATALOG.search(sql)
    with one_reading(store) if reads_views or _held(store) else store.reading() as connection:
        with _blamed("SQL"):
            checked = as_query(sql, connection)
        return frame(connection, checked, parameters)


class _Held(NamedTuple):
    store: Store
    connection: duckdb.DuckDBPyConnection


_HELD: Final[ContextVar[_Held | None]] = ContextVar("held", default=None)
"""What this thread holds."""


def _held(store: Store) -> duckdb.DuckDBPyConnection | None:
    held = _HELD.get()
    return held.connection if held and held.store is store else None


@contextmanager
def one_reading(store: Store) -> Iterator[duckdb.DuckDBPyConnection]:
    """One connection for all queries of a report: one state of the store, and stored rows alone where all games have them.

    `query` uses it for the same store and thread; inside of another, it is that other's.

    Raises:
        StoreError: the store cannot be read.
    """
    from analytics.installation import are_current
    from analytics.views import read_stored

    if outer := _held(store):
        yield outer
        return
    with store.reading() as connection:
        if are_current(connection):
            read_stored(connection)
        token = _HELD.set(_Held(store, connection))
        try:
            yield connection
        finally:
            _HELD.reset(token)


def condition(text: str) -> str:
    """A condition on the columns of a report, in brackets: one expression, which cannot reach out of them.

    Raises:
        UsageError: it is not an expression, or could do more than read.
    """
    if text == _ALL:
        return text
    with sealed_memory() as connection, _blamed(f"--where {text!r}"):
        return as_condition(text, connection)


def frame(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None, *, most_bytes: int | None = None
) -> pl.DataFrame:
    """Run one query over a connection that the caller holds and give its rows; see `to_frame` for their types and `most_bytes`.

    Raises:
        UsageError: the SQL is wrong, writes where the connection may not, or gives no rows.
    """

    def rows() -> pl.DataFrame | None:
        relation = connection.sql(sql, params=parameters)
        return None if relation is None else to_frame(relation, most_bytes)

    found = _run(connection, rows)
    if found is None:
        raise UsageError("SQL: the statement gives no rows; begin with select, from, describe or explain")
    return found


@contextmanager
def in_table(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> Iterator[None]:
    """The rows of one query as a table of that name, meanwhile and for this connection alone: views are planned once for several queries.

    Raises:
        UsageError: the SQL is wrong.
    """
    _run(connection, lambda: connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}"))
    yield
    connection.execute(f"DROP TABLE temp.{name}")


def _run(connection: duckdb.DuckDBPyConnection, work: Callable[[], T]) -> T:
    import duckdb

    try:
        return interruptible(connection, work)
    except duckdb.OutOfMemoryException as error:  # what DuckDB advises are settings, and here they are locked
        raise UsageError("SQL: it takes more memory than DuckDB may have on this machine: ask for fewer rows or columns at once") from error
    except duckdb.Error as error:
        raise UsageError(f"SQL: {' '.join(str(error).split())}") from error


def filtered(rows: pl.DataFrame, where: str) -> pl.DataFrame:
    """The rows that meet an SQL condition on their columns, in their order; the condition can reach nothing else.

    Raises:
        UsageError: the condition is not SQL, or names a column that there is not.
    """
    chosen = condition(where)
    if chosen == _ALL:
        return rows
    with sealed_memory(rows_to_filter=rows.with_row_index("row_to_filter").to_arrow()) as connection:
        matching = frame(connection, f"SELECT row_to_filter FROM rows_to_filter WHERE {chosen} ORDER BY 1")
    return rows[matching["row_to_filter"]]


@contextmanager
def _blamed(what: str) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from error


_FORMULA_START: Final = r"^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]"
"""Apostrophes before it are of the text: without one more, whoever takes the guard off again would take one of them."""
_PLAIN_NUMBER: Final = r"^[+-]?[0-9]+([.][0-9]+)?$"


_CONTROL: Final = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\u{9f}\u{202a}-\u{202e}\u{2066}-\u{2069}]|\r(?P<next>[^\n]|$)"
"""Characters that steer a terminal on which a file is shown, or turn the text behind them; line ends and tabs stay."""


def as_csv(rows: pl.DataFrame) -> str:
    """All columns; lists and records as JSON text; what a spreadsheet would run as a formula gets an apostrophe in front, headings too.

    Control characters and changes of direction become U+FFFD: JSON (escaped) and Parquet keep them.
    """
    return _without_formulas(_flat(rows)).write_csv()


def _flat(rows: pl.DataFrame) -> pl.DataFrame:
    """CSV knows no lists and records: write them as JSON text."""
    import polars as pl

    nested = [name for name, kind in rows.schema.items() if kind.is_nested()]
    return rows.with_columns(pl.Series(name, [_as_json(value) for value in rows[name].to_list()], pl.String) for name in nested)


def _as_json(value: object) -> str | None:
    return None if value is None else orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _without_formulas(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    headings = pl.DataFrame({"name": rows.columns}, schema={"name": pl.String}).select(_harmless(pl.col("name")))
    return rows.with_columns(_harmless(pl.col(pl.String, pl.Categorical, pl.Enum))).rename(
        dict(zip(rows.columns, headings["name"], strict=True))
    )


def _harmless(texts: pl.Expr) -> pl.Expr:
    import polars as pl

    texts = texts.cast(pl.String).str.replace_all(_CONTROL, "\ufffd${next}")
    is_formula = texts.str.contains(_FORMULA_START) & ~texts.str.contains(_PLAIN_NUMBER)
    return pl.when(is_formula).then(pl.lit("'") + texts).otherwise(texts).name.keep()


_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")


def with_literals(sql: str, parameters: Mapping[str, object]) -> str:
    """The query with `$name` replaced by the SQL literal of its value, without the indentation it had in our code.

    Raises:
        KeyError: a parameter has no value.
    """
    return _PARAMETER.sub(lambda found: literal(parameters[found[1]]), textwrap.dedent(sql).strip())


def literal(value: object) -> str:
    """A value as DuckDB reads it: `'it''s'`, `1.5`, `['a', 'b']`, `NULL`."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return f"'{value}'::DOUBLE"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(literal, value))}]"
    return in_sql(str(value))
