"""The true rate of an answer, from a judge that errs, and how many labels it takes.

All formulas take sums by game, shape (..., games), and respect that units of one game are not independent: variances are those of the sum
of each game's influence on the estimate (Liang and Zeger 1986, Biometrika 73), where coverage needs it as if the game were left out (CR3 of
Bell and McCaffrey 2002, Survey Methodology 28). Any axes in front are data sets of their own.

Intervals hold all rates p that the data do not contradict, with the variance that p itself would imply, as Wilson's (1927) do:

    (estimate - p)^2 <= f p (1 - p) + t^2 v

f p (1 - p) is t^2 times the variance of the truth between units and games as `believed`: as it is seen, and where few games show an answer,
what a usual clustering would give; v the variance of the judge's errors and of the labels; t Student's quantile with Welch and
Satterthwaite's degrees of freedom, counting games as Kish (1965, Survey Sampling) does: by how many of equal size would weigh as much. So
an interval is lopsided where an answer is rare, as it must be. `docs/dev/coverage.md` has the coverage of the intervals on simulated data,
written by `python -m research coverage`.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from analytics.statistics.intervals import LEVEL, Floats, Interval, believed
from schemas.common.errors import UsageError

_PSEUDO, _PSEUDO_UNSEEN = 0.05, 0.2
"""Errors of the judge added in each direction to their variance, and how many more where labels hold none: that they happen not to does not
prove a judge without errors. Chosen by coverage: where one or two errors are expected it falls to 0.84 without them, and rises to 1 with
0.5."""

_PSEUDO_FOUND = 0.5
"""Added units that the judge got right, and got wrong, of each truth (after Lang and Reiczigel 2014, who add whole ones)."""

_FEWEST_OF_A_TRUTH = 5
"""Labels of each truth below which error rates are not estimated, and the judge's weight is not cross-fitted: without the only game with a
yes there is none, and the coverage of a rate of .02 by 30 labels was .92 instead of .97."""


_ROUNDING: Final = 1e-18
"""Sum of squared influences that is none: a judge with one answer to all units has no weight, whatever rounding leaves."""


class Units(NamedTuple):
    """The judge's answers, summed by game."""

    scores: Floats
    sizes: Floats
    """Judged units, labelled ones included."""


class Labelled(NamedTuple):
    """What labels add, summed by game."""

    labels: Floats
    """Sum of the labels' numbers."""
    scores: Floats
    """Sum of the judge's scores on the same units."""
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


def difference_of_rates(first: Corrected, second: Corrected, correlation: float = 0.0) -> Corrected:
    """First minus second, each shape (...), with the interval that puts those of two rates together.

    Zou and Donner 2008, Statistics in Medicine 27, 1693 to 1702; of correlated rates as in Zou 2007, Psychological Methods 12.

    Args:
        first: a rate.
        second: another one.
        correlation: of the two estimates, as on tasks that both have played; 0 is rather too wide then.
    """
    value = first.rate - second.rate
    down, up = (first.rate - first.low, second.high - second.rate), (first.high - first.rate, second.rate - second.low)
    below, above = (np.sqrt(np.maximum(one**2 + other**2 - 2 * correlation * one * other, 0)) for one, other in (down, up))
    return Corrected(value, np.maximum(value - below, -1.0), np.minimum(value + above, 1.0))


def influences(units: Units, labelled: Labelled) -> Floats:
    """How much each game changes the prediction-powered estimate, shape (..., games)."""
    of_labels, of_scores, of_units = _influences(units, labelled)
    return of_labels - judge_weight(units, labelled)[..., None] * (of_scores - of_units)


class VarianceParts(NamedTuple):
    """The variance of the prediction-powered estimate, each shape (...); NaN below two labelled games."""

    truth: Floats
    """What stays if all units are labelled: the truth differs between games and units."""
    errors: Floats
    """What labels take away: the errors of the judge on the units that have none."""


def prediction_powered(units: Units, labelled: Labelled) -> Corrected:
    """Mean of the labels, plus `judge_weight` times how far the judge's mean over all units is from that over the labelled ones.

    Right however wrong the judge is, and, since the weight is tuned, not worse than labels alone. Angelopoulos, Bates, Fannjiang, Jordan
    and Zrnic (2023), Science 382, the mean, with the tuning of Angelopoulos, Duchi and Zrnic (2023), arXiv 2311.01453, section 6; here with
    clusters, and with labelled units that are among the judged ones. Each game's share of the correction has the weight that the other
    games give (cross-fitting; Zrnic and Candes 2024, PNAS 121, with games as folds). The labelled units must be a random sample of the
    judged ones, by unit or by game. NaN below two labelled games.
    """
    n = _positive(labelled.sizes.sum(axis=-1))
    weight = judge_weight(units, labelled)
    judged = (units.scores.sum(axis=-1) / _positive(units.sizes.sum(axis=-1)))[..., None]
    seen = (units.scores - judged * units.sizes) / _positive(_sum(units.sizes))
    seen = seen - (labelled.scores - judged * labelled.sizes) / n[..., None]
    parts = variance_parts(units, labelled)
    wrong = np.abs(labelled.labels - labelled.scores).sum(axis=-1)
    added = weight**2 * (_PSEUDO + _PSEUDO_UNSEEN / (1 + wrong**2))
    unseen = 2 * added / (n + 2 * added) ** 2
    rarer = np.minimum(labelled.labels.sum(axis=-1), n - labelled.labels.sum(axis=-1))
    of_labels, of_scores, of_units = _influences(units, labelled)
    of_others = tuned_weight(of_labels, of_scores - of_units, of_others=True)
    of_game = np.where((rarer >= _FEWEST_OF_A_TRUTH)[..., None], of_others, weight[..., None])
    rate = labelled.labels.sum(axis=-1) / n + (of_game * seen).sum(axis=-1)
    found = np.where(np.isnan(parts.errors), np.nan, rate)
    spread = _of_units(units, parts.truth + parts.errors + unseen, parts.errors + unseen, labelled.sizes)
    return _score_interval(found, _seen_on_labels(spread, 1 - weight, labelled.sizes))


def judge_weight(units: Units, labelled: Labelled) -> Floats:
    """How much the judge's scores count in `prediction_powered`, 0 (labels alone) to 1 (all that they say); shape (...).

    The weight that makes the estimated variance over games least.
    """
    of_labels, of_scores, of_units = _influences(units, labelled)
    return tuned_weight(of_labels, of_scores - of_units)[..., 0]


def tuned_weight(of_labels: Floats, seen: Floats, *, of_others: bool = False) -> Floats:
    """The judge's weight, 0 to 1, by what each game changes in a statistic, shape (..., games) -> (..., 1).

    Args:
        of_labels: in the one of the labels.
        seen: in the judge's, of the labelled units minus of all.
        of_others: for each game, shape (..., games), the weight that the other games give: its own would fit its errors (cross-fitting).
    """
    products, squares = of_labels * seen, seen**2
    above, below = (_sum(part) - (part if of_others else 0) for part in (products, squares))
    return np.clip(np.divide(above, below, out=np.zeros_like(above), where=below > _ROUNDING), 0, 1)


def variance_parts(units: Units, labelled: Labelled) -> VarianceParts:
    """Where the uncertainty of `prediction_powered` comes from."""
    total, n = units.sizes.sum(axis=-1), labelled.sizes.sum(axis=-1)
    of_labels, of_scores, of_units = _influences(units, labelled)
    weight = tuned_weight(of_labels, of_scores - of_units, of_others=True)
    errors = _squares(of_labels - weight * of_scores) * (1 - n / _positive(total))
    variance = _squares(of_labels - weight * (of_scores - of_units))
    return VarianceParts(np.maximum(variance - errors, 0), np.minimum(errors, variance))


def tails(units: Units, labelled: Labelled) -> Floats:
    """Kurtosis of the games' influences on the prediction-powered estimate, shape (...): how far few games make its variance.

    Fourth moment over the squared second, around 0; never below that of a uniform number, 1.8.
    """
    of_labels, of_scores, of_units = _influences(units, labelled)
    seen = of_scores - of_units
    influence = of_labels - tuned_weight(of_labels, seen, of_others=True) * seen
    games = (labelled.sizes > 0).sum(axis=-1)
    found: Floats = np.fmax(games * (influence**4).sum(axis=-1) / _positive(_squares(influence) ** 2), 1.8)
    return found


def _influences(units: Units, labelled: Labelled) -> tuple[Floats, Floats, Floats]:
    """How the mean label, the mean score of the labelled units, and that of all units change where a game is left out, shape (..., games).

    Their squares add up to the variance CR3 of Bell and McCaffrey (2002), Survey Methodology 28: with few games or a large one, those of
    the games' residuals alone are too small. NaN below two labelled games.
    """
    total, n = _positive(_sum(units.sizes)), _positive(_sum(labelled.sizes))
    other_labels, other_units = _positive(n - labelled.sizes), _positive(total - units.sizes)
    return (
        (labelled.labels - _sum(labelled.labels) / n * labelled.sizes) / other_labels,
        (labelled.scores - _sum(labelled.scores) / n * labelled.sizes) / other_labels,
        (units.scores - _sum(units.scores) / total * units.sizes) / other_units,
    )


def _squares(influence: Floats) -> Floats:
    found: Floats = (influence**2).sum(axis=-1)
    return found


def rogan_gladen(units: Units, errors: ErrorCounts) -> Corrected:
    """(judged rate + specificity - 1) / (sensitivity + specificity - 1), error rates by labels, whose uncertainty is in the interval.

    Rogan and Gladen (1978), American Journal of Epidemiology 107. The variance is the delta method's over games. The error rates must be
    the same where they are used as where they were estimated, so labels of other models may serve: that is an assumption of its own.
    Conservative where fewer than ten labels have one of the truths, and where the judge is little better than chance
    (docs/dev/coverage.md); NaN below five, and where the judge's answers carry nothing.
    """
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
    between = np.clip(variance - np.maximum(_variance(of_units / informed) - noise, 0), 0, variance)
    between = _of_judge(rate[..., 0], units, variance, between)
    games = ((errors.yes + errors.no) > 0).sum(axis=-1)
    enough = np.minimum(errors.yes.sum(axis=-1), errors.no.sum(axis=-1)) >= _FEWEST_OF_A_TRUTH
    found = np.where((games > 1) & enough, rate[..., 0], np.nan)
    return _score_interval(found, _of_units(units, variance, between, errors.yes + errors.no))


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


def possible_truth(rate: float, disagreement: float) -> Interval:
    """Between which rates the truth can be if so many labels of the rate say yes, and two labels of a unit differ so often.

    Labels of a unit err independently, a yes and a no each in less than half. Then the truth is lowest if only no is mistaken, in the share
    s of all units with d = 2 s (1 - s / (1 - rate + s)), which gives s; and highest if only yes is. Which of both happens cannot be seen.

    Args:
        rate: of yes among labels, 0 to 1.
        disagreement: share d of pairs of labels of one unit that differ, 0 to 1.
    """
    low, high = (side if disagreement >= side else disagreement * side / (2 * side - disagreement) for side in (1 - rate, rate))
    return Interval(max(0.0, rate - low), min(1.0, rate + high))


def _sum(values: Floats) -> Floats:
    total: Floats = values.sum(axis=-1, keepdims=True)
    return total


def _positive(values: Floats) -> Floats:
    found: Floats = np.where(values > 0, values, np.nan)
    return found


def _variance(influence: Floats) -> Floats:
    """Of an estimate, from each game's influence on it, shape (..., games); NaN below two games."""
    games = np.asarray(influence.shape[-1], dtype=float)
    variance: Floats = _squares(influence) * games / _positive(games - 1)
    return variance


def _noise(rate: Floats, sensitivity: Floats, specificity: Floats) -> Floats:
    """Variance of one answer of the judge about its own mean, where the truth is given."""
    share = np.clip(rate, 0, 1)
    noise: Floats = share * sensitivity * (1 - sensitivity) + (1 - share) * specificity * (1 - specificity)
    return noise


def _of_judge(rate: Floats, units: Units, variance: Floats, errors: Floats) -> Floats:
    """The judge's part of a variance: what is known of it, and what is more than a truth of this rate can have.

    Games whose truth is all yes or all no are as far apart as can be; beyond that the judge errs more in some games than in others.
    """
    games = (units.sizes > 0).sum(axis=-1).astype(float)
    share = np.clip(rate, 0, 1)
    most = share * (1 - share) * _size(units.sizes) / units.sizes.sum(axis=-1) * games / _positive(games - 1)
    return np.where(errors > 0, np.maximum(errors, variance - most), errors)


class _Spread(NamedTuple):
    """What an interval is made of, each shape (...)."""

    truth: Floats
    """Variance of the estimate that comes of the truth, between units and games."""
    errors: Floats
    """The rest of it."""
    independent: Floats
    """Units that the truth is seen on, if they were independent."""
    games: Floats
    """Their games."""
    size: Floats
    """Units in the game of an average unit."""
    freedom: Floats
    """Degrees of freedom of `truth`."""
    freedom_errors: Floats


def _score_interval(rate: Floats, spread: _Spread) -> Corrected:
    """All p with (rate - p)^2 <= f p (1 - p) + t^2 errors; see the module. A rate outside 0 to 1 is cut."""
    from scipy import special  # Student's quantile as scipy.stats has it, which takes a second to load

    centre = np.clip(rate, 0, 1)
    binomial = np.maximum(centre * (1 - centre), 1 / spread.independent)
    seen, assumed = believed(centre, spread.truth, spread.independent, spread.size, spread.games)
    of_truth, errors = seen * binomial, spread.errors
    uncertain = of_truth**2 / spread.freedom + errors**2 / spread.freedom_errors
    freedom = (of_truth + assumed * binomial + errors) ** 2 / np.maximum(uncertain, 1e-30)
    t_squared = special.stdtrit(np.maximum(freedom, 1), (1 + LEVEL) / 2) ** 2
    f = np.where(spread.games > 1, t_squared * (seen + assumed), np.nan)
    middle = (centre + f / 2) / (1 + f)
    half = np.sqrt(np.maximum(middle**2 - (centre**2 - t_squared * errors) / (1 + f), 0))
    centre = np.where(np.isnan(half), np.nan, centre)  # one game alone: the difference between games is not known, no estimate is possible
    return Corrected(centre, np.clip(middle - half, 0, centre), np.clip(middle + half, centre, 1))


def _of_units(units: Units, variance: Floats, errors: Floats, labels: Floats) -> _Spread:
    """Of a truth that is seen on all units; `errors` is the part of the variance that is not the truth's, `labels` are counts by game."""
    total, size = units.sizes.sum(axis=-1), _size(units.sizes)
    kish = labels.sum(axis=-1) / _positive(_size(labels))
    truth = np.maximum(variance - errors, 0)
    games = (units.sizes > 0).sum(axis=-1).astype(float)
    return _Spread(truth, variance - truth, total, games, size, np.maximum(total / size - 1, 1), np.maximum(kish - 1, 1))


def _seen_on_labels(spread: _Spread, share: Floats, labels: Floats) -> _Spread:
    """The same where that share of the estimate comes from labels alone, shape (...): there the labels' variance is the truth's."""
    n, size = labels.sum(axis=-1), _size(labels)
    games = (labels > 0).sum(axis=-1)
    rest = 1 - share
    from_labels = share * spread.errors
    freedom_labels = np.maximum(n / size - 2, 1)  # one for the mean, one for the weight
    truth = spread.truth + from_labels
    parts = spread.truth**2 / spread.freedom + from_labels**2 / freedom_labels
    freedom = np.divide(truth**2, parts, out=np.ones_like(parts), where=parts > 0)
    independent = 1 / (rest / spread.independent + share / _positive(n))
    return _Spread(
        truth,
        rest * spread.errors,
        independent,
        rest * spread.games + share * games,
        rest * spread.size + share * size,
        freedom,
        freedom_labels,
    )


def _size(sizes: Floats) -> Floats:
    """Units in the game of an average unit: what makes clusters matter (Kish 1965, Survey Sampling)."""
    size: Floats = (sizes**2).sum(axis=-1) / _positive(sizes.sum(axis=-1))
    return size
