"""The report `claims`: each sentence that reports make, as a row, with one error rate over all that are tested."""

import csv
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from analytics.findings import FRONT_PAGE, TOPICS, findings
from analytics.report_columns import framed
from analytics.reports import report
from analytics.statistics.intervals import LEVEL
from analytics.statistics.shifts import holm
from schemas.common import wording
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
    """Empty: an interval, or a number alone."""
    family: str
    """Column within whose values the report corrects p-values."""
    n: str
    """Column: units of analysis."""
    value: str
    low: str
    high: str
    p: str
    p_family: str
    is_ratio: str
    """`yes`: no effect is a value of 1."""


_LINES: Final = csv.DictReader((files("analytics") / "claims.csv").read_text(encoding="utf-8").splitlines())
CLAIMED: Final[Mapping[str, Claimed]] = {line.pop("report"): Claimed(**line) for line in _LINES}
"""Report -> its claims; `report/of what` of one without sentences, whose numbers pages put into words."""


def claims(store: Store, known: Mapping[str, pl.DataFrame] | None = None) -> pl.DataFrame:
    """One row for every sentence that the reports make, with a test or an interval, and every sentence of the front page.

    Columns: `report_columns.csv`.

    Raises:
        StoreError: the store cannot be read.
    """
    names = dict.fromkeys(name.partition("/")[0] for name in CLAIMED)
    tables = {name: known[name] if known and name in known else report(store, name) for name in names}
    front = [
        {"report": one.report, "sentence": one.sentence, "estimand": FRONT_PAGE + TOPICS[one.topic], "population": one.benchmark}
        for one in findings(store, {**(known or {}), **tables})
    ]
    return framed("claims", [*statements(tables), *front])


def statements(tables: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """The rows of `claims` that some reports make, by name, without those of the front page; reports that make none are passed over."""
    from scipy import stats

    reports = ((name.partition("/")[0], about) for name, about in CLAIMED.items())
    rows = [row for name, about in reports if name in tables for row in _of_report(name, about, tables[name])]
    tested = [row for row in rows if row["p"] is not None]
    adjusted = stats.false_discovery_control([row["p"] for row in tested]) if tested else []
    for row, p, q in zip(tested, holm([row["p"] for row in tested]), adjusted, strict=True):
        row |= {"p_all": p, "q_all": float(q), "shown": p is not None and p < _SURE}
    for row in tested:
        row |= {"can_show": row["least"] * len(tested) < _SURE, "detectable": _detectable(row, len(tested))}
    return rows


def _of_report(name: str, about: Claimed, found: pl.DataFrame) -> Iterator[dict[str, Any]]:
    sizes: dict[Any, int] = dict(found.drop_nulls(about.p).group_by(about.family).len().iter_rows()) if about.p else {}
    columns = {"value": about.value, "low": about.low, "high": about.high, "p": about.p, "p_family": about.p_family}
    for row in found.iter_rows(named=True):
        is_exact = name == "compare" and row["paired"]
        estimand = _filled(about.estimand, row)
        sentence = next((row[column] for column in ("advice", "sentence") if column in row), None) or _number_of(estimand, row, about)
        if sentence is None:
            continue
        yield {
            "report": name,
            "sentence": sentence,
            "estimand": estimand,
            "population": _filled(about.population, row),
            "unit": about.unit,
            "n": row[about.n],
            "test": about.test,
            **{key: _finite(row[column]) if column else None for key, column in columns.items()},
            "tests": sizes.get(row[about.family], 0) if about.p else 0,
            "shown": False,
            "least": 2.0 ** (1 - row[about.n]) if is_exact else 0.0,
            "is_ratio": about.is_ratio,
        }


def _number_of(estimand: str, row: Mapping[str, Any], about: Claimed) -> str | None:
    """The sentence about a number of a report that has none; None where it is not known."""
    if row[about.value] is None:
        return None
    ends = "" if row[about.low] is None else f" {wording.interval(row[about.low], row[about.high])}"
    return f"{estimand}: {wording.number(row[about.value])}{ends}"


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
