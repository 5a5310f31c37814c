"""From the answers of a panel and the engine to the probability of yes, and whether a question's answers carry information at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from analytics.agreement_answers import answers
from analytics.cluster_intervals import cluster_sums, ratio_interval
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

_FOLDS = 5
_FEWEST_OF_A_KIND = 5
"""Labelled units with yes, and with no, that a fit needs."""
_BINS = 5
_CHANCE = 0.025
"""Chance, over all questions of the report together, that one without information is called informative."""


def calibration_report(store: Store) -> pl.DataFrame:
    """One row for every question with at least five units labelled yes and five labelled no that a judge or the engine was asked about.

    A logistic regression (scikit-learn, L2 penalty 1) turns the scores of all raters, the mean of a rater's repeats and whether it answered
    at all, into a probability of yes. It is cross-fitted: no game is predicted by a fit that has seen it.

    Columns, in order:

    - rubric, question. reference: `people`, or `planted truth` where nobody labelled; units on which labels average to the middle are left
      out, so are answers without a yes or no. raters: whose answers are combined, comma-separated. units, games: labelled.
    - share_yes: 0 to 1.
    - brier: mean squared difference of probability and truth (Brier 1950), 0 is best; brier_low, brier_high. brier_raw: of the raters' mean
      score taken as a probability, 0.5 where none answered. brier_base: of the share of yes in the other games, which needs no judge.
    - skill: 1 - brier / brier_base, up to 1; 0 and less: the answers tell nothing that the share does not. low, high. All intervals are
      95 %, over games (`analytics.cluster_intervals.ratio_interval`), and take the fits as given.
    - informative: whether skill is above 0, by Holm's test (1979, Scandinavian Journal of Statistics 6) over all questions of the report:
      the chance that any of them is called informative without being so is at most 2.5 %. p_value: of that question, one-sided, before it.
    - reliability: JSON list of {mean, share, units}: in up to five groups of rising probability its mean and the share of yes, which
      are equal where the probabilities can be believed.
    - advice: what to make of it, in words.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    for (rubric, question), given in answers(store).group_by(["rubric", "question"], maintain_order=True):
        labelled = _labelled(given)
        if labelled is not None:
            rows.append({"rubric": rubric, "question": question, **_row(labelled)})
    for row, informative in zip(rows, _holm([row["p_value"] for row in rows]), strict=True):
        row["informative"] = informative
        row["advice"] = f"{row['question']} by {row['raters']}: {_advice(row)}"
    texts = dict.fromkeys(("rubric", "question", "reference", "raters"), pl.String())
    scores = ("share_yes", "brier", "brier_low", "brier_high", "brier_raw", "brier_base", "skill", "low", "high", "p_value")
    numbers = dict.fromkeys(scores, pl.Float64())
    counts = dict.fromkeys(("units", "games"), pl.Int64())
    last = {"informative": pl.Boolean(), "reliability": pl.String(), "advice": pl.String()}
    return pl.DataFrame(rows, schema={**texts, **counts, **numbers, **last}, orient="row")


class _Labelled(NamedTuple):
    """The labelled units of one question."""

    reference: str
    raters: list[str]
    scores: Floats
    """Shape (units, raters), 0 to 1; nan where a rater gave no answer with a number."""
    truth: Floats
    """Shape (units,): 1 for yes, 0 for no."""
    games: NDArray[np.int64]
    """Shape (units,): numbers from 0 without gaps."""


def _labelled(given: pl.DataFrame) -> _Labelled | None:
    """None where there are too few labels for a fit."""
    import numpy as np
    import polars as pl

    mean = ((pl.col("score") * pl.col("n")).sum() / pl.col("n").filter(pl.col("score").is_not_null()).sum()).alias("score")
    roles = set(given.filter(pl.col("score").is_not_null())["role"])
    reference = "people" if "people" in roles else "truth"
    truth = given.filter((pl.col("role") == reference) & pl.col("score").is_not_null()).group_by("unit", "game").agg(mean)
    truth = truth.filter(pl.col("score") != 0.5).sort("unit")  # noqa: PLR2004 - neither yes nor no
    said = given.filter(pl.col("role").is_in(["judge", "engine"])).group_by("unit", "rater").agg(mean)
    truth = truth.join(said.select("unit").unique(), on="unit", how="semi", maintain_order="left")
    yes = (truth["score"] > 0.5).to_numpy().astype(float)  # noqa: PLR2004 - as above
    if min(yes.sum(), len(yes) - yes.sum()) < _FEWEST_OF_A_KIND or truth["game"].n_unique() < 2:  # noqa: PLR2004 - nothing to cross-fit
        return None
    raters = sorted(said["rater"].unique())
    columns = [
        truth.join(said.filter(pl.col("rater") == name), on="unit", how="left", maintain_order="left")["score_right"] for name in raters
    ]
    scores = np.column_stack([column.cast(pl.Float64).fill_null(float("nan")).to_numpy() for column in columns])
    _, games = np.unique(truth["game"].to_numpy(), return_inverse=True)
    return _Labelled("people" if reference == "people" else "planted truth", raters, scores, yes, games)


def _row(labelled: _Labelled) -> dict[str, Any]:
    import numpy as np

    truth, scores = labelled.truth, labelled.scores
    fitted, base = _cross_fitted(labelled)
    answered = ~np.isnan(scores)
    raw = np.where(answered.any(axis=1), np.nansum(scores, axis=1) / np.maximum(answered.sum(axis=1), 1), 0.5)
    errors = np.column_stack([(fitted - truth) ** 2, (base - truth) ** 2])
    by_game = cluster_sums(np.column_stack([errors, np.ones(len(truth))]), labelled.games)
    score, ratio = ratio_interval(by_game[:, 0], by_game[:, 2]), ratio_interval(by_game[:, 0], by_game[:, 1])
    assert score is not None  # a question has labels of two games
    assert ratio is not None
    return {
        "reference": labelled.reference,
        "raters": ", ".join(labelled.raters),
        "units": len(truth),
        "games": int(labelled.games.max()) + 1,
        "share_yes": float(truth.mean()),
        "brier": score.value,
        "brier_low": score.low,
        "brier_high": score.high,
        "brier_raw": float(((raw - truth) ** 2).mean()),
        "brier_base": float(errors[:, 1].mean()),
        "skill": 1 - ratio.value,
        "low": 1 - ratio.high,
        "high": 1 - ratio.low,
        "p_value": ratio.p_below_one,
        "reliability": orjson.dumps(_reliability(fitted, truth)).decode(),
    }


def _holm(p_values: list[float]) -> list[bool]:
    """Which hypotheses of no information fall: from the smallest p-value up, each against its share of the chance, until one stands."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    falls = [False] * len(p_values)
    for rank, place in enumerate(order):
        if p_values[place] > _CHANCE / (len(p_values) - rank):
            break
        falls[place] = True
    return falls


def _cross_fitted(labelled: _Labelled) -> tuple[Floats, Floats]:
    """Probability of yes for every unit, by a fit on other games: from the raters, and from the share of yes alone."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    missing = np.isnan(labelled.scores)
    features = np.column_stack([np.where(missing, 0.0, labelled.scores - 0.5), missing.astype(float)])
    fitted, base = np.empty(len(features)), np.empty(len(features))
    folds = GroupKFold(min(_FOLDS, int(labelled.games.max()) + 1))
    for seen, unseen in folds.split(features, labelled.truth, labelled.games):
        known = labelled.truth[seen]
        base[unseen] = (known.sum() + 0.5) / (len(known) + 1)
        if 0 < known.sum() < len(known):
            fitted[unseen] = LogisticRegression().fit(features[seen], known).predict_proba(features[unseen])[:, 1]
        else:
            fitted[unseen] = base[unseen]
    return fitted, base


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
    return "its answers tell no more than the share of yes alone, as far as these labels show: do not use the question, or label more"
