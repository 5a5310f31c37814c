"""Regressions whose rows come in clusters, such as turns of games about one task.

Coefficients are those of ordinary least squares or logistic regression (statsmodels): generalised estimating equations with independence as
working correlation (Liang and Zeger 1986, Biometrika 73). Their covariance is that of Mancl and DeRouen (2001, Biometrics 57), who undo
that residuals of few clusters are too small, written so that a cluster costs no more than the number of columns squared; with Student's t
of clusters minus one degrees of freedom. With these the intervals hold with ten tasks, where the plain sandwich needs fifty.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.statistics.intervals import LEVEL, Floats
from analytics.statistics.shifts import sign_flip_p

_CONSTANT = "constant"
_COLLINEAR = 1e-8
_LOG_RATIOS = (-16.0, 9.0)
"""Logarithm of the variance of clusters over that of rows: where it is looked for, besides none."""
_MOST = 8.0
"""Absolute log odds over a column's range above which it tells yes from no fully: no finite coefficient."""


class Coefficient(NamedTuple):
    """Of one column, with its 95 % interval and the p-value of 0."""

    value: float
    low: float
    high: float
    p: float


def clustered_regression(
    outcome: Floats, columns: Mapping[str, Floats], clusters: NDArray[np.int64], *, yes_or_no: bool
) -> dict[str, Coefficient]:
    """Coefficients by column; a column that the ones before it determine has none, and nor has one that tells yes from no fully.

    Args:
        outcome: shape (rows,); 0 or 1 if `yes_or_no`.
        columns: name -> shape (rows,); a constant is added in front.
        clusters: shape (rows,), numbers from 0 without gaps.
        yes_or_no: logistic regression, whose coefficients are log odds; else least squares.
    """
    from scipy import stats
    from statsmodels.genmod.families import Binomial, Gaussian
    from statsmodels.genmod.generalized_linear_model import GLM

    groups = int(clusters.max()) + 1 if len(clusters) else 0
    names, design = _independent({_CONSTANT: np.ones(len(outcome)), **columns})
    if groups <= 1 or len(outcome) <= len(names) or outcome.min() == outcome.max():
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # full separation: its coefficients are left out below
        fitted = GLM(outcome, design, family=Binomial() if yes_or_no else Gaussian()).fit(maxiter=50)
        mean = np.asarray(fitted.fittedvalues)  # computed when it is asked for
    weights = np.maximum(mean * (1 - mean), 1e-12) if yes_or_no else np.ones(len(mean))
    covariance = cluster_covariance(design, outcome - mean, weights, clusters)
    quantile = float(stats.t.ppf((1 + LEVEL) / 2, groups - 1))
    found: dict[str, Coefficient] = {}
    for name, value, variance in zip(names, np.asarray(fitted.params), np.diag(covariance), strict=True):
        parted = yes_or_no and abs(value) * float(np.ptp(design[:, names.index(name)])) > _MOST
        if name == _CONSTANT or variance <= 0 or not np.isfinite(variance) or parted:
            continue
        error = float(np.sqrt(variance))
        p = float(2 * stats.t.sf(abs(value) / error, groups - 1))
        found[name] = Coefficient(float(value), float(value - quantile * error), float(value + quantile * error), p)
    return found


def mixed_coefficient(outcome: Floats, columns: Mapping[str, Floats], clusters: NDArray[np.int64], name: str) -> Coefficient | None:
    """The same of a linear mixed model with a random level of each cluster, by restricted maximum likelihood (Laird and Ware 1982).

    Args:
        outcome: as in `clustered_regression`.
        columns: likewise.
        clusters: likewise.
        name: whose coefficient; None comes back where the others determine it, or where the model cannot be fitted.
    """
    from scipy import optimize, stats

    names, design = _independent({_CONSTANT: np.ones(len(outcome)), **columns})
    groups = int(clusters.max()) + 1 if len(clusters) else 0
    if name not in names or groups <= 1 or len(outcome) <= len(names) or not outcome.std():
        return None
    place, sums = names.index(name), _sums(outcome, design, clusters)
    found = optimize.minimize_scalar(
        lambda ratio: _fitted(sums, float(np.exp(ratio))).deviance, bounds=_LOG_RATIOS, method="bounded", options={"xatol": 1e-6}
    )
    best = min((_fitted(sums, float(np.exp(found.x))), _fitted(sums, 0.0)), key=lambda fit: fit.deviance)
    value, error = float(best.values[place]), float(np.sqrt(best.covariance[place, place]))
    half = float(stats.norm.ppf((1 + LEVEL) / 2)) * error
    coefficient = Coefficient(value, value - half, value + half, float(2 * stats.norm.sf(abs(value) / error)) if error else 0.0)
    return coefficient if np.isfinite(coefficient).all() else None


class _Sums(NamedTuple):
    """All that a model with a random level needs of the rows."""

    rows: int
    squares: Floats
    """Shape (columns, columns): design by design."""
    products: Floats
    """Shape (columns,): design by outcome."""
    outcome_squares: float
    sizes: Floats
    """Shape (clusters,)."""
    design: Floats
    """Sums of each cluster, shape (clusters, columns)."""
    outcome: Floats
    """Likewise, shape (clusters,)."""


class _Fit(NamedTuple):
    """By restricted maximum likelihood, with the variance of the levels over that of the rows given."""

    deviance: float
    """-2 log likelihood up to a constant."""
    values: Floats
    covariance: Floats


def _sums(outcome: Floats, design: Floats, clusters: NDArray[np.int64]) -> _Sums:
    groups = int(clusters.max()) + 1
    sizes = np.bincount(clusters, minlength=groups).astype(float)
    by_cluster = np.zeros((groups, design.shape[1]))
    np.add.at(by_cluster, clusters, design)
    totals = np.zeros(groups)
    np.add.at(totals, clusters, outcome)
    return _Sums(len(outcome), design.T @ design, design.T @ outcome, float(outcome @ outcome), sizes, by_cluster, totals)


def _fitted(sums: _Sums, ratio: float) -> _Fit:
    """With V = I + ratio J of a cluster, V^-1 = I - ratio / (1 + n ratio) J: a fit costs clusters times columns squared, not rows."""
    weights = ratio / (1 + sums.sizes * ratio)
    information = sums.squares - (sums.design * weights[:, None]).T @ sums.design
    products = sums.products - (sums.design * weights[:, None]).T @ sums.outcome
    values = np.asarray(np.linalg.solve(information, products), dtype=np.float64)
    rest = max(sums.outcome_squares - float(weights @ sums.outcome**2) - float(values @ products), 1e-300)
    free = sums.rows - len(values)
    deviance = free * np.log(rest) + float(np.log1p(sums.sizes * ratio).sum()) + float(np.linalg.slogdet(information)[1])
    covariance = np.asarray(rest / free * np.linalg.inv(information), dtype=np.float64)
    return _Fit(float(deviance), values, covariance)


def dummies(values: Sequence[object], prefix: str) -> dict[str, Floats]:
    """A column for each value but the most frequent: 1 in its rows."""
    counts: dict[object, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    _, *others = sorted(counts, key=lambda value: (-counts[value], str(value)))
    return {f"{prefix}{value}": np.array([one == value for one in values], dtype=float) for value in others}


def mean_by(values: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Of each row the mean of its cluster, shape (rows,)."""
    sums, sizes = np.bincount(clusters, weights=values), np.bincount(clusters)
    means: Floats = (sums / np.maximum(sizes, 1))[clusters]
    return means


def _independent(columns: Mapping[str, Floats]) -> tuple[list[str], Floats]:
    """Columns that are not sums of those before them."""
    used: list[str] = []
    basis: list[Floats] = []
    for name, column in columns.items():
        rest = column.astype(float)
        size = float(np.linalg.norm(rest))
        for one in basis:
            rest = rest - (one @ rest) * one
        left = float(np.linalg.norm(rest))
        if left > _COLLINEAR * max(size, 1.0):
            used.append(name)
            basis.append(rest / left)
    return used, np.column_stack([columns[name] for name in used])


def cluster_covariance(design: Floats, residuals: Floats, weights: Floats, clusters: NDArray[np.int64]) -> Floats:
    """A (sum of b b') A with A the inverse information and b = X'(1 - H)^-1 r = s + M (1/A - M)^-1 s, M and s a cluster's parts.

    Args:
        design: shape (rows, columns).
        residuals: shape (rows,).
        weights: variances of the rows up to a factor: 1 of least squares, p (1 - p) of logistic regression.
        clusters: numbers from 0 without gaps.
    """
    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(int(clusters.max()) + 1))
    scores = np.add.reduceat((design * residuals[:, None])[order], starts, axis=0)
    weighted = design * weights[:, None]
    parts = np.stack(
        [rows.T @ other for rows, other in zip(*(np.split(one[order], starts[1:]) for one in (design, weighted)), strict=True)]
    )
    information = parts.sum(axis=0)
    inverse = np.linalg.pinv(information)
    bent = np.stack([score + part @ (np.linalg.pinv(information - part) @ score) for part, score in zip(parts, scores, strict=True)])
    covariance: Floats = inverse @ (bent.T @ bent) @ inverse
    return covariance


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

    Each cluster is left out in turn, on Fisher's z, with Student's t (jackknife; Efron and Stein 1981, Annals of Statistics 9). Its tails
    are too light for few clusters: with ten, p was below 0.002 in 0.6 % of null data sets. So p is at least that of flipping the signs of
    what clusters add to the covariance (Canay, Romano and Shaikh 2017, Econometrica 85).

    Args:
        x: shape (rows,); for a partial coefficient what `without` leaves, for Spearman's the `ranks`.
        y: likewise.
        clusters: shape (rows,), numbers from 0 without gaps.
        taken_out: columns that were taken out of both, which cost degrees of freedom where each row is a cluster.
        groups: shape (rows,), numbers from 0 without gaps: rows whose own means are taken out, again wherever a cluster is left out. Means
            that keep what was left out make the interval too narrow.
    """
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
    mean_x, mean_y = total[1] / np.maximum(total[0], 1), total[2] / np.maximum(total[0], 1)
    added = (sums[5] - sums[1] * mean_y - sums[2] * mean_x + sums[0] * mean_x * mean_y).sum(axis=1)
    p = max(float(2 * stats.t.sf(abs(float(z)) / error, freedom)), sign_flip_p(added))
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
    found: Floats = np.arctanh(np.clip(values, -_INNER, _INNER))
    return found
