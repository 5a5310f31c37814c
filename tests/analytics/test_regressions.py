"""Regressions and correlations over clusters: against statsmodels and scipy, and on simulated tasks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import stats

from analytics.statistics.regressions import clustered_regression, correlation, dummies, mean_by, mixed_coefficient, ranks, without

Floats = NDArray[np.float64]


def tasks(random: np.random.Generator, groups: int, effect: float, *, yes_or_no: bool = False) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Outcome, predictor and task; tasks of unequal length differ in their level, and harder ones have less of the predictor."""
    clusters = np.repeat(np.arange(groups), random.integers(8, 30, groups))
    level = random.normal(0, 0.7, groups)[clusters]
    predictor = (random.random(len(clusters)) < 1 / (1 + np.exp(-level))).astype(float)
    mean = effect * predictor + level
    if yes_or_no:
        return (random.random(len(clusters)) < 1 / (1 + np.exp(-mean))).astype(float), predictor, clusters
    return mean + random.normal(0, 1, len(clusters)), predictor, clusters


@pytest.mark.parametrize("yes_or_no", [False, True])
def test_coefficients_and_errors_are_those_of_statsmodels(*, yes_or_no: bool) -> None:
    """Its estimating equations with independence and bias-reduced covariance, Student's t in place of the normal."""
    y, x, clusters = tasks(np.random.default_rng(1), 12, 0.5, yes_or_no=yes_or_no)
    other = np.random.default_rng(2).normal(size=len(y))
    found = clustered_regression(y, {"x": x, "other": other, "twice": 2 * other}, clusters, yes_or_no=yes_or_no)
    family = sm.families.Binomial() if yes_or_no else sm.families.Gaussian()
    design = np.column_stack([np.ones(len(y)), x, other])
    fitted = sm.GEE(y, design, groups=clusters, family=family, cov_struct=sm.cov_struct.Independence()).fit(cov_type="bias_reduced")
    assert list(found) == ["x", "other"]  # twice the other says nothing more
    for place, name in ((1, "x"), (2, "other")):
        assert found[name].value == pytest.approx(fitted.params[place], abs=1e-6)
        half = stats.t.ppf(0.975, 11) * fitted.bse[place]
        assert found[name].high - found[name].value == pytest.approx(half, rel=1e-4)


def test_mixed_models_are_those_of_statsmodels() -> None:
    """By its formulas."""
    y, x, clusters = tasks(np.random.default_rng(3), 15, 0.5)
    found = mixed_coefficient(y, {"x": x}, clusters, "x")
    assert found is not None
    fitted = sm.MixedLM.from_formula("y ~ x", pd.DataFrame({"y": y, "x": x, "g": clusters}), groups="g").fit()
    assert found.value == pytest.approx(fitted.params["x"], abs=1e-4)
    assert found.high - found.value == pytest.approx(
        stats.norm.ppf(0.975) * fitted.bse["x"], rel=0.02
    )  # theirs by the observed information


@pytest.mark.long
@pytest.mark.parametrize(("effect", "yes_or_no"), [(0.0, False), (0.4, False), (0.0, True), (0.6, True)])
def test_effects_inside_tasks_are_held_as_often_as_promised(effect: float, *, yes_or_no: bool) -> None:
    """Tasks confound the two, and the mean of the predictor in the task takes that out: ten tasks, 300 data sets."""
    random = np.random.default_rng(4)
    held = 0
    for _ in range(300):
        y, x, clusters = tasks(random, 10, effect, yes_or_no=yes_or_no)
        found = clustered_regression(y, {"x": x, "mean": mean_by(x, clusters)}, clusters, yes_or_no=yes_or_no)["x"]
        inside = effect * (0.93 if yes_or_no else 1)  # levels that are not in the model shrink log odds
        held += found.low <= inside <= found.high
    assert 0.93 <= held / 300 <= 0.985


def test_what_tells_yes_from_no_fully_has_no_coefficient() -> None:
    """Its log odds would be infinite."""
    x = np.tile([0.0, 1.0], 30)
    assert clustered_regression(x, {"x": x}, np.arange(60) // 6, yes_or_no=True) == {}


def test_dummies_leave_the_most_frequent_out() -> None:
    """One column for each of the others."""
    assert {name: column.tolist() for name, column in dummies(["a", "b", "b"], "v=").items()} == {"v=a": [1.0, 0.0, 0.0]}


def test_points_on_one_line_have_no_interval_without_width() -> None:
    """Five teams in the same order twice: rho = 1, and an interval from 1 to 1 would say that nothing is in doubt."""
    points = np.arange(5.0)
    found = correlation(points, -points, np.arange(5))
    assert found is not None
    assert (round(found.value, 9), *found[1:]) == (-1.0, None, None, None)


def test_correlations_are_those_of_scipy() -> None:
    """Pearson, Spearman, and partial as Pearson of what regressions leave."""
    random = np.random.default_rng(5)
    z = random.normal(size=40)
    x, y = z + random.normal(size=40), z + random.normal(size=40)
    each = np.arange(40)
    pearson, spearman = correlation(x, y, each), correlation(ranks(x), ranks(y), each)
    assert pearson is not None
    assert spearman is not None
    assert pearson.value == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman.value == pytest.approx(stats.spearmanr(x, y).statistic)
    left = [sm.OLS(column, sm.add_constant(z)).fit().resid for column in (x, y)]
    far = correlation(x + 1e4, y + 1e4, each)
    assert far is not None, "far from 0 a column varies no less"
    assert far.value == pytest.approx(pearson.value, abs=1e-6)
    partial = correlation(without(x, {"z": z}), without(y, {"z": z}), each, 1)
    assert partial is not None
    assert partial.value == pytest.approx(stats.pearsonr(*left).statistic)


@pytest.mark.long
@pytest.mark.parametrize(("rho", "groups"), [(0.0, 10), (0.5, 10), (0.5, 30), (0.9, 20)])
def test_correlations_inside_teams_are_held_as_often_as_promised(rho: float, groups: int) -> None:
    """Tasks of unequal size in which both columns have levels, 300 data sets."""
    random = np.random.default_rng(6)
    held = 0
    for _ in range(300):
        sizes = random.integers(3, 12, groups)
        clusters = np.repeat(np.arange(groups), sizes)
        levels = random.multivariate_normal([0, 0], [[0.3, 0.3 * rho], [0.3 * rho, 0.3]], groups)[clusters]
        noise = random.multivariate_normal([0, 0], [[0.7, 0.7 * rho], [0.7 * rho, 0.7]], len(clusters))
        x, y = (levels + noise).T
        found = correlation(x, y, clusters)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= rho <= found.high
    assert 0.92 <= held / 300 <= 0.985


def test_an_interval_of_a_correlation_lies_around_it_and_one_game_has_none() -> None:
    """The lower end is the lower one; a regression within a single game says nothing of others."""
    random = np.random.default_rng(3)
    x = random.normal(size=40)
    found = correlation(x, x + random.normal(size=40), np.arange(40))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.value < found.high < 1
    assert clustered_regression(x + random.normal(size=40), {"x": x}, np.zeros(40, dtype=np.int64), yes_or_no=False) == {}


def test_team_means_are_taken_out_again_where_a_task_is_left_out() -> None:
    """The jackknife by hand: without each task, with team means of what is left; means of all rows gave too narrow an interval."""
    random = np.random.default_rng(6)
    teams, clusters = np.arange(36) % 6, np.arange(36) // 6
    x = random.normal(size=36) + random.normal(0, 2, 6)[teams] + random.normal(0, 1, 6)[clusters]
    y = 0.5 * x + random.normal(size=36) + random.normal(0, 2, 6)[teams]
    held = dummies(teams.tolist(), "team ")

    def inside(kept: NDArray[np.bool_]) -> float:
        means = [np.array([one[kept & (teams == team)].mean() for team in range(6)])[teams] for one in (x, y)]
        return float(np.arctanh(np.corrcoef((x - means[0])[kept], (y - means[1])[kept])[0, 1]))

    whole = inside(np.ones(36, dtype=bool))
    error = np.sqrt(5 / 6 * sum((inside(clusters != left) - whole) ** 2 for left in range(6)))
    half = stats.t.ppf(0.975, 5) * error
    found = correlation(without(x, held), without(y, held), clusters, len(held), teams)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx(tuple(np.tanh([whole, whole - half, whole + half])))


def test_the_chance_of_a_correlation_is_not_below_that_of_signs_by_task() -> None:
    """Six tasks give no exact p below 1 in 32; Student's of the jackknife was far below, and false too often where nothing is related."""
    clusters = np.arange(6).repeat(4)
    random = np.random.default_rng(1)
    x = random.normal(size=24)
    found = correlation(x, x + random.normal(size=24) * 0.1, clusters)
    assert found is not None
    assert found.value > 0.9
    assert found.p == pytest.approx(1 / 32)
