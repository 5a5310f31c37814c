"""Tables made from the record classes: DDL, Arrow schemas, Pandera schemas, and the columns as data for the docs."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from schemas.common.packages import pandera_without_pandas
from schemas.records import RECORDS, Col, Json, Rule

if TYPE_CHECKING:
    import pandera.polars as pa_polars
    import polars as pl
    import pyarrow as pa

SQL_TYPES: dict[object, str] = {
    str: "VARCHAR",
    Json: "JSON",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    datetime: "TIMESTAMP",
    list[str]: "VARCHAR[]",
}

_FROM_ZERO: Final = frozenset({"count", "turns", "tokens", "bytes", "characters", "USD", "s"})
"""Units of which there is never less than none."""


@dataclass(frozen=True, kw_only=True)
class Column(Col):
    """One column of the public contract."""

    name: str
    python_type: object
    """`str`, `int`, `float`, `bool`, `datetime`, `list[str]` or `Json`."""
    nullable: bool

    @property
    def sql_type(self) -> str:
        """DuckDB type."""
        return SQL_TYPES[self.python_type]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Least and greatest value; None where any will do."""
        if self.least is not None:
            return self.least, math.inf
        return (0, math.inf) if self.unit in _FROM_ZERO else (0.0, 1.0) if self.unit == "0..1" else None

    @property
    def allowed(self) -> str:
        """Which values the column takes, in words; empty where any of its type will do."""
        if self.bounds is not None:
            least, most = self.bounds
            return f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        return f"one of {', '.join(self.one_of)}" if self.one_of else f"like {self.matches}" if self.matches else ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of the public contract."""

    name: str
    grain: str
    """What one row is."""
    columns: tuple[Column, ...]
    record: type[tuple[object, ...]]
    rules: tuple[Rule, ...]

    @property
    def column_names(self) -> tuple[str, ...]:
        """In the order of the record's fields."""
        return tuple(column.name for column in self.columns)

    def ddl(self) -> str:
        """`CREATE TABLE`, with every description retained as a comment in the store itself.

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

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that identify a row."""
        return tuple(column.name for column in self.columns if column.key)

    def pandera_schema(self) -> pa_polars.DataFrameSchema:
        """Pandera schema that every batch passes before it is written: types, nulls, ranges, closed vocabularies, rules of a row."""
        return _pandera_schema(self)

    def types(self) -> dict[str, Any]:
        """Column -> type of its values in a frame, in order."""
        return {column.name: polars_type(column.python_type) for column in self.columns}

    def references(self, known: Mapping[str, pl.DataFrame]) -> pa_polars.DataFrameSchema:
        """Pandera schema of what the rows refer to: each reference has its row in the table that ``known`` has for it."""
        pandera_without_pandas()
        import pandera.polars as pa_polars

        return pa_polars.DataFrameSchema(
            checks=[
                pa_polars.Check(
                    partial(_refers, column, table(column.refers).key, known[column.refers].lazy()),
                    name=column.name,
                    error=f"must be in table {column.refers} of the same game",
                    n_failure_cases=1,
                )
                for column in self.columns
                if column.refers in known
            ]
        )


def quick_schema(frames: Mapping[str, pl.DataFrame], known: Mapping[str, pl.DataFrame]) -> pa_polars.DataFrameSchema:
    """Pandera schema with all of `Table.pandera_schema` and `Table.references` for rows of several tables, to be used on any of them.

    It is one check and one query: whether every row of every table passes, but not which does not. For a batch of one game it takes a
    fraction of the time of the tables' own schemas. The columns and their types (`Table.types`) are the caller's to compare.

    Args:
        frames: table name -> rows.
        known: tables whose rows the others may refer to.
    """
    pandera_without_pandas()
    import pandera.polars as pa_polars

    return pa_polars.DataFrameSchema(checks=[pa_polars.Check(partial(_all_pass, frames, known), name="all rows")])


def _column(name: str, hint: Any) -> Column:
    declared, col = typing.get_args(hint)
    if not isinstance(col, Col):
        raise TypeError(f"column {name}: its Annotated metadata is {col!r}, not a Col")
    is_union = typing.get_origin(declared) in (types.UnionType, typing.Union)
    arms = typing.get_args(declared) if is_union else (declared,)
    retained = [arm for arm in arms if arm is not type(None)]
    return Column(
        name=name,
        python_type=retained[0],
        nullable=len(retained) < len(arms),
        **vars(col),
    )


@cache
def _pandera_schema(spec: Table) -> pa_polars.DataFrameSchema:
    pandera_without_pandas()
    import pandera.polars as pa_polars

    return pa_polars.DataFrameSchema(
        {
            column.name: pa_polars.Column(polars_type(column.python_type), checks=list(_checks(column)), nullable=column.nullable)
            for column in spec.columns
        },
        checks=[
            pa_polars.Check(partial(_holds, rule.holds), name=rule.column, error=f"must fit the rule {rule.holds}", n_failure_cases=1)
            for rule in spec.rules
        ],
        strict=True,
        ordered=True,
    )


def polars_type(python_type: object) -> Any:
    """The type of a column's values in a frame; texts are categories, since most of them repeat."""
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
    return polars_types[python_type]


def _checks(column: Column) -> Iterator[pa_polars.Check]:
    from pandera.polars import Check

    for condition in _conditions(column):
        yield Check(partial(_selected, condition), error=f"must be {column.allowed}", n_failure_cases=1)


def _conditions(column: Column) -> Iterator[pl.Expr]:
    """What values of a column that are not null must be; a NaN is larger than all numbers, so floats need a bound above."""
    import polars as pl

    value = pl.col(column.name)
    if column.bounds is not None:
        least, most = column.bounds
        yield value >= least if column.python_type is int and most == math.inf else value.is_between(least, most)
    if column.one_of:
        yield value.is_in(column.one_of)
    if column.matches:
        yield value.cast(pl.String).str.contains(f"^({column.matches})$")


def _selected(condition: pl.Expr, data: pa_polars.PolarsData) -> pl.LazyFrame:
    return data.lazyframe.select(condition)


def _all_pass(frames: Mapping[str, pl.DataFrame], known: Mapping[str, pl.DataFrame], _data: pa_polars.PolarsData) -> bool:
    """Whether every row has what its columns need, fits the rules and refers to rows that are known; one query."""
    import polars as pl

    parts = [part for name, frame in frames.items() for part in _pass(table(name), frame.lazy(), known)]
    return bool(pl.concat(parts, how="horizontal").select(pl.all_horizontal(pl.all())).collect().item())


def _pass(spec: Table, frame: pl.LazyFrame, known: Mapping[str, pl.DataFrame]) -> Iterator[pl.LazyFrame]:
    import polars as pl

    yield frame.select(_held(spec))
    for column in spec.columns:
        if column.refers in known:
            there = _referring(column, table(column.refers).key, known[column.refers].lazy(), frame)
            yield there.select(pl.first().all().alias(f"{spec.name}.{column.name}"))


@cache
def _held(spec: Table) -> pl.Expr:
    """Whether every row has what its columns need and fits the rules."""
    import polars as pl

    held = [condition.all() for column in spec.columns for condition in _conditions(column)]
    needed = [(pl.col(column.name), column.python_type is float) for column in spec.columns if not column.nullable]
    held += [(value.fill_nan(None) if is_float else value).null_count() == 0 for value, is_float in needed]  # as Pandera takes a NaN
    return pl.all_horizontal(held + [pl.sql_expr(rule.holds).all() for rule in spec.rules]).alias(spec.name)


def _holds(expression: str, data: pa_polars.PolarsData) -> pl.LazyFrame:
    import polars as pl

    return data.lazyframe.select(pl.sql_expr(expression))


def _refers(column: Column, key: tuple[str, ...], known: pl.LazyFrame, data: pa_polars.PolarsData) -> pl.LazyFrame:
    return _referring(column, key, known, data.lazyframe)


def _referring(column: Column, key: tuple[str, ...], known: pl.LazyFrame, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Whether each row's value, after the columns that are called like the key's others, is a key; null where one of them is null."""
    import polars as pl

    own, is_list = [*key[:-1], column.name], column.python_type == list[str]
    rows = frame.select(own).with_row_index("row")
    if is_list:
        rows = rows.explode(column.name, empty_as_null=True)
    if column.python_type is int:  # 0 is before the first
        rows = rows.with_columns(pl.when(pl.col(column.name) > 0).then(column.name))
    types = rows.collect_schema()
    keys = known.select(pl.col(there).cast(types[here]).alias(here) for there, here in zip(key, own, strict=True)).unique()
    found = rows.join(keys.with_columns(found=True), on=own, how="left", maintain_order="left").select(
        "row", found=pl.when(pl.all_horizontal(pl.col(own).is_not_null())).then(pl.col("found").is_not_null())
    )
    return found.group_by("row", maintain_order=True).agg(pl.col("found").all()).select("found") if is_list else found.select("found")


TABLES: tuple[Table, ...] = tuple(
    Table(
        name=name,
        grain=(record.__doc__ or "").strip(),
        columns=tuple(_column(column, hint) for column, hint in typing.get_type_hints(record, include_extras=True).items()),
        record=record,
        rules=rules,
    )
    for name, record, rules in RECORDS
)

_BY_NAME = {spec.name: spec for spec in TABLES}


def table(name: str) -> Table:
    """The table of that name.

    Raises:
        KeyError: there is none.
    """
    return _BY_NAME[name]
