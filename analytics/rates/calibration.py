"""Can the probabilities of `analytics.rates.calibrated_answers` be believed, and which questions' answers carry information at all?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from analytics.rates.calibrated_answers import QuestionData, cross_fitted, questions
from analytics.statistics.cluster_intervals import cluster_sums, ratio_interval
from analytics.statistics.shifts import holm
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["SUMMARY", "calibration_report"]

SUMMARY: Final = (
    "rubric",
    "question",
    "reference",
    "raters",
    "units",
    "games",
    "share_yes",
    "brier",
    "brier_base",
    "skill",
    "low",
    "high",
    "informative",
)
"""The columns that fit a terminal, beside the advice."""

_BINS = 5
_CHANCE = 0.025
"""Chance, over all questions of the report together, that one without information is called informative."""


def calibration_report(store: Store) -> pl.DataFrame:
    """One row for every question with two answers that labels give to five units at least, which a judge or the engine was asked about.

    A logistic regression (scikit-learn, L2 penalty 1) turns what all raters said, the shares of the answers among a rater's repeats and
    whether it answered at all, into the probability of each answer. It is cross-fitted: no game is predicted by a fit that has seen it.
    Where answers have numbers, the answers are yes and no; else they are the categories with labels enough.

    Columns, in order:

    - rubric, question. reference: `people`, or `planted truth` where nobody labelled; units on which labels have no majority are left out,
      so are N/A and, beside numbers, answers without one. raters: whose answers are combined, comma-separated. answers: whose probability
      is foretold. units, games: labelled.
    - share_yes: 0 to 1; null where answers are categories.
    - brier: mean squared difference of probability and truth (Brier 1950), 0 is best; of more than two answers the sum over all, up to 2.
      brier_low, brier_high. brier_raw: of the raters' mean share of each answer taken as a probability, equal shares where none answered.
      brier_base: of the shares in the other games' labels, which needs no judge.
    - skill: 1 - brier / brier_base, up to 1; 0 and less: the answers tell nothing that the share does not. low, high. All intervals are
      95 %, over games (`analytics.statistics.cluster_intervals.ratio_interval`), and take the fits as given.
    - p_value: of skill being 0, one-sided; p_corrected: by Holm's method over all questions of the report. informative: it is at most
      0.025, so the chance that any question of the report is called informative without being so is at most 2.5 %.
    - reliability: JSON list of {mean, share, units}: in up to five groups of rising probability its mean and how often it came true, which
      are equal where the probabilities can be believed; of yes, of categories over all of them.
    - advice: what to make of it, in words.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    for rubric, question, asked in questions(store):
        rows.append({"rubric": rubric, "question": question, **_row(asked.labelled())})
    for row, corrected in zip(rows, holm([row["p_value"] for row in rows]), strict=True):
        row["p_corrected"] = corrected
        row["informative"] = corrected is not None and corrected <= _CHANCE
        row["advice"] = f"{row['question']} by {row['raters']}: {_advice(row)}"
    texts = dict.fromkeys(("rubric", "question", "reference", "raters", "answers"), pl.String())
    scores = ("share_yes", "brier", "brier_low", "brier_high", "brier_raw", "brier_base", "skill", "low", "high", "p_value", "p_corrected")
    numbers = dict.fromkeys(scores, pl.Float64())
    counts = dict.fromkeys(("units", "games"), pl.Int64())
    last = {"informative": pl.Boolean(), "reliability": pl.String(), "advice": pl.String()}
    return pl.DataFrame(rows, schema={**texts, **counts, **numbers, **last}, orient="row")


def _row(labelled: QuestionData) -> dict[str, Any]:
    import numpy as np

    found = cross_fitted(labelled)
    truth = np.eye(len(labelled.answers))[labelled.truth]
    answered = ~np.isnan(labelled.said)
    equal = 1 / len(labelled.answers)
    raw = np.where(answered.any(axis=1), np.nansum(labelled.said, axis=1) / np.maximum(answered.sum(axis=1), 1), equal)
    sides = 2 if len(labelled.answers) == 2 else 1  # noqa: PLR2004 - what misses one of two answers is added to the other
    errors = np.column_stack([((guess - truth) ** 2).sum(axis=1) / sides for guess in (found.fitted, found.base, raw)])
    _, games = np.unique(labelled.games, return_inverse=True)
    by_game = cluster_sums(np.column_stack([errors, np.ones(len(truth))]), games)
    score, ratio = ratio_interval(by_game[:, 0], by_game[:, 3]), ratio_interval(by_game[:, 0], by_game[:, 1])
    assert score is not None  # a question has labels of two games
    assert ratio is not None
    shown = slice(1, None) if labelled.answers == ("no", "yes") else slice(None)
    return {
        "reference": labelled.reference,
        "raters": ", ".join(labelled.raters),
        "answers": ", ".join(labelled.answers),
        "units": len(truth),
        "games": len(by_game),
        "share_yes": float(truth[:, 1].mean()) if labelled.answers == ("no", "yes") else None,
        "brier": score.value,
        "brier_low": score.low,
        "brier_high": score.high,
        "brier_raw": float(errors[:, 2].mean()),
        "brier_base": float(errors[:, 1].mean()),
        "skill": 1 - ratio.value,
        "low": 1 - ratio.high,
        "high": 1 - ratio.low,
        "p_value": ratio.p_below_one,
        "reliability": orjson.dumps(_reliability(found.fitted[:, shown].ravel(), truth[:, shown].ravel())).decode(),
    }


def _reliability(fitted: Floats, truth: Floats) -> list[dict[str, float]]:
    import numpy as np

    edges = np.unique(np.quantile(fitted, np.linspace(0, 1, _BINS + 1)[1:-1]))
    groups = np.searchsorted(edges, fitted)
    found = [(fitted[groups == number], truth[groups == number]) for number in np.unique(groups)]
    return [{"mean": float(p.mean()), "share": float(t.mean()), "units": len(t)} for p, t in found]


def _advice(row: dict[str, Any]) -> str:
    told = f"{row['skill']:.0%} of the uncertainty ({row['low']:.0%} to {row['high']:.0%})"
    if row["informative"]:
        return f"its answers take away {told}: they carry information"
    if row["low"] > 0:
        return f"its answers take away {told}, but among so many questions chance alone could give that: label more"
    return "its answers tell no more than the labels' shares alone, as far as these labels show: do not use the question, or label more"
