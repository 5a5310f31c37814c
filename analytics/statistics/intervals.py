"""Intervals and standard errors for reports and pages; the views use the same formulas in SQL (``intervals.sql``).

Intervals over games are valid with five games as with a hundred. The answers about one game are not independent, so each is left
out in turn (jackknife; Efron and Stein 1981, Annals of Statistics 9), on a scale on which the estimate is roughly normal: the log odds of a
share, Fisher's z of a coefficient. The quantile is Student's with one degree of freedom less than games of equal size would carry the same
weight (Kish 1965, Survey Sampling).

Where all games are alike, nothing varies, and no resampling shows how sure that is. So half a unit that agrees and half a unit that
does not are added, with the variance of such a count (Haldane 1956, Annals of Human Genetics 20, for the log odds): full agreement has an
interval that narrows as units are added. The variance of this count is known and has no few degrees of freedom (Welch and Satterthwaite).

`docs/dev/coverage.md` has the coverage of these intervals, and that of a bootstrap of games, which is too narrow below about thirty games.
"""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schemas.common.errors import UsageError

Floats = NDArray[np.float64]

LEVEL = 0.95
"""Coverage of every interval."""


class Interval(NamedTuple):
    """Two ends, ``low <= high``."""

    low: float
    high: float


class Estimate(NamedTuple):
    """A mean and its interval."""

    value: float
    low: float
    high: float


def wilson(successes: int, n: int) -> Interval | None:
    """95 % Wilson score interval of a share (Wilson 1927), inside 0..1; None without trials.

    Raises:
        UsageError: there are more successes than trials, or fewer than none.
    """
    from scipy import stats

    if not 0 <= successes <= n:
        raise UsageError(f"wilson: {successes} successes of {n} trials; give 0 <= successes <= trials")
    if n == 0:
        return None
    found = stats.binomtest(successes, n).proportion_ci(confidence_level=LEVEL, method="wilson")
    return Interval(float(found.low), float(found.high))


def pearson(first: Sequence[float], second: Sequence[float]) -> Estimate | None:
    """Pearson correlation of pairs with its 95 % interval by Fisher's z; None below three pairs and where one side is constant.

    With three pairs the interval is all of -1..1, since its width goes with 1 / sqrt(n - 3).

    Raises:
        UsageError: the two are not of equal length.
    """
    from scipy import stats

    if len(first) != len(second):
        raise UsageError(f"pearson: {len(first)} values against {len(second)}; give pairs")
    if len(first) < 3 or len(set(first)) == 1 or len(set(second)) == 1:  # noqa: PLR2004  # two points always lie on a line
        return None
    found = stats.pearsonr(first, second)
    interval = found.confidence_interval(confidence_level=LEVEL)
    return Estimate(float(found.statistic), float(interval.low), float(interval.high))


def t_interval(values: Sequence[float]) -> Interval | None:
    """95 % interval of a mean by Student's t, not cut to the range of the values; None below two values."""
    from scipy import stats

    if len(values) < 2:  # noqa: PLR2004 - a variance needs two
        return None
    half = float(stats.t.ppf((1 + LEVEL) / 2, len(values) - 1)) * float(stats.sem(values, ddof=1))
    mean = math.fsum(values) / len(values)
    return Interval(mean - half, mean + half)


def clustered_sem(values: Sequence[float], clusters: Sequence[Hashable]) -> float | None:
    """Standard error of a mean whose values come in clusters, such as the answers about one game.

    The sandwich estimator of Liang and Zeger (1986) with the factor G/(G-1): sqrt(G/(G-1) * sum over clusters of the squared sum of
    residuals) / n. None below two clusters.

    Args:
        values: one number a unit.
        clusters: the cluster of each, in the same order.
    """
    sums = _cluster_sums(values, clusters)
    groups = len(sums)
    if groups < 2:  # noqa: PLR2004 - a variance needs two
        return None
    totals, counts = sums[:, 0], sums[:, 1]
    residuals = totals - counts * (totals.sum() / counts.sum())
    return math.sqrt(groups / (groups - 1) * float((residuals**2).sum())) / float(counts.sum())


def _cluster_sums(values: Sequence[float], clusters: Sequence[Hashable]) -> NDArray[np.float64]:
    """Shape (clusters, 2): sum and count of each cluster's values."""
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    if len(codes) != len(values):
        raise UsageError(f"{len(values)} values but {len(codes)} clusters: give each value its cluster")
    if not codes:
        return np.zeros((0, 2))
    return np.column_stack([np.bincount(codes, weights=values), np.bincount(codes).astype(float)])


PSEUDO = 0.5
"""Added units that agree, and that do not."""

CLUSTERING, FEW = 0.3, 0.35
"""Where an answer is rare, few games show it, and nothing of how it clusters can be seen. So variances of score intervals are mixed with
what an intraclass correlation of 0.3 would give; both weigh alike where p (1 - p) is 0.35 over the number of games. Chosen by coverage:
without it, it falls to 0.40 where games are few, answers rare and clusters strong; with more, those of independent turns get too wide."""

_ALIKE = 1e-12
"""Variance between clusters below which they are all alike."""

NUDGE = 1e-3
"""By which share `Pushed` counts them less and more."""

_INNER = 1 - 1e-12


class Ends(NamedTuple):
    """95 % intervals, each shape (...); NaN below two games."""

    low: Floats
    high: Floats


class Pushed(NamedTuple):
    """A coefficient where the added units of one kind count a little less, and a little more: by the share `NUDGE`."""

    less: Floats
    more: Floats


def cluster_sums(values: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Sums over the rows of each cluster.

    Args:
        values: shape (rows, ...).
        clusters: shape (rows,), numbers from 0 without gaps.

    Returns:
        Shape (clusters, ...).
    """
    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(clusters.max() + 1))
    sums: Floats = np.add.reduceat(values[order], starts, axis=0)
    return sums


def share_interval(hits: Floats, sizes: Floats, *, unit: float = 1.0, alike: Floats | float = 1.0) -> Ends:
    """95 % interval of sum of hits / sum of sizes, 0 to 1.

    Args:
        hits: by game, shape (..., games), 0 to sizes.
        sizes: trials by game; games without do not count.
        unit: trials that belong together inside a game, such as all pairs of answers about one turn.
        alike: how many games each represents.
    """
    misses = sizes - hits
    added = PSEUDO * unit
    yes, no = ((alike * of_game).sum(axis=-1, keepdims=True) + added for of_game in (hits, misses))
    value = np.log(yes / no)[..., 0]
    without = np.log((yes - hits) / (no - misses))
    of_added = PSEUDO * unit**2 * (1 / yes**2 + 1 / no**2)[..., 0]
    half = _half(value, without, of_added, (sizes, alike))
    total = (alike * sizes).sum(axis=-1)
    raw = (alike * hits).sum(axis=-1) / np.where(total > 0, total, np.nan)
    low, high = (1 / (1 + np.exp(-(value + side * half))) for side in (-1, 1))
    return Ends(np.minimum(low, raw), np.maximum(high, raw))


def clustered_share(values: Sequence[float], clusters: Sequence[Hashable]) -> Estimate | None:
    """Mean of values between 0 and 1 that come in clusters, with its 95 % interval; None without values.

    One cluster shows nothing about others: it counts as one trial (Wilson), which is wide on purpose.

    Args:
        values: one number a unit, 0 to 1.
        clusters: the cluster of each, in the same order, such as the episode.

    Raises:
        UsageError: there are not as many clusters as values.
    """
    if len(values) != len(clusters):
        raise UsageError(f"{len(values)} values but {len(clusters)} clusters: give each value its cluster")
    if not values:
        return None
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(cluster, len(numbers)) for cluster in clusters])
    hits, sizes = np.bincount(codes, weights=values).astype(float), np.bincount(codes).astype(float)
    mean = float(hits.sum() / sizes.sum())
    if len(sizes) > 1:
        ends = share_interval(hits, sizes)
        return Estimate(mean, float(ends.low), float(ends.high))
    one = wilson(round(mean), 1)
    assert one is not None
    return Estimate(mean, one.low, one.high)


def mean_interval(sums: Floats, sizes: Floats) -> Ends:
    """95 % interval of a mean of numbers between 0 and 1 that come in clusters: `clustered_low` and `clustered_high` of the views.

    All p with (mean - p)^2 <= f p (1 - p) (Wilson 1927), where f is t^2 times what is `believed` of the variance over p (1 - p): as found
    (Liang and Zeger 1986, with Kish's number of clusters), mixed with what an intraclass correlation of 0.3 would give where few clusters
    leave the middle. What is assumed has no few degrees of freedom (Satterthwaite 1946).

    Args:
        sums: by cluster, shape (..., clusters), 0 to sizes.
        sizes: numbers in each cluster.
    """
    from scipy import stats

    n, clusters = sizes.sum(axis=-1), np.asarray((sizes > 0).sum(axis=-1), dtype=float)
    mean = sums.sum(axis=-1) / np.where(n > 0, n, np.nan)
    residuals = sums - mean[..., None] * sizes
    equal = _games_of_equal_size(sizes)
    variance = (residuals**2).sum(axis=-1) / n**2 * equal / np.where(clusters > 1, equal - 1, np.nan)
    seen, assumed = believed(mean, variance, n, (sizes**2).sum(axis=-1) / n, clusters)
    freedom = np.maximum(equal - 1, 1) * ((seen + assumed) / np.maximum(seen, 1e-12)) ** 2
    f = stats.t.ppf((1 + LEVEL) / 2, freedom) ** 2 * (seen + assumed)
    half = np.sqrt(f * (mean * (1 - mean) + f / 4))
    low, high = ((mean + f / 2 + side * half) / (1 + f) for side in (-1, 1))
    return Ends(np.clip(low, 0, mean), np.clip(high, mean, 1))


def believed(share: Floats, variance: Floats, units: Floats, size: Floats, clusters: Floats) -> tuple[Floats, Floats]:
    """What is believed of the variance of a share, over p (1 - p): what is seen between clusters, and what is assumed where few show it.

    Args:
        share: 0 to 1, shape (...).
        variance: of the share, as found between clusters.
        units: their number.
        size: units in the cluster of an average unit.
        clusters: their number.
    """
    binomial = share * (1 - share)
    power = np.where(variance > _ALIKE, 4, 2)  # clusters that are all alike show less of what varies
    hidden = 1 / (1 + (binomial * clusters / FEW) ** power)
    return (1 - hidden) * variance / np.maximum(binomial, 1 / units), hidden * (1 + (size - 1) * CLUSTERING) / units


class Ratio(NamedTuple):
    """A ratio of two sums, and what its games say about it."""

    value: float
    low: float
    high: float
    p_below_one: float
    """One-sided p-value of the hypothesis that it is 1 or more."""


def ratio_interval(above: Floats, below: Floats) -> Ratio | None:
    """Sum of `above` over sum of `below`, both above 0, with its 95 % interval on the log scale; None below two games.

    Args:
        above: by game, shape (games,).
        below: by game.
    """
    from scipy import stats

    games = len(above)
    if games < 2:  # noqa: PLR2004 - a variance between games needs two
        return None
    value = math.log(above.sum() / below.sum())
    without = np.log((above.sum() - above) / (below.sum() - below))
    error = math.sqrt((games - 1) / games * float(((without - value) ** 2).sum()))
    freedom = max(float(_games_of_equal_size(below)) - 1, 1.0)
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    p_value = float(stats.t.cdf(value / error, freedom)) if error else float(value >= 0)
    return Ratio(math.exp(value), math.exp(value - half), math.exp(value + half), p_value)


class Varied(NamedTuple):
    """A coefficient, and what it would be if the games were others."""

    raw: Floats
    """Shape (...); inside its interval."""
    value: Floats
    """The same with the added units."""
    without: Floats
    """`value` without each game, shape (..., games)."""
    pushed: tuple[Pushed, ...]
    """`value` where each kind of added unit counts a little less and more."""
    sizes: Floats
    """What each game weighs, shape (..., games)."""
    alike: Floats | float = 1.0
    """How many games each represents."""


def coefficient_interval(varied: Varied, *, tests: int = 1) -> Ends:
    """95 % interval of a coefficient between -1 and 1; with several tests so wide that all of them hold at once (Bonferroni).

    Args:
        varied: the coefficient.
        tests: how many intervals are read together.
    """
    value = _z(varied.value)
    of_added = sum(((_z(kind.more) - _z(kind.less)) / (2 * NUDGE)) ** 2 / PSEUDO for kind in varied.pushed)
    half = _half(value, _z(varied.without), np.asarray(of_added), (varied.sizes, varied.alike), 1 - (1 - LEVEL) / tests)
    low, high = (np.tanh(value + side * half) for side in (-1, 1))
    return Ends(np.minimum(low, varied.raw), np.maximum(high, varied.raw))


def _z(values: Floats) -> Floats:
    return np.arctanh(np.clip(values, -_INNER, _INNER))


def _half(value: Floats, without: Floats, of_added: Floats, games: tuple[Floats, Floats | float], level: float = LEVEL) -> Floats:
    """Half the width on the transformed scale, `games` being sizes and how many are alike; NaN below two games."""
    from scipy import special  # Student's quantile as scipy.stats has it, which takes a second to load

    sizes, alike = games
    number = (alike * (sizes > 0)).sum(axis=-1)
    several = np.where(number > 1, number, np.nan)
    between = (several - 1) / several * (alike * (without - value[..., None]) ** 2).sum(axis=-1)
    equal = _games_of_equal_size(sizes, alike)
    freedom = np.maximum(equal - 1, 1) * ((between + of_added) / np.maximum(between, 1e-9 * of_added)) ** 2
    half: Floats = special.stdtrit(freedom, (1 + level) / 2) * np.sqrt(between + of_added)
    return half


def _games_of_equal_size(sizes: Floats, alike: Floats | float = 1.0) -> Floats:
    """How many games of equal size carry the weight of these, 1 to games: squared sum over sum of squares; shape (..., games) -> (...)."""
    squares = (alike * sizes**2).sum(axis=-1)
    return np.asarray((alike * sizes).sum(axis=-1) ** 2 / np.where(squares > 0, squares, np.nan))
