"""The true rate of an answer, from a judge that errs, and how many labels it takes.

All formulas take sums by game, shape (..., games), and respect that units of one game are not independent: the variance is that of the
sum of each game's influence on the estimate (Liang and Zeger 1986, Biometrika 73, with the factor G / (G - 1)), the quantile Student's
with one degree of freedom less than the games that carry labels. Any axes in front are data sets of their own.
`tests/test_rate_correction.py` measures the coverage of the intervals on simulated data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from analytics.statistics import LEVEL
from schemas.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Corrected", "ErrorCounts", "Labelled", "Units", "labels_needed", "prediction_powered", "rogan_gladen", "rogan_gladen_known"]

_PSEUDO = 0.15
"""Added differences in each direction: labels that happen to hold no error of the judge do not prove a judge without errors. Chosen by the
coverage in the tests: without them it falls to 0.92 where two errors are expected, with a whole one it rises to 0.99."""

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


class Corrected(NamedTuple):
    """An estimate and its 95 % interval, each shape (...); NaN where there is too little to go by."""

    rate: Floats
    low: Floats
    high: Floats


def prediction_powered(units: Units, labelled: Labelled) -> Corrected:
    """Mean of the judge's scores over all units, plus the mean difference of the labels: right however wrong the judge is.

    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Science 382, the mean; here with clusters, and with labelled units that are
    among the judged ones. The labelled units must be a random sample of the judged ones.
    """
    import numpy as np

    total, n = _sum(units.sizes), _sum(labelled.sizes)
    judged = _sum(units.scores) / _positive(total)
    n_more = n + 2 * _PSEUDO
    difference = _sum(labelled.differences) / n_more
    influence = (units.scores - judged * units.sizes) / _positive(total)
    influence = influence + (labelled.differences - difference * labelled.sizes) / n_more
    variance = _variance(influence) + 2 * _PSEUDO / n_more[..., 0] ** 2
    games = (labelled.sizes > 0).sum(axis=-1)
    rate = np.where(games > 1, (judged + difference)[..., 0], np.nan)
    return _interval(rate, variance, games - 1)


def rogan_gladen_known(units: Units, sensitivity: float, specificity: float) -> Corrected:
    """(judged rate + specificity - 1) / (sensitivity + specificity - 1), for error rates that are known.

    Rogan and Gladen (1978), American Journal of Epidemiology 107. The interval is Wilson's with the judged units' effective number, so
    that it holds for rare answers too.

    Raises:
        UsageError: the judge says yes no more often where it should than where it should not: its answers carry nothing to correct.
    """
    import numpy as np

    informed = sensitivity + specificity - 1
    if informed <= 0:
        raise UsageError(
            f"sensitivity {sensitivity:g} and specificity {specificity:g} add up to 1 or less: such a judge cannot be corrected"
        )
    total, games = _sum(units.sizes), (units.sizes > 0).sum(axis=-1)
    judged = _sum(units.scores) / _positive(total)
    variance = _variance((units.scores - judged * units.sizes) / _positive(total))
    share = judged[..., 0]
    spread = np.maximum(share * (1 - share), 1 / (4 * _positive(total[..., 0])))
    effective = spread / np.maximum(variance, 1e-12)
    square = _t(games - 1) ** 2
    middle = (share + square / (2 * effective)) / (1 + square / effective)
    half = np.sqrt(square * share * (1 - share) / effective + square**2 / (4 * effective**2)) / (1 + square / effective)
    rate, low, high = ((value + specificity - 1) / informed for value in (share, middle - half, middle + half))
    return Corrected(*(np.clip(value, 0, 1) for value in (rate, low, high)))


def rogan_gladen(units: Units, errors: ErrorCounts) -> Corrected:
    """Rogan and Gladen's correction with error rates estimated from labels, whose own uncertainty is in the interval.

    The variance is the delta method's over games. The error rates must be the same where they are used as where they were estimated, so
    labels of other models may serve: that is an assumption of its own. Conservative where fewer than ten labels have one of the truths
    (coverage up to 0.98); NaN below five, and where the judge's answers carry nothing.
    """
    import numpy as np

    total, yes, no = _sum(units.sizes), _sum(errors.yes) + 2 * _PSEUDO_FOUND, _sum(errors.no) + 2 * _PSEUDO_FOUND
    judged = _sum(units.scores) / _positive(total)
    sensitivity, specificity = (_sum(errors.yes_found) + _PSEUDO_FOUND) / yes, (_sum(errors.no_found) + _PSEUDO_FOUND) / no
    informed = sensitivity + specificity - 1
    usable = informed[..., 0] > 0
    informed = np.where(usable[..., None], informed, np.nan)
    rate = (judged + specificity - 1) / informed
    of_units = (units.scores - judged * units.sizes) / _positive(total)
    of_yes = -rate * (errors.yes_found - sensitivity * errors.yes) / yes
    of_no = (1 - rate) * (errors.no_found - specificity * errors.no) / no
    variance = _variance((of_units + of_yes + of_no) / informed)
    added = (rate * sensitivity * (1 - sensitivity) / yes) * (2 * _PSEUDO_FOUND * rate / yes)
    added = added + ((1 - rate) * specificity * (1 - specificity) / no) * (2 * _PSEUDO_FOUND * (1 - rate) / no)
    games = ((errors.yes + errors.no) > 0).sum(axis=-1)
    enough = np.minimum(errors.yes.sum(axis=-1), errors.no.sum(axis=-1)) >= _FEWEST_OF_A_TRUTH
    found = np.where((games > 1) & enough, rate[..., 0], np.nan)
    return _interval(found, variance + (added / informed**2)[..., 0], games - 1)


def labels_needed(half_width: float, *, error_variance: float, judged_variance: float = 0.0, design_effect: float = 1.0) -> int | None:
    """How many labels bring the 95 % interval of `prediction_powered` down to a half-width; None if no number can.

    n = design effect * error variance / ((half-width / 1.96)^2 - judged variance), from the variance of the estimate.

    Args:
        half_width: wished, 0 to 1.
        error_variance: of label minus judge's score over units; for yes-no answers about the share of errors.
        judged_variance: squared standard error of the judge's mean over all units: it stays, however many labels there are.
        design_effect: how many times larger clusters make the variance of the mean difference.

    Raises:
        UsageError: the half-width is not between 0 and 1.
    """
    from scipy import stats

    if not 0 < half_width < 1:
        raise UsageError(f"half-width {half_width:g}: give a number between 0 and 1, such as 0.05")
    left = (half_width / float(stats.norm.ppf((1 + LEVEL) / 2))) ** 2 - judged_variance
    return math.ceil(design_effect * error_variance / left) if left > 0 else None


def _sum(values: Floats) -> Floats:
    total: Floats = values.sum(axis=-1, keepdims=True)
    return total


def _positive(values: Floats) -> Floats:
    import numpy as np

    found: Floats = np.where(values > 0, values, np.nan)
    return found


def _variance(influence: Floats) -> Floats:
    """Of an estimate, from each game's influence on it; NaN below two games."""
    games = influence.shape[-1]
    variance: Floats = (influence**2).sum(axis=-1) * (games / (games - 1) if games > 1 else math.nan)
    return variance


def _t(freedom: NDArray[np.int64]) -> Floats:
    from scipy import stats

    quantile: Floats = stats.t.ppf((1 + LEVEL) / 2, freedom)
    return quantile


def _interval(rate: Floats, variance: Floats, freedom: NDArray[np.int64]) -> Corrected:
    import numpy as np

    half = _t(freedom) * np.sqrt(variance)
    return Corrected(*(np.clip(value, 0, 1) for value in (rate, rate - half, rate + half)))
