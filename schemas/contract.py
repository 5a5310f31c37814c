"""Records on their way into the store without Arrow: for jobs that run long, where what Arrow and Pandera import would take 200 MB.

Held to the same promises as `schemas.tables.Table.pandera_schema`: types, nulls, bounds. Some ten microseconds a row dearer than Arrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import StoreError
from schemas.records import Json
from schemas.tables import Column, table

if TYPE_CHECKING:
    import duckdb

    from schemas.batches import Rows

__all__ = ["BadRowsError", "Columns", "checked", "insert_columns"]


class BadRowsError(StoreError):
    """Rows that no store takes, whatever its state."""


Columns = Mapping[str, Sequence[tuple[Any, ...]]]
"""Table name -> its columns in order, each with the values of all rows."""

_FITTING: Final[Mapping[object, frozenset[type]]] = {
    str: frozenset({str}),
    Json: frozenset({str}),
    int: frozenset({int}),
    float: frozenset({float, int}),
    bool: frozenset({bool}),
    datetime: frozenset({datetime}),
    list[str]: frozenset({list, tuple}),
}

_SHAREABLE: Final = frozenset({str, Json, int, float})


def checked(rows: Rows) -> Columns:
    """The records of each table as columns, those of tables without any left out.

    Raises:
        BadRowsError: a value breaks the contract; names table, column and what is wrong.
    """
    found: dict[str, Sequence[tuple[Any, ...]]] = {}
    for name, records in rows.items():
        if not records:
            continue
        found[name] = list(zip(*records, strict=True))
        for column, values in zip(table(name).columns, found[name], strict=True):
            if (why := _breach(column, values)) is not None:
                raise BadRowsError(f"table {name}, column {column.name}: {why}; this is a bug in what made the rows: report it")
    return found


def _breach(column: Column, values: Sequence[Any]) -> str | None:
    kinds = set(map(type, values))
    if type(None) in kinds and not column.nullable:
        return "a value is null"
    wrong = kinds - _FITTING[column.python_type] - {type(None)}
    if wrong:
        return f"a value is of type {min(kind.__name__ for kind in wrong)}, not {column.sql_type}"
    if column.bounds is None:
        return None
    least, most = column.bounds
    return next(
        (f"{value} is not between {least} and {most}" for value in values if value is not None and not least <= value <= most), None
    )


def insert_columns(connection: duckdb.DuckDBPyConnection, columns: Columns, *, prefix: str = "") -> None:
    """Append the rows, to the tables of their names or those with a prefix; the caller holds the transaction.

    Raises:
        BadRowsError: a number is too large, or a text is no Unicode.
    """
    import duckdb

    for name, values in columns.items():
        spec = table(name)
        names = ", ".join(f'"{column}"' for column in spec.column_names)
        # what all rows share, such as the judge, goes over once; one column never does, so that there are as many rows as values
        shared = [at > 0 and column.python_type in _SHAREABLE and len(set(values[at])) == 1 for at, column in enumerate(spec.columns)]
        places = [f"?::{c.sql_type}" if once else f"unnest(?::{c.sql_type}[])" for c, once in zip(spec.columns, shared, strict=True)]
        given = [column[0] if once else list(column) for column, once in zip(values, shared, strict=True)]
        try:
            connection.execute(f"INSERT INTO {prefix}{name} ({names}) SELECT {', '.join(places)}", given)
        except (duckdb.ConversionException, duckdb.InvalidInputException) as error:
            raise BadRowsError(f"table {name}: {str(error).splitlines()[0]}") from error
