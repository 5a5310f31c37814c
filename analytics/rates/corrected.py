"""The reports `corrected-rates` and `labels-needed`: a judge's rates corrected by labels, by model and question."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.agreement.answers import Answered, Matched, Rater, Role
from analytics.agreement.units import answered, asked_units
from analytics.query import query
from analytics.rates.correction import (
    Balance,
    Corrected,
    ErrorCounts,
    Labelled,
    Spread,
    Units,
    balance_of,
    judge_weight,
    labels_needed,
    prediction_powered,
    rogan_gladen,
    tails,
    variance_parts,
)
from analytics.statistics.intervals import LEVEL, Floats, believed, mean_interval
from schemas.common.wording import counted, p_is
from schemas.store.store import Store

CORRECTED_RATES_SUMMARY: Final = (
    "rubric, question, judge, model, units, labels, judge_rate, rate, rate_low, rate_high, rogan_gladen, rogan_gladen_low, "
    "rogan_gladen_high, least_possible, most_possible"
)

LABELS_NEEDED_REPORT_SUMMARY: Final = (
    "rubric, question, judge, model, units, labels, half_width, labels_for_0_10, labels_for_0_05, labels_for_0_02"
)

_HALF_WIDTHS: Final = {"labels_for_0_10": 0.10, "labels_for_0_05": 0.05, "labels_for_0_02": 0.02}
_REFERENCES: Final[tuple[Rater, ...]] = (("people", "people"), ("truth", "planted truth"))
"""Who corrects a judge: the first that there is."""
_COUNTED: Final = ("units", "labels", "yes", "no")
_SUMS: Final = ("judged", "label_sum", "labelled_score", "label_squares", "score_squares", "products")
_FEWEST_TAILS: Final = 5
"""Labelled games below which nothing is seen of the tails of their influences."""
_ASSUMED_ERRORS: Final = 0.2
_MIDDLE: Final = 0.5
_FEW_ERROR_GAMES: Final = 10
"""Games with labels below which `rogan_gladen` fell to 0.76 in simulation where the judge's errors cluster."""
_FEW_GAMES: Final = 5
"""Labelled games with the rarer answer below which its clustering cannot be seen."""
_USELESS: Final = 0.15
"""Half-width above which an interval is of little use."""
_MODELS: Final = "SELECT hash(episode_id) AS game, model FROM episodes"
_NOT_CORRECTED: Final = dict.fromkeys(("rate", "rate_low", "rate_high"))


@dataclass(frozen=True)
class Asked:
    """All units that one judge was asked one question about, and whether labels can be a random sample of them."""

    rows: pl.DataFrame
    """Of `asked_units`, with a column model."""
    is_labelled: str
    """The column of the rows that marks whether a unit has a label that corrects."""
    _found: dict[str | None, Balance] = field(default_factory=dict)

    def of_model(self, model: str | None) -> pl.DataFrame:
        """The rows about games of one model."""
        return self.rows.filter(self.rows["model"].eq_missing(model))

    def balance(self, model: str | None) -> Balance:
        """Of the units of one model."""
        if model not in self._found:
            self._found[model] = balance_of(self.of_model(model), self.is_labelled)
        return self._found[model]

    def is_doubtful(self) -> bool:
        """Whether the labels of some model are no random sample of its units, or those of all models together cannot be tested."""
        models = self.rows.filter(self.is_labelled)["model"].unique()
        return any(self.balance(model).is_unbalanced for model in models) or balance_of(self.rows, self.is_labelled).is_untested


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One judge's units of one question and one model."""

    rubric: str
    question: str
    judge: str
    model: str | None
    reference: str
    own: pl.DataFrame
    """One row a game of this model: judged, units; labels and, over labelled units, sums: label_sum, labelled_score, label_squares,
    score_squares, products; whether a label is yes, no."""
    errors: pl.DataFrame
    """One row a game of any model with labels: game, yes, yes_found, no, no_found."""

    asked: Asked

    def units(self) -> Units:
        """Judge's scores by game."""
        return _units(self.own)

    def labelled(self) -> Labelled:
        """Differences by game."""
        return _labelled(self.own)


def corrected_rates(store: Store, *, rubric: str | None = None) -> pl.DataFrame:
    """One row for every question, judge and model (null: games outside the store): the judge's own rate and the corrected ones.

    Columns: rubric, question, judge, model; reference: whose labels correct (people, where there are any, else planted truth); units that
    the judge scored, games; labels among these units, labelled_games; judge_rate, label_rate: plain means, 0 to 1; rate, rate_low,
    rate_high: prediction-powered estimate and 95 % interval from this model's labels; judge_weight: how much the judge counts in it, from 0
    (it adds nothing to the labels) to 1; sensitivity, specificity of the judge over the labels
    of all models (error_labels of them), rogan_gladen, rogan_gladen_low, rogan_gladen_high: the correction with these; abstained: further
    units that it was asked about and did not answer; unbalanced: in what labelled units differ from the others, null where no difference is
    shown, and unbalanced_p: the smallest p of the traits that were tested, by Holm's method (`analytics.rates.correction`); least_possible,
    most_possible: where the rate of all units that were asked about can lie, instead of a corrected rate; advice. Null where there is too
    little.

    Rates are means of the answers' numbers (yes 1, unclear 0.5, no 0), N/A left out. Labels are taken as right, and must be a random
    sample of the judged units; those that the labelling page drew by disagreement (source `dashboard:disagreements`) are left out. Where
    labelled and other units differ, where fewer than four games leave that untested, or the judge left more than 2 % of the units
    unanswered, nothing is corrected: rate and rogan_gladen are null, and the bounds count what is unknown once as no and once as yes,
    with the 95 % interval of either over games. Unknown is each unit without a label, and where labels can be a random sample of what was
    answered, each unit without an answer.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = [rate_row(judged) for judged in _all_judged(store, rubric, query(store, _MODELS))]
    texts = ("rubric", "question", "judge", "model", "reference")
    counts = ("units", "games", "labels", "labelled_games")
    before = ("judge_rate", "label_rate", "rate", "rate_low", "rate_high", "judge_weight", "sensitivity", "specificity")
    schema: dict[str, pl.DataType] = dict.fromkeys(texts, pl.String()) | dict.fromkeys(counts, pl.Int64())
    schema |= dict.fromkeys(before, pl.Float64()) | {"error_labels": pl.Int64()}
    schema |= dict.fromkeys(("rogan_gladen", "rogan_gladen_low", "rogan_gladen_high"), pl.Float64())
    schema |= {"abstained": pl.Int64(), "unbalanced": pl.String()}
    schema |= dict.fromkeys(("unbalanced_p", "least_possible", "most_possible"), pl.Float64()) | {"advice": pl.String()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def labels_needed_report(store: Store, *, rubric: str | None = None) -> pl.DataFrame:
    """One row for every question, judge and model: how many labels bring the 95 % interval of its rate down to a wished width.

    Columns: rubric, question, judge, model, units, games, labels (as in `corrected_rates`); half_width: of the interval today;
    error_variance: of label minus judge's score; design_effect: how much larger clusters make the variance of its mean;
    labels_for_0_10, labels_for_0_05, labels_for_0_02: for plus or minus that, null where the judged units alone leave more, so that more
    games must be judged first; each with _low and _high, the numbers at the ends of the variances' 95 % intervals (`needed_ends`), null
    also below two labelled games; advice. Without labels of at least two games a judge that errs in 20 % is assumed.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = [_needed_row(judged) for judged in _all_judged(store, rubric, query(store, _MODELS))]
    schema: dict[str, pl.DataType] = dict.fromkeys(("rubric", "question", "judge", "model"), pl.String())
    schema |= dict.fromkeys(("units", "games", "labels"), pl.Int64())
    schema |= dict.fromkeys(("half_width", "error_variance", "design_effect"), pl.Float64())
    ends = [f"{name}_{end}" for name in _HALF_WIDTHS for end in ("low", "high")]
    schema |= dict.fromkeys((*_HALF_WIDTHS, *ends), pl.Int64()) | {"advice": pl.String()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def rates_of(store: Store, rubric: str, question: str, judge: str, groups: pl.DataFrame) -> dict[str | None, dict[str, object]]:
    """Group of games -> its row of `corrected_rates`, with the group in the place of the model.

    Args:
        store: a store with the views.
        rubric: its name.
        question: of the rubric.
        judge: whose rates.
        groups: one row a game: game, `hash` of its name in DuckDB, and model, the group.

    Raises:
        StoreError: the store cannot be read.
    """
    asked = _all_judged(store, rubric, groups)
    return {judged.model: rate_row(judged) for judged in asked if (judged.question, judged.judge) == (question, judge)}


def _all_judged(store: Store, rubric: str | None, models: pl.DataFrame) -> Iterator[Judged]:
    for answered_about in answered(store, rubric, random_only=True, of="judges"):
        asked = asked_units(store, answered_about.rubric).join(models, on="game", how="left")
        for question in answered_about.questions:
            for judge, whose, games in _by_judge(answered_about, question):
                own = games.filter(pl.col("units") > 0).join(models, on="game", how="left").sort("model", "game", nulls_last=True)
                about = Asked(asked.filter(rater=judge, question=question), "by_people" if whose == "people" else "by_truth")
                errors = games.filter(pl.col("labels") > 0).select("game", "yes", "yes_found", "no", "no_found")
                own = own.with_columns(pl.col("yes", "no") > 0)
                for (model,), of_model in own.group_by("model", maintain_order=True):
                    yield Judged(
                        rubric=answered_about.rubric,
                        question=question,
                        judge=judge,
                        model=None if model is None else str(model),
                        reference="people" if whose == "people" else "planted truth",
                        own=of_model,
                        errors=errors,
                        asked=about,
                    )


def _by_judge(answers: Answered, question: str) -> Iterator[tuple[str, Role, pl.DataFrame]]:
    """Each judge, whose labels correct it, and its scores and theirs summed by game: the columns of `Judged.own` and `Judged.errors`."""
    raters = {rater for (asked, rater, _), score in answers.scores.items() if asked == question and score is not None}
    reference = next((rater for rater in _REFERENCES if rater in raters), None)
    nothing = np.zeros(len(answers.games))
    for judge in sorted(rater for rater in raters if rater[0] in {"engine", "judge"}):
        sums = dict.fromkeys((*_COUNTED, *_SUMS, "yes_found", "no_found"), nothing)
        judged = answers.matched(judge, judge, question)
        scores = _means(answers, judge, question, judged.counts_first)[judged.first]
        sums |= _sums(judged, ~np.isnan(scores), len(nothing), units=1.0, judged=scores)
        if reference is not None and (reference, judge) in answers.pairs:
            both = answers.matched(reference, judge, question)
            label = _means(answers, reference, question, both.counts_first)[both.first]
            score = _means(answers, judge, question, both.counts_second)[both.second]
            sums |= _sums(
                both,
                ~np.isnan(label) & ~np.isnan(score),
                len(nothing),
                labels=1.0,
                label_sum=label,
                labelled_score=score,
                label_squares=label**2,
                score_squares=score**2,
                products=label * score,
                yes=label > _MIDDLE,
                no=label < _MIDDLE,
                yes_found=np.where(label > _MIDDLE, score, 0),
                no_found=np.where(label < _MIDDLE, 1 - score, 0),
            )
        games = pl.DataFrame({"game": answers.games} | sums).with_columns(pl.col(_COUNTED).cast(pl.Int64))
        yield judge[1], reference[0] if reference else "truth", games


def _means(answers: Answered, rater: Rater, question: str, counts: Floats) -> Floats:
    """Mean number of the answers of each way that a unit was answered; NaN where none has one."""
    scores = [answers.scores.get((question, rater, answer)) for answer in answers.answers]
    used = [place for place, score in enumerate(scores) if score is not None]
    values, given = np.array([scores[place] for place in used], dtype=float), counts[:, used]
    n = given.sum(axis=1)
    means: Floats = np.divide(given @ values, n, out=np.full(len(n), np.nan), where=n > 0)
    return means


def _sums(matched: Matched, used: NDArray[np.bool_], games: int, **of_unit: Floats | NDArray[np.bool_] | float) -> dict[str, Floats]:
    """Sums by game of numbers that each row's units have, over the rows that are used."""
    places, units = matched.games[used], matched.units[used]
    values = {name: value if isinstance(value, float) else value[used] for name, value in of_unit.items()}
    return {name: np.bincount(places, weights=units * value, minlength=games).astype(float) for name, value in values.items()}


def rate_row(judged: Judged) -> dict[str, object]:
    """The row of `corrected_rates` about one judge, question and model."""
    own, errors = judged.own, judged.errors
    units, labels = int(own["units"].sum()), int(own["labels"].sum())
    powered = prediction_powered(judged.units(), judged.labelled())
    balance = judged.asked.balance(judged.model)
    is_untested = balance.is_untested and not math.isnan(float(powered.rate))
    is_refused = labels > 0 and (balance.is_unbalanced or is_untested or balance.abstains)
    yes, no = int(errors["yes"].sum()), int(errors["no"].sum())
    row: dict[str, object] = {
        "rubric": judged.rubric,
        "question": judged.question,
        "judge": judged.judge,
        "model": judged.model,
        "reference": judged.reference,
        "units": units,
        "games": len(own),
        "labels": labels,
        "labelled_games": int((own["labels"] > 0).sum()),
        "judge_rate": float(own["judged"].sum()) / units,
        "label_rate": float(own["label_sum"].sum()) / labels if labels else None,
        **(_NOT_CORRECTED if is_refused else _named("rate", powered)),
        "judge_weight": float(judge_weight(judged.units(), judged.labelled())) if labels and not is_refused else None,
        "sensitivity": float(errors["yes_found"].sum()) / yes if yes else None,
        "specificity": float(errors["no_found"].sum()) / no if no else None,
        "error_labels": yes + no,
        **_named("rogan_gladen", rogan_gladen(*_with_errors(own, errors))),
        "abstained": balance.abstained,
        "unbalanced": balance.trait,
        "unbalanced_p": balance.p,
        **dict(zip(("least_possible", "most_possible"), _bounds(judged, balance, powered) if is_refused else (None, None), strict=True)),
    }
    if is_refused or balance.abstains or judged.asked.is_doubtful():
        row |= dict.fromkeys(("rogan_gladen", "rogan_gladen_low", "rogan_gladen_high"))
    if is_refused:
        return row | {"advice": _refusal(row, balance)}
    return row | {"advice": _rate_advice(row) + _rare(row, own) + _few_games_with_errors(row, errors)}


def _bounds(judged: Judged, balance: Balance, powered: Corrected) -> tuple[float | None, float | None]:
    """Where the rate over all units that were asked about can lie."""
    decided = 1 - balance.abstained / balance.asked
    if not (balance.is_unbalanced or balance.is_untested) and not math.isnan(float(powered.rate)):
        return decided * float(powered.low), decided * float(powered.high) + 1 - decided
    asked = judged.asked.of_model(judged.model).group_by("game", maintain_order=True).agg(pl.col("units").sum().alias("asked"))
    by_game = asked.join(judged.own.select("game", "labels", "label_sum"), on="game", how="left").fill_null(0)
    sizes, labels, found = (_column(by_game, name) for name in ("asked", "labels", "label_sum"))
    least, most = mean_interval(found, sizes).low, mean_interval(found + sizes - labels, sizes).high
    low, high = found.sum() / sizes.sum(), (found + sizes - labels).sum() / sizes.sum()
    return float(low if np.isnan(least) else least), float(high if np.isnan(most) else most)


def _refusal(row: dict[str, Any], balance: Balance) -> str:
    """Why nothing is corrected, in one sentence, and what is known instead."""
    text = f"{_about(row)}: {row['judge']} reports {row['judge_rate']:.2f}; not corrected, because "
    why = []
    if balance.abstains:
        why.append(f"the judge left {balance.abstained} of {balance.asked} units without an answer, and these may be of one kind")
    if balance.is_unbalanced:
        differ = f"{balance.trait} is {balance.labelled:.2f} on them and {balance.others:.2f} on the other units"
        why.append(f"the labelled units are no random sample ({differ}, {p_is(balance.p or 0.0)})")
    if balance.is_untested:
        games = counted(row["labelled_games"], "labelled game")
        why.append(f"{games} cannot show whether the labelled units are a random sample")
    unknown, do = "without an answer", "let another judge, or people, answer these units"
    if balance.is_unbalanced or balance.is_untested:
        unknown, do = "without a label", f"label units {'of more games ' if balance.is_untested else ''}in random order"
    bounds = (
        f"if all units {unknown} were no or all were yes, the rate would be in {row['least_possible']:.2f} to {row['most_possible']:.2f}"
    )
    return f"{text}{', and '.join(why)}; {bounds}; {do}"


def _with_errors(own: pl.DataFrame, errors: pl.DataFrame) -> tuple[Units, ErrorCounts]:
    """Both by the same games: those of the model and those with labels."""
    joined = errors.join(own.select("game", "judged", "units"), on="game", how="full", coalesce=True).fill_null(0)
    used = joined.filter((joined["units"] > 0) | (joined["yes"] + joined["no"] > 0))
    return (
        Units(_column(used, "judged"), _column(used, "units")),
        ErrorCounts(*(_column(used, name) for name in ("yes", "yes_found", "no", "no_found"))),
    )


def _column(rows: pl.DataFrame, name: str) -> Any:
    return rows[name].to_numpy().astype(float)


def _named(name: str, found: Corrected) -> dict[str, float | None]:
    numbers = (None if math.isnan(float(value)) else float(value) for value in found)
    return dict(zip((name, f"{name}_low", f"{name}_high"), numbers, strict=True))


def _about(row: dict[str, Any]) -> str:
    return f"{row['question']}, {row['model'] or 'games outside the store'}"


def _rate_advice(row: dict[str, Any]) -> str:
    text = f"{_about(row)}: {row['judge']} reports {row['judge_rate']:.2f}"
    if row["rate"] is None:
        if row["rogan_gladen"] is None:
            return f"{text}; too few labels to correct it: cotrace report labels-needed"
        return f"{text}; corrected by what labels of other models show {_interval(row, 'rogan_gladen')}, if the judge errs alike here"
    half = (row["rate_high"] - row["rate_low"]) / 2
    text = f"{text}, corrected {_interval(row, 'rate')}"
    if half > _USELESS:
        more = "label more (cotrace report labels-needed)" if row["labels"] < row["units"] else "all is labelled: have more games judged"
        return f"{text}: too wide for a conclusion, {more}"
    if row["rogan_gladen"] is not None and (row["rogan_gladen_high"] < row["rate_low"] or row["rate_high"] < row["rogan_gladen_low"]):
        return (
            f"{text}; the correction by error rates contradicts it, {_interval(row, 'rogan_gladen')}: the judge errs differently in other "
            "models, or labels are no random sample; use neither before more units are labelled in random order"
        )
    if not row["rate_low"] <= row["judge_rate"] <= row["rate_high"]:
        return f"{text}: the judge's own rate is wrong, use the corrected one, if labels are right and were drawn in random order"
    return f"{text}: the judge's own rate agrees with it"


def _rare(row: dict[str, Any], own: pl.DataFrame) -> str:
    """A warning where few games show the rarer answer: if it clusters, that cannot be seen."""
    seen, answer = min((int(own[name].sum()), name) for name in ("yes", "no"))
    if row["rate"] is None or seen >= _FEW_GAMES:
        return ""
    shown = {0: "no labelled game shows", 1: "only 1 labelled game shows"}.get(seen, f"only {seen} labelled games show")
    return f"; {shown} a {answer}: if that clusters in games, the interval may still be too narrow"


def _few_games_with_errors(row: dict[str, Any], errors: pl.DataFrame) -> str:
    """A warning where `rogan_gladen` rests on few games: if the judge's errors cluster, that cannot be seen (docs/dev/coverage.md)."""
    games = int(((errors["yes"] + errors["no"]) > 0).sum())
    if row["rogan_gladen"] is None or games >= _FEW_ERROR_GAMES:
        return ""
    return f"; its error rates come from {games} games: if it errs often in some games and hardly in others, rogan_gladen is too narrow"


def _interval(row: dict[str, Any], name: str) -> str:
    return f"{row[name]:.2f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"


def _units(own: pl.DataFrame) -> Units:
    return Units(_column(own, "judged"), _column(own, "units"))


def _labelled(own: pl.DataFrame) -> Labelled:
    return Labelled(_column(own, "label_sum"), _column(own, "labelled_score"), _column(own, "labels"))


def _needed_row(judged: Judged) -> dict[str, object]:
    own = judged.own
    units, labels = int(own["units"].sum()), int(own["labels"].sum())
    powered = prediction_powered(judged.units(), judged.labelled())
    spread = spread_of(own)
    known = {name: labels_needed(half, spread) if len(own) > 1 else None for name, half in _HALF_WIDTHS.items()}
    ends = {f"{name}_{end}": found for name, half in _HALF_WIDTHS.items() for end, found in needed_ends(own, spread, half).items()}
    about = f"{judged.question}, {judged.model or 'games outside the store'}"
    finest = next((name for name in reversed(known) if known[name] is not None), None)
    advice = (
        f"{about}: no number of labels among {units} units gives plus or minus 0.10; have more games judged"
        if finest is None
        else f"{about}: {known[finest]} labels in all (there are {labels}) give plus or minus {_HALF_WIDTHS[finest]:.2f}"
    )
    return {
        "rubric": judged.rubric,
        "question": judged.question,
        "judge": judged.judge,
        "model": judged.model,
        "units": units,
        "games": len(own),
        "labels": labels,
        "half_width": None if math.isnan(float(powered.rate)) else float(powered.high - powered.low) / 2,
        "error_variance": spread.errors,
        "design_effect": spread.design_effect,
        **known,
        **ends,
        "advice": advice + _sure(ends, finest),
    }


def needed_ends(own: pl.DataFrame, spread: Spread, half: float) -> dict[str, int | None]:
    """The number of labels, `low` and `high`, if variances are at the ends of their intervals; None where no number is enough.

    Bonett's interval of a variance (2006, Computational Statistics and Data Analysis 50) over labelled games, which asks how few of them
    make the variance (`tails`), with Student's t in the place of the normal quantile; below five, the chi-squared one. Where answers are
    rare and come in few games it still holds the truth too seldom (docs/dev/coverage.md, numbers of labels).

    Args:
        own: one row a game, as `spread_of` takes it.
        spread: what it gave.
        half: wished half-width, 0 to 1.
    """
    from scipy import stats

    games = int((own["labels"] > 0).sum())
    if games < 2:  # noqa: PLR2004 - a variance between games needs two
        return {"low": None, "high": None}
    if games < _FEWEST_TAILS:
        factors = {"low": (1 + LEVEL) / 2, "high": (1 - LEVEL) / 2}
        found = {end: (games - 1) / float(stats.chi2.ppf(quantile, games - 1)) for end, quantile in factors.items()}
    else:
        quantile = float(stats.t.ppf((1 + LEVEL) / 2, games - 1))
        widened = games / (games - quantile)
        error = widened * math.sqrt((float(tails(_units(own), _labelled(own))) - (games - 3) / games) / (games - 1))
        found = {end: widened * math.exp(side * quantile * error) for end, side in (("low", -1), ("high", 1))}
    return {
        end: labels_needed(half, spread._replace(errors=spread.errors * factor, truth=spread.truth * factor))
        for end, factor in found.items()
    }


def _sure(ends: dict[str, int | None], finest: str | None) -> str:
    if finest is None or ends[f"{finest}_low"] is None:
        return ""
    high = ends[f"{finest}_high"]
    most = "no number may be enough" if high is None else f"{high}"
    return f", as sure as labels of few games are: {ends[f'{finest}_low']} to {most}"


def spread_of(own: pl.DataFrame) -> Spread:
    """From the labels; where two games with two labels are not there, of a judge that errs in 20 %, and the truth as the judge sees it.

    Args:
        own: one row a game: judged, units; labels and, over labelled units, sums: label_sum, labelled_score, label_squares, score_squares,
            products.
    """
    units, games = int(own["units"].sum()), len(own)
    labelled = own.filter(own["labels"] > 0)
    n = int(labelled["labels"].sum())
    if len(labelled) < 2 or n <= len(labelled):  # noqa: PLR2004 - a variance between games needs two
        judged = float(own["judged"].sum()) / units
        return Spread(units, games, _ASSUMED_ERRORS * (1 - _ASSUMED_ERRORS), _believed(own, judged, _judged_variance(own)))
    parts = variance_parts(_units(own), _labelled(own))
    errors = max(_error_variance(labelled, float(judge_weight(_units(own), _labelled(own)))), 1 / n)
    clustered = float(parts.errors) / max(1 / n - 1 / units, 1e-12)
    truth = _believed(own, float(labelled["label_sum"].sum()) / n, float(parts.truth))
    return Spread(units, games, errors, truth, max(1.0, clustered / errors))


def _believed(own: pl.DataFrame, share: float, variance: float) -> float:
    """The truth's variance as the interval of the rate takes it: games that are all alike do not prove that others are."""
    sizes = _column(own, "units")
    units = float(sizes.sum())
    seen, assumed = believed(*np.array([share, variance, units, (sizes**2).sum() / units, len(own)]))
    return float(seen + assumed) * max(share * (1 - share), 1 / units)


def _error_variance(labelled: pl.DataFrame, weight: float) -> float:
    """Of label minus weighted score, over labelled units."""
    n, labels, scores, label_squares, score_squares, products = (
        float(labelled[name].sum()) for name in ("labels", "label_sum", "labelled_score", "label_squares", "score_squares", "products")
    )
    return (label_squares - 2 * weight * products + weight**2 * score_squares) / n - ((labels - weight * scores) / n) ** 2


def _judged_variance(own: pl.DataFrame) -> float:
    """Squared standard error of the judge's mean, by game; 0 from one game, where nothing is known of it."""
    units = float(own["units"].sum())
    if len(own) < 2:  # noqa: PLR2004
        return 0.0
    residuals = own["judged"] - float(own["judged"].sum()) / units * own["units"]
    return len(own) / (len(own) - 1) * float((residuals**2).sum()) / units**2
