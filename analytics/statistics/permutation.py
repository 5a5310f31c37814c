"""Permutation tests of differences: exact wherever that can be counted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["exchange_p", "sign_flip_p"]

_EXACT_UP_TO: Final = 30
"""Differences whose signs are all tried; above it their sum is near enough to normal."""
_DRAWS: Final = 9999
_SEED: Final = 7


def sign_flip_p(differences: Floats) -> float:
    """Two-sided p-value of paired differences that are as likely to be d as -d (Fisher 1935, The Design of Experiments, section 21).

    Up to 30 differences other than 0 all signs are tried: the sums of both halves are sorted and counted against each other (Pagano and
    Tritchler 1983, Journal of the American Statistical Association 78, for exact tests without listing). Above, the sum over the root of
    the sum of squares is taken for normal.

    Args:
        differences: shape (pairs,).
    """
    import numpy as np
    from scipy import special  # the normal tail as scipy.stats has it, which takes a second to load

    largest = float(np.abs(differences).max(initial=0.0))
    if not largest:
        return 1.0
    moved = differences[np.abs(differences) > 1e-12 * largest]
    total = abs(float(moved.sum()))
    if len(moved) > _EXACT_UP_TO:
        return float(2 * special.ndtr(-total / math.sqrt(float((moved**2).sum()))))
    least = total - 1e-9 * largest
    one, other = _signed_sums(moved[::2]), np.sort(_signed_sums(moved[1::2]))
    below = np.searchsorted(other, -least - one, side="right")
    above = len(other) - np.searchsorted(other, least - one, side="left")
    extreme = below + above if least > 0 else np.full(len(one), len(other))
    return float(extreme.sum()) / (len(one) * len(other))


def exchange_p(first: Floats, second: Floats) -> float:
    """Two-sided p-value of two independent samples that could be exchanged, by Welch's statistic.

    All ways to deal the values to two samples of these sizes if there are few, else 9,999 at random with a fixed seed
    (`scipy.stats.permutation_test`; Welch's statistic keeps the level where the variances differ: Janssen 1997, Statistics and Probability
    Letters 36).

    Args:
        first: shape (n,), two or more.
        second: shape (m,), two or more.
    """
    import numpy as np
    from scipy import stats

    def welch(a: Floats, b: Floats, axis: int = -1) -> Floats:
        spread = np.sqrt(a.var(axis=axis, ddof=1) / a.shape[axis] + b.var(axis=axis, ddof=1) / b.shape[axis])
        difference = a.mean(axis=axis) - b.mean(axis=axis)
        return np.asarray(difference / np.maximum(spread, 1e-12))

    found = stats.permutation_test((first, second), welch, n_resamples=_DRAWS, rng=np.random.default_rng(_SEED))
    return float(found.pvalue)


def _signed_sums(values: Floats) -> Floats:
    """Of all signs, shape (2 ** values,)."""
    import numpy as np

    sums: Floats = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums
