"""Rows on their way into the store: from records to checked Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.errors import BadInputError, StoreError
from schemas.imports import arrow_without_pandas
from schemas.tables import Column, Table, table

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pyarrow as pa

__all__ = ["Coded", "Group", "Rows", "check", "insert", "to_arrow"]

Rows = Mapping[str, Sequence[tuple[object, ...]]]
"""Table name -> records of that table's class."""

_AT_ONCE: Final = 1024
"""Records turned into columns at once: as many as stay in the processor's cache."""


class Group(NamedTuple):
    """Some columns of rows that repeat themselves there."""

    columns: tuple[str, ...]
    values: Sequence[tuple[object, ...]]
    """What stands in these columns, each combination once."""

    rows: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.integer]]
    """For each row, which of ``values`` it has."""


class Coded(NamedTuple):
    """Rows of a table, its columns in groups: what many rows share is written once, as records would take several times as long to make."""

    groups: tuple[Group, ...]
    """All columns of the table, each in one group; all groups have the same number of rows."""


def to_arrow(rows: Rows, coded: Mapping[str, Sequence[Coded]] | None = None) -> dict[str, pa.Table]:
    """One Arrow table for each store table that has rows, columns in the record's order.

    Args:
        rows: records.
        coded: table name -> rows in groups of columns, all of a table in the same groups.

    Raises:
        BadInputError: a number is too large for its column.
        pyarrow.ArrowInvalid, pyarrow.ArrowTypeError: a value does not fit its column's type.
    """
    import pyarrow as pa

    arrow_without_pandas()
    tables = {name: _to_arrow(table(name), records) for name, records in rows.items() if records}
    for name, parts in (coded or {}).items():
        found = _decoded(table(name), parts)
        if len(found):
            tables[name] = pa.concat_tables([tables[name], found]) if name in tables else found
    return tables


def _to_arrow(spec: Table, records: Sequence[tuple[object, ...]]) -> pa.Table:
    import pyarrow as pa

    schema = spec.arrow_schema()
    columns: list[list[object]] = [[] for _ in schema]
    left = iter(records)
    while portion := list(islice(left, _AT_ONCE)):
        for column, values in zip(columns, zip(*portion, strict=True), strict=True):
            column.extend(values)
    arrays = [_array(column, field) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _decoded(spec: Table, parts: Sequence[Coded]) -> pa.Table:
    import pyarrow as pa

    schema = spec.arrow_schema()
    arrays: dict[str, pa.Array] = {}
    for groups in zip(*(part.groups for part in parts), strict=True):
        values = list(chain.from_iterable(group.values for group in groups))
        rows = _joined(groups)
        for name, column in zip(groups[0].columns, zip(*values, strict=True) if values else [()] * len(groups[0].columns), strict=True):
            arrays[name] = _array(column, schema.field(name)).take(rows)
    return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def _joined(groups: Sequence[Group]) -> pa.Array:
    """Which value each row of all groups has, where their values stand one after the other."""
    import numpy as np
    import pyarrow as pa

    values = np.array([len(group.values) for group in groups])
    before = (values.cumsum() - values).astype(np.int32)
    places = np.repeat(before, [len(group.rows) for group in groups])
    if values.max() > 1:  # of one value each, all rows have that one
        places += np.concatenate([np.asarray(group.rows, np.int32) for group in groups])
    return pa.array(places)


def _array(values: Sequence[object], field: pa.Field) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values, field.type)
    except OverflowError as error:
        raise BadInputError(f"{field.name}: a number that no table can hold (beyond {field.type}): is the log damaged?") from error


def check(batches: Mapping[str, pa.Table]) -> None:
    """Hold every batch to its table's Pandera schema.

    Arrow looks first, in a hundredth of the time; what it does not vouch for goes through Pandera, which decides and says what is wrong.

    Raises:
        StoreError: a value breaks the contract; names table, column, check and the first offending value.
    """
    for name, batch in batches.items():
        if not _surely_fits(table(name), batch):
            _validate(name, batch)


def _surely_fits(spec: Table, batch: pa.Table) -> bool:
    """Whether types, nulls and bounds are as Pandera wants them; False also where that is not plain to see."""
    return batch.schema.equals(spec.arrow_schema()) and all(_column_fits(column, batch[column.name]) for column in spec.columns)


def _column_fits(column: Column, values: pa.ChunkedArray) -> bool:
    import pyarrow.compute as pc

    if values.null_count and not column.nullable:
        return False
    if column.python_type is float and (column.bounds or not column.nullable) and pc.any(pc.is_nan(values)).as_py():
        return False
    if column.bounds is None or values.null_count == len(values):
        return True
    least, most = column.bounds
    found = pc.min_max(values)
    return bool(least <= found["min"].as_py() and found["max"].as_py() <= most)


def _validate(name: str, batch: pa.Table) -> None:
    import pandera.errors
    import polars as pl

    try:
        table(name).pandera_schema().validate(pl.DataFrame(batch))
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
