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
    values, a, b = scores[counted], compared.counts_a[:, counted], compared.counts_b[:, counted]
    found: dict[str, float | int | None] = dict.fromkeys(COLUMNS)
    found["mean_a"], found["mean_b"] = _mean(a, values), _mean(b, values)
    if compared.within:
        return found
    both = (a.sum(axis=1) > 0) & (b.sum(axis=1) > 0)
    a, b = a[both], b[both]
    if not len(a):
        return found
    means_a, means_b = (a @ values) / a.sum(axis=1), (b @ values) / b.sum(axis=1)
    times = b.astype(int)
    answers_b = np.repeat(np.tile(values, len(times)), times.ravel())
    found |= _correlated("mean_answer", np.repeat(means_a, times.sum(axis=1)), answers_b)
    found |= _correlated("mean_mean", means_a, means_b)
    table = np.zeros((3, 3))
    np.add.at(table, (_side(means_a), _side(means_b)), 1)
    found["consensus_n"] = len(a)
    found["consensus_agreement"] = _defined(percent_agreement(table))
    found["consensus_kappa"] = _defined(kappa(table))
    return found


def _side(means: Floats) -> NDArray[np.int64]:
    """0 below the middle, 1 at it, 2 above; a mean of thirds that should be at it is not pushed off by rounding."""
    import numpy as np

    return (np.sign(np.round(means - _MIDDLE, 9)) + 1).astype(np.int64)


def _mean(counts: Floats, values: Floats) -> float | None:
    total = float(counts.sum())
    return float((counts @ values).sum()) / total if total else None


def _correlated(name: str, first: Floats, second: Floats) -> dict[str, float | int | None]:
    import numpy as np
    from scipy import stats

    found: dict[str, float | int | None] = {f"{name}_{column}": None for column in _CORRELATIONS}
    found[f"{name}_n"] = len(first)
    if len(first) > 2 and min(np.ptp(first), np.ptp(second)) > _CONSTANT:  # noqa: PLR2004 - through two points goes any line
        pearson, spearman = stats.pearsonr(first, second), stats.spearmanr(first, second)
        numbers = (pearson.statistic, pearson.pvalue, spearman.statistic, spearman.pvalue)
        found |= {f"{name}_{column}": float(number) for column, number in zip(_CORRELATIONS, numbers, strict=True)}
    return found


def _defined(value: Floats) -> float | None:
    return None if math.isnan(float(value)) else float(value)
