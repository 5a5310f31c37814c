"""The difference of two shares of the same games, such as after a failure and else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analytics.statistics.intervals import LEVEL
from analytics.statistics.shifts import Shift

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["share_difference"]

_FEWEST = 4
_PSEUDO = 0.5
_STEADY = 1e-12


def share_difference(hits: Floats, sizes: Floats, other_hits: Floats, other_sizes: Floats) -> Shift:
    """Share minus other share, with its 95 % interval and p; None below four games, and where no game differs from the others.

    Each game is left out in turn (jackknife; Efron and Stein 1981, Annals of Statistics 9). To the variance is added that of half a hit and
    half a miss on either side, which only tells where no game differs; Student's t with one degree of freedom less than games of equal size
    that would weigh as much as those of the smaller side (Kish 1965, Survey Sampling).

    Args:
        hits: by game, shape (games,), 0 to sizes.
        sizes: units of the share.
        other_hits: of the other share.
        other_sizes: its units.
    """
    from scipy import special  # Student's t as scipy.stats has it, which takes a second to load

    difference = float(hits.sum() / sizes.sum() - other_hits.sum() / other_sizes.sum())
    games = int(((sizes > 0) | (other_sizes > 0)).sum())
    rest, other_rest = sizes.sum() - sizes, other_sizes.sum() - other_sizes
    if games < _FEWEST or rest.min() <= 0 or other_rest.min() <= 0:
        return Shift(difference, None, None, None)
    without = (hits.sum() - hits) / rest - (other_hits.sum() - other_hits) / other_rest
    between = (games - 1) / games * float(((without - difference) ** 2).sum())
    unseen = sum(_unseen(float(of.sum()), float(n.sum())) for of, n in ((hits, sizes), (other_hits, other_sizes)))
    freedom = max(min(float(n.sum() ** 2 / (n**2).sum()) for n in (sizes, other_sizes)) - 1, 1.0)
    error = math.sqrt(between + unseen)
    if error <= _STEADY:  # copies of one game say nothing of others
        return Shift(difference, None, None, None)
    half = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error
    p = float(2 * special.stdtr(freedom, -abs(difference) / error))
    return Shift(difference, max(-1.0, difference - half), min(1.0, difference + half), p)


def _unseen(hits: float, n: float) -> float:
    """Variance of a share of n with half a hit and half a miss more, where there are none of one of them; 0 elsewhere."""
    if _STEADY < hits < n - _STEADY:
        return 0.0
    share = (hits + _PSEUDO) / (n + 2 * _PSEUDO)
    return share * (1 - share) / n
