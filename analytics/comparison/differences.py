"""Differences between two teams: on the tasks they share, or between their tasks where they share none.

A task counts once, however often it was played: what varies is the task. Differences on shared tasks have Student's interval over tasks,
others Welch's. Where values are only yes or no, or differ on all shared tasks alike, a task at either end is added first: of differences
one fully won and one fully lost (Bonett and Price 2012, Journal of Educational and Behavioral Statistics 37), of each team's values one yes
and one no (Agresti and Caffo 2000, American Statistician 54). A team that always succeeds has no variance of its own, and without them the
interval of ten tasks held a true difference of 0.1 in 65 %. Where a task has several games, so much less of it is added: one game's worth.
Tests are exact permutations (`analytics.statistics.permutation`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.statistics.intervals import LEVEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["FEWEST", "MeanDifference", "ValueRange", "paired", "unpaired"]

FEWEST: Final = 6
"""Shared tasks below which no p below 0.05 is possible: 2 / 2^5 = 0.0625."""

_STEADY: Final = 1e-12


class ValueRange(NamedTuple):
    """What values there can be."""

    span: float | None
    """How far apart two can be; None: nobody knows."""
    yes_or_no: bool = False
    """Whether there are only the two ends."""
    low: float = 0.0
    """The lower end, where `span` is known."""


class MeanDifference(NamedTuple):
    """First minus second; None where there is too little."""

    value: float
    low: float | None
    high: float | None
    p: float | None


def paired(first: Floats, second: Floats, scale: ValueRange, runs: float = 1.0) -> MeanDifference:
    """Mean difference over shared tasks.

    Args:
        first: mean value of each task, shape (tasks,), one or more.
        second: the same tasks of the other team.
        scale: of the values.
        runs: games of a task, on average over tasks and teams.
    """
    from analytics.statistics.permutation import sign_flip_p

    differences = first - second
    mean = float(differences.mean())
    if len(differences) < 2:  # noqa: PLR2004 - a variance needs two
        return MeanDifference(mean, None, None, None)
    p = sign_flip_p(differences) if len(differences) >= FEWEST else None
    estimate, span = _estimate(differences), scale.span
    if span is not None and (scale.yes_or_no or estimate.variance <= _STEADY**2):
        estimate = _estimate(differences, (-span, span), 1 / runs)
    elif estimate.variance <= _STEADY**2:
        return MeanDifference(mean, None, None, p)
    return MeanDifference(mean, *_ends(mean, estimate, span), p)


def unpaired(first: Floats, second: Floats, scale: ValueRange, runs: float = 1.0) -> MeanDifference:
    """Difference of the means over the tasks of either, with Welch's interval (1947, Biometrika 34).

    Args:
        first: mean value of each task, shape (tasks,), one or more.
        second: other tasks.
        scale: of the values.
        runs: as in `paired`.
    """
    from analytics.statistics.permutation import exchange_p

    mean = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:  # noqa: PLR2004
        return MeanDifference(mean, None, None, None)
    p = exchange_p(first, second)
    added = (scale.low, scale.low + scale.span) if scale.span is not None and scale.yes_or_no else ()
    one, other = (_estimate(side, added, 1 / runs) for side in (first, second))
    variance = one.variance + other.variance
    if variance <= _STEADY:
        return MeanDifference(mean, *_of_steady(mean, min(len(first), len(second)), scale.span), p)
    freedom = variance**2 / (one.variance**2 / one.freedom + other.variance**2 / other.freedom)
    return MeanDifference(mean, *_ends(mean, _Estimate(one.mean - other.mean, variance, freedom), scale.span), p)


class _Estimate(NamedTuple):
    mean: float
    variance: float
    """Of the mean."""
    freedom: float


def _estimate(values: Floats, added: tuple[float, ...] = (), times: float = 0.0) -> _Estimate:
    """Mean of values, and of others that stand there so many times."""
    n = len(values) + times * len(added)
    mean = (float(values.sum()) + times * sum(added)) / n
    squares = float(((values - mean) ** 2).sum()) + times * sum((value - mean) ** 2 for value in added)
    return _Estimate(mean, squares / (n * (n if added else n - 1)), n - 1)


def _ends(mean: float, estimate: _Estimate, span: float | None) -> tuple[float, float]:
    """By Student's t; the mean of the values alone is between them, and what cannot be is beyond."""
    from scipy import stats

    half = float(stats.t.ppf((1 + LEVEL) / 2, estimate.freedom)) * math.sqrt(estimate.variance)
    return _inside(min(estimate.mean - half, mean), max(estimate.mean + half, mean), span)


def _of_steady(mean: float, tasks: int, span: float | None) -> tuple[float | None, float | None]:
    """Nothing varies on either side: what may hide behind so few tasks."""
    from analytics.statistics.intervals import wilson

    unseen = wilson(0, tasks)
    if span is None or unseen is None:
        return None, None
    return _inside(mean - unseen.high * span, mean + unseen.high * span, span)


def _inside(low: float, high: float, span: float | None) -> tuple[float, float]:
    return (low, high) if span is None else (max(low, -span), min(high, span))
