"""How reliable the intervals of a report are: on few games, and by the coverage that simulations measured."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.common.wording import count, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

_MEASURED: Final = "coverage.csv"
"""Written by `python -m research coverage --write` with docs/dev/coverage.md, or from it by `--table`."""
_SIMULATED: Final = "simulated.csv"
"""The intervals that reports print, those of a family's reports in its folder; a test asks for a line of each."""


class Held(NamedTuple):
    """The coverage of intervals of one kind with so many games, over simulated scenes."""

    method: str
    games: int
    least: float
    mean: float
    below: float
    """Share of the scenes in which they held it less often than `goal`."""
    above: float
    """Share of the scenes in which they held it more often than 1.9 - `goal`: they are wider than need be there."""
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
    from analytics.views import files_of

    return tuple(Kind(**row) for path in files_of(_SIMULATED) for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


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
                has_column = kind.column in rows.columns
                here = pl.col(kind.column).cast(pl.String).fill_null("null") == kind.value if has_column else pl.lit(value=True)
                yield kind.method, left & here
                left = left & ~here
        yield "", left


FEW: Final = 10
"""Games (tasks) below which coverage leaves 93 to 97 % where answers are rare or games differ much (docs/dev/coverage.md)."""

_COUNTS: Final = ("labelled_games", "tasks_now", "tasks", "games", "episodes", "questions")
"""What the intervals of a report are over; the first that it has. Runs of one task are no news of other tasks, so tasks before games; of
plans, whose tasks are those that are wished, tasks_now."""

_BETWEEN: Final = "between teams"
"""Kind of the rows whose intervals are over teams, whatever number of tasks they played."""
_UNMEASURED: Final = (
    "the coverage of intervals of this report was not simulated as in docs/dev/coverage.md: 95 % is their target, not a measurement"
)


def few_games(rows: pl.DataFrame, report: str = "") -> str | None:
    """A sentence where the coverage of intervals of a report is known to differ from 95 %; else None.

    That is where they rest on fewer than ten games; and, of intervals that were simulated, with more games too, as measured, and where they
    are wider than need be. Of intervals that were not simulated, the sentence states it.

    Args:
        report: its name; without, only few games are reported.
        rows: of a report. Intervals are pairs of columns that end with `low` and `high`; what they are over is the first of
            labelled_games, tasks_now, tasks, games, episodes, questions; where a row has two sides, the games of the smaller one, if those
            are fewer.
    """
    import polars as pl

    rests = _rests_on_few(rows)
    if rests is None:
        return _unmeasured(rows, report) or None
    more = "; ".join(text for text in (_short(rows, report), _wide(rows, report), _unmeasured(rows, report)) if text)
    if not rests.any():
        return more or None
    few = rows.filter(rests)
    unit = "tasks" if "tasks" in str(_over(rows)) else "games"
    unit += " or teams" if _is_between(few) else ""
    which = "this row rests" if len(rows) == 1 else f"{count(len(few))} of {count(len(rows))} rows rest"
    least = int(few.select(_number(rows).cast(pl.Int64).min()).item())
    return f"{which} on fewer than {FEW} {unit} (least: {least}); there a 95 % interval is approximate: {_worth(few, report)}" + (
        f"; {more}" if more else ""
    )


def marked(rows: pl.DataFrame, report: str = "") -> pl.DataFrame:
    """The rows with what their intervals are worth as last columns; without intervals none.

    few_games is true where an interval rests on fewer than ten games; held_least is the least share of the simulated data sets of a scene
    whose intervals of this kind, with so many games or the next fewer that were simulated, had the truth; of the row's intervals the least
    sure one; null where none of them was simulated.
    """
    import polars as pl

    rests = _rests_on_few(rows)
    if rests is None or "few_games" in rows.columns:
        return rows
    n, worths = _number(rows), []
    for method, applies in kinds_of(rows, report):
        held = held_of(method)
        if held:
            least = pl.lit(held[0].least)
            for one in held[1:]:
                least = pl.when(n >= one.games).then(one.least).otherwise(least)
            worths.append(pl.when(applies).then(least))
    rows = rows.with_columns(rests.alias("few_games"))
    return rows.with_columns(pl.min_horizontal(worths).alias("held_least")) if worths else rows


def _worth(few: pl.DataFrame, report: str) -> str:
    """Of rows that rest on few games: what was measured with the fewest games that were simulated."""
    held = [found[0] for method, applies in kinds_of(few, report) if (found := held_of(method)) and few.select(applies.any()).item()]
    if not held:
        return (
            "its simulated coverage is 97 to 100 % where answers are rare, and where games differ much from 75 (corrected "
            "rates), 80 (kappa) or 89 % on (docs/dev/coverage.md)"
        )
    worst, best = min(held, key=lambda one: one.least), max(held, key=lambda one: one.mean)
    least = worst.mean if best.method == worst.method else min(one.mean for one in held)
    means = " to ".join(dict.fromkeys((share(least), share(worst.mean if best.method == worst.method else best.mean))))
    return (
        f"simulated with {worst.games} of them, the coverage of intervals of this kind was {means}, "
        f"in the worst scene {share(worst.least)} (docs/dev/coverage.md)"
    )


def _short(rows: pl.DataFrame, report: str) -> str:
    """Of the rows with ten games and more: those where the measured intervals fall short of the goal in some scenes."""
    import polars as pl

    n, parts = _number(rows), []
    for least, most, worst in _brackets(rows, report):
        there = pl.any_horizontal([applies for _, applies in kinds_of(rows, report)]) & (n >= max(least, FEW))
        many = rows.filter(there & (n < most) if most else there).height
        over = str(_over(rows)).removesuffix("_now")
        if many and worst.below > 0:
            reach = f"to {most - 1}" if most else "or more"
            parts.append(
                f"{count(many)} of {count(len(rows))} rows rest on {max(least, FEW)} {reach} {over}: there "
                f"the coverage of intervals of this kind was below {share(worst.goal)} in {share(worst.below)} of the "
                f"simulated scenes (least {share(worst.least)}, mean {share(worst.mean)}; docs/dev/coverage.md)"
            )
    return "; ".join(parts)


def _wide(rows: pl.DataFrame, report: str) -> str:
    """Of rows with any number of games: the largest share of the scenes in which the measured intervals held the truth too often."""
    used = [
        max((one for one in held if one.games <= (n or 0)), key=lambda one: one.games, default=held[0])
        for method, applies in kinds_of(rows, report)
        if (held := held_of(method))
        for n in rows.filter(applies).select(_number(rows)).unique().to_series()
    ]
    most = max(used, key=lambda one: one.above, default=None)
    if most is None or not most.above:
        return ""
    scenes = f"a coverage above {share(1.9 - most.goal)}, in {share(most.above)} of the simulated scenes"
    return f'95 % intervals of the kind "{most.method}" are wider than need be, with {scenes} (docs/dev/coverage.md)'


def _brackets(rows: pl.DataFrame, report: str) -> Iterator[tuple[int, int | None, Held]]:
    """From how many games to how many (None: any), and the least sure kind of interval that rows with so many print."""
    kinds = [(held, applies) for method, applies in kinds_of(rows, report) if (held := held_of(method))]
    starts = sorted({one.games for held, _ in kinds for one in held})
    for place, least in enumerate(starts):
        most = starts[place + 1] if place + 1 < len(starts) else None
        if most is not None and most <= FEW:
            continue
        n = _number(rows)
        here = (n >= max(least, FEW)) & (n < most) if most else n >= max(least, FEW)
        there = [
            max((one for one in held if one.games <= least), key=lambda one: one.games)
            for held, applies in kinds
            if held[0].games <= least and rows.select((applies & here).any()).item()
        ]
        if there:
            yield least, most, max(there, key=lambda one: one.below)


def _unmeasured(rows: pl.DataFrame, report: str) -> str:
    """For a report without simulated intervals, and for the rows of others without."""
    import polars as pl

    kinds = [(held_of(method), applies) for method, applies in kinds_of(rows, report)] if report else []
    printed = [(held, applies) for held, applies in kinds if rows.select(applies.any()).item()]
    missing = [applies for held, applies in printed if not held]
    if not missing:
        return ""
    if len(missing) == len(printed):
        return _UNMEASURED
    return f"of {count(rows.filter(pl.any_horizontal(missing)).height)} of {count(len(rows))} rows {_UNMEASURED}"


def _over(rows: pl.DataFrame) -> str | None:
    return next((name for name in _COUNTS if name in rows.columns and rows[name].dtype.is_numeric()), None)


def _number(rows: pl.DataFrame) -> pl.Expr:
    """How many games or tasks each row's interval is over; of a row between teams: teams; of one with two sides: of the smaller one."""
    import polars as pl

    over = _over(rows)
    if over is None:
        return pl.min_horizontal("own_games", "other_games")
    if {"games_a", "games_b"} <= set(rows.columns):  # two teams with tasks of their own: no side has more tasks than games
        return pl.min_horizontal(over, "games_a", "games_b")
    if {"kind", "partners"} <= set(rows.columns):  # a team's partners are its tasks
        return pl.when(pl.col("kind") == "team").then(pl.col("partners")).otherwise(pl.col(over))
    if not _is_between(rows):
        return pl.col(over)
    return pl.when(pl.col("kind") == _BETWEEN).then(pl.col("teams")).otherwise(pl.col(over))


def _is_between(rows: pl.DataFrame) -> bool:
    return {"kind", "teams"} <= set(rows.columns) and _BETWEEN in rows["kind"]


def are_few(rows: pl.DataFrame) -> bool:
    """Whether the interval of some row of a report rests on fewer than ten tasks or games."""
    rests = _rests_on_few(rows)
    return rests is not None and bool(rests.any())


def _rests_on_few(rows: pl.DataFrame) -> pl.Series | None:
    import polars as pl

    lows = [name for name in rows.columns if name == "low" or name.endswith("_low")]
    if not lows or (_over(rows) is None and "own_games" not in rows.columns):
        return None
    return rows.select((pl.any_horizontal(pl.col(lows).is_not_null()) & (_number(rows) < FEW)).fill_null(value=False)).to_series()
