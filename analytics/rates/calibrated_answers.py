"""From the answers of a panel and the engine to the probability of each answer, learnt from labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.agreement.answers import answers
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

__all__ = ["SUMMARY", "Predicted", "QuestionData", "calibrated_answers", "cross_fitted", "questions"]

SUMMARY: Final = ("rubric", "question", "unit", "label", "answer", "probability")
"""The columns that fit a terminal."""

_FOLDS = 5
_FEWEST_OF_A_KIND = 5
"""Labelled units with an answer that a fit needs to learn it."""
_UNLABELLED = -1
_YES_NO = ("no", "yes")


class QuestionData(NamedTuple):
    """One question: what raters said about each unit, and what labels say about some."""

    reference: str
    raters: list[str]
    answers: tuple[str, ...]
    """Whose probability is wanted: no and yes, or the categories with labels enough."""
    units: list[str]
    games: list[str]
    said: Floats
    """Shape (units, raters, answers): share of each answer among a rater's repeats; nan where it gave none of them."""
    truth: Codes
    """Shape (units,): place of the label in `answers`, or -1."""

    def labelled(self) -> QuestionData:
        """Only the labelled units."""
        import numpy as np

        places = np.flatnonzero(self.truth != _UNLABELLED)
        units, games = ([names[place] for place in places] for names in (self.units, self.games))
        return self._replace(units=units, games=games, said=self.said[places], truth=self.truth[places])


class Predicted(NamedTuple):
    """Probabilities of the answers for each unit, shape (units, answers), by a fit on other games."""

    fitted: Floats
    """From what the raters said."""
    base: Floats
    """From how often each answer is right, alone."""


def calibrated_answers(store: Store) -> pl.DataFrame:
    """One row for every answer to a question about a unit that a judge or the engine was asked about: how probable it is.

    Columns: rubric, question, unit, game; label: what labels say of the unit, null where nobody labelled it; answer; probability, 0 to 1,
    adding up to 1 over the answers of a unit. Questions and fits as in `analytics.rates.calibration.calibration_report`, which says
    whether they
    can be believed. A labelled unit's probability comes from fits that have not seen its game, the others' from all labels.

    Raises:
        StoreError: the store cannot be read.
    """
    import numpy as np
    import polars as pl

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
            told = zip(asked.answers, found[place].tolist(), strict=True)
            rows += [(rubric, question, unit, asked.games[place], label, answer, probability) for answer, probability in told]
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
    import numpy as np
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
    import numpy as np
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
    import numpy as np

    missing = np.isnan(asked.said[:, :, 0])
    shares = np.where(missing[:, :, None], 0.0, asked.said[:, :, 1:] - 1 / len(asked.answers))
    return np.column_stack([shares.reshape(len(missing), -1), missing.astype(float)])


def _asked(given: pl.DataFrame) -> QuestionData | None:
    """None where there are too few labels for a fit."""
    import numpy as np
    import polars as pl

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
    said = np.zeros((len(asked), len(raters), len(names)))
    places = {unit: place for place, unit in enumerate(asked["unit"])}
    by_rater = shares.filter(pl.col("role").is_in(["judge", "engine"]) & pl.col("answer").is_in(names))
    for rater, unit, answer, share in by_rater.select("rater", "unit", "answer", "share").iter_rows():
        said[places[unit], raters.index(rater), names.index(answer)] = share
    total = said.sum(axis=2, keepdims=True)
    codes = [_UNLABELLED if answer is None else names.index(answer) for answer in truth]
    return QuestionData(
        "people" if reference == "people" else "planted truth",
        raters,
        names,
        list(asked["unit"]),
        list(asked["game"]),
        np.divide(said, total, out=np.full(said.shape, np.nan), where=total > 0),
        np.array(codes),
    )


def _shares(given: pl.DataFrame) -> pl.DataFrame:
    """One row is (role, rater, unit, answer) with its share of the rater's answers about the unit.

    Where answers have numbers, their mean is the share of yes; answers without one, such as N/A, are left out. Where none has, answers are
    categories, and N/A is left out.
    """
    import polars as pl

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
