"""The report `claims`: each statement about what differs or goes together that reports make, as a row, with one error rate over all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from analytics.findings import TOPICS, findings
from analytics.report_columns import framed
from analytics.reports import report
from analytics.statistics.intervals import LEVEL
from analytics.statistics.shifts import holm
from schemas.store.store import Store

_SURE: Final = 0.05
_POWER: Final = 0.8


class Claimed(NamedTuple):
    """Where a report has the parts of its claims."""

    estimand: str
    """In words; `{column}` is what a row has there."""
    population: str
    unit: str
    """What is independent."""
    test: str
    family: str
    """Column within whose values the report corrects p-values."""
    n: str
    """Column: units of analysis."""
    value: str
    low: str = "low"
    high: str = "high"
    p: str = "p"
    p_family: str = "p_holm"
    is_ratio: bool = False
    """Whether no effect is a value of 1."""


_BY_TASK: Final = "Student's t, tasks left out in turn"
_TEAMS: Final = "between {team_a} and {team_b}"
CLAIMED: Final[Mapping[str, Claimed]] = {
    "compare": Claimed(
        f"difference of mean {{metric}} {_TEAMS}", "tasks like these of {benchmark}", "task",
        "exact sign flips if paired, else permutation of tasks", "benchmark", "tasks", "difference",
    ),
    "effects": Claimed(
        "slope of {outcome} on {predictor} in the same team and task", "{unit} of {benchmark}", "task",
        "Student's t of a regression clustered by task", "benchmark", "tasks", "coefficient",
    ),
    "correlations": Claimed(
        "correlation of {x} and {y}, {kind}", "{unit} of {benchmark}", "task", _BY_TASK,
        "benchmark", "tasks", "pearson", "pearson_low", "pearson_high",
    ),
    "mediation": Claimed(
        f"difference of {{metric}} {_TEAMS} through {{mediator}}", "tasks of {benchmark}", "task",
        "bootstrap of tasks", "benchmark", "tasks", "indirect",
    ),
    "transitions": Claimed(
        "share of {next} after {after} minus that in any order of the same game's turns, {team}",
        "games of {benchmark}", "game", "Student's t, games left out in turn; binomial if rare", "benchmark", "games", "difference",
        "difference_low", "difference_high",
    ),
    "survival": Claimed(
        "hazard ratio of {event}, {team} to {reference}", "games of {benchmark}", "task",
        "Cox regression clustered by task", "benchmark", "tasks", "hazard_ratio", is_ratio=True,
    ),
    "judged-effects": Claimed(
        "slope of what {question} asks for on {predictor}", "units asked of {judge}",
        "task", _BY_TASK, "rubric", "tasks", "effect",
    ),
    "calibration": Claimed(
        "uncertainty about {question} that answers remove", "labelled units",
        "game", "one-sided t of the ratio of squared errors", "rubric", "games", "skill", p="p_value", p_family="p_corrected",
    ),
    "drift": Claimed(
        "change of the share of {answer} to {question} by {judge}, {compared}", "units of both jobs",
        "game", "exact sign flips of games, or t over games", "rubric", "games", "difference", p_family="p_corrected",
    ),
    "self-preference": Claimed(
        "score of {judge} for its own model's texts minus others', {question}",
        "labelled units", "game", "t over games", "rubric", "own_games", "preference", "preference_low", "preference_high",
        p_family="p_corrected",
    ),
}  # fmt: skip
"""Report -> its claims."""


def claims(store: Store, known: Mapping[str, pl.DataFrame] | None = None) -> pl.DataFrame:
    """One row for every statement about a difference or an association that the reports make, and every sentence of the front page.

    Columns: `report_columns.csv`.

    Args:
        store: a store with the views.
        known: reports that were computed already, by name.

    Raises:
        StoreError: the store cannot be read.
    """
    tables = {name: known[name] if known and name in known else report(store, name) for name in CLAIMED}
    front = [
        {"report": one.report, "sentence": one.sentence, "estimand": f"front page: {TOPICS[one.topic]}", "population": one.benchmark}
        for one in findings(store, {**(known or {}), **tables})
    ]
    return framed("claims", [*statements(tables), *front])


def statements(tables: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """The rows of `claims` that some reports make, by name, without those of the front page; reports that make none are passed over."""
    from scipy import stats

    rows = [row for name, about in CLAIMED.items() if name in tables for row in _of_report(name, about, tables[name])]
    tested = [row for row in rows if row["p"] is not None]
    adjusted = stats.false_discovery_control([row["p"] for row in tested]) if tested else []
    for row, p, q in zip(tested, holm([row["p"] for row in tested]), adjusted, strict=True):
        row |= {"p_all": p, "q_all": float(q), "shown": p is not None and p < _SURE}
    for row in tested:
        row |= {"can_show": row["least"] * len(tested) < _SURE, "detectable": _detectable(row, len(tested))}
    return rows


def _of_report(name: str, about: Claimed, found: pl.DataFrame) -> Iterator[dict[str, Any]]:
    sizes: dict[Any, int] = dict(found.drop_nulls(about.p).group_by(about.family).len().iter_rows())
    for row in found.iter_rows(named=True):
        is_exact = name == "compare" and row["paired"]
        yield {
            "report": name,
            "sentence": row["advice"],
            "estimand": _filled(about.estimand, row),
            "population": _filled(about.population, row),
            "unit": about.unit,
            "n": row[about.n],
            "test": about.test,
            **{key: _finite(row[column]) for key, column in (("value", about.value), ("low", about.low), ("high", about.high))},
            "p": row[about.p],
            "tests": sizes.get(row[about.family], 0),
            "p_family": row[about.p_family],
            "shown": False,
            "least": 2.0 ** (1 - row[about.n]) if is_exact else 0.0,
            "is_ratio": about.is_ratio,
        }


def _filled(text: str, row: Mapping[str, Any]) -> str:
    return re.sub(r"{(\w+)}", lambda found: str(row[found[1]]), text)


def _finite(value: float | None) -> float | None:
    return value if value is None or np.isfinite(value) else None


def _detectable(row: Mapping[str, Any], tests: int) -> float | None:
    """(t of the level corrected for all + t of the power) times the standard error that the interval implies."""
    from scipy import special

    if row["low"] is None or row["high"] is None or row["is_ratio"] or not row["n"] or row["n"] < 2:  # noqa: PLR2004 - no freedom
        return None
    ends = (1 + LEVEL) / 2, 1 - _SURE / tests / 2, _POWER
    own, corrected, power = (float(special.stdtrit(row["n"] - 1, end)) for end in ends)
    return float((row["high"] - row["low"]) / 2 / own * (corrected + power))
