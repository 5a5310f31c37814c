"""The report `power`: how many tasks it takes to see a difference, from the spread that the store's own games show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.comparison.differences import FEWEST
from analytics.comparison.game_values import game_values
from analytics.planning.labels_planned import labels_rows
from analytics.statistics.intervals import LEVEL
from schemas import wording
from schemas.errors import UsageError
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CURVES_SUMMARY", "SUMMARY", "detectable", "pooled_spread", "power", "power_curves", "power_of", "tasks_needed"]

SUMMARY: Final = (
    "benchmark",
    "design",
    "difference",
    "sd",
    "power",
    "tasks",
    "tasks_low",
    "tasks_high",
    "tasks_now",
    "power_now",
    "detectable_now",
)
"""The columns that fit a terminal, beside the advice."""

CURVES_SUMMARY: Final = ("benchmark", "metric", "design", "difference", "tasks", "power", "power_low", "power_high")
"""Likewise of the curves."""

_GRID: Final = (6, 8, 10, 15, 20, 30, 40, 60, 80, 120, 200, 400)
"""Tasks of the curves."""
_POWERS: Final = (0.8, 0.9)
_SHARES: Final = (0.2, 0.5, 1.0)
"""Differences that are planned for, as shares of the standard deviation between tasks, where none is given."""
_MOST: Final = 100_000
_FEWEST_TAILS: Final = 5
"""Tasks below which nothing is seen of the tails of a distribution."""
_Row = dict[str, Any]


class Spread(NamedTuple):
    """Standard deviation of a design, and how sure it is."""

    design: str
    sd: float
    low: float
    high: float
    freedom: int
    tasks_now: int


def power(store: Store, *, metric: str = "score", benchmark: str | None = None, difference: float | None = None) -> pl.DataFrame:
    """One row for each design, difference and power; where people have labelled what judges scored, rows for labels as well.

    Rows with the design `labels` say how many labels bring the 95 % interval of a judge's corrected rate down to plus or minus
    `difference`: tasks, tasks_low, tasks_high and tasks_now are labels there, metric is `judge:<rubric>.<question>@<judge>`, and the other
    numbers are null (`analytics.rates.corrected.labels_needed_report`). They come with the metric `score`, or for one question with
    `judge:...`, if no benchmark is named.

    Columns, in order:

    - benchmark; game: null where a benchmark has one kind of score, else a plan is of one game.
    - metric; design: paired (both teams play the same tasks) or unpaired (each its own).
    - difference: to be seen, in units of the metric; sd: standard deviation over tasks of the difference of two teams (paired), of a team's
      means (unpaired), pooled over the teams of the store; sd_low, sd_high: its 95 % interval; pairs: teams or pairs it comes from.
    - power: chance to see the difference with p below 0.05. tasks: needed for it (unpaired: for each team); tasks_low, tasks_high: if the
      standard deviation is at the ends of its interval.
    - tasks_now: that a typical pair shares, or a typical team has; power_now: the chance with as many; detectable_now: the difference that
      is seen with that power on as many. advice: what follows.

    Args:
        store: a store with the views.
        metric: as in `report compare`.
        benchmark: only this one; None: all that have the metric.
        difference: to be seen; None: shares of the standard deviation between tasks.

    Raises:
        UsageError: the store has no such metric, or the difference is not above 0.
    """
    import polars as pl

    if difference is not None and difference <= 0:
        raise UsageError(f"--difference {difference:g}: give a number above 0, in units of {metric}")
    games = game_values(store, metric)
    rows: list[_Row] = []
    for (name, game), part in games.group_by("benchmark", "game", maintain_order=True):
        if benchmark not in (None, name):
            continue
        spreads = list(_spreads(part))
        for spread in spreads:
            steps = (difference,) if difference else [_rounded(share * spreads[-1].sd) for share in _SHARES]
            rows += [
                {"benchmark": name, "game": game, "metric": metric} | _planned(spread, step, wished) for step in steps for wished in _POWERS
            ]
    if benchmark is None:
        rows += labels_rows(store, metric)
    return pl.DataFrame([{column: row.get(column) for column in _schema()} for row in rows], schema=_schema(), orient="row")


def power_curves(store: Store, *, metric: str = "score", benchmark: str | None = None, difference: float | None = None) -> pl.DataFrame:
    """One row for each design, difference and number of tasks: the points of the curves.

    Columns: benchmark, game, metric, design, difference, tasks (of each team, if unpaired); tasks_now: of which the spread is known; power:
    chance to see the difference; power_low, power_high: the same if the standard deviation is at the ends of its interval.

    Args:
        store: a store with the views.
        metric: as in `report compare`.
        benchmark: only this one; None: all that have the metric.
        difference: to be seen; None: shares of the standard deviation between tasks.

    Raises:
        UsageError: the store has no such metric, or the difference is not above 0.
    """
    import polars as pl

    planned = (
        power(store, metric=metric, benchmark=benchmark, difference=difference)
        .filter(pl.col("design").is_in(("paired", "unpaired")))
        .unique(["benchmark", "game", "design", "difference"], maintain_order=True)
    )
    rows = [
        {name: row[name] for name in ("benchmark", "game", "metric", "design", "difference")}
        | {"tasks": tasks, "tasks_now": row["tasks_now"]}
        | {
            name: power_of(row["design"], row["difference"], row[sd], tasks)
            for name, sd in (("power", "sd"), ("power_low", "sd_high"), ("power_high", "sd_low"))
        }
        for row in planned.iter_rows(named=True)
        for tasks in _GRID
    ]
    schema: dict[str, pl.DataType] = dict.fromkeys(("benchmark", "game", "metric", "design"), pl.String()) | {"difference": pl.Float64()}
    schema |= dict.fromkeys(("tasks", "tasks_now"), pl.Int64()) | dict.fromkeys(("power", "power_low", "power_high"), pl.Float64())
    return pl.DataFrame(rows, schema=schema, orient="row")


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    number, count = pl.Float64(), pl.Int64()
    schema: dict[str, pl.DataType] = dict.fromkeys(("benchmark", "game", "metric", "design"), pl.String())
    schema |= dict.fromkeys(("difference", "sd", "sd_low", "sd_high"), number) | {"pairs": count, "power": number}
    schema |= dict.fromkeys(("tasks", "tasks_low", "tasks_high", "tasks_now"), count)
    return schema | {"power_now": number, "detectable_now": number, "advice": pl.String()}


def tasks_needed(design: str, difference: float, sd: float, wished: float) -> int | None:
    """Least number of tasks (of each team, if unpaired) with that power at level 0.05, two-sided; None above 100,000.

    The paired and the two-sample t test (statsmodels' noncentral t; Cohen 1988); the permutation tests of `compare` have the same power
    where tasks are many (Hoeffding 1952, Annals of Mathematical Statistics 23). Never below six: no exact test could show anything.
    """
    low, high = FEWEST, _MOST
    if power_of(design, difference, sd, high) < wished:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(design, difference, sd, middle) >= wished else (middle + 1, high)
    return low


def power_of(design: str, difference: float, sd: float, tasks: int) -> float:
    """Chance to see a difference with so many tasks; 0 with fewer than six."""
    from statsmodels.stats.power import TTestIndPower, TTestPower

    if tasks < FEWEST or sd <= 0:
        return float(tasks >= FEWEST)
    size = difference / sd
    if design == "paired":
        found = TTestPower().power(size, tasks, 1 - LEVEL, alternative="two-sided")
    else:
        found = TTestIndPower().power(size, tasks, 1 - LEVEL, ratio=1, alternative="two-sided")
    return 1.0 if math.isnan(found) else float(found)  # so far out that the noncentral t is no number


def detectable(design: str, sd: float, tasks: int, wished: float) -> float | None:
    """The least difference that is seen with that power on so many tasks; None below six tasks."""
    from scipy import optimize

    if tasks < FEWEST or sd <= 0:
        return None
    return float(optimize.brentq(lambda size: power_of(design, size * sd, sd, tasks) - wished, 1e-6, 10) * sd)


def _rounded(value: float) -> float:
    """To three places, or two digits that count where the metric is so small that they would be nothing."""
    return round(value, max(3, 1 - math.floor(math.log10(value))))


def _spreads(games: pl.DataFrame) -> Iterator[Spread]:
    import polars as pl

    by_task = games.group_by("condition", "max_turns", "team_name", "task", maintain_order=True).agg(pl.col("value").mean())
    teams = [part for _, part in by_task.group_by("condition", "max_turns", "team_name", maintain_order=True) if len(part) > 1]
    shared = [found for one, other in combinations(teams, 2) if len(found := one.join(other, on="task", suffix="_b")) > 1]
    paired = [(part["value"] - part["value_b"]).to_list() for part in shared]
    for design, samples in (("paired", paired), ("unpaired", [part["value"].to_list() for part in teams])):
        spread = pooled_spread(design, samples)
        if spread is not None:
            yield spread


def pooled_spread(design: str, samples: list[list[float]]) -> Spread | None:
    """Of samples, with its 95 % interval; degrees of freedom of pairs that share teams are counted as of the teams alone.

    Bonett's interval (2006, Computational Statistics and Data Analysis 50), which asks how heavy the tails are: differences are mostly 0
    where success is rare, and the chi-squared interval of normal numbers then held the truth in 57 to 80 %. Below five tasks, too few to
    see tails, the chi-squared one.
    """
    import numpy as np
    from scipy import stats

    if not samples:
        return None
    sizes = np.array([len(sample) for sample in samples])
    variance = sum(np.var(sample, ddof=1) * (len(sample) - 1) for sample in samples) / (sizes - 1).sum()
    freedom = int((sizes - 1).max() if design == "paired" else (sizes - 1).sum())
    if variance <= 0:
        return None
    if freedom < _FEWEST_TAILS - 1:
        low, high = (math.sqrt(freedom * variance / stats.chi2.ppf(end, freedom)) for end in ((1 + LEVEL) / 2, (1 - LEVEL) / 2))
    else:
        units = freedom + 1
        widened = units / (units - float(stats.norm.ppf((1 + LEVEL) / 2)))
        error = widened * math.sqrt((_kurtosis(samples) - (units - 3) / units) / freedom)
        half = float(stats.norm.ppf((1 + LEVEL) / 2)) * error
        low, high = (math.sqrt(widened * variance * math.exp(side * half)) for side in (-1, 1))
    return Spread(design, math.sqrt(variance), low, high, len(samples), int(np.median(sizes)))


def _kurtosis(samples: list[list[float]]) -> float:
    """Fourth moment around the samples' trimmed means over the squared variance; never below that of a uniform number, 1.8."""
    import numpy as np
    from scipy import stats

    fourth = second = 0.0
    for sample in samples:
        trimmed = 1 / (2 * math.sqrt(len(sample) - 4)) if len(sample) > _FEWEST_TAILS else 0.25
        fourth += float(((np.array(sample) - stats.trim_mean(sample, trimmed)) ** 4).sum())
        second += float(np.var(sample) * len(sample))
    return max(sum(map(len, samples)) * fourth / second**2, 1.8)


def _planned(spread: Spread, difference: float, wished: float) -> _Row:
    tasks, least, most = (tasks_needed(spread.design, difference, sd, wished) for sd in (spread.sd, spread.low, spread.high))
    row = {
        "design": spread.design,
        "difference": difference,
        "sd": spread.sd,
        "sd_low": spread.low,
        "sd_high": spread.high,
        "pairs": spread.freedom,
        "power": wished,
        "tasks": tasks,
        "tasks_low": least,
        "tasks_high": most,
        "tasks_now": spread.tasks_now,
        "power_now": power_of(spread.design, difference, spread.sd, spread.tasks_now),
        "detectable_now": detectable(spread.design, spread.sd, spread.tasks_now, wished),
    }
    return row | {"advice": _advice(row)}


def _advice(row: _Row) -> str:
    shared = "tasks that both play" if row["design"] == "paired" else "tasks of each team"
    if row["tasks"] is None:
        return f"a difference of {row['difference']:g} is too small to plan for"
    ends = f"{row['tasks_low'] or 'no'} to {row['tasks_high'] or 'more than 100,000'}"
    wished = f"to see a difference of {row['difference']:g} with a chance of {wording.share(row['power'])}"
    about = f"{wished}: {row['tasks']:,} {shared} ({ends}, as sure as the spread is)"
    now = f"with the {row['tasks_now']} there are"
    if row["detectable_now"] is None:
        return f"{about}; {now} no difference can be shown"
    return f"{about}; {now} the chance is {wording.share(row['power_now'])}, and {wording.number(row['detectable_now'])} would be seen"
