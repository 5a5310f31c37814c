"""Cluster bootstrap of sums: games are drawn with replacement, since the answers about one game are not independent."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from analytics.statistics import LEVEL, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["cluster_sums", "drawn_sums", "percentile_interval"]

_SEED = 20
_FEWEST_DEFINED = 0.5
"""Share of draws in which a coefficient must be defined for its interval to be told."""


def cluster_sums(values: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Sums over the rows of each cluster.

    Args:
        values: shape (rows, ...).
        clusters: shape (rows,), numbers from 0 without gaps.

    Returns:
        Shape (clusters, ...).
    """
    import numpy as np

    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(clusters.max() + 1))
    sums: Floats = np.add.reduceat(values[order], starts, axis=0)
    return sums


def drawn_sums(sums: Floats, draws: int) -> Floats:
    """Sums over bootstrap samples of clusters; the same draws for the same number of clusters.

    Args:
        sums: shape (clusters, ...).
        draws: how many samples.

    Returns:
        Shape (draws, ...).
    """
    flat = sums.reshape(len(sums), -1)
    drawn: Floats = (_times_drawn(len(sums), draws) @ flat).reshape(draws, *sums.shape[1:])
    return drawn


@lru_cache(maxsize=8)
def _times_drawn(clusters: int, draws: int) -> Floats:
    """How often each cluster is in each sample: shape (draws, clusters)."""
    import numpy as np

    chance = np.full(clusters, 1 / clusters)
    return np.random.default_rng(_SEED).multinomial(clusters, chance, size=draws).astype(float)


def percentile_interval(drawn: Floats) -> Interval | None:
    """The middle 95 % of the draws in which the coefficient is defined; None if that is fewer than half of them."""
    import numpy as np

    defined = drawn[~np.isnan(drawn)]
    if len(defined) < max(1, _FEWEST_DEFINED * len(drawn)):
        return None
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))
