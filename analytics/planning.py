"""How much is enough: the reports `power`, `power-curves` (games and tasks) and `judges-needed`, and the labels that a plan takes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from analytics.agreement.answers import answers, labels_of
from analytics.comparison.compare import FEWEST
from analytics.comparison.game_values import codes, game_values
from analytics.query import query
from analytics.report_columns import framed
from analytics.statistics.intervals import LEVEL, Floats, share_interval
from schemas.common import wording
from schemas.common.errors import UsageError
from schemas.store.store import Store

if TYPE_CHECKING:
    from schemas.store.store import Store

_WIDTHS: Final = ("0_10", "0_05", "0_02")
"""Half-widths, as the columns of the report of labels needed are named."""


def labels_rows(store: Store, metric: str) -> list[dict[str, Any]]:
    """Of the questions that have labels: design, metric, difference, tasks (with ends and as it is now) and advice, by half-width.

    Args:
        store: a store with the views.
        metric: score: all questions; `judge:<rubric>.<question>`, with or without `@<judge>`: that one; others have none.
    """
    from analytics.estimates.needed import labels_needed_report

    prefix, _, asked = metric.partition(":")
    if metric != "score" and prefix != "judge":
        return []
    question, _, judge = asked.partition("@")
    if not query(store, "SELECT 1 FROM labels LIMIT 1").height:
        return []
    found = labels_needed_report(store, rubric=question.rpartition(".")[0] or None).to_dicts()
    return [
        planned
        for row in found
        if row["labels"] and question in ("", f"{row['rubric']}.{row['question']}") and judge in ("", row["judge"])
        for planned in _of_question(row)
    ]


def _of_question(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    reached = [width for width in _WIDTHS if row[f"labels_for_{width}"]]
    for width in reached or _WIDTHS[:1]:
        needed, low, high = (row[f"labels_for_{width}{end}"] for end in ("", "_low", "_high"))
        half = float(width.replace("_", "."))
        whose = f" on games of {row['model']}" if row["model"] else ""
        ends = f" ({low or 'no number'} to {high or 'no number'}, as sure as the variances are)" if low or high else ""
        need = f"{needed:,} labels{ends}" if needed else f"no number of labels on these {row['units']} units: have more games judged"
        yield {
            "design": "labels",
            "metric": f"judge:{row['rubric']}.{row['question']}@{row['judge']}",
            "difference": half,
            "tasks": needed,
            "tasks_low": low,
            "tasks_high": high,
            "tasks_now": row["labels"],
            "advice": f"{row['question']} by {row['judge']}{whose}, known to plus or minus {half:g}: {need}; there are {row['labels']:,}",
        }


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
    numbers are null (`analytics.estimates.needed.labels_needed_report`). They come with the metric `score`, or for one question with
    `judge:...`, if no benchmark is named.

    Columns: `report_columns.csv`.

    Raises:
        UsageError: the store has no such metric, or the difference is not above 0.
    """
    rows = _of_teams(store, metric, benchmark, difference)
    return framed("power", rows if benchmark is not None else [*rows, *labels_rows(store, metric)])


def _of_teams(store: Store, metric: str, benchmark: str | None, difference: float | None) -> list[_Row]:
    """Rows of `power` about differences of teams."""
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
                {"benchmark": name, "game": game, "metric": metric} | _planned(spread, step, wanted) for step in steps for wanted in _POWERS
            ]
    return rows


def power_curves(store: Store, *, metric: str = "score", benchmark: str | None = None, difference: float | None = None) -> pl.DataFrame:
    """One row for each design, difference and number of tasks: the points of the curves.

    Columns: `report_columns.csv`.

    Raises:
        UsageError: the store has no such metric, or the difference is not above 0.
    """
    planned = (
        framed("power", _of_teams(store, metric, benchmark, difference))
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
    return framed("power-curves", rows)


def tasks_needed(design: str, difference: float, sd: float, wanted: float) -> int | None:
    """Least number of tasks (of each team, if unpaired) with that power at level 0.05, two-sided; None above 100,000.

    The paired and the two-sample t test (noncentral t; Cohen 1988); the permutation tests of `compare` have the same power
    where tasks are many (Hoeffding 1952, Annals of Mathematical Statistics 23). Never below six: no exact test could show anything.
    """
    low, high = FEWEST, _MOST
    if power_of(design, difference, sd, high) < wanted:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(design, difference, sd, middle) >= wanted else (middle + 1, high)
    return low


def power_of(design: str, difference: float, sd: float, tasks: int) -> float:
    """Chance to see a difference with so many tasks, from 0 to 1; 0 with fewer than six.

    By the noncentral t (Cohen 1988), as statsmodels' `TTestPower` and `TTestIndPower`: those build two distributions a call.
    """
    from scipy import special

    if tasks < FEWEST or sd <= 0:
        return float(tasks >= FEWEST)
    freedom, weight = (tasks - 1, tasks) if design == "paired" else (2 * tasks - 2, tasks / 2)
    size, end = difference / sd * math.sqrt(weight), float(special.stdtrit(freedom, (1 + LEVEL) / 2))
    found = 1 - float(special.nctdtr(freedom, size, end)) + float(special.nctdtr(freedom, size, -end))
    return 1.0 if math.isnan(found) else found  # so far out that the noncentral t is not a number


def detectable(design: str, sd: float, tasks: int, wanted: float) -> float | None:
    """The least difference that is seen with that power on so many tasks; None below six tasks."""
    from scipy import optimize

    if tasks < FEWEST or sd <= 0:
        return None
    return float(optimize.brentq(lambda size: power_of(design, size * sd, sd, tasks) - wanted, 1e-6, 10) * sd)


def _rounded(value: float) -> float:
    """To three places, or two digits that count where the metric is so small that they would be nothing."""
    return round(value, max(3, 1 - math.floor(math.log10(value))))


def _spreads(games: pl.DataFrame) -> Iterator[Spread]:
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
    where success is rare, and the chi-squared interval of normal numbers then has a coverage of 57 to 80 %. Below five tasks, too few to
    see tails, the chi-squared one.
    """
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
    from scipy import stats

    fourth = second = 0.0
    for sample in samples:
        trimmed = 1 / (2 * math.sqrt(len(sample) - 4)) if len(sample) > _FEWEST_TAILS else 0.25
        fourth += float(((np.array(sample) - stats.trim_mean(sample, trimmed)) ** 4).sum())
        second += float(np.var(sample) * len(sample))
    return max(sum(map(len, samples)) * fourth / second**2, 1.8)


def _planned(spread: Spread, difference: float, wanted: float) -> _Row:
    tasks, least, most = (tasks_needed(spread.design, difference, sd, wanted) for sd in (spread.sd, spread.low, spread.high))
    row = {
        "design": spread.design,
        "difference": difference,
        "sd": spread.sd,
        "sd_low": spread.low,
        "sd_high": spread.high,
        "pairs": spread.freedom,
        "power": wanted,
        "tasks": tasks,
        "tasks_low": least,
        "tasks_high": most,
        "tasks_now": spread.tasks_now,
        "power_now": power_of(spread.design, difference, spread.sd, spread.tasks_now),
        "detectable_now": detectable(spread.design, spread.sd, spread.tasks_now, wanted),
    }
    return row | {"advice": _advice(row)}


def _advice(row: _Row) -> str:
    shared = "tasks that both play" if row["design"] == "paired" else "tasks of each team"
    if row["tasks"] is None:
        return f"a difference of {row['difference']:g} is too small to plan for"
    ends = f"{row['tasks_low'] or 'no'} to {row['tasks_high'] or 'more than 100,000'}"
    wanted = f"to detect a difference of {row['difference']:g} with a chance of {wording.share(row['power'])}"
    about = f"{wanted}: {row['tasks']:,} {shared} ({ends}, as sure as the spread is)"
    now = f"with the {row['tasks_now']} there are"
    if row["detectable_now"] is None:
        return f"{about}; {now} no difference can be shown"
    return f"{about}; {now} the chance is {wording.share(row['power_now'])}, and {wording.number(row['detectable_now'])} would be seen"


_MOST_JUDGES: Final = 7
"""Judges of a question whose panels are all tried: the ones that answered most."""
_FEWEST: Final = 10

_SCORES: Final = """
    WITH prices AS (
        SELECT rubric, judge, sum(cost) / nullif(sum(units), 0) AS cost FROM judge_runs WHERE cost IS NOT NULL GROUP BY ALL
    )
    SELECT rubric, question, unit_id AS unit, episode_id, judge, avg(score) AS score, any_value(prices.cost) AS cost
    FROM verdicts_latest
    LEFT JOIN prices USING (rubric, judge)
    WHERE score IS NOT NULL AND variant IS NULL
    GROUP BY ALL
    ORDER BY rubric, question, unit, judge
"""


def judges_needed(store: Store) -> pl.DataFrame:
    """One row for each rubric, question, and judge or panel of judges, on the units that all its members answered.

    Columns: `report_columns.csv`.
    """
    labels = labels_of(answers(store, random_only=True))
    scores = query(store, _SCORES).join(labels, on=["rubric", "question", "unit"], how="left", maintain_order="left")
    rows = [
        row
        for (rubric, question), part in scores.group_by("rubric", "question", maintain_order=True)
        for row in _judges_needed_of_question({"rubric": rubric, "question": question}, part)
    ]
    return framed("judges-needed", rows)


def effective_judges(scores: Floats) -> tuple[float | None, float | None]:
    """Mean correlation of the columns, and how many independent ones would be worth as much (Kish 1965, Survey Sampling, design effect).

    Args:
        scores: shape (units, judges): errors, or scores. A column that does not vary has no correlation, and is left out of the mean; where
            fewer than two vary, of several, both are None.
    """
    judges = scores.shape[1]
    varied = scores[:, scores.std(axis=0) > 0]
    if varied.shape[1] < 2:  # noqa: PLR2004 - a correlation needs two
        return None, 1.0 if judges == 1 else None
    table = np.asarray(np.corrcoef(varied.T))
    mean = float(table[np.triu_indices(len(table), 1)].mean())
    return mean, float(min(judges, judges / (1 + (judges - 1) * max(mean, 0.0))))


def _judges_needed_of_question(asked: _Row, scores: pl.DataFrame) -> Iterator[_Row]:
    counts = scores["judge"].value_counts(sort=True)
    names = sorted(counts["judge"].head(_MOST_JUDGES).to_list())
    wide = scores.pivot(on="judge", index=["unit", "episode_id", "label"], values="score")
    prices = dict(scores.select("judge", "cost").unique().rows())
    panels = [panel for size in range(1, len(names) + 1) for panel in combinations(names, size)]
    rows = [asked | row for panel in panels if (row := _panel(wide, panel, prices)) is not None]
    for row in rows:
        row["frontier"] = _on_frontier(row, rows)
    for row in rows:
        yield row | {"advice": _judges_needed_advice(row)}


def _panel(wide: pl.DataFrame, panel: tuple[str, ...], prices: dict[str, float | None]) -> _Row | None:
    units = wide.drop_nulls(list(panel))
    if len(units) < _FEWEST:
        return None
    known = units.drop_nulls("label")
    decided = known.filter(pl.col("label") != 0.5)  # noqa: PLR2004 - people who are undecided have no side, and no one errs
    of_errors = len(decided) >= _FEWEST
    scores = decided.select([pl.col(judge) - pl.col("label") for judge in panel]) if of_errors else units.select(panel)
    mean, worth = effective_judges(scores.to_numpy())
    costs = [prices[judge] for judge in panel]
    return {
        "panel": " + ".join(panel),
        "judges": len(panel),
        "units": len(units),
        "games": units["episode_id"].n_unique(),
        "correlation": mean,
        "of_errors": of_errors,
        "effective_judges": worth,
        "labelled": len(known),
        **_accuracy(decided, panel),
        "cost": None if any(cost is None for cost in costs) else float(sum(cost or 0 for cost in costs)),
    }


def _accuracy(decided: pl.DataFrame, panel: tuple[str, ...]) -> _Row:
    """Of the panel, with its ends; and of its best member, on the same units."""
    row: _Row = {"decided": len(decided), **dict.fromkeys(("accuracy", "low", "high", "alone"))}
    if len(decided) < _FEWEST:
        return row
    right = _right(decided, panel)
    games = codes(decided["episode_id"])
    ends = share_interval(np.bincount(games, weights=right).astype(float), np.bincount(games).astype(float))
    low, high = (None if np.isnan(end) else float(end) for end in ends)
    alone = max(float(_right(decided, (judge,)).mean()) for judge in panel)
    return row | {"accuracy": float(right.mean()), "low": low, "high": high, "alone": alone}


def _right(decided: pl.DataFrame, panel: tuple[str, ...]) -> Floats:
    """1 where the panel's mean is on the label's side, a half where it is in the middle, else 0."""
    votes, label = decided.select(pl.mean_horizontal(panel)).to_series().to_numpy(), decided["label"].to_numpy()
    return np.where(votes == 0.5, 0.5, (votes > 0.5) == (label > 0.5))  # noqa: PLR2004 - the middle


def _on_frontier(row: _Row, rows: list[_Row]) -> bool | None:
    if row["accuracy"] is None or row["cost"] is None:
        return None
    others = [other for other in rows if other is not row and other["accuracy"] is not None and other["cost"] is not None]
    return not any(
        other["accuracy"] >= row["accuracy"]
        and other["cost"] <= row["cost"]
        and (other["accuracy"], -other["cost"]) != (row["accuracy"], -row["cost"])
        for other in others
    )


def _worth(row: _Row) -> str:
    if row["effective_judges"] is None:
        return f"how many independent ones {row['judges']} judges are worth is not known: fewer than two of them ever err or differ"
    why = "their errors are correlated" if row["of_errors"] else "by their scores: without labels, being right alike counts as erring alike"
    return f"{row['judges']} judges are worth {row['effective_judges']:.1f} independent ones ({why})"


def _judges_needed_advice(row: _Row) -> str:
    about = f"{row['question']}, {row['panel']}:"
    if row["judges"] > 1:
        about += f" {_worth(row)}"
    if row["accuracy"] is None:
        return f"{about} no accuracy without ten labelled units: label some"
    interval = "" if row["low"] is None else f" {wording.interval(row['low'], row['high'])}"
    about += f"{';' if row['judges'] > 1 else ''} right in {wording.score(row['accuracy'])}{interval} of {row['decided']} labelled units"
    if row["judges"] > 1 and row["accuracy"] <= row["alone"]:
        return f"{about}; one of its judges alone is as good: do not pay for the panel"
    return about + ("" if row["frontier"] is None else "; worth its price" if row["frontier"] else "; a cheaper one is as accurate")
