"""The true rate of an answer, from a judge that errs, and how many labels it takes.

All formulas take sums by game, shape (..., games), and respect that units of one game are not independent: variances are those of the sum
of each game's influence on the estimate (Liang and Zeger 1986, Biometrika 73, with the factor G / (G - 1)). Any axes in front are data
sets of their own.

Intervals hold all rates p that the data do not contradict, with the variance that p itself would imply, as Wilson's (1927) do:

    (estimate - p)^2 <= t^2 (k p (1 - p) + v)

k p (1 - p) is the variance of the truth between units and games, v that of the judge's errors and of the labels, t Student's quantile with
Welch and Satterthwaite's degrees of freedom of the two. So an interval is lopsided where an answer is rare, as it must be.
`docs/coverage.md` has the coverage of the intervals on simulated data, written by `python -m benchmarks.coverage`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from analytics.statistics.intervals import LEVEL
from schemas.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "Corrected",
    "ErrorCounts",
    "Labelled",
    "Parts",
    "Spread",
    "Units",
    "labels_needed",
    "prediction_powered",
    "rogan_gladen",
    "rogan_gladen_known",
    "variance_parts",
]

_PSEUDO, _PSEUDO_UNSEEN = 0.15, 0.35
"""Errors of the judge added in each direction to their variance, and how many more where labels hold none: that they happen not to does not
prove a judge without errors. Chosen by coverage: where one or two errors are expected it falls to 0.75 without them, and rises to 0.99 with
whole ones."""

_CLUSTERING, _FEW = 0.3, 0.1
"""Where an answer is rare, few games show it, and nothing of how it clusters can be seen. So k is mixed with what an intraclass correlation
of 0.3 would give; both weigh alike where p (1 - p) is 0.1 over the number of games. Chosen by coverage: without it, it falls to 0.40 where
games are few, answers rare and clusters strong; with more, intervals of independent turns get too wide."""

_PSEUDO_FOUND = 0.5
"""Added units that the judge got right, and got wrong, of each truth (after Lang and Reiczigel 2014, who add whole ones)."""

_FEWEST_OF_A_TRUTH = 5
"""Labels of each truth below which error rates are not estimated."""


class Units(NamedTuple):
    """What the judge said, summed by game."""

    scores: Floats
    sizes: Floats
    """Judged units, labelled ones included."""


class Labelled(NamedTuple):
    """What labels add, summed by game."""

    differences: Floats
    """Sum of label minus judge's score."""
    sizes: Floats
    """Labelled units; 0 in games without."""


class ErrorCounts(NamedTuple):
    """Labelled units by truth and whether the judge found it, summed by game; the same games as those of the units, or games of its own."""

    yes: Floats
    yes_found: Floats
    no: Floats
    no_found: Floats


class Spread(NamedTuple):
    """What decides how many labels are needed."""

    units: int
    """Judged units."""
    games: int
    """Their games."""
    errors: float
    """Variance of label minus judge's score over units; for yes-no answers about the share of errors."""
    truth: float
    """`Parts.truth`."""
    design_effect: float = 1.0
    """How many times larger games make the variance of the mean difference."""


class Corrected(NamedTuple):
    """An estimate and its 95 % interval, each shape (...); NaN where there is too little to go by."""

    rate: Floats
    low: Floats
    high: Floats


class Parts(NamedTuple):
    """The variance of the prediction-powered estimate, each shape (...); NaN below two labelled games."""

    truth: Floats
    """What stays if all units are labelled: the truth differs between games and units."""
    errors: Floats
    """What labels take away: the errors of the judge on the units that have none."""


def prediction_powered(units: Units, labelled: Labelled) -> Corrected:
    """Mean of the judge's scores over all units, plus the mean difference of the labels: right however wrong the judge is.

    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Science 382, the mean; here with clusters, and with labelled units that are
    among the judged ones. The labelled units must be a random sample of the judged ones, by unit or by game. NaN below two labelled games.
    """
    import numpy as np

    n = _positive(labelled.sizes.sum(axis=-1))
    parts = variance_parts(units, labelled)
    added = _PSEUDO + _PSEUDO_UNSEEN / (1 + np.abs(labelled.differences).sum(axis=-1) ** 2)
    unseen = 2 * added / (n + 2 * added) ** 2
    rate = units.scores.sum(axis=-1) / _positive(units.sizes.sum(axis=-1)) + labelled.differences.sum(axis=-1) / n
    found = np.where(np.isnan(parts.errors), np.nan, rate)
    return _score_interval(found, parts.truth + parts.errors + unseen, parts.errors + unseen, units, labelled.sizes)


def variance_parts(units: Units, labelled: Labelled) -> Parts:
    """Where the uncertainty of `prediction_powered` comes from."""
    import numpy as np

    total, n = _positive(_sum(units.sizes)), _positive(_sum(labelled.sizes))
    judged, difference = _sum(units.scores) / total, _sum(labelled.differences) / n
    of_labels = (labelled.differences - difference * labelled.sizes) / n
    of_units = (units.scores - judged * units.sizes) / total
    errors = _variance(of_labels, (labelled.sizes > 0).sum(axis=-1)) * (1 - n / total)[..., 0]
    variance = _variance(of_units + of_labels)
    return Parts(np.maximum(variance - errors, 0), np.minimum(errors, variance))


def rogan_gladen_known(units: Units, sensitivity: float, specificity: float) -> Corrected:
    """(judged rate + specificity - 1) / (sensitivity + specificity - 1), for error rates that are known.

    Rogan and Gladen (1978), American Journal of Epidemiology 107. NaN below two games.

    Raises:
        UsageError: the judge says yes no more often where it should than where it should not: its answers carry nothing to correct.
    """
    import numpy as np

    informed = sensitivity + specificity - 1
    if informed <= 0:
        raise UsageError(
            f"sensitivity {sensitivity:g} and specificity {specificity:g} add up to 1 or less: such a judge cannot be corrected"
        )
    total = _positive(_sum(units.sizes))
    judged = _sum(units.scores) / total
    rate = ((judged + specificity - 1) / informed)[..., 0]
    noise = _noise(rate, sensitivity, specificity) / total[..., 0]
    variance = _variance((units.scores - judged * units.sizes) / total)
    rate = np.where(np.isnan(variance), np.nan, rate)
    return _score_interval(rate, variance / informed**2, noise / informed**2, units, units.sizes)


def rogan_gladen(units: Units, errors: ErrorCounts) -> Corrected:
    """Rogan and Gladen's correction with error rates estimated from labels, whose own uncertainty is in the interval.

    The variance is the delta method's over games. The error rates must be the same where they are used as where they were estimated, so
    labels of other models may serve: that is an assumption of its own. Conservative where fewer than ten labels have one of the truths, and
    where the judge is little better than chance (docs/coverage.md); NaN below five, and where the judge's answers carry nothing.
    """
    import numpy as np

    total, yes, no = _positive(_sum(units.sizes)), _sum(errors.yes) + 2 * _PSEUDO_FOUND, _sum(errors.no) + 2 * _PSEUDO_FOUND
    judged = _sum(units.scores) / total
    sensitivity, specificity = (_sum(errors.yes_found) + _PSEUDO_FOUND) / yes, (_sum(errors.no_found) + _PSEUDO_FOUND) / no
    informed = sensitivity + specificity - 1
    informed = np.where(informed > 0, informed, np.nan)
    rate = (judged + specificity - 1) / informed
    of_units = (units.scores - judged * units.sizes) / total
    of_yes = -rate * (errors.yes_found - sensitivity * errors.yes) / yes
    of_no = (1 - rate) * (errors.no_found - specificity * errors.no) / no
    added = (rate * sensitivity * (1 - sensitivity) / yes) * (2 * _PSEUDO_FOUND * rate / yes)
    added = added + ((1 - rate) * specificity * (1 - specificity) / no) * (2 * _PSEUDO_FOUND * (1 - rate) / no)
    variance = _variance((of_units + of_yes + of_no) / informed) + (added / informed**2)[..., 0]
    noise = (_noise(rate, sensitivity, specificity) / total / informed**2)[..., 0]
    beside = variance - np.maximum(_variance(of_units / informed) - noise, 0)
    games = ((errors.yes + errors.no) > 0).sum(axis=-1)
    enough = np.minimum(errors.yes.sum(axis=-1), errors.no.sum(axis=-1)) >= _FEWEST_OF_A_TRUTH
    found = np.where((games > 1) & enough, rate[..., 0], np.nan)
    return _score_interval(found, variance, beside, units, errors.yes + errors.no)


def labels_needed(half_width: float, spread: Spread) -> int | None:
    """How many labels bring the 95 % interval of `prediction_powered` down to a half-width; None if not even a label on every unit does.

    The variance of the estimate, of which `variance_parts` are the estimates, is truth + design effect * error variance * (1/n - 1/units).

    Args:
        half_width: wished, 0 to 1.
        spread: what is known of judge and truth.

    Raises:
        UsageError: the half-width is not between 0 and 1.
    """
    from scipy import stats

    if not 0 < half_width < 1:
        raise UsageError(f"half-width {half_width:g}: give a number between 0 and 1, such as 0.05")
    left = (half_width / float(stats.t.ppf((1 + LEVEL) / 2, max(spread.games - 1, 1)))) ** 2 - spread.truth
    of_one = spread.design_effect * spread.errors
    return min(math.ceil(of_one / (left + of_one / spread.units)), spread.units) if left > 0 else None


def _sum(values: Floats) -> Floats:
    total: Floats = values.sum(axis=-1, keepdims=True)
    return total


def _positive(values: Floats) -> Floats:
    import numpy as np

    found: Floats = np.where(values > 0, values, np.nan)
    return found


def _variance(influence: Floats, games: NDArray[np.int64] | None = None) -> Floats:
    """Of an estimate, from each game's influence on it; NaN below two games.

    Args:
        influence: shape (..., games).
        games: how many count, shape (...), where others have no part in the estimate; None: all.
    """
    import numpy as np

    count = np.asarray(influence.shape[-1] if games is None else games, dtype=float)
    variance: Floats = (influence**2).sum(axis=-1) * count / _positive(count - 1)
    return variance


def _noise(rate: Floats, sensitivity: Floats | float, specificity: Floats | float) -> Floats:
    """Variance of one answer of the judge about its own mean, where the truth is given."""
    import numpy as np

    share = np.clip(rate, 0, 1)
    noise: Floats = share * sensitivity * (1 - sensitivity) + (1 - share) * specificity * (1 - specificity)
    return noise


def _score_interval(rate: Floats, variance: Floats, errors: Floats, units: Units, labels: Floats) -> Corrected:
    """All p with (rate - p)^2 <= t^2 (k p (1 - p) + errors); see the module.

    Args:
        rate: estimate, shape (...); one outside 0 to 1 is cut.
        variance: of the estimate.
        errors: the part of it that is not the truth's between units and games.
        units: all units.
        labels: labelled units by game.
    """
    import numpy as np
    from scipy import stats

    total, games = units.sizes.sum(axis=-1), (units.sizes > 0).sum(axis=-1)
    centre = np.clip(rate, 0, 1)
    spread = centre * (1 - centre)
    truth = np.maximum(variance - errors, np.maximum(spread / total, 1e-12))
    errors = np.maximum(variance - truth, 0)
    unseen = 1 / (1 + (spread * games / _FEW) ** 2)
    clustered = (1 + (_size(units.sizes) - 1) * _CLUSTERING) / total
    k = np.maximum((1 - unseen) * truth / np.maximum(spread, 1 / total) + unseen * clustered, 1 / total)
    kish = labels.sum(axis=-1) / _positive(_size(labels))
    freedom = (truth + errors) ** 2 / (truth**2 / _positive(games - 1.0) + errors**2 / np.maximum(kish - 1, 1))
    square = stats.t.ppf((1 + LEVEL) / 2, np.maximum(freedom, 1)) ** 2
    middle = (centre + square * k / 2) / (1 + square * k)
    half = np.sqrt(np.maximum(middle**2 - (centre**2 - square * errors) / (1 + square * k), 0))
    centre = np.where(np.isnan(half), np.nan, centre)  # one game alone: what differs between games cannot be told, so no estimate either
    return Corrected(centre, np.clip(middle - half, 0, centre), np.clip(middle + half, centre, 1))


def _size(sizes: Floats) -> Floats:
    """Units in the game of an average unit: what makes clusters matter (Kish 1965, Survey Sampling)."""
    size: Floats = (sizes**2).sum(axis=-1) / _positive(sizes.sum(axis=-1))
    return size
