"""Intervals and standard errors: in Python, in SQL, and by hand."""

from __future__ import annotations

import math

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analytics.statistics.intervals import clustered_sem, mean_interval, wilson
from schemas.common.errors import UsageError
from tests.analytics.view_files import VIEW_OF


@pytest.fixture(scope="module")
def sql() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(VIEW_OF["intervals"].sql)
    return connection


def number(connection: duckdb.DuckDBPyConnection, expression: str, *values: float) -> float | None:
    row = connection.execute(f"select {expression}", values).fetchone()
    assert row is not None
    return None if row[0] is None else float(row[0])


def test_wilson_equals_a_published_interval() -> None:
    """Newcombe 1998, table I: 81 of 263 gives 0.2553 to 0.3662; 0 of 20 gives 0 to 0.1611."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_wilson_of_nothing_is_nothing() -> None:
    """Without trials there is no share to be uncertain about."""
    assert wilson(0, 0) is None


def test_wilson_refuses_impossible_counts() -> None:
    """More successes than trials is a mistake of the caller, not an interval."""
    with pytest.raises(UsageError, match="3 successes of 2 trials"):
        wilson(3, 2)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_in_sql_is_wilson_in_python(sql: duckdb.DuckDBPyConnection, counts: tuple[int, int]) -> None:
    """The views and the pages show the same interval."""
    successes, n = counts
    interval = wilson(successes, n)
    assert interval is not None
    assert number(sql, "wilson_low(?, ?)", successes, n) == pytest.approx(interval.low, abs=1e-12)
    assert number(sql, "wilson_high(?, ?)", successes, n) == pytest.approx(interval.high, abs=1e-12)
    assert 0 <= interval.low <= successes / n <= interval.high <= 1


def test_wilson_in_sql_is_null_without_trials(sql: duckdb.DuckDBPyConnection) -> None:
    """As in Python."""
    assert number(sql, "wilson_low(0, 0)") is None
    assert number(sql, "wilson_high(0, 0)") is None


@pytest.mark.parametrize("df", [1, 1.1, 1.5, 2, 2.5, 4.2, 5, 9.9, 29, 30, 31.5, 60, 1000, 100_000])
def test_t_points_in_sql_are_those_of_student(sql: duckdb.DuckDBPyConnection, df: float) -> None:
    """Whole degrees and those between."""
    from scipy import stats

    assert number(sql, "t_critical(?)", df) == pytest.approx(stats.t.ppf(0.975, df), abs=1e-7)


def test_t_points_need_a_degree_of_freedom(sql: duckdb.DuckDBPyConnection) -> None:
    """One game has no interval."""
    assert number(sql, "t_critical(0)") is None


def test_one_value_has_no_error() -> None:
    """A spread needs two values, and a clustered one two clusters."""
    assert clustered_sem([1, 0, 1], ["a", "a", "a"]) is None


def test_clustered_sem_by_hand() -> None:
    """Clusters (1, 1) and (0, 1): mean 3/4, residual sums 1/2 and -1/2, so sqrt(2 * (1/4 + 1/4)) / 4 = 1/4."""
    assert clustered_sem([1, 1, 0, 1], ["a", "a", "b", "b"]) == pytest.approx(0.25)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_clusters_of_one_give_the_plain_error(values: list[float]) -> None:
    """With one value a cluster the sandwich is the textbook formula."""
    assert clustered_sem(values, list(range(len(values)))) == pytest.approx(stats.sem(values), abs=1e-9)


def test_values_and_clusters_must_match() -> None:
    """A value without a cluster is a mistake."""
    with pytest.raises(UsageError, match="2 values but 1 clusters"):
        clustered_sem([1, 2], ["a"])


games = st.lists(st.integers(1, 30).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size))), min_size=2, max_size=40)


@settings(deadline=None, max_examples=30)
@given(games)
def test_clustered_shares_in_sql_are_those_in_python(sql: duckdb.DuckDBPyConnection, counts: list[tuple[int, int]]) -> None:
    """The views have the interval of `mean_interval`."""
    assert_same_interval(sql, counts)


@pytest.mark.long
@settings(deadline=None, max_examples=1000)
@given(games)
def test_clustered_shares_of_many_more_are_the_same(sql: duckdb.DuckDBPyConnection, counts: list[tuple[int, int]]) -> None:
    assert_same_interval(sql, counts)


def assert_same_interval(sql: duckdb.DuckDBPyConnection, counts: list[tuple[int, int]]) -> None:
    """Inside the possible, around the share, and with a width."""
    import numpy as np

    hits, sizes = np.array(counts, dtype=float).T
    expected = mean_interval(hits, sizes)
    sums = (hits.sum(), sizes.sum(), len(counts), (hits**2).sum(), (hits * sizes).sum(), (sizes**2).sum())
    for end, value in (("low", expected.low), ("high", expected.high)):
        assert number(sql, f"clustered_{end}(?, ?, ?, ?, ?, ?)", *map(int, sums)) == pytest.approx(float(value), abs=1e-6)
    assert float(expected.low) <= hits.sum() / sizes.sum() <= float(expected.high)
    assert expected.low < expected.high


def test_clustered_share_by_hand(sql: duckdb.DuckDBPyConnection) -> None:
    """Games (4 of 4) and (2 of 4): 3/4, and with t(1) = 12.7 nothing is excluded but the ends; from one game nothing is said.

    Variance 2 * (1 + 1) / 64 = 1/16; spread 3/16; weight of the icc of 0.3: h = 1 / (1 + (0.375 / 0.35)^4) = 0.43144; so seen is
    (1 - h) / 3 = 0.18952, assumed h * 1.9 / 8 = 0.10247; degrees of freedom (1 + assumed / seen)^2 = 2.3737, t 3.71452;
    f = t^2 * (seen + assumed) = 4.0287: (0.75 + f / 2 -+ sqrt(f * (3/16 + f / 4))) / (1 + f).
    """
    low, high = (number(sql, f"clustered_{end}(6, 8, 2, 20, 24, 32)") for end in ("low", "high"))
    f = 4.0287
    assert low == pytest.approx((0.75 + f / 2 - math.sqrt(f * (3 / 16 + f / 4))) / (1 + f), abs=2e-4)
    assert high == pytest.approx((0.75 + f / 2 + math.sqrt(f * (3 / 16 + f / 4))) / (1 + f), abs=2e-4)
    assert number(sql, "clustered_low(1, 2, 1, 1, 2, 4)") is None


def test_shares_of_games_without_a_trial_have_no_error(sql: duckdb.DuckDBPyConnection) -> None:
    """Two games, neither with a turn that counts: nothing is known, which is not an error of 0."""
    assert number(sql, "clustered_sem(0, 0, 2, 0, 0, 0)") is None
