"""Rows on their way into the store: from records to checked Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from schemas.errors import BadInputError, StoreError
from schemas.tables import Table, table

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["Rows", "check", "insert", "to_arrow"]

Rows = Mapping[str, Sequence[tuple[object, ...]]]
"""Table name -> records of that table's class."""


def to_arrow(rows: Rows) -> dict[str, pa.Table]:
    """One Arrow table for each store table that has rows, columns in the record's order.

    Raises:
        BadInputError: a number is too large for its column.
        pyarrow.ArrowInvalid, pyarrow.ArrowTypeError: a value does not fit its column's type.
    """
    return {name: _to_arrow(table(name), records) for name, records in rows.items() if records}


def _to_arrow(spec: Table, records: Sequence[tuple[object, ...]]) -> pa.Table:
    import pyarrow as pa

    schema = spec.arrow_schema()
    columns = zip(*records, strict=True)
    arrays = [_array(column, field) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: Sequence[object], field: pa.Field) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values, field.type)
    except OverflowError as error:
        raise BadInputError(f"{field.name}: a number that no table can hold (beyond {field.type}): is the log damaged?") from error


def check(batches: Mapping[str, pa.Table]) -> None:
    """Put every batch through its Pandera schema.

    Raises:
        StoreError: a value breaks the contract; names table, column, check and the first offending value.
    """
    import pandera.errors
    import polars as pl

    for name, batch in batches.items():
        frame = pl.DataFrame(batch)
        try:
            table(name).pandera_schema().validate(frame)
        except pandera.errors.SchemaError as error:
            cases = error.failure_cases
            found = cases.head(1).to_dicts() if isinstance(cases, pl.DataFrame) else cases
            column = getattr(error.schema, "name", None) or "?"
            raise StoreError(
                f"table {name}, column {column}: check {error.check} failed ({found}); "
                "this is a bug in the adapter that made the rows: report it"
            ) from error


def insert(connection: duckdb.DuckDBPyConnection, batches: Mapping[str, pa.Table], *, prefix: str = "") -> None:
    """Append the batches, to the tables of their names or those with a prefix; the caller holds the transaction."""
    for name, batch in batches.items():
        connection.register("batch", batch)
        connection.execute(f"INSERT INTO {prefix}{name} ({_quoted(table(name).column_names)}) SELECT * FROM batch")
        connection.unregister("batch")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
