"""A query's result as a frame, whatever DuckDB's types are: what Polars cannot hold or write comes as the text that DuckDB gives it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import UsageError
from schemas.text import in_name

if TYPE_CHECKING:
    import duckdb
    import polars as pl

__all__ = ["to_frame"]

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
    outside = {place for place, name in enumerate(rows.columns) if _is_outside(rows[name])}
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
        except OSError as error:  # of all but the first batch Arrow tells what DuckDB says
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


def _is_outside(column: pl.Series) -> bool:
    return any(map(_has_outside, _leaves(column)))


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
