"""Tests of differences: of rates whose answers come in games, of shares, by permutation, and repeated while games are played.

All take sums by game, since the answers about one game are not independent. `tests/analytics/test_drift.py` measures on simulated games
how often they report a difference where there is none.

Sequential tests: a t test at 0.05 that is repeated after each of a hundred tasks reports a difference where there is none about a third of
the time. `always_valid_p` and `confidence_sequence` may be computed after every task, and play may stop at any time. They bet on the next
task, and the winnings cannot grow on average where there is no difference. Ville's inequality (1939) bounds the chance that they ever reach
1 / level by the level. Source: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, Journal of the
Royal Statistical Society B 86; the stakes are a fixed mixture, no guess at how large the difference is.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.statistics.intervals import LEVEL, Floats, wilson

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
    (`scipy.stats.permutation_test`; Welch's statistic holds the level where the variances differ: Janssen 1997, Statistics and Probability
    Letters 36).

    Args:
        first: shape (n,), two or more.
        second: shape (m,), two or more.
    """
    from scipy import stats

    def welch(a: Floats, b: Floats, axis: int = -1) -> Floats:
        spread = np.sqrt(a.var(axis=axis, ddof=1) / a.shape[axis] + b.var(axis=axis, ddof=1) / b.shape[axis])
        difference = a.mean(axis=axis) - b.mean(axis=axis)
        return np.asarray(difference / np.maximum(spread, 1e-12))

    found = stats.permutation_test((first, second), welch, n_resamples=_DRAWS, rng=np.random.default_rng(_SEED))
    return float(found.pvalue)


def _signed_sums(values: Floats) -> Floats:
    """Of all signs, shape (2 ** values,)."""
    sums: Floats = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


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
    differences is as likely to be d as -d. (`analytics.statistics.shifts`; with many games
    Obuchowski's statistic, 1998, Statistics in Medicine 17). No p below six games. The
    interval is Student's over games (`clustered_sem`); where no unit differs, Wilson's of no game among all.

    Args:
        differences: shape (games,): sum over the game's units of later minus earlier value.
        sizes: shape (games,): units.
    """
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
    replaces it. None where no stratum has both sides.
    """
    from scipy import special  # Student's t as scipy.stats has it, which takes a second to load

    if not len(cells.games):
        return None
    of_cell: Floats = np.stack(_sums(cells))
    of_stratum = _by(cells.strata, of_cell)
    covariance, spread = _moments(of_stratum)
    if spread.sum() <= _NOTHING:
        return None
    difference = float(covariance.sum() / spread.sum())
    both = spread[cells.strata] > _NOTHING
    sides = [len(np.unique(cells.games[both & side])) for side in (cells.late, ~cells.late)]
    used = np.unique(cells.games[both])
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
    return np.stack([np.bincount(groups, weights=kind) for kind in weights])


def _sums(cells: Cells) -> tuple[Floats, Floats, Floats, Floats]:
    """Units, late units, values, late values of each cell."""
    return cells.sizes, cells.sizes * cells.late, cells.sums, cells.sums * cells.late


def _moments(sums: Floats) -> tuple[Floats, Floats]:
    """Of side and value, and of the side alone, around the stratum's mean; 0 where there is nothing; from sums as in `_sums`."""
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
    """p-values corrected for their number by Holm's method (1979, Scandinavian Journal of Statistics 6); None stays None."""
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, p * (len(order) - rank)))
        found[place] = largest
    return found


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
    unseen = sum(_unseen_share(float(of.sum()), float(n.sum())) for of, n in ((hits, sizes), (other_hits, other_sizes)))
    freedom = max(min(float(n.sum() ** 2 / (n**2).sum()) for n in (sizes, other_sizes)) - 1, 1.0)
    error = math.sqrt(between + unseen)
    if error <= _STEADY:  # copies of one game say nothing of others
        return Shift(difference, None, None, None)
    half = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error
    p = float(2 * special.stdtr(freedom, -abs(difference) / error))
    return Shift(difference, max(-1.0, difference - half), min(1.0, difference + half), p)


def _unseen_share(hits: float, n: float) -> float:
    """Variance of a share of n with half a hit and half a miss more, where there are none of one of them; 0 elsewhere."""
    if _STEADY < hits < n - _STEADY:
        return 0.0
    share = (hits + _PSEUDO) / (n + 2 * _PSEUDO)
    return share * (1 - share) / n


_STAKES: Final = tuple(place / 20 for place in range(1, 20))
"""Shares of the wealth that are put on the next task, on either side."""
_GRID: Final = 401
_TINY: Final = 1e-300


def always_valid_p(differences: Floats) -> Floats:
    """The p-value of no difference after each task; the chance that it is ever at or below a level is at most that level.

    Args:
        differences: by task in the order played, each -1 to 1, shape (..., tasks). Where nothing differs, the expected difference of each
            is 0, whatever came before.

    Returns:
        Of the same shape, 0 to 1, never rising.
    """
    wealth = np.exp(np.maximum.accumulate(_log_wealth(differences, 1.0), axis=-1))
    return np.minimum(1.0, 1 / np.maximum(wealth, _TINY))


def confidence_sequence(differences: Floats, level: float) -> tuple[float, float]:
    """Ends between which the mean difference lies, at all looks at once but for a chance of `level`.

    Args:
        differences: by task in the order played, each -1 to 1, shape (tasks,).
        level: 0 to 1, such as 0.05.
    """
    means = np.linspace(-1, 1, _GRID)
    wealth = _log_wealth(differences[None, :] - means[:, None], 1 + np.abs(means)[:, None])
    used = means[wealth.max(axis=-1, initial=0.0) < np.log(1 / level)]
    middle = float(differences.mean()) if len(differences) else 0.0
    return (float(used.min()), float(used.max())) if len(used) else (middle, middle)


def _log_wealth(differences: Floats, most: Floats | float) -> Floats:
    """Logarithm of the mean wealth over all stakes on both sides, after each task; `most` is how far a difference can be from 0."""
    stakes = np.array([side * stake for side in (-1, 1) for stake in _STAKES]).reshape(-1, *(1,) * differences.ndim)
    grown = np.cumsum(np.log1p(stakes / most * differences), axis=-1)
    top = grown.max(axis=0)
    found: Floats = top + np.log(np.exp(grown - top).mean(axis=0))
    return found
