"""What intervals are worth that rest on few games, said with the report that prints them."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.wording import count, share

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FEW", "Held", "few_games", "held_of", "marked"]

FEW: Final = 10
"""Games (tasks) below which coverage leaves 93 to 97 % where answers are rare or games differ much (docs/coverage.md)."""

_COUNTS: Final = ("labelled_games", "tasks", "games", "episodes")
"""What the intervals of a report are over; the first that it has. Runs of one task are no news of other tasks, so tasks before games."""

_BETWEEN: Final = "between teams"
"""Kind of the rows whose intervals are over teams, whatever number of tasks they played."""
_MEASURED_KINDS: Final = {"correlations": "pooled"}
"""Report -> kind of its rows whose intervals were simulated; of other reports all were."""

_MEASURED: Final = "coverage.csv"
"""Written by `python -m benchmarks.coverage --table` from docs/coverage.md."""
_METHODS: Final = {
    "leaderboard": "success by task",
    "families": "success by task",
    "compare": "differences on shared tasks",
    "transitions": "shares, each game left out",
    "judges-needed": "shares, each game left out",
    "effects": "effects",
    "correlations": "correlations, pooled",
    "corrected-rates": "rate",
    "failures": "shares of turns",
    "judges": "shares of turns",
    "remove-gap": "shares of turns",
    "failures-common": "shares of turns",
    "continuations": "shares of turns",
    "coordination-qa": "shares of turns",
    "agreement": "agreement, kappa",
}
"""Report -> the intervals of docs/coverage.md that it prints."""
_UNMEASURED: Final = (
    "how often intervals of this report hold the truth was not simulated as in docs/coverage.md: 95 % is what they are made for, "
    "not what was counted"
)


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


def few_games(rows: pl.DataFrame, report: str = "") -> str | None:
    """A sentence where intervals of a report hold the truth less often, or more often, than 95 %; None where none is known to.

    That is where they rest on fewer than ten games; and, of a report whose intervals were simulated, with more games too, as measured. Of a
    report whose intervals were not, that is said.

    Args:
        report: its name; without, only few games are told.
        rows: of a report. Intervals are pairs of columns that end with `low` and `high`; what they are over is the first of
            labelled_games, tasks, games, episodes.
    """
    import polars as pl

    over, rests = _over(rows), _rests_on_few(rows)
    unmeasured = _unmeasured(rows, report)
    if over is None or rests is None:
        return unmeasured or None
    short = "; ".join(said for said in (_short(rows, over, report), unmeasured) if said)
    if not rests.any():
        return short or None
    few = rows.filter(rests)
    unit = "tasks" if over == "tasks" else "games"
    unit += " or teams" if _is_between(few) else ""
    which = "this row rests" if len(rows) == 1 else f"{count(len(few))} of {count(len(rows))} rows rest"
    least = int(few.select(_number(rows, over).cast(pl.Int64).min()).item())
    return (
        f"{which} on fewer than {FEW} {unit} (least: {least}); there a 95 % interval is no exact one: in simulation it holds the truth in "
        "97 to 100 % where answers are rare, and where games differ much from 75 (corrected rates), 80 (kappa) or 89 % on "
        "(docs/coverage.md)"
    ) + (f"; {short}" if short else "")


def _unmeasured(rows: pl.DataFrame, report: str) -> str:
    if not report or not _lows(rows):
        return ""
    if report not in _METHODS:
        return _UNMEASURED if rows.select(_has_interval(rows).any()).item() else ""
    others = rows.filter(_has_interval(rows) & ~_was_measured(rows, report)).height
    kind = _MEASURED_KINDS.get(report)
    return f"{count(others)} of {count(len(rows))} rows are of other kinds than {kind}: {_UNMEASURED}" if others else ""


@cache
def held_of(report: str) -> tuple[Held, ...]:
    """What was measured for a report's intervals, from few games to many; empty where they were not simulated."""
    text = files("analytics.statistics").joinpath(_MEASURED).read_text(encoding="utf-8")
    method = _METHODS.get(report, "")
    found = (
        Held(row["method"], int(row["games"]), *(float(row[name]) for name in Held._fields[2:]))
        for row in csv.DictReader(text.splitlines())
    )
    return tuple(sorted((one for one in found if method and one.method.startswith(method)), key=lambda one: one.games))


def _short(rows: pl.DataFrame, over: str, report: str) -> str:
    """Of the rows with ten games and more: those where the measured intervals fall short of the goal in some scenes."""
    import polars as pl

    held = [one for one in held_of(report) if one.games >= FEW]
    told = []
    for place, one in enumerate(held):
        most = held[place + 1].games if place + 1 < len(held) else None
        there = (pl.col(over) >= one.games) & (pl.col(over) < most if most else pl.lit(value=True))
        many = rows.filter(_has_interval(rows) & _was_measured(rows, report) & there).height
        if many and one.below > 0:
            told.append(
                f"{count(many)} of {count(len(rows))} rows rest on {one.games} {f'to {most - 1}' if most else 'or more'} {over}: there "
                f"intervals of this kind held the truth in fewer than {share(one.goal)} of the data sets in {share(one.below)} of the "
                "simulated scenes "
                f"(least {share(one.least)}, mean {share(one.mean)}; docs/coverage.md)"
            )
    return "; ".join(told)


def _has_interval(rows: pl.DataFrame) -> pl.Expr:
    import polars as pl

    return pl.any_horizontal(pl.col(_lows(rows)).is_not_null())


def _lows(rows: pl.DataFrame) -> list[str]:
    return [name for name in rows.columns if name == "low" or name.endswith("_low")]


def marked(rows: pl.DataFrame, report: str = "") -> pl.DataFrame:
    """The rows with what their intervals are worth as last columns; without intervals none.

    few_games is true where an interval rests on fewer than ten games; held_least is the least share of the simulated data sets of a scene
    whose intervals of this kind, with so many games or the next fewer that were simulated, held the truth: of a report that was simulated,
    and there of the kinds of rows that were (of correlations the pooled ones).
    """
    import polars as pl

    over, rests = _over(rows), _rests_on_few(rows)
    if over is None or rests is None or "few_games" in rows.columns:
        return rows
    rows = rows.with_columns(rests.alias("few_games"))
    held = held_of(report)
    if not held:
        return rows
    least = pl.lit(held[0].least)
    for one in held[1:]:
        least = pl.when(pl.col(over) >= one.games).then(one.least).otherwise(least)
    return rows.with_columns(pl.when(_has_interval(rows) & _was_measured(rows, report)).then(least).alias("held_least"))


def _over(rows: pl.DataFrame) -> str | None:
    return next((name for name in _COUNTS if name in rows.columns and rows[name].dtype.is_integer()), None)


def _number(rows: pl.DataFrame, over: str) -> pl.Expr:
    """How many games or tasks each row's interval is over; of a row between teams: teams."""
    import polars as pl

    if not _is_between(rows):
        return pl.col(over)
    return pl.when(pl.col("kind") == _BETWEEN).then(pl.col("teams")).otherwise(pl.col(over))


def _is_between(rows: pl.DataFrame) -> bool:
    return {"kind", "teams"} <= set(rows.columns) and _BETWEEN in rows["kind"]


def _was_measured(rows: pl.DataFrame, report: str) -> pl.Expr:
    """Whether a row's interval is of the kind that was simulated."""
    import polars as pl

    kind = _MEASURED_KINDS.get(report)
    return pl.lit(value=True) if kind is None or "kind" not in rows.columns else pl.col("kind") == kind


def _rests_on_few(rows: pl.DataFrame) -> pl.Series | None:
    import polars as pl

    over, lows = _over(rows), _lows(rows)
    if over is None or not lows:
        return None
    return rows.select((pl.any_horizontal(pl.col(lows).is_not_null()) & (_number(rows, over) < FEW)).fill_null(value=False)).to_series()
