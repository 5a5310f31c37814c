"""Coefficients of agreement against published worked examples, scikit-learn, and what must hold of any of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from analytics.agreement.pairs import (
    Scale,
    coincidences,
    cross_pairs,
    gwet_ac1,
    inner_pairs,
    kappa,
    krippendorff_alpha,
    percent_agreement,
    rate_of_answer,
    unit_agreement,
)

Floats = NDArray[np.float64]

# Krippendorff (2011), section C: four observers, twelve units, values 1 to 5, missing data.
OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def counts_of(observers: tuple[str, ...], values: str) -> Floats:
    """Shape (units, values): how often each unit got each value."""
    units = zip(*(line.split() for line in observers), strict=True)
    return np.array([[float(unit.count(value)) for value in values] for unit in units])


@pytest.mark.parametrize(("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_example(scale: Scale, expected: float) -> None:
    """The published values of the worked example with missing data."""
    coincidence = coincidences(counts_of(OBSERVERS, "12345")).sum(axis=0)
    assert coincidence.sum() == pytest.approx(40)  # pairable values
    assert krippendorff_alpha(coincidence, scale, np.arange(1.0, 6)) == pytest.approx(expected, abs=0.0005)


def test_alpha_of_krippendorffs_two_observers() -> None:
    """Section A of the same paper: two observers, ten binary units, alpha 0.095."""
    first, second = "0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"
    coincidence = coincidences(counts_of((first, second), "01")).sum(axis=0)
    assert coincidence.tolist() == [[10.0, 4.0], [4.0, 2.0]]
    assert krippendorff_alpha(coincidence, "nominal") == pytest.approx(0.095, abs=0.0005)


def test_ac1_and_kappa_of_a_skewed_table() -> None:
    """The paradox by hand: 118 of 125 agree, 118 both yes; kappa falls below 0, AC1 does not.

    p_a = 118/125 = 0.944. Margins 123/125 and 120/125 yes: chance of kappa 0.984*0.96 + 0.016*0.04 = 0.94528, so kappa = -0.0234.
    pi = 0.972: chance of AC1 2*0.972*0.028 = 0.054432, so AC1 = (0.944 - 0.054432) / 0.945568 = 0.94078.
    """
    table = np.array([[118.0, 5.0], [2.0, 0.0]])
    agreeing = np.array([118.0, 125.0])
    assert kappa(table) == pytest.approx(-0.0234, abs=0.00005)
    assert gwet_ac1(agreeing, (table + table.T).sum(axis=1)) == pytest.approx(0.94078, abs=0.00001)


def test_fleiss_kappa_of_his_example() -> None:
    """Ten subjects, fourteen raters, five categories: kappa 0.210 (the table of Fleiss 1971 as reprinted in textbooks)."""
    counts = np.array(
        [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ],
        dtype=float,
    )
    assert kappa(inner_pairs(counts).sum(axis=0)) == pytest.approx(0.210, abs=0.0005)
    assert percent_agreement(inner_pairs(counts).sum(axis=0)) == pytest.approx(0.378, abs=0.0005)


def test_ac1_of_several_raters_with_missing_ratings() -> None:
    """By hand: units (2 yes), (1 yes 1 no), (1 no). p_a = (1 + 0) / 2; pi_yes = (1 + 0.5 + 0) / 3 = 0.5; chance 0.5; AC1 = 0."""
    agreeing, shares = unit_agreement(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    assert gwet_ac1(agreeing.sum(axis=0), shares.sum(axis=0)) == pytest.approx(0.0)


def test_sensitivity_and_specificity() -> None:
    """Of 10 yes the judge finds 8 (one unclear left out: 8 of 9), of 5 no it finds 3."""
    table = np.array([[8.0, 1.0, 1.0], [2.0, 3.0, 0.0], [0.0, 0.0, 4.0]])
    assert rate_of_answer(table, 0, 1) == pytest.approx(8 / 9)
    assert rate_of_answer(table, 1, 0) == pytest.approx(3 / 5)


def test_what_is_not_defined_is_nan() -> None:
    """Without pairs, or where all give one answer, a coefficient corrected for chance has no value."""
    constant = np.array([[7.0, 0.0], [0.0, 0.0]])
    assert np.isnan(percent_agreement(np.zeros((2, 2))))
    assert np.isnan(kappa(constant))
    assert np.isnan(krippendorff_alpha(constant, "nominal"))


ratings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40)


def one_hot(codes: list[int]) -> Floats:
    return np.eye(4)[codes]


@given(ratings)
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    """For any two raters, unweighted, linear and quadratic."""
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    table = cross_pairs(one_hot(a), one_hot(b)).sum(axis=0)
    steps = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    if len({*a, *b}) == 1:
        assert np.isnan(kappa(table))
        return
    for weights, name in ((None, None), (steps, "linear"), (steps**2, "quadratic")):
        assert kappa(table, weights) == pytest.approx(cohen_kappa_score(a, b, labels=[0, 1, 2, 3], weights=name), abs=1e-9)


@given(ratings)
def test_full_agreement_is_one_and_order_does_not_matter(pairs: list[tuple[int, int]]) -> None:
    """A rater agrees with itself; alpha and AC1 do not change when two raters or units change places."""
    counts = one_hot([a for a, _ in pairs]) + one_hot([b for _, b in pairs])
    same = 2 * one_hot([a for a, _ in pairs])
    alpha = krippendorff_alpha(coincidences(same).sum(axis=0), "nominal")
    assert np.isnan(alpha) or alpha == pytest.approx(1)
    agreeing, shares = (part.sum(axis=0) for part in unit_agreement(same))
    assert gwet_ac1(agreeing, shares) == pytest.approx(1)
    turned = coincidences(counts[::-1]).sum(axis=0)
    assert krippendorff_alpha(turned, "ordinal") == pytest.approx(
        krippendorff_alpha(coincidences(counts).sum(axis=0), "ordinal"), nan_ok=True
    )


@given(ratings)
def test_many_tables_at_once_give_what_each_gives_alone(pairs: list[tuple[int, int]]) -> None:
    """Axes in front do not change a value."""
    tables = cross_pairs(one_hot([a for a, _ in pairs]), one_hot([b for _, b in pairs])).cumsum(axis=0)
    for coefficient in (percent_agreement, kappa, lambda t: krippendorff_alpha(t + np.swapaxes(t, -1, -2), "ordinal")):
        assert coefficient(tables) == pytest.approx(np.array([coefficient(table) for table in tables]), nan_ok=True)


def test_ac1_counts_the_answers_of_the_scale_and_not_those_that_happened_to_be_given() -> None:
    """Two raters who never say `unclear`: chance agreement is spread over three answers, as in a table with an empty row and column."""
    table = np.array([[30.0, 8.0], [6.0, 16.0]])
    agreeing = np.array([np.trace(table), table.sum()])
    shares = (table.sum(axis=0) + table.sum(axis=1)) / 2
    wide = np.append(shares, 0.0)
    assert gwet_ac1(agreeing, shares, 3) == pytest.approx(gwet_ac1(agreeing, wide))
    observed, part = np.trace(table) / table.sum(), shares / shares.sum()
    chance = (part * (1 - part)).sum() / 2
    assert gwet_ac1(agreeing, shares, 3) == pytest.approx((observed - chance) / (1 - chance))
    assert gwet_ac1(agreeing, shares, 3) > gwet_ac1(agreeing, shares) + 0.05
