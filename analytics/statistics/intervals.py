"""Intervals and standard errors for reports and pages; the views use the same formulas in SQL (``intervals.sql``)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from schemas.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Estimate", "Interval", "clustered_sem", "pearson", "t_interval", "wilson"]

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
    import numpy as np

    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    if len(codes) != len(values):
        raise UsageError(f"{len(values)} values but {len(codes)} clusters: give each value its cluster")
    if not codes:
        return np.zeros((0, 2))
    return np.column_stack([np.bincount(codes, weights=values), np.bincount(codes).astype(float)])
