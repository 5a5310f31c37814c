"""Comparisons over the numbers of the answers: means, correlations, and the consensus of each side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analytics.agreement.measures import kappa, percent_agreement
from analytics.agreement.pairs import Comparison

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["COLUMNS", "score_columns"]

_MIDDLE = 0.5
_CORRELATIONS = ("pearson", "pearson_p", "spearman", "spearman_p")
_CONSTANT = 1e-12

COLUMNS: tuple[str, ...] = (
    "mean_a",
    "mean_b",
    "mean_answer_n",
    *(f"mean_answer_{name}" for name in _CORRELATIONS),
    "mean_mean_n",
    *(f"mean_mean_{name}" for name in _CORRELATIONS),
    "consensus_n",
    "consensus_agreement",
    "consensus_kappa",
)


def score_columns(compared: Comparison, na_score: float | None) -> dict[str, float | int | None]:
    """The columns named in `COLUMNS`; None where a number is not defined. Inside one side only `mean_a` and `mean_b` are.

    ``mean_answer_*`` correlates side a's mean of a unit with every answer of side b about it (the procedure of CRAFT's human validation,
    formats section 9), ``mean_mean_*`` the means of both. ``consensus_*`` compares, over units, whether each side's mean is above, at or
    below 0.5. The p-values take all pairs for independent, which they are not: they are here to be compared with published ones.

    Args:
        compared: the two sides.
        na_score: the number of an answer without one; None: it is left out. The published numbers take N/A for 0.5.
    """
    import numpy as np

    scores = compared.scores if na_score is None else np.where(np.isnan(compared.scores), na_score, compared.scores)
    counted = ~np.isnan(scores)
    values, a, b, units = scores[counted], compared.counts_a[:, counted], compared.counts_b[:, counted], compared.weights
    found: dict[str, float | int | None] = dict.fromkeys(COLUMNS)
    found["mean_a"], found["mean_b"] = _mean(units @ a, values), _mean(units @ b, values)
    if compared.within:
        return found
    both = (a.sum(axis=1) > 0) & (b.sum(axis=1) > 0)
    a, b, units = a[both], b[both], units[both]
    if not len(a):
        return found
    means_a, means_b = (a @ values) / a.sum(axis=1), (b @ values) / b.sum(axis=1)
    found |= _correlated("mean_answer", np.repeat(means_a, len(values)), np.tile(values, len(a)), (b * units[:, None]).ravel())
    found |= _correlated("mean_mean", means_a, means_b, units)
    table = np.zeros((3, 3))
    np.add.at(table, (_side(means_a), _side(means_b)), units)
    found["consensus_n"] = int(units.sum())
    found["consensus_agreement"] = _defined(percent_agreement(table))
    found["consensus_kappa"] = _defined(kappa(table))
    return found


def _side(means: Floats) -> NDArray[np.int64]:
    """0 below the middle, 1 at it, 2 above; a mean of thirds that should be at it is not pushed off by rounding."""
    import numpy as np

    return (np.sign(np.round(means - _MIDDLE, 9)) + 1).astype(np.int64)


def _mean(counts: Floats, values: Floats) -> float | None:
    """Of numbers that stand there so often."""
    total = float(counts.sum())
    return float(counts @ values) / total if total else None


def _correlated(name: str, first: Floats, second: Floats, times: Floats) -> dict[str, float | int | None]:
    """Correlations of pairs that stand there so often: Pearson's, and Spearman's, which is Pearson's of the ranks."""
    import numpy as np

    found: dict[str, float | int | None] = {f"{name}_{column}": None for column in _CORRELATIONS}
    there = times > 0
    first, second, times = first[there], second[there], times[there]
    n = int(times.sum())
    found[f"{name}_n"] = n
    if n > 2 and min(np.ptp(first), np.ptp(second)) > _CONSTANT:  # noqa: PLR2004 - through two points goes any line
        numbers = (*_pearson(first, second, times), *_pearson(_ranks(first, times), _ranks(second, times), times))
        found |= {f"{name}_{column}": float(number) for column, number in zip(_CORRELATIONS, numbers, strict=True)}
    return found


def _pearson(first: Floats, second: Floats, times: Floats) -> tuple[float, float]:
    """The correlation, and its p-value by Student's t with two degrees of freedom less than pairs."""
    import numpy as np
    from scipy import special

    n = times.sum()
    x, y = (values - times @ values / n for values in (first, second))
    r = float(np.clip(times @ (x * y) / math.sqrt((times @ x**2) * (times @ y**2)), -1, 1))
    t = r * math.sqrt((n - 2) / ((1 - r) * (1 + r))) if abs(r) < 1 else math.inf
    return r, float(2 * special.stdtr(n - 2, -abs(t)))


def _ranks(values: Floats, times: Floats) -> Floats:
    """Mean ranks of numbers that stand there so often."""
    import numpy as np

    _, place = np.unique(values, return_inverse=True)
    counts = np.bincount(place, weights=times)
    ranks: Floats = (counts.cumsum() - (counts - 1) / 2)[place]
    return ranks


def _defined(value: Floats) -> float | None:
    return None if math.isnan(float(value)) else float(value)
