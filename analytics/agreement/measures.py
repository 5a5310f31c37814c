"""Coefficients of agreement, each as one short formula over counts.

All take arrays whose last two axes are a square table of counts (rows: answers of side a, columns: of side b, both in the same order), and
work over any axes in front, so that the thousand tables of a bootstrap cost one call. Where a coefficient is not defined, it is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "Scale",
    "coincidences",
    "cross_pairs",
    "gwet_ac1",
    "inner_pairs",
    "kappa",
    "krippendorff_alpha",
    "percent_agreement",
    "rate_of_answer",
    "unit_agreement",
]

Scale = Literal["nominal", "ordinal", "interval"]


def cross_pairs(counts_a: Floats, counts_b: Floats) -> Floats:
    """Tables of all pairs between two sides, one a unit: every answer of side a meets every answer of side b.

    Args:
        counts_a: shape (units, answers), how often side a gave each answer.
        counts_b: the same of side b.

    Returns:
        Shape (units, answers, answers).
    """
    table: Floats = counts_a[:, :, None] * counts_b[:, None, :]
    return table


def inner_pairs(counts: Floats) -> Floats:
    """Tables of all ordered pairs of different raters inside one side; shapes as in `cross_pairs`."""
    import numpy as np

    own: Floats = counts[:, :, None] * np.eye(counts.shape[1])
    return cross_pairs(counts, counts) - own


def coincidences(counts: Floats) -> Floats:
    """Coincidence matrices, one a unit: each ordered pair counts 1 / (ratings of the unit - 1); units with one rating count nothing.

    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", step C of the general form.
    """
    import numpy as np

    others = counts.sum(axis=1) - 1
    shares: Floats = inner_pairs(counts) / np.where(others > 0, others, 1)[:, None, None]
    return shares


def percent_agreement(table: Floats) -> Floats:
    """Share of pairs with equal answers, 0 to 1."""
    import numpy as np

    return _ratio(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def kappa(table: Floats, weights: Floats | None = None) -> Floats:
    """Cohen's kappa, -1 to 1; of a symmetric table of inner pairs it is Fleiss's.

    1 - (weighted disagreement observed) / (expected from the margins): Cohen (1960), Educational and Psychological Measurement 20; with
    weights Cohen (1968), Psychological Bulletin 70; Fleiss (1971), Psychological Bulletin 76.

    Args:
        table: counts, see above.
        weights: shape (answers, answers), the disagreement of each pair, 0 on the diagonal; None: 1 off the diagonal.
    """
    import numpy as np

    apart: Floats = 1 - np.eye(table.shape[-1]) if weights is None else weights
    n = table.sum(axis=(-2, -1))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    observed = (table * apart).sum(axis=(-2, -1)) * n
    expected = (rows[..., :, None] * columns[..., None, :] * apart).sum(axis=(-2, -1))
    return 1 - _ratio(observed, expected)


def krippendorff_alpha(coincidence: Floats, scale: Scale, values: Floats | None = None) -> Floats:
    """Krippendorff's alpha, at most 1: 1 - (n - 1) * sum of o_ck d_ck / sum of n_c n_k d_ck.

    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", general form with missing data; d is 1 for different answers
    (nominal), the squared number of ranks between two answers, weighted by how often they are used (ordinal), or the squared difference
    of their values (interval).

    Args:
        coincidence: sums of `coincidences` over units, or of symmetric tables of pairs.
        scale: which difference.
        values: shape (answers,), ascending; for interval.
    """
    n_c = coincidence.sum(axis=-1)
    apart = _differences(n_c, scale, values)
    observed = (coincidence * apart).sum(axis=(-2, -1)) * (n_c.sum(axis=-1) - 1)
    expected = (n_c[..., :, None] * n_c[..., None, :] * apart).sum(axis=(-2, -1))
    return 1 - _ratio(observed, expected)


def _differences(n_c: Floats, scale: Scale, values: Floats | None) -> Floats:
    import numpy as np

    size = n_c.shape[-1]
    if scale == "nominal":
        return 1 - np.eye(size)
    if scale == "interval":
        assert values is not None
        return np.subtract.outer(values, values) ** 2
    middle = n_c.cumsum(axis=-1) - n_c / 2  # ranks between c and k: all answers from c to k, half of c and half of k left out
    squared: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
    return squared


def unit_agreement(counts: Floats) -> tuple[Floats, Floats]:
    """What `gwet_ac1` is made of, one a unit.

    Returns:
        Shape (units, 2): the share of agreeing pairs of raters (0 where fewer than two answered) and whether two answered; and shape
        (units, answers): the share of each answer (0 where nobody answered).
    """
    import numpy as np

    ratings = counts.sum(axis=1)
    pairs = ratings * (ratings - 1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.where(pairs > 0, pairs, 1)
    shares: Floats = counts / np.where(ratings > 0, ratings, 1)[:, None]
    return np.column_stack([agreeing, (pairs > 0).astype(float)]), shares


def gwet_ac1(agreeing: Floats, shares: Floats, scale: int | None = None) -> Floats:
    """Gwet's AC1, -1 to 1: (p_a - p_e) / (1 - p_e) with p_e = sum of pi (1 - pi) / (answers - 1).

    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, for several raters and missing ratings as in Gwet,
    "Handbook of Inter-Rater Reliability" (4th ed. 2014, chapter 5). The number of answers is that of the scale, used or not: an answer that
    nobody happened to give would else change the agreement that is expected by chance.

    Args:
        agreeing: shape (..., 2), sums over units as `unit_agreement` gives.
        shares: shape (..., answers), sums over units.
        scale: answers that could be given; None: those of the table.
    """
    size = max(shares.shape[-1], scale or 0)
    if size < 2:  # noqa: PLR2004 - one possible answer: nothing can differ
        return _ratio(agreeing[..., 0] * 0, agreeing[..., 0] * 0)
    observed = _ratio(agreeing[..., 0], agreeing[..., 1])
    share = _ratio(shares, shares.sum(axis=-1, keepdims=True))
    chance = (share * (1 - share)).sum(axis=-1) / (size - 1)
    return _ratio(observed - chance, 1 - chance)


def rate_of_answer(table: Floats, answer: int, other: int) -> Floats:
    """Of the pairs in which a said `answer` and b `answer` or `other`, the share in which b said `answer` too, 0 to 1.

    With yes and no this is the sensitivity of b against a, with no and yes its specificity.
    """
    right = table[..., answer, answer]
    return _ratio(right, right + table[..., answer, other])


def _ratio(part: Floats, whole: Floats) -> Floats:
    """NaN where the whole is 0."""
    import numpy as np

    found: Floats = np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, np.nan), where=np.asarray(whole) != 0)
    return found
