"""Rows on their way into the store: from records to Arrow tables, or to columns without Arrow, which long jobs need not import.

Both ways the Pandera schemas of `schemas.tables` say what may go in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from schemas.common.errors import BadInputError, StoreError
from schemas.common.packages import arrow_without_pandas
from schemas.common.text import excerpt, use_secrets_of_environment, without_secrets
from schemas.records import Json
from schemas.tables import Column, Table, polars_type, quick_schema, table

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandera.polars as pa_polars
    import polars as pl
    import pyarrow as pa

Rows = Mapping[str, Sequence[tuple[object, ...]]]
"""Table name -> records of that table's class."""

_Table = TypeVar("_Table")


class Struck(dict[str, _Table]):
    """Table name -> its rows, without secrets: `to_arrow` and `checked` make it, and the store takes nothing else."""


Columns = Struck[Sequence[tuple[Any, ...]]]
"""Table name -> its columns in order, each with the values of all rows."""

_SHAREABLE: Final = frozenset({str, Json, int, float})
_AT_ONCE: Final = 1024
"""Records turned into columns at once: as many as stay in the processor's cache."""


class BadRowsError(StoreError):
    """Rows that no store takes, whatever its state."""


class Group(NamedTuple):
    """Some columns of rows that repeat themselves there."""

    columns: tuple[str, ...]
    values: Sequence[tuple[object, ...]]
    """What is in these columns, each combination once."""
    rows: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.integer]]
    """For each row, which of ``values`` it has."""


class Coded(NamedTuple):
    """Rows of a table, its columns in groups: what many rows share is written once, as records would take several times as long to make."""

    groups: tuple[Group, ...]
    """All columns of the table, each in one group; all groups have the same number of rows."""


def to_arrow(rows: Rows, coded: Mapping[str, Sequence[Coded]] | None = None) -> Struck[pa.Table]:
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
    use_secrets_of_environment()
    tables = Struck({name: _to_arrow(table(name), records) for name, records in rows.items() if records})
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
        return pa.array(
            without_secrets(values) if pa.types.is_nested(field.type) or pa.types.is_dictionary(field.type) else values, field.type
        )
    except OverflowError as error:
        raise BadInputError(f"{field.name}: a number that no table can hold (beyond {field.type}): is the log damaged?") from error


class Fault(NamedTuple):
    """Rows of a table in which the same column breaks the contract in the same way."""

    table: str
    column: str
    rule: str
    """What the value must be."""
    rows: pl.DataFrame
    """All columns of the wrong rows, and first `row`: their places among the rows of the table, from 0."""

    @property
    def reason(self) -> str:
        """Table, column, the first wrong value, and the rule."""
        value = self.rows.row(0, named=True)[self.column]
        return f"table {self.table}, column {self.column}: {'null' if value is None else excerpt(str(value), 60)} {self.rule}"

    @property
    def locator(self) -> str:
        """Where in its game the first wrong row is: `turn 3, seq 2`."""
        first = self.rows.row(0, named=True)
        names = dict.fromkeys(("turn", *table(self.table).key))
        return ", ".join(
            f"{name} {excerpt(str(first[name]), 40)}" for name in names if name != "episode_id" and first.get(name) is not None
        )


def faults(frames: Mapping[str, pl.DataFrame], known: Mapping[str, pl.DataFrame] | None = None) -> list[Fault]:
    """What the Pandera schemas of each table refuse in its rows: first one that tests whether all pass, then those that name rows.

    Args:
        frames: table name -> rows.
        known: tables whose rows the others may refer to; by default no reference is checked.

    Raises:
        StoreError: the rows do not have the table's columns and types.
    """
    known = known or {}
    if _pass(frames, known):
        return []
    return [
        fault
        for name, frame in frames.items()
        if not _pass({name: frame}, known)
        for schema in (table(name).pandera_schema(), table(name).references(known))
        for fault in refused(name, frame, schema)
    ]


def _pass(frames: Mapping[str, pl.DataFrame], known: Mapping[str, pl.DataFrame]) -> bool:
    if not frames or any(list(frame.schema.items()) != list(table(name).types().items()) for name, frame in frames.items()):
        return not frames
    schema = quick_schema(frames, known)
    from pandera.errors import SchemaError  # after the schema: the first import of Pandera is to go without pandas

    try:
        schema.validate(next(iter(frames.values())))
    except SchemaError:
        return False
    return True


def refused(name: str, frame: pl.DataFrame, schema: pa_polars.DataFrameSchema) -> Iterator[Fault]:
    """What a Pandera schema refuses in rows of a table; its checks are named after columns, and their errors say what a value must be.

    Raises:
        StoreError: the rows do not have the schema's columns and types.
    """
    from pandera.api.checks import Check
    from pandera.constants import CHECK_OUTPUT_KEY
    from pandera.errors import SchemaErrors

    try:
        schema.validate(frame, lazy=True)
    except SchemaErrors as errors:
        for error in errors.schema_errors:
            check, passed = error.check, error.check_output
            if passed is None:
                column = getattr(error.schema, "name", None) or "?"
                raise StoreError(f"table {name}, column {column}: {error}; this is a bug in what made the rows: report it") from errors
            rule = (check.error if isinstance(check, Check) else None) or "must have a value"
            rows = frame.with_row_index("row").filter(~passed[CHECK_OUTPUT_KEY])
            yield Fault(name, error.schema.name or check.name, rule, rows)


def check(batches: Mapping[str, pa.Table]) -> None:
    """Hold every batch to its table's Pandera schema, references left out.

    Raises:
        StoreError: a value breaks the contract; names table, column, the first wrong value and the rule.
    """
    import polars as pl

    for fault in faults({name: pl.DataFrame(batch) for name, batch in batches.items()}):
        raise StoreError(f"{fault.reason}; this is a bug in what made the rows: report it")


def checked(rows: Rows) -> Columns:
    """The records of each table as columns, held to its Pandera schema, references left out; tables without any are left out.

    Raises:
        BadRowsError: a value breaks the contract; names table, column, the first wrong value and the rule.
    """
    import polars as pl

    use_secrets_of_environment()
    found: Columns = Struck(
        {name: [tuple(without_secrets(column)) for column in zip(*records, strict=True)] for name, records in rows.items() if records}
    )
    frames = {
        name: pl.DataFrame([_series(name, column, values) for column, values in zip(table(name).columns, columns, strict=True)])
        for name, columns in found.items()
    }
    for fault in faults(frames):
        raise BadRowsError(f"{fault.reason}; this is a bug in what made the rows: report it")
    return found


def _series(name: str, column: Column, values: Sequence[object]) -> pl.Series:
    import polars as pl

    try:
        return pl.Series(column.name, values, polars_type(column.python_type), strict=True)
    except (TypeError, UnicodeError, pl.exceptions.PolarsError) as error:
        raise BadRowsError(f"table {name}, column {column.name}: {str(error).splitlines()[0]}") from error


def insert(connection: duckdb.DuckDBPyConnection, batches: Struck[pa.Table], *, prefix: str = "") -> None:
    """Append the batches, to the tables of their names or those with a prefix; the caller holds the transaction.

    Raises:
        TypeError: no one has seen to it that there are no secrets in them.
    """
    _refuse_unstruck(batches)
    for name, batch in batches.items():
        connection.register("batch", batch)
        connection.execute(f"INSERT INTO {prefix}{name} ({_quoted(table(name).column_names)}) SELECT * FROM batch")
        connection.unregister("batch")


def insert_columns(connection: duckdb.DuckDBPyConnection, columns: Columns, *, prefix: str = "") -> None:
    """Append the rows, to the tables of their names or those with a prefix; the caller holds the transaction.

    Raises:
        BadRowsError: a number is too large, or a text is not Unicode.
        TypeError: no one has seen to it that there are no secrets in them.
    """
    import duckdb

    _refuse_unstruck(columns)
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


def _refuse_unstruck(rows: Struck[Any]) -> None:
    if not isinstance(rows, Struck):
        raise TypeError(f"the store takes what `to_arrow` or `checked` has made, not {type(rows).__name__}")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
