"""Ability, preferences and profiles: against other estimators, and on planted scales and groups."""

from __future__ import annotations

import random as rng
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from statsmodels.discrete.conditional_models import ConditionalLogit

from analytics.scales import STABLE, ability, additive_scale, bradley_terry, grouped, preferences, profiles, rasch_scale
from schemas.records import Verdict
from schemas.store import batches
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.analytics.test_views_judges import job

Floats = NDArray[np.float64]
ABLE = np.array([-1.0, 0.0, 1.0])


def played(random: np.random.Generator, tasks: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Three teams: the weak one plays the easy half of the tasks and a third of the rest, the strong one the other way round."""
    hard = np.sort(random.normal(0, 1, tasks))
    share = np.stack([np.linspace(1, 0.3, tasks), np.ones(tasks), np.linspace(0.3, 1, tasks)])
    team, task = np.nonzero(random.random((3, tasks)) < share)
    _, task = np.unique(task, return_inverse=True)
    return team, task, ABLE[team] - (hard - hard.mean())[task]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("data_sets", [25, 60])
def test_yes_and_no_on_one_scale(data_sets: int) -> None:
    """Differences of abilities are those of conditional logistic regression, and held as often as promised."""
    random, held = np.random.default_rng(1), []
    for data_set in range(data_sets):
        team, task, odds = played(random, 60)
        values = (random.random(len(team)) < 1 / (1 + np.exp(-odds))).astype(float)
        scale = rasch_scale(values, team, task)
        apart = scale.ability - scale.ability.mean()
        if data_set == 0:
            mixed = np.array([0 < values[task == one].mean() < 1 for one in range(task.max() + 1)])[
                task
            ]  # the other tasks say nothing there
            theirs = ConditionalLogit(values[mixed], np.eye(3)[team[mixed]][:, 1:], groups=task[mixed]).fit(disp=False).params
            assert (scale.ability - scale.ability[0])[1:] == pytest.approx(theirs, abs=0.1)  # a wide prior is between them
        held.append(np.abs(apart - ABLE) <= 2 * scale.ability_error)
    assert 0.92 <= np.mean(held) <= 0.985


def test_two_teams_on_one_scale() -> None:
    """Of two teams the conditional likelihood is binomial: the log of 9 tasks that only one solved over 3 that only the other did."""
    values = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]] * 3 + [[1.0, 1.0]] * 4).ravel()
    scale = rasch_scale(values, np.tile([0, 1], 16), np.repeat(np.arange(16), 2))
    assert scale.ability[0] - scale.ability[1] == pytest.approx(np.log(3), abs=0.06)  # a wide prior is between them
    assert scale.ability_error == pytest.approx(np.full(2, np.sqrt(1 / 9 + 1 / 3) / 2), rel=0.05)


def test_what_a_team_would_reach_is_in_the_units_of_its_scale(tmp_path: Path) -> None:
    """Also on an island whose scores all happen to be 0 or 1, beside another one where they are not."""
    scores = {"a": (0.2, 0.4), "b": (0.5, 0.9), "c": (1.0, 0.0), "d": (1.0, 1.0)}
    games = [
        Game([], name=f"{team}{task}", model=team, task=f"{'x' if team in 'ab' else 'y'}{task}", benchmark="craft", score=score)
        for team, of_team in scores.items()
        for task, score in enumerate(of_team)
    ]
    rows = {row["name"]: row for row in ability(store_with(tmp_path, games)).to_dicts()}
    assert all(row["scale"] == "units" for row in rows.values())
    assert all(rows[team]["expected"] == pytest.approx(rows[team]["value"]) for team in "abcd")


def test_scores_on_one_scale() -> None:
    """Teams that played harder tasks are not worse for it; held as often as promised."""
    random, held = np.random.default_rng(2), []
    for _ in range(100):
        team, task, level = played(random, 25)
        values = 0.5 + 0.1 * level + random.normal(0, 0.05, len(team))
        scale = additive_scale(values, team, task)
        held.append(np.abs(scale.ability - scale.ability.mean() - 0.1 * ABLE) <= 2.06 * scale.ability_error)
        assert list(np.argsort(scale.ability)) == [0, 1, 2]
    assert 0.92 <= np.mean(held) <= 0.985


def test_a_team_of_one_game_is_known_no_better_than_others() -> None:
    """Its level is fitted to that game, which leaves no rest: its interval was narrower than those of teams of 20 games."""
    random, held, widths = np.random.default_rng(4), [], []
    able = 0.1 * np.append(ABLE, 0)
    team, task = np.append(np.repeat([0, 1, 2], 20), 3), np.append(np.tile(np.arange(20), 3), 0)
    for _ in range(300):
        values = 0.5 + able[team] + random.normal(0, 0.05, 20)[task] + random.normal(0, 0.05, len(team))
        scale = additive_scale(values, team, task)
        held.append(np.abs(scale.ability - scale.ability.mean() - able) <= 2.09 * scale.ability_error)
        widths.append(scale.ability_error)
    assert (np.mean(held, axis=0) >= 0.93).all(), "the others, too, are distances from a mean that holds its error"
    assert (np.mean(held, axis=0) <= 0.985).all()
    assert np.mean(widths, axis=0)[3] > 2 * np.mean(widths, axis=0)[0]


def test_teams_that_share_no_task_are_on_islands(tmp_path: Path) -> None:
    """Numbers of either side, and the sentence that nothing links them."""
    random = rng.Random(1)
    games = [
        Game(
            [], name=f"{team}{task}", model=team, task=f"{island}{task}", benchmark="craft", score=0.3 + 0.02 * task + random.random() / 20
        )
        for island, teams in (("x", "ab"), ("y", "cd"))
        for team in teams
        for task in range(8)
    ]
    rows = ability(store_with(tmp_path, games)).to_dicts()
    assert {row["island"] for row in rows} == {1, 2}
    assert all("no games link it with the others" in row["advice"] for row in rows)
    hardest = [row["name"] for row in rows if row["kind"] == "task" and row["island"] == rows[0]["island"]]
    assert hardest[0].endswith("0")


def test_strengths_are_those_of_a_logistic_regression() -> None:
    """With many comparisons, where the added half of one is nothing."""
    random = np.random.default_rng(3)
    first, second = random.integers(0, 4, 4000), random.integers(0, 4, 4000)
    first, second = first[first != second], second[first != second]
    able = np.array([0.8, 0.2, -0.2, -0.8])
    scores = (random.random(len(first)) < 1 / (1 + np.exp(able[second] - able[first]))).astype(float)
    value, low, high = bradley_terry(first, second, scores, np.arange(len(first)) % 40)
    design = np.eye(4)[first] - np.eye(4)[second]
    fitted = sm.GLM(scores, design[:, 1:], family=sm.families.Binomial()).fit()
    assert value - value[0] == pytest.approx([0, *fitted.params], abs=0.01)
    assert all(low <= able) and all(able <= high)  # noqa: PT018


def test_strengths_are_held_as_often_as_promised() -> None:
    """Twelve tasks whose games favour one or the other team; some teams win nearly always."""
    random = np.random.default_rng(4)
    able, held = np.array([1.0, 0.0, -1.0]), []
    for _ in range(150):
        tilt = random.normal(0, 0.4, (12, 3))
        pairs = np.array([(task, a, b) for task in range(12) for a, b in ((0, 1), (0, 2), (1, 2)) for _ in range(3)])
        task, first, second = pairs.T
        odds = (able + tilt[task])[np.arange(len(task)), first] - (able + tilt[task])[np.arange(len(task)), second]
        _, low, high = bradley_terry(first, second, (random.random(len(task)) < 1 / (1 + np.exp(-odds))).astype(float), task)
        held.append((low <= able) & (able <= high))
    assert 0.92 <= np.mean(held) <= 0.99


def test_preferences_of_a_store(tmp_path: Path) -> None:
    """A judge that prefers team a in both orders, and one that takes the first place."""
    games = [Game([], name=f"{team}{task}", model=team, task=f"t{task}", benchmark="craft") for team in "ac" for task in range(8)]
    store, rows = store_with(tmp_path, games), []
    for judge in ("llm:fair", "llm:placed"):
        for task in range(8):
            for one, other in ((f"a{task}", f"c{task}"), (f"c{task}", f"a{task}")):
                likes = 1.0 if judge == "llm:placed" or one.startswith("a") else 0.0
                unit = f"{one} vs {other}"
                rows.append(
                    Verdict(
                        judge, "p", "h", None, "Q", unit, "u", one, None, None, judge, 1, "yes" if likes else "no", likes, None, "answered"
                    )
                )
    with store.writing() as connection:
        jobs = [job(judge, judge=judge) for judge in ("llm:fair", "llm:placed")]
        batches.insert(connection, batches.to_arrow({"judge_runs": jobs, "verdicts": rows}))
    found = {(row["judge"], row["team"]): row for row in preferences(store).to_dicts()}
    assert found["llm:fair", "a"]["wins"] == 8
    assert found["llm:fair", "a"]["chance"] > 0.8
    assert found["llm:placed", "a"]["strength"] == pytest.approx(0, abs=1e-9)
    assert "likes the first place" in found["llm:placed", "a"]["advice"]
    assert (found["llm:placed", "a"]["low"], found["llm:placed", "a"]["high"]) == (None, None), "[0, 0] would promise what nobody knows"
    assert "8 tasks are all alike" in found["llm:placed", "a"]["advice"]


def test_planted_profiles_are_found_again_and_noise_is_not() -> None:
    """Three kinds of games; and games of one kind."""
    random = np.random.default_rng(5)
    kinds = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7]])
    kind = np.arange(90) % 3
    planted = np.stack([random.multinomial(20, kinds[one]) for one in kind]) / 20
    group, _, stability = grouped(planted, np.arange(90) // 3)
    assert len(set(zip(group, kind, strict=True))) == 3
    assert stability.min() > 0.9
    noise = np.stack([random.multinomial(20, [0.5, 0.3, 0.2]) for _ in range(90)]) / 20
    _, silhouette, stability = grouped(noise, np.arange(90) // 3)
    assert silhouette < 0.5
    assert stability.min() < STABLE


def test_profiles_of_a_store(tmp_path: Path) -> None:
    """Each with its marks, its teams and whether to read it."""
    random = rng.Random(2)

    def steps(often: str) -> list[Step]:
        return [
            Step("{}", (Move("place"),), categories=(("t", often if random.random() < 0.7 else random.choice("xyz")),)) for _ in range(12)
        ]

    games = [
        Game(steps(often), name=f"{often}{task}", model=often, task=f"t{task}", benchmark="craft") for often in "xy" for task in range(20)
    ]
    rows = profiles(store_with(tmp_path, games)).to_dicts()
    assert [row["games"] for row in rows] == [20, 20]
    assert all("where games differ by chance alone one group in seven to three is found again, too" in row["advice"] for row in rows)
    assert {row["marks"][0] for row in rows} == {"x", "y"}
    assert all("found again" in row["advice"] for row in rows)
