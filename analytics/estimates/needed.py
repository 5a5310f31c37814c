"""The report `labels-needed`: how many labels the rate of a judge's answers takes, and whether labelling may stop."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from analytics.estimates.corrected import Judged, judged_units, labelled_of, units_of
from analytics.estimates.rates import Spread, judge_weight, labels_needed, prediction_powered, tails, variance_parts
from analytics.estimates.units import asked_units, size_of
from analytics.report_columns import framed
from analytics.statistics.intervals import LEVEL, Floats, believed
from schemas.store.store import Store

_HALF_WIDTHS: Final = {"labels_for_0_10": 0.10, "labels_for_0_05": 0.05, "labels_for_0_02": 0.02}
_FEWEST_TAILS: Final = 5
"""Labelled games below which nothing is seen of the tails of their influences."""
_ASSUMED_ERRORS: Final = 0.2
_WISHED: Final = 0.10
_LOOK_LABELS, _LOOK_GAMES = 60, 10
"""Labels, and their games, from which on labelling may stop where the interval is as narrow as wished (`python -m research label_stop`)."""


def labels_needed_report(store: Store, *, rubric: str | None = None, families: str | None = None) -> pl.DataFrame:
    """One row for every question, judge and model: how many labels bring the 95 % interval of its rate down to a wished width.

    Columns: `report_columns.csv`. Without labels of at least two games a judge that errs in 20 % is assumed.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        families: as in `corrected_rates`.

    Raises:
        StoreError: the store cannot be read.
    """
    return framed(
        "labels-needed", (_needed_row(judged) for asked in asked_units(store, rubric, families) for judged in judged_units(asked))
    )


def _needed_row(judged: Judged) -> dict[str, object]:
    own, asked = judged.own, judged.asked
    units, labels = int(own["units"].sum()), size_of(judged.population.ways.filter(pl.col("weight") > 0))
    half_width = half_width_of(judged)
    spread = spread_of(own)
    known = {name: labels_needed(half, spread) if spread.games > 1 else None for name, half in _HALF_WIDTHS.items()}
    ends = {f"{name}_{end}": found for name, half in _HALF_WIDTHS.items() for end, found in needed_ends(own, spread, half).items()}
    about = f"{asked.question}, {judged.model or 'games outside the store'}"
    finest = next((name for name in reversed(known) if known[name] is not None), None)
    advice = (
        f"{about}: no number of labels among {units} units gives plus or minus 0.10; have more games judged"
        if finest is None
        else f"{about}: {known[finest]} labels in all (there are {labels}) give plus or minus {_HALF_WIDTHS[finest]:.2f}"
    )
    return {
        "rubric": asked.rubric,
        "question": asked.question,
        "judge": asked.judge,
        "model": judged.model,
        "units": units,
        "games": int((own["units"] > 0).sum()),
        "labels": labels,
        "half_width": half_width,
        "may_stop": half_width is not None and half_width <= _WISHED and may_look(judged) and not judged.doubt.drawing,
        "error_variance": spread.errors,
        "design_effect": spread.design_effect,
        **known,
        **ends,
        "advice": advice + _sure(ends, finest) + judged.doubt.drawing,
    }


def half_width_of(judged: Judged) -> float | None:
    """Of the 95 % interval of the corrected rate; None where there is none."""
    powered = prediction_powered(units_of(judged.own), labelled_of(judged.own))
    return None if math.isnan(float(powered.rate)) else float(powered.high - powered.low) / 2


def may_look(judged: Judged) -> bool:
    """Whether labels are enough for the width to decide when to stop: before, the widths that happen to be small are too small."""
    return (
        size_of(judged.population.ways.filter(pl.col("weight") > 0)) >= _LOOK_LABELS
        and int((judged.own["labels"] > 0).sum()) >= _LOOK_GAMES
    )


def needed_ends(own: Mapping[str, Floats], spread: Spread, half: float) -> dict[str, int | None]:
    """The number of labels, `low` and `high`, if variances are at the ends of their intervals; None where no number is enough.

    Bonett's interval of a variance (2006, Computational Statistics and Data Analysis 50) over labelled games, which asks how few of them
    make the variance (`tails`), with Student's t in the place of the normal quantile; below five, the chi-squared one. Where answers are
    rare and come in few games it still holds the truth too seldom (docs/dev/coverage.md, numbers of labels).

    Args:
        own: as `spread_of` takes it.
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
        error = widened * math.sqrt((float(tails(units_of(own), labelled_of(own))) - (games - 3) / games) / (games - 1))
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


def spread_of(own: Mapping[str, Floats]) -> Spread:
    """From the labels; where two games with two labels are not there, of a judge that errs in 20 %, and the truth as the judge sees it.

    Args:
        own: sums by game, shape (games,): judged, units; labels and, over labelled units, label_sum, labelled_score, label_squares,
            score_squares, products.
    """
    units, games, labelled = int(own["units"].sum()), int((own["units"] > 0).sum()), int((own["labels"] > 0).sum())
    n = float(own["labels"].sum())
    if labelled < 2 or n <= labelled:  # noqa: PLR2004 - a variance between games needs two
        judged = float(own["judged"].sum()) / units
        return Spread(units, games, _ASSUMED_ERRORS * (1 - _ASSUMED_ERRORS), _believed(own, judged, _judged_variance(own)))
    parts = variance_parts(units_of(own), labelled_of(own))
    errors = max(_error_variance(own, float(judge_weight(units_of(own), labelled_of(own)))), 1 / n)
    clustered = float(parts.errors) / max(1 / n - 1 / units, 1e-12)
    truth = _believed(own, float(own["label_sum"].sum()) / n, float(parts.truth))
    return Spread(units, games, errors, truth, max(1.0, clustered / errors))


def _believed(own: Mapping[str, Floats], share: float, variance: float) -> float:
    """The truth's variance as the interval of the rate takes it: games that are all alike do not prove that others are."""
    sizes = own["units"]
    units = float(sizes.sum())
    seen, assumed = believed(*np.array([share, variance, units, (sizes**2).sum() / units, (sizes > 0).sum()]))
    return float(seen + assumed) * max(share * (1 - share), 1 / units)


def _error_variance(own: Mapping[str, Floats], weight: float) -> float:
    """Of label minus weighted score, over labelled units."""
    n, labels, scores, label_squares, score_squares, products = (
        float(own[name].sum()) for name in ("labels", "label_sum", "labelled_score", "label_squares", "score_squares", "products")
    )
    return (label_squares - 2 * weight * products + weight**2 * score_squares) / n - ((labels - weight * scores) / n) ** 2


def _judged_variance(own: Mapping[str, Floats]) -> float:
    """Squared standard error of the judge's mean, by game; 0 from one game, where nothing is known of it."""
    units, games = float(own["units"].sum()), int((own["units"] > 0).sum())
    if games < 2:  # noqa: PLR2004
        return 0.0
    residuals = own["judged"] - float(own["judged"].sum()) / units * own["units"]
    return games / (games - 1) * float((residuals**2).sum()) / units**2
