"""Transitions and survival: against scipy and statsmodels, and on games in which it is known what follows on what."""

from __future__ import annotations

import dataclasses
import random as rng
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.duration.survfunc import SurvfuncRight

from analytics.courses import (
    LATE,
    PROGRESS,
    Times,
    Turns,
    against_any_order,
    hazard_ratio,
    level_of,
    survival,
    survival_curves,
    transitions,
)
from analytics.statistics.shifts import share_difference
from tests.analytics.little_games import Game, Move, Step, store_with


def refusing(random: rng.Random, team: str, task: int, *, again: float) -> Game:
    """A game of ten turns: a move is refused in 0.2, after a refusal in `again`; what is accepted brings 0.05."""
    refused, progress, steps = False, 0.0, []
    for _ in range(10):
        refused = random.random() < (again if refused else 0.2)
        progress += 0.0 if refused else 0.05
        steps.append(Step("{}", (Move("place", accepted=not refused),), progress=progress, followed=not refused))
    return Game(steps, name=f"{team}{task}", model=team, task=f"t{task}", benchmark="craft", score=progress)


def test_failures_that_come_in_rows_are_found_and_others_are_not(tmp_path: Path) -> None:
    """Team a repeats what was refused, team c does not; shares are those counted by hand."""
    random = rng.Random(3)
    games = [refusing(random, team, task, again=again) for team, again in (("a", 0.7), ("c", 0.2)) for task in range(25)]
    rows = {
        (row["team"], row["after"], row["next"]): row for row in transitions(store_with(tmp_path, games)).to_dicts() if row["team"] != "any"
    }
    of_a = [[not step.moves[0].accepted for step in game.steps] for game in games[:25]]
    after = [after for game in of_a for before, after in pairwise(game) if before]
    row = rows["a", "refused", "refused"]
    assert (row["turns"], row["n"]) == (len(after), sum(after))
    assert row["low"] < 0.7 < row["high"]
    assert row["p_holm"] < 0.001
    assert row["advice"].startswith(f"a: after a refused turn the next is refused in {row['n'] / row['turns']:.0%}".replace("%", " %"))
    assert "failures are serially dependent" in row["advice"]
    assert rows["a", "refused", PROGRESS]["n"] == len(after) - sum(after)
    for step in ("refused", "followed"):
        places = [[place for place, refused in enumerate(game[:-1]) if refused == (step == "refused")] for game in of_a]
        came = [game[place + 1] for game, found in zip(of_a, places, strict=True) for place in found]
        for following in ("refused", "followed"):
            row = rows["a", step, following]
            assert (row["turns"], row["games"], row["n"]) == (len(came), sum(map(bool, places)), came.count(following == "refused"))
    assert rows["c", "refused", "refused"]["p_holm"] > 0.05
    assert "no difference shown" in rows["c", "refused", "refused"]["advice"]


@pytest.mark.parametrize(("worse", "is_shown"), [(0.0, False), (0.5, True)])
def test_late_turns_are_compared_with_the_turns_of_the_same_games(tmp_path: Path, worse: float, is_shown: bool) -> None:  # noqa: FBT001
    """Bad games go on to the limit, so late turns are refused more often; that is no change inside games."""
    random = rng.Random(5)
    games = []
    for task in range(40):
        turns, level = (12, 0.6) if task % 2 else (4, 0.1)
        moves = [Move("place", accepted=random.random() > min(level + worse * (3 * turn > 2 * turns), 0.9)) for turn in range(1, turns + 1)]
        games.append(Game([Step("{}", (move,), progress=0.0) for move in moves], name=f"g{task}", task=f"t{task}", score=0.0))
    rows = {(row["after"], row["next"]): row for row in transitions(store_with(tmp_path, games)).to_dicts() if row["team"] == "any"}
    row = rows[LATE, "refused"]
    assert row["games"] == 40
    assert (row["p_holm"] < 0.05) == is_shown
    assert "in the last third of a game" in row["advice"]
    assert ("no difference shown" not in row["advice"]) == is_shown


def test_games_of_unlike_quality_are_no_serial_dependence(tmp_path: Path) -> None:
    """Turns independent inside a game, games one log odds apart, 40 games of 20 turns: failures follow failures by the game."""
    random = rng.Random(12)
    games = []
    for task in range(40):
        chance = 1 / (1 + np.exp(-random.gauss(-0.5, 1)))
        failed = [random.random() < chance for _ in range(20)]
        steps = [Step("{}", (Move("place", accepted=not one),), progress=0.5, followed=not one) for one in failed]
        games.append(Game(steps, name=f"a{task}", model="a", task=f"t{task}", benchmark="craft", score=0.5))
    rows = {(row["after"], row["next"]): row for row in transitions(store_with(tmp_path, games)).to_dicts()}
    refused = [[not step.moves[0].accepted for step in game.steps] for game in games]
    after = [following for game in refused for before, following in pairwise(game) if before]
    chances = [(sum(game) - 1) / 19 for game in refused for before in game[:-1] if before]
    row = rows["refused", "refused"]
    assert row["share"] == pytest.approx(np.mean(after))
    assert row["share_expected"] == pytest.approx(np.mean(chances))
    elsewhere = np.mean([following for game in refused for before, following in pairwise(game) if not before])
    assert row["share"] - elsewhere > 0.1
    assert row["difference_low"] <= 0 <= row["difference_high"]
    assert "no difference shown" in row["advice"]


@pytest.mark.parametrize(("games", "turns", "level"), [(40, 20, 0.0), (40, 20, -2.5), (10, 20, 0.0), (40, 6, 1.0)])
def test_null_games_of_unlike_quality_are_claimed_as_seldom_as_promised(games: int, turns: int, level: float) -> None:
    """The interval holds 0 in 93 to 98 % of 400 data sets, where a comparison of pooled shares held it in 6 %."""
    random = np.random.default_rng(games + turns)
    of_turn = np.repeat(np.arange(games), turns)
    has_next = np.append(of_turn[1:] == of_turn[:-1], [False])
    held = []
    for _ in range(400):
        failed = random.random(games * turns) < 1 / (1 + np.exp(-level - random.normal(0, 1, games)))[of_turn]
        n = np.ones(games * turns)
        kinds = Turns(failed & has_next, np.append(failed[1:], [False]), level_of(of_turn, n, failed, np.ones_like(failed)))
        hits, sizes, expected = against_any_order(of_turn, n, kinds)
        found = share_difference(hits, sizes, expected, sizes)
        if found.low is not None and found.high is not None:
            held.append(found.low <= 0 <= found.high)
    assert len(held) > 350
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.parametrize("games", [5, 10, 30])
def test_differences_of_shares_are_held_as_often_as_promised(games: int) -> None:
    """Games of unequal length whose shares differ; 0.5 against 0.3."""
    random = np.random.default_rng(games)
    held = []
    for _ in range(400):
        level = random.normal(0, 0.1, games)
        sizes, other_sizes = random.integers(4, 25, games), random.integers(10, 40, games)
        hits, other = random.binomial(sizes, np.clip(0.5 + level, 0, 1)), random.binomial(other_sizes, np.clip(0.3 + level, 0, 1))
        found = share_difference(*(column.astype(float) for column in (hits, sizes, other, other_sizes)))
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= 0.2 <= found.high)
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.fixture(scope="module")
def timed() -> list[Game]:
    """Two teams whose first refusal comes with a chance of 0.1 and 0.3 a turn; games are cut after 3 to 15 turns."""
    random = np.random.default_rng(5)
    games = []
    for team, chance in (("a", 0.1), ("c", 0.3)):
        for task in range(40):
            limit, at = int(random.integers(3, 16)), int(random.geometric(chance))
            steps = [Step(f'"{turn}"', (Move("place", accepted=turn != at),), progress=turn / 20) for turn in range(1, limit + 1)]
            games.append(Game(steps, name=f"{team}{task}", model=team, task=f"t{task}", benchmark="craft"))
    return games


def test_the_error_of_a_difference_of_shares_is_that_of_leaving_games_out() -> None:
    """By hand: each of five games left out in turn."""
    hits, sizes, other, other_sizes = (np.array(column, float) for column in ([1, 3, 2, 5, 4], [4] * 5, [2, 1, 3, 1, 0], [6] * 5))
    found = share_difference(hits, sizes + 2, other, other_sizes)
    left = [
        np.delete(hits, game).sum() / np.delete(sizes + 2, game).sum() - np.delete(other, game).sum() / np.delete(other_sizes, game).sum()
        for game in range(5)
    ]
    difference = 15 / 30 - 7 / 30
    error = np.sqrt(4 / 5 * ((np.array(left) - difference) ** 2).sum())
    assert found.difference == pytest.approx(difference)
    assert found.low == pytest.approx(difference - stats.t.ppf(0.975, 4) * error)
    assert found.p == pytest.approx(2 * stats.t.sf(difference / error, 4))


def test_copies_of_one_game_are_no_proof() -> None:
    """Thirty games to the letter the same: the difference is what it is, without an interval of no width and without a p of 0."""
    found = share_difference(*(np.full(30, number) for number in (2.0, 5.0, 1.0, 6.0)))
    assert found.difference == pytest.approx(2 / 5 - 1 / 6)
    assert (found.low, found.high, found.p) == (None, None, None)


def test_curves_tests_and_ratios_are_those_of_other_libraries(tmp_path: Path, timed: list[Game]) -> None:
    """Kaplan and Meier by statsmodels, log-rank by scipy, and the planted ratio in its interval."""
    store = store_with(tmp_path, timed)
    rows = {row["team"]: row for row in survival(store).to_dicts() if row["event"] == "first refused action"}
    times = {team: [_first(game) for game in timed if game.model == team] for team in "ac"}
    curves = survival_curves(store).filter(event="first refused action")
    for team in "ac":
        turns, happened = np.array(times[team]).T
        theirs = SurvfuncRight(turns, happened)
        ours = [row for row in curves.to_dicts() if row["team"] == team]
        assert [row["turn"] for row in ours] == list(theirs.surv_times)
        assert [row["free"] for row in ours] == pytest.approx(list(theirs.surv_prob))
        assert rows[team]["median"] == theirs.quantile(0.5) or rows[team]["median"] is None
    cut = [stats.CensoredData.right_censored(*zip(*((turn, not happened) for turn, happened in times[team]), strict=True)) for team in "ac"]
    assert rows["a"]["log_rank_p"] == pytest.approx(stats.logrank(*cut).pvalue, rel=1e-6)
    assert rows["a"]["hazard_ratio"] is None
    planted = np.log(0.7) / np.log(0.9)
    assert rows["c"]["low"] < planted < rows["c"]["high"]
    assert "it comes sooner" in rows["c"]["advice"]
    tasks = [{game.task for game in timed if game.model == team} for team in "ac"]
    shared, both = len(tasks[0] & tasks[1]), len(tasks[0] | tasks[1])
    assert "over all tasks together, not inside each" in rows["c"]["advice"]
    assert (f"(both played {shared} of {both}, so that" in rows["c"]["advice"]) == (shared < both)


def _first(game: Game) -> tuple[int, bool]:
    refused = [turn for turn, step in enumerate(game.steps, start=1) if not step.moves[0].accepted]
    return (refused[0], True) if refused else (len(game.steps), False)


def test_a_game_that_holds_all_units_but_one_leaves_a_share_to_compare() -> None:
    """One unit is enough without it; none is not."""
    ones = np.ones(4)
    found = share_difference(np.array([2.0, 1, 0, 0]), np.array([5.0, 1, 0, 0]), np.array([1.0, 0, 1, 0]), ones)
    assert found.p is not None
    assert share_difference(np.array([2.0, 0, 0, 0]), np.array([5.0, 0, 0, 0]), np.array([1.0, 0, 1, 0]), ones).p is None


def test_one_team_under_two_conditions_is_told_apart(tmp_path: Path) -> None:
    """Sentences about it began with the same words: `first refused action, unknown: half of the games by turn 1`, five times."""
    random = rng.Random(4)
    games = [
        dataclasses.replace(refusing(random, "unknown", task, again=0.5), name=f"{condition}{task}", condition=condition)
        for condition in ("told", "asked")
        for task in range(6)
    ]
    store = store_with(tmp_path, games)
    by_event = [row for row in survival(store).to_dicts() if row["event"] == "first refused action"]
    about = [row["advice"].partition(": ")[0] for row in by_event]
    assert sorted(about) == ["first refused action, unknown under asked", "first refused action, unknown under told"]
    teams = {row["advice"].partition(": ")[0] for row in transitions(store).to_dicts()}
    assert teams == {"all teams", "unknown under asked", "unknown under told"}


def test_a_ratio_of_teams_on_other_tasks_states_how_many_they_share(tmp_path: Path) -> None:
    """Half of the tasks are shared: what differs may be the tasks."""
    random = rng.Random(6)
    games = [refusing(random, model, task, again=0.5) for model, first in (("a", 0), ("c", 8)) for task in range(first, first + 16)]
    rows = {row["team"]: row for row in survival(store_with(tmp_path, games)).to_dicts() if row["event"] == "first refused action"}
    assert "over all tasks together, not inside each (both played 8 of 24, so that it may be one of tasks)" in rows["c"]["advice"]


@pytest.mark.parametrize(("ends", "occurred"), [([5.0], 24), ([5.0], 23), ([5.0, 5.0, 3.0], 24)])
def test_where_hardly_a_task_tells_no_ratio_is_given(ends: list[float], occurred: int) -> None:
    """All end at one turn, or all but a few: intervals were without a width, or had a coverage of .69."""
    turns = np.array((ends * 24)[:24]) if len(ends) == 1 else np.array([5.0] * 22 + ends[1:])
    times = Times(turns, np.arange(24) < occurred, ["a"] * 12 + ["b"] * 12, np.tile(np.arange(12), 2))
    assert hazard_ratio(times, "b") is None


def test_the_chance_of_a_ratio_is_not_below_that_of_signs_by_task() -> None:
    """Six tasks that each team played: the least p of any exact test is 1 in 32, and Student's was far below."""
    first = np.array([2.0, 3, 4, 5, 6, 7])
    times = Times(np.concatenate([first, first + 1]), np.ones(12, dtype=bool), ["a"] * 6 + ["b"] * 6, np.tile(np.arange(6), 2))
    found = hazard_ratio(times, "b")
    assert found is not None
    assert found[0] < 1
    assert found[3] >= 1 / 32


def test_the_interval_of_a_ratio_is_that_of_fits_without_each_task() -> None:
    """Statsmodels' fit, each task left out in turn; Student's t of as many tasks as tell. The sandwich's was too narrow."""
    random = np.random.default_rng(2)
    chance = np.tile(random.beta(0.4, 0.6, 14), 2).clip(0.01, 0.9)
    turns = random.geometric(chance).clip(max=20).astype(float)
    times = Times(turns, turns < 20, ["a"] * 14 + ["b"] * 14, np.tile(np.arange(14), 2))
    side = np.repeat([0.0, 1.0], 14)[:, None]

    def fitted(here: np.ndarray) -> float:
        return float(PHReg(turns[here], side[here], status=times.occurred[here].astype(int), ties="efron").fit().params[0])

    found = hazard_ratio(times, "b")
    assert found is not None
    without = np.array([fitted(times.task != task) for task in range(14)])
    error = np.sqrt(13 / 14 * ((without - fitted(times.task >= 0)) ** 2).sum())
    assert found[0] == pytest.approx(np.exp(fitted(times.task >= 0)))
    half = np.log(found[2] / found[1]) / 2
    assert half == pytest.approx(stats.t.ppf(0.975, 13) * error, rel=0.1)
