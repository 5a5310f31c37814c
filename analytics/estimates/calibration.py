"""The reports `calibration` and `calibrated-answers`: can a judge's probabilities be believed, and which questions carry information?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson
import polars as pl
from numpy.typing import NDArray

from analytics.agreement.answers import answers
from analytics.statistics.intervals import Floats, cluster_sums, ratio_interval
from analytics.statistics.shifts import holm
from schemas.store.store import Store

if TYPE_CHECKING:
    Codes = NDArray[np.int64]

_FOLDS = 5
_FEWEST_OF_A_KIND = 5
"""Labelled units with an answer that a fit needs to learn it."""
_UNLABELLED = -1
_YES_NO = ("no", "yes")


class QuestionData(NamedTuple):
    """One question: the answers of raters about each unit, and the labels of some."""

    reference: str
    raters: list[str]
    answers: tuple[str, ...]
    """Whose probability is wanted: no and yes, or the categories with labels enough."""
    units: list[str]
    games: list[str]
    given: Floats
    """Shape (units, raters, answers): share of each answer among a rater's repeats; nan where it gave none of them."""
    truth: Codes
    """Shape (units,): place of the label in `answers`, or -1."""

    def labelled(self) -> QuestionData:
        """Only the labelled units."""
        places = np.flatnonzero(self.truth != _UNLABELLED)
        units, games = ([names[place] for place in places] for names in (self.units, self.games))
        return self._replace(units=units, games=games, given=self.given[places], truth=self.truth[places])


class Predicted(NamedTuple):
    """Probabilities of the answers for each unit, shape (units, answers), by a fit on other games."""

    fitted: Floats
    """From the answers of the raters."""
    base: Floats
    """From how often each answer is right, alone."""


def calibrated_answers(store: Store) -> pl.DataFrame:
    """One row for every answer to a question about a unit that a judge or the engine was asked about: how probable it is.

    Columns: rubric, question, unit, game; label: of the unit, null where no one labelled it; answer; probability, 0 to 1,
    adding up to 1 over the answers of a unit. Questions and fits as in `calibration_report`, which shows whether they
    can be believed. A labelled unit's probability comes from fits that have not seen its game, the others' from all labels.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = []
    for rubric, question, asked in questions(store):
        known = asked.truth != _UNLABELLED
        found = np.empty((len(asked.units), len(asked.answers)))
        found[known] = cross_fitted(asked.labelled()).fitted
        if not known.all():
            features = _features(asked)
            found[~known] = _fit(features[known], asked.truth[known], features[~known], len(asked.answers))
        for place, unit in enumerate(asked.units):
            label = asked.answers[asked.truth[place]] if known[place] else None
            shown = zip(asked.answers, found[place].tolist(), strict=True)
            rows += [(rubric, question, unit, asked.games[place], label, answer, probability) for answer, probability in shown]
    names = ("rubric", "question", "unit", "game", "label", "answer")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String()) | {"probability": pl.Float64()}, orient="row")


def questions(store: Store) -> Iterator[tuple[str, str, QuestionData]]:
    """Rubric, question and answers, of each question with labels enough for a fit."""
    for (rubric, question), given in answers(store).group_by(["rubric", "question"], maintain_order=True):
        asked = _asked(given)
        if asked is not None:
            yield str(rubric), str(question), asked


def cross_fitted(labelled: QuestionData) -> Predicted:
    """Logistic regression (scikit-learn, L2 penalty 1) on labelled units; no game is predicted by a fit that has seen it."""
    from sklearn.model_selection import GroupKFold

    size = len(labelled.answers)
    features = _features(labelled)
    fitted, base = np.empty((len(features), size)), np.empty((len(features), size))
    folds = GroupKFold(min(_FOLDS, len(set(labelled.games))))
    for seen, unseen in folds.split(features, labelled.truth, labelled.games):
        known = labelled.truth[seen]
        base[unseen] = (np.bincount(known, minlength=size) + 1 / size) / (len(known) + 1)
        fitted[unseen] = _fit(features[seen], known, features[unseen], size)
    return Predicted(fitted, base)


def _fit(features: Floats, truth: Codes, wanted: Floats, size: int) -> Floats:
    """Probabilities for the wanted units; where the labels know one answer only, its share with one label shared out among all."""
    from sklearn.linear_model import LogisticRegression

    counts = np.bincount(truth, minlength=size)
    if (counts > 0).sum() < 2:  # noqa: PLR2004 - nothing to tell apart
        return np.tile((counts + 1 / size) / (len(truth) + 1), (len(wanted), 1))
    model = LogisticRegression().fit(features, truth)
    found = np.zeros((len(wanted), size))
    found[:, model.classes_] = model.predict_proba(wanted)
    return found


def _features(asked: QuestionData) -> Floats:
    """Shape (units, features): of each rater its share of each answer but the first, about the middle, and whether it gave none."""
    missing = np.isnan(asked.given[:, :, 0])
    shares = np.where(missing[:, :, None], 0.0, asked.given[:, :, 1:] - 1 / len(asked.answers))
    return np.column_stack([shares.reshape(len(missing), -1), missing.astype(float)])


def _asked(given: pl.DataFrame) -> QuestionData | None:
    """None where there are too few labels for a fit."""
    of_judges = given.filter(pl.col("role").is_in(["judge", "engine"]))
    asked = of_judges.select("unit", "game").unique().sort("unit")
    shares = _shares(given)
    labels = shares.filter(pl.col("role").is_in(["people", "truth"]))
    reference = "people" if (labels["role"] == "people").any() else "truth"
    labels = labels.filter(pl.col("role") == reference).join(asked, on="unit", how="semi")
    leading = labels.filter(pl.col("share") == pl.col("share").max().over("unit")).filter(pl.len().over("unit") == 1)
    names = tuple(leading.group_by("answer").len().filter(pl.col("len") >= _FEWEST_OF_A_KIND)["answer"].sort())
    truth = asked.join(leading.filter(pl.col("answer").is_in(names)), on="unit", how="left", maintain_order="left")["answer"]
    if len(names) < 2 or asked.filter(truth.is_not_null())["game"].n_unique() < 2:  # noqa: PLR2004 - nothing to tell apart, or to leave out
        return None
    raters = sorted(of_judges["rater"].unique())
    table = np.zeros((len(asked), len(raters), len(names)))
    places = {unit: place for place, unit in enumerate(asked["unit"])}
    by_rater = shares.filter(pl.col("role").is_in(["judge", "engine"]) & pl.col("answer").is_in(names))
    for rater, unit, answer, share in by_rater.select("rater", "unit", "answer", "share").iter_rows():
        table[places[unit], raters.index(rater), names.index(answer)] = share
    total = table.sum(axis=2, keepdims=True)
    codes = [_UNLABELLED if answer is None else names.index(answer) for answer in truth]
    return QuestionData(
        "people" if reference == "people" else "planted truth",
        raters,
        names,
        list(asked["unit"]),
        list(asked["game"]),
        np.divide(table, total, out=np.full(table.shape, np.nan), where=total > 0),
        np.array(codes),
    )


def _shares(given: pl.DataFrame) -> pl.DataFrame:
    """One row is (role, rater, unit, answer) with its share of the rater's answers about the unit.

    Where answers have numbers, their mean is the share of yes; answers without one, such as N/A, are left out. Where none has, answers are
    categories, and N/A is left out.
    """
    scored = given.drop_nulls("score")
    of = ("role", "rater", "unit")
    if scored.is_empty():
        named = given.drop_nulls("answer").filter(pl.col("answer") != "na")
        counted = named.group_by(*of, "answer").agg(pl.col("n").sum())
        return counted.with_columns(share=pl.col("n") / pl.col("n").sum().over(of))
    mean = scored.group_by(*of).agg(yes=(pl.col("score") * pl.col("n")).sum() / pl.col("n").sum())
    both = [
        mean.with_columns(answer=pl.lit(name), share=share) for name, share in zip(_YES_NO, (1 - pl.col("yes"), pl.col("yes")), strict=True)
    ]
    return pl.concat(both)


_BINS = 5
_CHANCE = 0.025
"""Chance, over all questions of the report together, that one without information is called informative."""


def calibration_report(store: Store) -> pl.DataFrame:
    """One row for every question with two answers that labels give to five units at least, which a judge or the engine was asked about.

    A logistic regression (scikit-learn, L2 penalty 1) turns all answers, the shares of the answers among a rater's repeats and
    whether it answered at all, into the probability of each answer. It is cross-fitted: no game is predicted by a fit that has seen it.
    Where answers have numbers, the answers are yes and no; else they are the categories with labels enough.

    Columns, in order:

    - rubric, question. reference: `people`, or `planted truth` where no one labelled; units on which labels have no majority are left out,
      so are N/A and, next to numbers, answers without one. raters: whose answers are combined, comma-separated. answers: whose probability
      is foretold. units, games: labelled.
    - share_yes: 0 to 1; null where answers are categories.
    - brier: mean squared difference of probability and truth (Brier 1950), 0 is best; of more than two answers the sum over all, up to 2.
      brier_low, brier_high. brier_raw: of the raters' mean share of each answer taken as a probability, equal shares where none answered.
      brier_base: of the shares in the other games' labels, which needs no judge.
    - skill: 1 - brier / brier_base, up to 1; 0 and less: the answers tell nothing that the share does not. low, high. All intervals are
      95 %, over games (`analytics.statistics.intervals.ratio_interval`), and take the fits as given.
    - p_value: of skill being 0, one-sided; p_corrected: by Holm's method over all questions of the report. informative: it is at most
      0.025, so the chance that any question of the report is called informative without being so is at most 2.5 %.
    - reliability: JSON list of {mean, share, units}: in up to five groups of rising probability its mean and how often it came true, which
      are equal where the probabilities can be believed; of yes, of categories over all of them.
    - advice: what to make of it, in words.

    Raises:
        StoreError: the store cannot be read.
    """
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
    found = cross_fitted(labelled)
    truth = np.eye(len(labelled.answers))[labelled.truth]
    answered = ~np.isnan(labelled.given)
    equal = 1 / len(labelled.answers)
    raw = np.where(answered.any(axis=1), np.nansum(labelled.given, axis=1) / np.maximum(answered.sum(axis=1), 1), equal)
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
    edges = np.unique(np.quantile(fitted, np.linspace(0, 1, _BINS + 1)[1:-1]))
    groups = np.searchsorted(edges, fitted)
    found = [(fitted[groups == number], truth[groups == number]) for number in np.unique(groups)]
    return [{"mean": float(p.mean()), "share": float(t.mean()), "units": len(t)} for p, t in found]


def _advice(row: dict[str, Any]) -> str:
    text = f"{row['skill']:.0%} of the uncertainty ({row['low']:.0%} to {row['high']:.0%})"
    if row["informative"]:
        return f"its answers take away {text}: they carry information"
    if row["low"] > 0:
        return f"its answers take away {text}, but among so many questions chance alone could give that: label more"
    return "these labels do not show that its answers tell more than the base rate: do not use the question, or label more"
