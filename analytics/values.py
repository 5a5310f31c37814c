"""A query's result as a frame, whatever DuckDB's types are: what Polars cannot hold or write comes as the text that DuckDB gives it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Final

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


def to_frame(relation: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """The rows of a query; intervals, times of day, bytes, maps by other keys than texts and the like are texts.

    So are columns with dates outside the years 1 to 9999, however deep in them those stand.
    """
    names = list(relation.columns)
    as_text = {place for place, kind in enumerate(relation.types) if not _can_be_held(kind)}
    rows = _fetched(relation, names, as_text)
    outside = {place for place, name in enumerate(rows.columns) if _is_outside(rows[name])}
    return _fetched(relation, names, as_text | outside) if outside else rows


def _fetched(relation: duckdb.DuckDBPyRelation, names: list[str], as_text: Collection[int]) -> pl.DataFrame:
    if not as_text:
        rows: pl.DataFrame = relation.pl()
        return rows
    columns = [
        f"{f'CAST(#{place + 1} AS VARCHAR)' if place in as_text else f'#{place + 1}'} AS {_quoted(name)}"
        for place, name in enumerate(_one_of_each(names))
    ]
    cast: pl.DataFrame = relation.project(", ".join(columns)).pl()
    return cast


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


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
