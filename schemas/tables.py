"""Tables made from the record classes: DDL, Arrow schemas, Pandera schemas, and the columns as data for the docs."""

from __future__ import annotations

import math
import types
import typing
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from schemas.records import RECORDS, Col, Json

if TYPE_CHECKING:
    import pandera.polars as pa_polars
    import pyarrow as pa

__all__ = ["TABLES", "Column", "Table", "table"]

SQL_TYPES: dict[object, str] = {
    str: "VARCHAR",
    Json: "JSON",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    datetime: "TIMESTAMP",
    list[str]: "VARCHAR[]",
}

_FROM_ZERO: Final = frozenset({"count", "turns", "tokens", "bytes"})
"""Units of which there is never less than none."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the public contract."""

    name: str
    python_type: object
    """`str`, `int`, `float`, `bool`, `datetime`, `list[str]` or `Json`."""
    nullable: bool
    doc: str
    unit: str
    key: bool

    @property
    def sql_type(self) -> str:
        """DuckDB type."""
        return SQL_TYPES[self.python_type]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Least and greatest value; None where any will do."""
        if self.unit in _FROM_ZERO or (self.name == "turn" and self.python_type is int):
            return 0, math.inf
        return (0.0, 1.0) if self.unit == "0..1" else None


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of the public contract."""

    name: str
    grain: str
    """What one row is."""
    columns: tuple[Column, ...]
    record: type[tuple[object, ...]]

    @property
    def column_names(self) -> tuple[str, ...]:
        """In the order of the record's fields."""
        return tuple(column.name for column in self.columns)

    def ddl(self) -> str:
        """`CREATE TABLE`, with every description kept as a comment in the store itself.

        Keys are not declared to DuckDB: an index on the large tables would cost more than the load itself, and
        uniqueness is held by replacing whole episodes inside one transaction.
        """
        parts = [f'    "{c.name}" {c.sql_type}{"" if c.nullable else " NOT NULL"}' for c in self.columns]
        return f"CREATE TABLE IF NOT EXISTS {self.name} (\n" + ",\n".join(parts) + "\n)"

    def arrow_schema(self) -> pa.Schema:
        """Arrow schema of the rows on their way into the store; texts are dictionaries, since most of them repeat."""
        import pyarrow as pa

        text = pa.dictionary(pa.int32(), pa.string())
        arrow_types: dict[object, pa.DataType] = {
            str: text,
            Json: text,
            int: pa.int64(),
            float: pa.float64(),
            bool: pa.bool_(),
            datetime: pa.timestamp("us"),
            list[str]: pa.list_(pa.string()),
        }
        return pa.schema([pa.field(c.name, arrow_types[c.python_type], c.nullable) for c in self.columns])

    def pandera_schema(self) -> pa_polars.DataFrameSchema:
        """Pandera schema that every batch passes before it is written: types, nulls, ranges of turns and counts."""
        return _pandera_schema(self)


def _columns(record: type[tuple[object, ...]]) -> tuple[Column, ...]:
    hints = typing.get_type_hints(record, include_extras=True)
    return tuple(_column(name, hint) for name, hint in hints.items())


def _column(name: str, hint: Any) -> Column:
    declared, col = typing.get_args(hint)
    if not isinstance(col, Col):
        raise TypeError(f"column {name}: its Annotated metadata is {col!r}, not a Col")
    is_union = typing.get_origin(declared) in (types.UnionType, typing.Union)
    arms = typing.get_args(declared) if is_union else (declared,)
    kept = [arm for arm in arms if arm is not type(None)]
    return Column(
        name=name,
        python_type=kept[0],
        nullable=len(kept) < len(arms),
        doc=col.doc,
        unit=col.unit,
        key=col.key,
    )


@cache
def _pandera_schema(spec: Table) -> pa_polars.DataFrameSchema:
    import pandera.polars as pa_polars
    import polars as pl

    polars_types: dict[object, Any] = {
        str: pl.Categorical(),
        Json: pl.Categorical(),
        int: pl.Int64(),
        float: pl.Float64(),
        bool: pl.Boolean(),
        datetime: pl.Datetime("us"),
        list[str]: pl.List(pl.String()),
    }

    def checks(column: Column) -> list[pa_polars.Check]:
        if column.bounds is None:
            return []
        least, most = column.bounds
        return [pa_polars.Check.ge(least) if most == math.inf else pa_polars.Check.in_range(least, most)]

    return pa_polars.DataFrameSchema(
        {c.name: pa_polars.Column(polars_types[c.python_type], checks=checks(c), nullable=c.nullable) for c in spec.columns},
        strict=True,
        ordered=True,
    )


TABLES: tuple[Table, ...] = tuple(
    Table(name=name, grain=(record.__doc__ or "").strip(), columns=_columns(record), record=record) for name, record in RECORDS
)

_BY_NAME = {spec.name: spec for spec in TABLES}


def table(name: str) -> Table:
    """The table of that name.

    Raises:
        KeyError: there is none.
    """
    return _BY_NAME[name]
