"""Looking at differences while games are played: evidence that holds at every look, however often one looks.

A test that is looked at again and again claims a difference where there is none far more often than its level says: of a t test at 0.05,
looked at after each of a hundred tasks, about a third of the time. What is here may be looked at after every task and stopped at any, also
by what was seen: bets on the next task whose winnings cannot grow on average where there is no difference. Ville's inequality (1939) bounds
the chance that they ever reach 1 / level by the level. Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by
betting, Journal of the Royal Statistical Society B 86; the stakes are a fixed mixture, no guess at how large the difference is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["always_valid_p", "confidence_sequence"]

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
    import numpy as np

    wealth = np.exp(np.maximum.accumulate(_log_wealth(differences, 1.0), axis=-1))
    return np.minimum(1.0, 1 / np.maximum(wealth, _TINY))


def confidence_sequence(differences: Floats, level: float) -> tuple[float, float]:
    """Ends between which the mean difference lies, at all looks at once but for a chance of `level`.

    Args:
        differences: by task in the order played, each -1 to 1, shape (tasks,).
        level: 0 to 1, such as 0.05.
    """
    import numpy as np

    means = np.linspace(-1, 1, _GRID)
    wealth = _log_wealth(differences[None, :] - means[:, None], 1 + np.abs(means)[:, None])
    kept = means[wealth.max(axis=-1, initial=0.0) < np.log(1 / level)]
    middle = float(differences.mean()) if len(differences) else 0.0
    return (float(kept.min()), float(kept.max())) if len(kept) else (middle, middle)


def _log_wealth(differences: Floats, most: Floats | float) -> Floats:
    """Logarithm of the mean wealth over all stakes on both sides, after each task; `most` is how far a difference can be from 0."""
    import numpy as np

    stakes = np.array([side * stake for side in (-1, 1) for stake in _STAKES]).reshape(-1, *(1,) * differences.ndim)
    grown = np.cumsum(np.log1p(stakes / most * differences), axis=-1)
    top = grown.max(axis=0)
    found: Floats = top + np.log(np.exp(grown - top).mean(axis=0))
    return found
