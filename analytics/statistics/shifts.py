"""Differences between two rates whose answers come in games: of the same units asked twice, and of different units.

All take sums by game, since the answers about one game are not independent. `tests/analytics/test_drift.py` measures on simulated games
how often
they claim a difference where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.statistics.intervals import LEVEL, wilson
from analytics.statistics.permutation import sign_flip_p

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["FEWEST_FLIPPED", "FEWEST_GAMES", "Cells", "Shift", "group_shift", "holm", "paired_shift"]

FEWEST_GAMES: Final = 5
"""Games on either side below which `group_shift` gives no interval and no p."""

FEWEST_FLIPPED: Final = 6
"""Games below which `paired_shift` gives no p: if all five moved alike, it would be 2 / 2^5 = 0.0625, so the test could show nothing."""

_NOTHING: Final = 1e-12


class Shift(NamedTuple):
    """A later rate minus an earlier one, its 95 % interval, and the p-value of no difference; None where there is too little."""

    difference: float
    low: float | None
    high: float | None
    p: float | None


class Cells(NamedTuple):
    """Answers summed by stratum, game and side; one entry a cell, shape (cells,)."""

    strata: NDArray[np.int64]
    """Number of the stratum, from 0: what is compared only with its like, such as the evaluated model."""
    games: NDArray[np.int64]
    """Number of the game, from 0 without gaps; it may be in several strata."""
    late: NDArray[np.bool_]
    """The side."""
    sizes: Floats
    """Units."""
    sums: Floats
    """Sum of their values, each 0 to 1."""


def paired_shift(differences: Floats, sizes: Floats) -> Shift:
    """Mean difference of units that were asked twice.

    The test is McNemar's (1947, Psychometrika 12) in its exact form, with games in place of units: under no drift the sum of a game's
    differences is as likely to be d as -d. (`analytics.statistics.permutation`; with many games
    Obuchowski's statistic, 1998, Statistics in Medicine 17). No p below six games. The
    interval is Student's over games (`clustered_sem`); where no unit differs, Wilson's of no game among all.

    Args:
        differences: shape (games,): sum over the game's units of later minus earlier value.
        sizes: shape (games,): units.
    """
    import numpy as np
    from scipy import special  # Student's t as scipy.stats has it, which takes a second to load

    games, units = len(sizes), float(sizes.sum())
    difference = float(differences.sum()) / units
    moved = differences[np.abs(differences) > _NOTHING]
    if not len(moved):
        return _unmoved(games) if games >= FEWEST_FLIPPED else _unmoved(games)._replace(p=None)
    residuals = differences - difference * sizes
    low = high = None
    if games > 1:
        error = math.sqrt(games / (games - 1) * float((residuals**2).sum())) / units
        low, high = _around(difference, float(special.stdtrit(games - 1, (1 + LEVEL) / 2)) * error)
    return Shift(difference, low, high, sign_flip_p(moved) if games >= FEWEST_FLIPPED else None)


def group_shift(cells: Cells) -> Shift | None:
    """Mean of the late units minus mean of the early ones, inside strata.

    Least squares with a level for each stratum. The variance is that of the jackknife over games, (G - 1) / G times the sum of squares of
    what leaving a game out changes (Efron and Stein 1981, Annals of Statistics 9; of the sandwich estimators the careful one, CR3), the
    quantile Student's with G - strata - 1 degrees of freedom. Where no game's absence changes anything, Fisher's exact test over games
    stands in. None where no stratum has both sides.
    """
    import numpy as np
    from scipy import special  # Student's t as scipy.stats has it, which takes a second to load

    if not len(cells.games):
        return None
    of_cell: Floats = np.stack(_sums(cells))
    of_stratum = _by(cells.strata, of_cell)
    covariance, spread = _moments(of_stratum)
    if spread.sum() <= _NOTHING:
        return None
    difference = float(covariance.sum() / spread.sum())
    kept = spread[cells.strata] > _NOTHING
    sides = [len(np.unique(cells.games[kept & side])) for side in (cells.late, ~cells.late)]
    used = np.unique(cells.games[kept])
    freedom = len(used) - int((spread > _NOTHING).sum()) - 1
    if min(sides) < FEWEST_GAMES or freedom < 1:
        return Shift(difference, None, None, None)
    games = int(cells.games.max()) + 1
    parts, place = np.unique(cells.strata * games + cells.games, return_inverse=True)
    strata, of_part = parts // games, _by(place, of_cell)
    changes = np.stack(_moments(of_stratum[:, strata] - of_part)) - np.stack([covariance[strata], spread[strata]])
    covariance_without, spread_without = np.stack([[covariance.sum()], [spread.sum()]]) + _by(parts % games, changes)[:, used]
    if spread_without.min() <= _NOTHING:
        return Shift(difference, None, None, None)  # all rests on one game
    without = covariance_without / spread_without
    error = math.sqrt((len(used) - 1) / len(used) * float(((without - difference) ** 2).sum()))
    if error <= _NOTHING:
        return _without_spread(difference, sides)
    p = float(2 * special.stdtr(freedom, -abs(difference) / error))
    return Shift(difference, *_around(difference, float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error), p)


def _by(groups: NDArray[np.int64], weights: Floats) -> Floats:
    """Sums over the cells of each group: shape (kinds, cells) -> (kinds, groups)."""
    import numpy as np

    return np.stack([np.bincount(groups, weights=kind) for kind in weights])


def _sums(cells: Cells) -> tuple[Floats, Floats, Floats, Floats]:
    """Units, late units, values, late values of each cell."""
    return cells.sizes, cells.sizes * cells.late, cells.sums, cells.sums * cells.late


def _moments(sums: Floats) -> tuple[Floats, Floats]:
    """Of side and value, and of the side alone, around the stratum's mean; 0 where there is nothing; from sums as in `_sums`."""
    import numpy as np

    units, late, values, late_values = sums
    some = np.where(units > _NOTHING, units, 1.0)
    return late_values - late * values / some, late - late**2 / some


def _without_spread(difference: float, sides: Sequence[int]) -> Shift:
    from scipy import stats

    if abs(difference) <= _NOTHING:
        return _unmoved(min(sides))
    table = [[sides[0], 0], [0, sides[1]]]
    return Shift(difference, *_around(difference, _unseen(min(sides))), float(stats.fisher_exact(table).pvalue))


def _unmoved(games: int) -> Shift:
    return Shift(0.0, *_around(0.0, _unseen(games)), 1.0)


def _unseen(games: int) -> float:
    """What may hide behind none of so many games."""
    found = wilson(0, games)
    return 1.0 if found is None else found.high


def _around(difference: float, half: float) -> tuple[float, float]:
    return max(-1.0, difference - half), min(1.0, difference + half)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for their number by Holm's method (1979, Scandinavian Journal of Statistics 6); None stays None and is no test."""
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, p * (len(order) - rank)))
        found[place] = largest
    return found
