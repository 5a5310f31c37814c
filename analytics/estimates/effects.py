"""The report `judged-effects`: how what a judge measures goes with the score of the game and the turn, corrected by labels.

Any statistic of the units can be corrected as a rate is: its value by the labels, plus a weight times how far its value by the judge over
all units is from that over the labelled ones (Zrnic 2024, A Note on the Prediction-Powered Bootstrap, arXiv 2405.18379; the weight as in
Angelopoulos, Duchi and Zrnic 2023, PPI++, arXiv 2311.01453). Variances are those of leaving each cluster out in turn (jackknife; Efron and
Stein 1981, Annals of Statistics 9); a cluster is a task, with all of its games.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from analytics.estimates.balance import balance_of
from analytics.estimates.design import drawing_doubt
from analytics.estimates.rates import tuned_weight
from analytics.estimates.units import Asked, asked_units, population, size_of
from analytics.report_columns import framed
from analytics.statistics.intervals import LEVEL, Floats
from analytics.statistics.shifts import holm, sign_flip_p
from schemas.common.wording import chance, from_to, signed
from schemas.store.store import Store

_PREDICTORS: Final = {"reached": "the score of the game", "place": "the turn"}
_SQUARES: Final = {"reached": pl.col("reached") ** 2, "place": pl.col("squared_place")}
_FEWEST: Final = 8
"""Clusters with labels below which no interval is given."""
_SURE: Final = 0.05
_FLAT: Final = 1e-12


class Sums(NamedTuple):
    """By cluster, each of shape (clusters, 6): sums of the weight and, weighted, of x, y, x squared, x y, y squared."""

    judged: Floats
    """Over all units; y is the judge's number, each weight 1."""
    labelled: Floats
    """Over units with a label; y is the label."""
    labelled_judged: Floats
    """The same units; y is the judge's number."""


class Powered(NamedTuple):
    """A corrected statistic with its 95 % interval; NaN below eight clusters with labels."""

    value: float
    low: float
    high: float
    p: float
    """Of a true value of 0."""
    judge: float
    """The statistic by the judge alone."""
    judge_weight: float


def slope(sums: Floats) -> Floats:
    """Of y on x by least squares; sums as in `Sums`, shape (..., 6) -> (...). For x of 0 and 1 it is the difference of two means."""
    n, x, y, xx, xy, _ = np.moveaxis(sums, -1, 0)
    return np.asarray(np.divide(n * xy - x * y, n * xx - x**2, out=np.full_like(n, np.nan), where=n * xx - x**2 > _FLAT))


def fisher_z(sums: Floats) -> Floats:
    """Fisher's z of Pearson's correlation of x and y; sums as in `Sums`, shape (..., 6) -> (...)."""
    n, x, y, xx, xy, yy = np.moveaxis(sums, -1, 0)
    spread = np.sqrt(np.maximum(n * xx - x**2, 0) * np.maximum(n * yy - y**2, 0))
    found = np.divide(n * xy - x * y, spread, out=np.full_like(n, np.nan), where=spread > _FLAT)
    return np.asarray(np.arctanh(np.clip(found, -1 + 1e-9, 1 - 1e-9)))


def powered(statistic: Callable[[Floats], Floats], sums: Sums) -> Powered:
    """A statistic of all units, from the judge's numbers of all and labels of some.

    Each cluster's share of the variance has the weight of the judge that the other clusters give: its own would fit its errors (Zrnic and
    Candes 2024, PNAS 121). Freedom counts clusters by their share of the spread of x: of twelve, the few whose x lies far out decide
    (Bell and McCaffrey 2002, Survey Methodology 28; the count as in Carter, Schnepel and Steigerwald 2017, Review of Economics and
    Statistics 99). p is at least that of flipping the signs of what each cluster adds.

    Args:
        statistic: takes sums of shape (..., 6), as `slope` and `fisher_z`.
        sums: by cluster; weights of labels are 1 over the chances with which they were drawn.
    """
    from scipy import special

    (judge, of_judge), (labels, of_labels), (predicted, of_predicted) = (_left_out(statistic, part) for part in sums)
    seen = of_predicted - of_judge
    weight, of_others = float(tuned_weight(of_labels, seen)[0]), tuned_weight(of_labels, seen, of_others=True)
    value = labels - weight * (predicted - judge) if weight else labels
    influence = of_labels - of_others * seen if weight else of_labels
    sizes = sums.labelled[:, 0]
    clusters = int((sizes > 0).sum())
    if clusters < _FEWEST or not (influence**2).sum() > _FLAT:  # where all clusters are alike nothing is known of others
        return Powered(np.nan, np.nan, np.nan, np.nan, judge, weight)
    error = float(np.sqrt((clusters - 1) / clusters * (influence**2).sum()))
    spread = _spread(sums.labelled)
    freedom = max(float(spread.sum() ** 2 / (spread**2).sum()) - 1, 1.0)
    half = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error
    p = max(float(2 * special.stdtr(freedom, -abs(value) / error)), sign_flip_p(value / clusters + influence[sizes > 0]))
    return Powered(value, value - half, value + half, p, judge, weight)


def _spread(sums: Floats) -> Floats:
    """Of x around its mean by cluster, shape (clusters,)."""
    n, x, _, squares, *_ = sums.T
    mean = x.sum() / n.sum()
    return np.asarray(squares - 2 * mean * x + mean**2 * n)


def _left_out(statistic: Callable[[Floats], Floats], sums: Floats) -> tuple[float, Floats]:
    """The statistic, and what each cluster changes in it."""
    total = sums.sum(axis=0)
    value = float(statistic(total))
    return value, value - statistic(total - sums)


def sums_by_cluster(units: pl.DataFrame, predictor: str) -> Sums:
    """Of the rows of `population` that have the predictor; clusters are tasks, or games where none is known."""
    x, predicted, label, w = pl.col(predictor), pl.col("predicted"), pl.col("label").fill_null(0.0), pl.col("weight")
    n, squares = pl.col("n").cast(pl.Float64), _SQUARES[predictor]
    parts = [(n, predicted), (w * n, label), (w * n, predicted)]
    moments = [
        (weight * power).sum().alias(f"{place}.{number}")
        for place, (weight, y) in enumerate(parts)
        for number, power in enumerate((pl.lit(1.0), x, y, squares, x * y, y**2))
    ]
    known = units.drop_nulls(predictor)
    cluster = pl.coalesce(pl.col("task"), pl.col("game").cast(pl.String))
    table = known.group_by(cluster.alias("cluster"), maintain_order=True).agg(moments).drop("cluster").to_numpy()
    return Sums(*(np.asarray(table[:, 6 * place : 6 * place + 6], dtype=float) for place in range(3)))


def judged_effects(store: Store, *, rubric: str | None = None, families: str | None = None) -> pl.DataFrame:
    """One row for every question, judge and predictor: how what the judge measures goes with it, corrected by labels.

    Columns: `report_columns.csv`. Null where there are fewer than eight tasks with labels, and where labels are no sample of the units (as
    in `corrected-rates`).

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        families: SQL expression over `episodes` whose values are the clusters; None: tasks are.

    Raises:
        UsageError: families is no expression.
        StoreError: the store cannot be read.
    """
    rows = [row for asked in asked_units(store, rubric, families) for row in _rows(asked)]
    for name in dict.fromkeys(row["rubric"] for row in rows):
        family = [row for row in rows if row["rubric"] == name]
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
            row["advice"] = _advice(row, sum(other["p"] is not None for other in family))
    return framed("judged-effects", rows)


def _rows(asked: Asked) -> Iterator[dict[str, Any]]:
    units, is_unknown = population(asked.units)
    rows, labelled = units.rows(), units.ways.filter(pl.col("weight") > 0)
    balance = balance_of(units) if len(labelled) else None
    is_sample = balance is not None and not (balance.trait or balance.is_untested or balance.is_unrecorded or is_unknown)
    doubt = drawing_doubt(asked)
    for predictor, words in _PREDICTORS.items():
        sums = sums_by_cluster(rows, predictor)
        if not len(sums.judged) or not _spread(sums.judged).sum() > _FLAT:  # nothing to go with
            continue
        effect, z = powered(slope, sums), powered(fisher_z, sums)
        found = {"effect": effect.value, "low": effect.low, "high": effect.high, "judge_weight": effect.judge_weight, "p": effect.p}
        found |= dict(zip(("correlation", "correlation_low", "correlation_high"), np.tanh(z[:3]).tolist(), strict=True))
        yield {
            "rubric": asked.rubric,
            "question": asked.question,
            "judge": asked.judge,
            "predictor": words,
            "units": size_of(rows),
            "labels": size_of(labelled),
            "tasks": int((sums.labelled[:, 0] > 0).sum()),
            "judge_effect": None if np.isnan(effect.judge) else effect.judge,
            **{name: float(value) if is_sample and not np.isnan(effect.low) else None for name, value in found.items()},
            **({"p": None} if doubt else {}),
            "is_sample": is_sample,
            "doubt": doubt,
        }


def _advice(row: dict[str, Any], tests: int) -> str:
    about = f"{row['question']} with {row['predictor']}"
    predicted = "" if row["judge_effect"] is None else f": {row['judge']} alone has a slope of {signed(row['judge_effect'])}"
    if row["effect"] is None:
        why = "too few tasks have labels" if row["is_sample"] or not row["labels"] else "labels are not known to be a sample of the units"
        return f"{about}{predicted}; not corrected, because {why}, and the judge's errors may go with {row['predictor']} too"
    ends = from_to(row["low"], row["high"])
    if row["doubt"]:
        return f"{about}{predicted}; corrected {signed(row['effect'])} ({ends}){row['doubt']}"
    shown = "shown" if row["p_holm"] < _SURE else "no effect shown"
    return f"{about}{predicted}; corrected {signed(row['effect'])} ({ends}; {chance(row['p'], row['p_holm'], tests)}): {shown}"
