"""What a write may do to a store, whatever it is kept in: add rows, take rows out, change rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from schemas.batches import Columns, insert, insert_columns

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["Parameters", "Transaction"]

Parameters = Sequence[object] | Mapping[str, object] | None


class Transaction:
    """All of it comes to be, or nothing. This one writes to the tables of the DuckDB file that the connection is open on.

    Args:
        connection: for reading what there is, changes of this transaction included.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Parameters = None) -> duckdb.DuckDBPyConnection:
        """Run a query, or make a temporary table; tables of the store are changed by the methods below."""
        return self.connection.execute(sql, parameters)

    def insert(self, batches: Mapping[str, pa.Table]) -> None:
        """Append rows: table name -> rows with all columns of the table, in order."""
        insert(self.connection, batches)

    def insert_columns(self, columns: Columns) -> None:
        """Append rows that `schemas.batches` has checked."""
        insert_columns(self.connection, columns)

    def delete(self, table: str, where: str, parameters: Parameters = None) -> None:
        """Take out the rows of a table that meet a condition."""
        self.connection.execute(f"DELETE FROM {table} WHERE {where}", parameters)

    def update(self, table: str, assignments: str, where: str, parameters: Parameters = None) -> None:
        """Change columns (`column = expression, ...`) of the rows of a table that meet a condition."""
        self.connection.execute(f"UPDATE {table} SET {assignments} WHERE {where}", parameters)
