"""Reading the store: one door for every report, page and script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from analytics.values import to_frame
from schemas.errors import UsageError
from schemas.interrupts import interruptible
from schemas.read_only_sql import as_condition, as_query, sealed_memory
from schemas.store import Store

if TYPE_CHECKING:
    import duckdb
    import polars as pl

__all__ = ["condition", "filtered", "frame", "query"]


_ALL: Final = "true"
"""The condition that every row meets."""


def query(store: Store, sql: str, parameters: Mapping[str, object] | None = None) -> pl.DataFrame:
    """Run one query, which may come from anywhere, and give its rows: it can read the store, reach nothing else, and write nowhere.

    Args:
        store: where to read.
        sql: one statement that reads; `$name` stands for a parameter.
        parameters: values of the parameters.

    Raises:
        UsageError: the SQL is wrong, or no query that reads.
        StoreError: the store cannot be read.
    """
    with store.reading() as connection:
        with _blamed("SQL"):
            checked = as_query(sql, connection)
        return frame(connection, checked, parameters)


def condition(text: str) -> str:
    """A condition on the columns of a report, in brackets: one expression, which cannot reach out of them.

    Raises:
        UsageError: it is no expression, or could do more than read.
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
    import duckdb

    def rows() -> pl.DataFrame | None:
        relation = connection.sql(sql, params=parameters)
        return None if relation is None else to_frame(relation, most_bytes)

    try:
        found = interruptible(connection, rows)
    except duckdb.OutOfMemoryException as error:  # what DuckDB advises are settings, and here they are locked
        raise UsageError("SQL: it takes more memory than DuckDB may have on this machine: ask for fewer rows or columns at once") from error
    except duckdb.Error as error:
        raise UsageError(f"SQL: {' '.join(str(error).split())}") from error
    if found is None:
        raise UsageError("SQL: the statement gives no rows; begin with select, from, describe or explain")
    return found


def filtered(rows: pl.DataFrame, where: str) -> pl.DataFrame:
    """The rows that meet an SQL condition on their columns, in their order; the condition can reach nothing else.

    Raises:
        UsageError: the condition is no SQL, or names a column that there is not.
    """
    chosen = condition(where)
    if chosen == _ALL:
        return rows
    with sealed_memory(rows_to_filter=rows.with_row_index("row_to_filter").to_arrow()) as connection:
        kept = frame(connection, f"SELECT row_to_filter FROM rows_to_filter WHERE {chosen} ORDER BY 1")
    return rows[kept["row_to_filter"]]


@contextmanager
def _blamed(what: str) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from error
