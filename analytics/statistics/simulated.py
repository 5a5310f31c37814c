"""Which interval of a report is of which kind, and how often intervals of that kind hold the truth of simulated games."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Held", "Kind", "all_kinds", "held_of", "kinds_of"]

_MEASURED: Final = "coverage.csv"
"""Written by `python -m research coverage --write` with docs/dev/coverage.md, or from it by `--table`."""
_SIMULATED: Final = "simulated.csv"
"""The intervals that reports print; a test asks for a line of each."""


class Held(NamedTuple):
    """How often intervals of one kind held the truth with so many games, over simulated scenes."""

    method: str
    games: int
    least: float
    mean: float
    below: float
    """Share of the scenes in which they held it less often than `goal`."""
    goal: float
    """0.93; of agreement, whose scenes have fewer data sets, 0.92."""


class Kind(NamedTuple):
    """The intervals in one column of a report; of several lines of a column the first that fits a row counts."""

    report: str
    low: str
    """The column of the lower ends."""
    column: str
    """Only of rows in which this one has this value (`null`: none); empty: of all."""
    value: str
    method: str
    """As in docs/dev/coverage.md; empty: not simulated."""


@cache
def all_kinds() -> tuple[Kind, ...]:
    """Every line."""
    return tuple(Kind(**row) for row in csv.DictReader(_text(_SIMULATED)))


@cache
def _held() -> tuple[Held, ...]:
    found = (
        Held(row["method"], int(row["games"]), *(float(row[name]) for name in Held._fields[2:])) for row in csv.DictReader(_text(_MEASURED))
    )
    return tuple(sorted(found, key=lambda one: one.games))


def _text(name: str) -> list[str]:
    return files("analytics.statistics").joinpath(name).read_text(encoding="utf-8").splitlines()


def held_of(method: str) -> tuple[Held, ...]:
    """What was measured for one kind of interval, from few games to many; empty where it was not simulated."""
    return tuple(one for one in _held() if one.method == method)


def kinds_of(rows: pl.DataFrame, report: str) -> Iterator[tuple[str, pl.Expr]]:
    """The methods of the intervals in some rows of a report, each with an expression that is true of the rows that print such a one."""
    import polars as pl

    for low in (name for name in rows.columns if name == "low" or name.endswith("_low")):
        left = pl.col(low).is_not_null()
        for kind in all_kinds():
            if (kind.report, kind.low) == (report, low):
                told = kind.column in rows.columns
                here = pl.col(kind.column).cast(pl.String).fill_null("null") == kind.value if told else pl.lit(value=True)
                yield kind.method, left & here
                left = left & ~here
        yield "", left
