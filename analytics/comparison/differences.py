"""Differences between two teams: on the tasks they share, or between their tasks where they share none.

A task counts once, however often it was played: what varies is the task. Differences on shared tasks have Student's interval over tasks;
where values are only 0 or 1, or do not vary, the score interval of a bounded mean (`analytics.statistics.cluster_intervals.mean_interval`),
which has a width where all tasks are alike. Tests are exact permutations (`analytics.statistics.permutation`).
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


class MeanDifference(NamedTuple):
    """First minus second; None where there is too little."""

    value: float
    low: float | None
    high: float | None
    p: float | None


def paired(first: Floats, second: Floats, scale: ValueRange) -> MeanDifference:
    """Mean difference over shared tasks.

    Args:
        first: mean value of each task, shape (tasks,), one or more.
        second: the same tasks of the other team.
        scale: of the values.
    """
    from analytics.statistics.permutation import sign_flip_p

    differences = first - second
    mean = float(differences.mean())
    if len(differences) < 2:  # noqa: PLR2004 - a variance needs two
        return MeanDifference(mean, None, None, None)
    p = sign_flip_p(differences) if len(differences) >= FEWEST else None
    return MeanDifference(mean, *_ends(differences, scale), p)


def unpaired(first: Floats, second: Floats, scale: ValueRange) -> MeanDifference:
    """Difference of the means over the tasks of either, with Welch's interval (1947, Biometrika 34).

    Args:
        first: mean value of each task, shape (tasks,), one or more.
        second: other tasks.
        scale: of the values.
    """
    import numpy as np
    from scipy import stats

    from analytics.statistics.permutation import exchange_p

    mean = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:  # noqa: PLR2004
        return MeanDifference(mean, None, None, None)
    variances = np.array([side.var(ddof=1) / len(side) for side in (first, second)])
    if variances.sum() <= _STEADY:
        return MeanDifference(mean, *_of_steady(mean, min(len(first), len(second)), scale.span), exchange_p(first, second))
    freedom = variances.sum() ** 2 / (variances**2 / np.array([len(first) - 1, len(second) - 1])).sum()
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * math.sqrt(float(variances.sum()))
    return MeanDifference(mean, *_inside(mean - half, mean + half, scale.span), exchange_p(first, second))


def _ends(differences: Floats, scale: ValueRange) -> tuple[float | None, float | None]:
    """Student's; of yes and no, and where all differences are the same, those of a bounded mean."""
    import numpy as np
    from scipy import stats

    from analytics.statistics.cluster_intervals import mean_interval

    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    mean, span = float(differences.mean()), scale.span
    if span is not None and (scale.yes_or_no or error <= _STEADY):
        ends = mean_interval((differences / span + 1) / 2, np.ones(len(differences)))
        return (2 * float(ends.low) - 1) * span, (2 * float(ends.high) - 1) * span
    if error <= _STEADY:
        return None, None
    half = float(stats.t.ppf((1 + LEVEL) / 2, len(differences) - 1)) * error
    return _inside(mean - half, mean + half, span)


def _of_steady(mean: float, tasks: int, span: float | None) -> tuple[float | None, float | None]:
    """Nothing varies on either side: what may hide behind so few tasks."""
    from analytics.statistics.intervals import wilson

    unseen = wilson(0, tasks)
    if span is None or unseen is None:
        return None, None
    return _inside(mean - unseen.high * span, mean + unseen.high * span, span)


def _inside(low: float, high: float, span: float | None) -> tuple[float, float]:
    return (low, high) if span is None else (max(low, -span), min(high, span))
