"""What passes through messages: against regressions with a level for each task, and on planted paths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray

from analytics.mediation import mediated, mediation
from tests.analytics.little_games import Game, Move, Step, store_with

Floats = NDArray[np.float64]


def drawn(random: np.random.Generator, tasks: int, passes: float) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
    """Two games of each team on each task; the side changes the first mediator by 1, which brings `passes`; the second does nothing."""
    clusters = np.repeat(np.arange(tasks), 4)
    side = np.tile([0.0, 0.0, 1.0, 1.0], tasks)
    level = random.normal(0, 1, tasks)[clusters]
    first = side + level + random.normal(0, 1, len(side))
    second = 0.5 * side + random.normal(0, 1, len(side))
    return side, np.column_stack([first, second]), 0.3 * side + passes * first + level + random.normal(0, 0.5, len(side)), clusters


def test_paths_are_those_of_regressions() -> None:
    """By least squares with a column for each task."""
    side, mediators, outcome, clusters = drawn(np.random.default_rng(1), 12, 0.4)
    found = mediated(side, mediators, outcome, clusters)
    assert found is not None
    total, direct, (first, _), together = found
    levels = np.eye(12)[clusters]
    a = sm.OLS(mediators[:, 0], np.column_stack([side, levels])).fit().params[0]
    fitted = sm.OLS(outcome, np.column_stack([side, mediators, levels])).fit()
    assert (first.a, first.b, direct) == pytest.approx((a, fitted.params[1], fitted.params[0]))
    assert direct + together.indirect == pytest.approx(total)
    assert (together.a, together.b) == (None, None), "NaN in CSV is a number to some readers"
    other = sm.OLS(mediators[:, 0], np.column_stack([side, mediators[:, 1], levels])).fit().resid
    rest = sm.OLS(outcome, np.column_stack([side, mediators[:, 1], levels])).fit().resid
    assert first.rho_zero == pytest.approx(np.corrcoef(other, rest)[0, 1])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("tasks", "passes"), [(10, 0.4), (20, 0.4), (20, 0.0)])
def test_what_passes_is_held_as_often_as_promised(tasks: int, passes: float) -> None:
    """The planted path; the one that is not there is claimed in at most 7 of 100."""
    random = np.random.default_rng(2)
    held, claimed = [], []
    for _ in range(120):
        found = mediated(*drawn(random, tasks, passes))
        assert found is not None
        first, second = found[2]
        held.append(first.low <= passes <= first.high)
        claimed.append(second.p < 0.05)
    assert np.mean(held) >= 0.92
    assert np.mean(claimed) <= 0.07


def test_mediation_of_a_store(tmp_path: Path) -> None:
    """Adherence carries the difference of the scores."""
    random = np.random.default_rng(3)
    games = []
    for team, often in (("a", 0.3), ("c", 0.7)):
        for task in range(14):
            followed = random.random(20) < often
            steps = [Step(f'"{turn}"', (Move("place"),), followed=bool(one)) for turn, one in enumerate(followed)]
            score = 0.1 + 0.8 * followed.mean() + 0.01 * task % 0.05
            games.append(Game(steps, name=f"{team}{task}", model=team, task=f"t{task}", benchmark="craft", score=float(score)))
    (row,) = (row for row in mediation(store_with(tmp_path, games)).to_dicts() if row["mediator"] == "adherence")
    assert row["team_a"] == "c"
    assert row["indirect"] == pytest.approx(row["total"], abs=0.05)
    assert row["p_holm"] < 0.05
    assert "does not prove a path" in row["advice"]


def test_who_is_ahead_is_ahead_on_the_same_tasks(tmp_path: Path) -> None:
    """Team a is a little worse on every task and plays the easy ones more often: it was told to be ahead by a number below 0."""
    random = np.random.default_rng(4)
    games: list[Game] = []
    for task in range(10):
        easy = task < 5
        for team in ("a", "a", "a", "b") if easy else ("a", "b", "b", "b"):
            followed = random.random(10) < 0.5
            steps = [Step(f'"{turn}"', (Move("place"),), followed=bool(one)) for turn, one in enumerate(followed)]
            score = 0.2 + 0.6 * easy + 0.05 * (team == "b") + 0.01 * followed.mean()
            games.append(Game(steps, f"g{len(games)}", model=team, task=f"t{task}", benchmark="craft", score=float(score)))
    (row,) = (row for row in mediation(store_with(tmp_path, games)).to_dicts() if row["mediator"] == "adherence")
    assert (row["team_a"], row["team_b"]) == ("b", "a")
    assert row["total"] == pytest.approx(0.05, abs=0.01)
    assert row["advice"].startswith("b is ahead of a by 0.0")


def test_where_all_games_end_alike_nothing_passes(tmp_path: Path) -> None:
    """Every game is won: the report had an interval from 0 to 0 and a correlation that is no number."""
    games = [
        Game(
            [Step(f'"{turn}"', (Move("place"),), followed=turn < task % 5 + (team == "a")) for turn in range(6)],
            name=f"{team}{task}",
            model=team,
            task=f"t{task}",
            benchmark="craft",
            score=1.0,
        )
        for team in "ab"
        for task in range(12)
    ]
    assert mediation(store_with(tmp_path, games)).is_empty()
