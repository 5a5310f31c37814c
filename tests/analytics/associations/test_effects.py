"""Effects and correlations on little stores, where it is known what is there, and on the published games."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import cotrace
from analytics.associations import KINDS, correlations, effects
from cotrace.cli import cli
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.masters import held_open

GAIN = 0.04


def planted(folder: Path, *, gain: float) -> Store:
    """Three teams on twelve tasks, two games each: a followed turn brings so much more; teams that follow more have lower scores."""
    rng = random.Random(1)
    games = []
    for number, team in enumerate("abc"):
        for task in range(12):
            for switch in (False, True):
                progress, steps = 0.0, []
                for _ in range(8):
                    followed = rng.random() < 0.3 + 0.2 * number
                    progress += gain * followed + rng.uniform(0.0, 0.02) + 0.01 * (task % 3)
                    steps.append(Step("{}", (Move("place"),), progress=progress, followed=followed))
                games.append(
                    Game(
                        steps,
                        name=f"{team}{task}{switch}",
                        model=team,
                        task=f"t{task}",
                        score=progress - 0.5 * number + 0.2 * switch,
                        condition=f"c{switch}",
                        condition_json={"oracle": switch},
                        benchmark="craft",
                    )
                )
    return store_with(folder, games)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = planted(tmp_path_factory.mktemp("planted"), gain=GAIN)
    Store.settle(store)
    yield from held_open(store)


def test_planted_effects_are_found(store: Store) -> None:
    """Of following advice on a turn, and of the switch on a game; each with its formula and its caution."""
    rows = {row["predictor"]: row for row in effects(store).to_dicts() if row["scale"] == "difference"}
    assert rows["followed"]["low"] <= GAIN <= rows["followed"]["high"]
    assert rows["followed"]["coefficient"] == pytest.approx(GAIN, abs=0.006)
    assert rows["followed"]["mixed"] == pytest.approx(rows["followed"]["coefficient"], abs=0.003)
    assert rows["followed"]["formula"] == "gain ~ followed + team + turn + turn^2 + mean of followed in the task"
    assert "no proof of a cause" in rows["followed"]["advice"]
    assert rows["oracle=True"]["low"] <= 0.2 <= rows["oracle=True"]["high"]
    assert "an effect of the switch if nothing else changed with it" in rows["oracle=True"]["advice"]


def test_what_is_not_planted_is_not_found(tmp_path: Path) -> None:
    """Followed turns bring no more, and the sentence says what is unlikely."""
    (row,) = (row for row in effects(planted(tmp_path, gain=0.0)).to_dicts() if row["predictor"] == "followed")
    assert row["low"] < 0 < row["high"]
    assert "no effect shown" in row["advice"]


def test_kinds_of_correlation_contradict_each_other_and_say_so(store: Store) -> None:
    """Adherence goes with the score inside teams; between teams it is the other way round."""
    rows = {row["kind"]: row for row in correlations(store).to_dicts() if row["x"] == "adherence" and row["unit"] == "games"}
    assert set(rows) == set(KINDS)
    assert rows["within teams"]["pearson_low"] > 0
    assert rows["between teams"]["pearson"] < -0.9
    assert "the opposite holds pooled" in rows["partial"]["advice"]


def test_what_hardly_ever_happens_goes_with_nothing(tmp_path: Path) -> None:
    """One turn in twenty undoes, one in ten brings something: that they never met was told as a proven correlation in many such stores."""
    rng, games = random.Random(3), []
    for task in range(20):
        progress, steps = 0.0, []
        for _ in range(6):
            undoes, brings = rng.random() < 0.05, rng.random() < 0.1
            progress += 0.1 * brings
            steps.append(Step("{}", (Move("remove" if undoes else "place"),), progress=progress, followed=rng.random() < 0.5))
        games.append(Game(steps, name=f"g{task}", task=f"t{task}", benchmark="craft"))
    rows = {(row["x"], row["kind"]): row for row in correlations(store_with(tmp_path, games)).to_dicts() if row["unit"] == "turns"}
    seldom, usual = rows["undoes", "pooled"], rows["followed", "pooled"]
    assert (seldom["pearson_low"], seldom["spearman_high"], seldom["p"], seldom["p_holm"]) == (None, None, None, None)
    assert seldom["advice"].endswith("undoes or gain hardly varies: too few units are informative, so nothing follows")
    assert usual["p"] is not None
    tested = sum(row["p"] is not None for row in rows.values())
    assert f"corrected for {tested} rows" in usual["advice"]  # it counted those that are no test


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["effects", "correlations"])
def test_python_and_csv_have_the_same_rows(store: Store, name: str) -> None:
    """In their order; what an empty store gives, the tests of all reports of statistics look at."""
    rows = cotrace.open(store.path).report(name).pl()
    done = CliRunner().invoke(cli, ["report", name, "--store", str(store.path), "--format", "csv"], catch_exceptions=False)
    told = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(told) == len(rows) > 0
    assert list(told[0]) == rows.columns
