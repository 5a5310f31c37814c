"""Correlations between columns of which others are taken out, with intervals over clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from analytics.statistics.intervals import LEVEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Correlation", "correlation", "ranks", "without"]

_FEWEST = 4
_STEADY = 1e-10
_SAME = 1e-9
"""Eigenvalue, over the largest, below which columns say the same."""
_INNER = 1 - 1e-12


class Correlation(NamedTuple):
    """A coefficient, -1 to 1, its 95 % interval over clusters and the p-value of 0; ends and p are None where clusters are too few."""

    value: float
    low: float | None
    high: float | None
    p: float | None


def correlation(
    x: Floats, y: Floats, clusters: NDArray[np.int64], taken_out: int = 0, groups: NDArray[np.int64] | None = None
) -> Correlation | None:
    """Pearson's coefficient; None where a column does not vary. Without ends where clusters are few, or leaving one out changes nothing.

    Each cluster is left out in turn, on Fisher's z, with Student's t (jackknife; Efron and Stein 1981, Annals of Statistics 9).

    Args:
        x: shape (rows,); for a partial coefficient what `without` leaves, for Spearman's the `ranks`.
        y: likewise.
        clusters: shape (rows,), numbers from 0 without gaps.
        taken_out: columns that were taken out of both, which cost degrees of freedom where each row is a cluster.
        groups: shape (rows,), numbers from 0 without gaps: rows whose own means are taken out, again wherever a cluster is left out. Means
            that keep what was left out make the interval too narrow.
    """
    import numpy as np
    from scipy import stats

    of_group = np.zeros(len(x), dtype=np.int64) if groups is None else groups
    shape = int(clusters.max()) + 1, int(of_group.max()) + 1
    places = clusters * shape[1] + of_group
    columns = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    sums = np.stack([np.bincount(places, weights=column, minlength=shape[0] * shape[1]).reshape(shape) for column in columns])
    total = sums.sum(axis=1)
    whole = _pearson(total[:, None])[0]
    if not np.isfinite(whole):
        return None
    clustered = shape[0]
    left = _pearson(total[:, None] - sums)
    freedom = clustered - 1 - (taken_out if clustered == len(x) else 0)
    if clustered < _FEWEST or freedom < 1 or not np.isfinite(left).all():
        return Correlation(float(whole), None, None, None)
    z, apart = _z(whole), _z(left) - _z(np.asarray(whole))
    error = float(np.sqrt((clustered - 1) / clustered * (apart**2).sum()))
    if error <= _STEADY:  # a coefficient of 1, or of as few ranks: an interval without width would say that nothing is in doubt
        return Correlation(float(whole), None, None, None)
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    p = float(2 * stats.t.sf(abs(float(z)) / error, freedom))
    return Correlation(float(whole), float(np.tanh(z - half)), float(np.tanh(z + half)), p)


def without(columns: Floats, others: Mapping[str, Floats]) -> Floats:
    """What of columns the others do not explain (least squares); a constant is always taken out.

    By the normal equations of centred columns of unit length, whose pseudo-inverse allows for columns that say the same, applied twice
    (iterative refinement; Björck 1996, Numerical Methods for Least Squares Problems, section 2.9): the levels of hundreds of tasks are many
    columns of many rows, and a decomposition of them all takes a hundred times longer.

    Args:
        columns: shape (rows,), or (rows, columns).
        others: each of shape (rows,).
    """
    import numpy as np

    rest: Floats = columns - columns.mean(axis=0)
    if others:
        design = np.column_stack([*others.values()])
        design = design - design.mean(axis=0)
        lengths = np.sqrt((design**2).sum(axis=0))
        design = design[:, lengths > _STEADY] / lengths[lengths > _STEADY]
        inverse = np.linalg.pinv(design.T @ design, rcond=_SAME, hermitian=True)
        for _ in range(2):
            rest = rest - design @ (inverse @ (design.T @ rest))
    return np.where(np.abs(rest) < _STEADY * np.maximum(1.0, np.abs(columns).max(axis=0)), 0.0, rest)


def ranks(column: Floats) -> Floats:
    """Mean ranks, divided by the number of rows."""
    from scipy import stats

    found: Floats = stats.rankdata(column) / len(column)
    return found


def _pearson(sums: Floats) -> Floats:
    """From count, sums, sums of squares and products; shape (6, data sets, groups) -> (data sets,). Means of groups are taken out."""
    import numpy as np

    n, x, y, xx, yy, xy = sums
    count = np.where(n > 0, n, 1)  # a group of which nothing is left has no sums either
    spread_x, spread_y = ((square - of * of / count).sum(axis=-1) for square, of in ((xx, x), (yy, y)))
    together = (xy - x * y / count).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = spread_x * spread_y
        steady = spread <= _STEADY**2 * np.maximum(xx.sum(axis=-1) * yy.sum(axis=-1), 1e-300)
        found: Floats = np.where(steady, np.nan, np.clip(together / np.sqrt(np.where(steady, 1, spread)), -1, 1))
    return found


def _z(values: Floats) -> Floats:
    import numpy as np

    found: Floats = np.arctanh(np.clip(values, -_INNER, _INNER))
    return found
