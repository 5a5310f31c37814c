"""Reading the store: one door for every report, page and script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from schemas.errors import UsageError
from schemas.store import Store

if TYPE_CHECKING:
    import duckdb
    import polars as pl

__all__ = ["filtered", "frame", "query"]


def query(store: Store, sql: str, parameters: Mapping[str, object] | None = None) -> pl.DataFrame:
    """Run one read-only query and give its rows.

    Args:
        store: where to read.
        sql: one statement; `$name` stands for a parameter.
        parameters: values of the parameters.

    Raises:
        UsageError: the SQL is wrong, or writes.
        StoreError: the store cannot be read.
    """
    with store.reading() as connection:
        return frame(connection, sql, parameters)


def frame(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None) -> pl.DataFrame:
    """Run one query over a connection that the caller holds and give its rows.

    Raises:
        UsageError: the SQL is wrong, writes where the connection may not, or gives no rows.
    """
    import duckdb

    try:
        relation = connection.sql(sql, params=parameters)
        if relation is not None:
            rows: pl.DataFrame = relation.pl()
            return rows
    except duckdb.Error as error:
        raise UsageError(f"SQL: {' '.join(str(error).split())}") from error
    raise UsageError("SQL: the statement gives no rows; begin with select, from, describe or explain")


def filtered(rows: pl.DataFrame, condition: str) -> pl.DataFrame:
    """The rows that meet an SQL condition on their columns, in their order; the condition can reach nothing else.

    Raises:
        UsageError: the condition is no SQL, or names a column that there is not.
    """
    import duckdb

    with duckdb.connect(config={"enable_external_access": "false"}) as connection:
        connection.register("rows_to_filter", rows.with_row_index("row_to_filter").to_arrow())
        connection.execute("SET lock_configuration = true")
        kept = frame(connection, f"SELECT row_to_filter FROM rows_to_filter WHERE (\n{condition}\n) ORDER BY 1")
    return rows[kept["row_to_filter"]]
