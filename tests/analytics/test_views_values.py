"""The views of turn costs equal the reference tables: every row, every column; and costs sum to what was lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from analytics.query import query
from schemas.store.store import Store
from tests.analytics.test_views_reference import differences, reference
from tests.masters import held_open, published_store

pytestmark = pytest.mark.shared

CRAFT_KEY = ("model", "builder", "structure_id", "run", "turn")


@pytest.fixture(scope="module")
def craft(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("craft"), "craft/engine_games"))


@pytest.fixture(scope="module")
def craft_real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("craft_real"), "craft/craft_results"))


def test_craft_engine_games(craft: Store, shared: Path) -> None:
    """All turns of the four personas and the special games, half dominoes among them."""
    expected = reference(shared, "values_craft_engine.csv")
    found = query(craft, "select * from values_craft")
    assert found.columns == ["condition", *expected[0]]
    assert differences(expected, found, CRAFT_KEY) == []


def test_craft_real_logs(craft_real: Store, shared: Path) -> None:
    """Logs of language models."""
    expected = reference(shared, "values_craft_real.csv")
    found = query(craft_real, "select * from values_craft")
    assert found.columns == list(expected[0])
    assert differences(expected, found, ("condition", *CRAFT_KEY)) == []


def test_craft_check_sums(craft: Store) -> None:
    """The totals that the reference names (formats/values.md)."""
    sums = query(
        craft, "select sum(regret) as regret, count(*) filter (regret < 1e-9) as free, count(*) filter (harm > 1e-9) from values_craft"
    )
    assert sums.row(0) == (pytest.approx(41.993407, abs=1e-4), 895, 290)


def test_craft_costs_sum_to_what_was_lost(craft: Store, craft_real: Store) -> None:
    """In every game the costs and what is left at the end make up what was within reach at the start."""
    for store in (craft, craft_real):
        games = query(
            store,
            "select episode_id, sum(cost) as lost, arg_min(value_before, turn) as first, arg_max(value_after, turn) as last "
            "from turn_values where measure = 'craft.reachable' group by all",
        )
        assert len(games) > 2
        assert games.filter((pl.col("lost") - (pl.col("first") - pl.col("last"))).abs() > 1e-9).is_empty()


@pytest.fixture(scope="module")
def einstein(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("einstein"), "einstein"))


def test_einstein(einstein: Store, shared: Path) -> None:
    """Every step of the published runs, by three measures."""
    expected = reference(shared, "values_einstein.csv")
    found = query(einstein, "select * from values_einstein")
    assert found.columns == list(expected[0])
    assert differences(expected, found, ("run", "game_id", "step")) == []


def test_einstein_costs_sum_to_what_was_lost(einstein: Store) -> None:
    """By each measure: costs + what was left at the start = steps made + what is left at the end. The totals are those of the reference."""
    games = query(
        einstein,
        "select episode_id, measure, sum(cost) + arg_min(value_before, turn) = count(*) + arg_max(value_after, turn) as sound "
        "from turn_values group by all",
    )
    assert games["sound"].all()
    sums = query(einstein, "select sum(cost), sum(plan_cost), sum(know_cost), sum(lucky) from values_einstein")
    lost = query(einstein, "select count(distinct (run, game_id)) from values_einstein where lost_after = 1")
    assert (*sums.row(0), *lost.row(0)) == (1689, 1484, 1483, 43, 38)


@pytest.fixture(scope="module")
def coordination(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The recorded games, in the store that other tests of them have."""
    logs = ("coordination/hanabi", "coordination/overcooked", "coordination/collab_games")
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("coordination"), *logs))


@pytest.mark.parametrize("game", ["hanabi", "capture", "escape"])
def test_coordination(coordination: Store, shared: Path, game: str) -> None:
    """Every turn of the published games; texts that tell a game again do not count twice."""
    expected = reference(shared, f"values_{game}.csv")
    found = query(coordination, f"select * from values_{game}")
    assert found.columns == list(expected[0])
    assert differences(expected, found, ("episode", "turn")) == []


def test_coordination_costs_sum_to_what_was_lost(coordination: Store) -> None:
    """Hanabi: points. Capture: turns spent and left. Escape: choices and draws together."""
    points = query(
        coordination,
        "select sum(cost) = arg_min(value_before, turn) - arg_max(value_after, turn) as sound "
        "from turn_values where measure = 'coordination.hanabi_bound' group by episode_id",
    )
    turns = query(
        coordination,
        "select sum(cost) + arg_min(value_before, turn) = count(*) + arg_max(value_after, turn) as sound "
        "from turn_values where measure = 'coordination.capture_turns' group by episode_id",
    )
    chance = query(
        coordination,
        "select abs(sum(cost) - (arg_min(value_before, turn) filter (measure = 'coordination.escape_chance') "
        "- arg_max(value_after, turn) filter (measure = 'coordination.escape_luck'))) < 1e-9 as sound "
        "from turn_values where measure in ('coordination.escape_chance', 'coordination.escape_luck') group by episode_id",
    )
    for games in (points, turns, chance):
        assert len(games) >= 6
        assert games["sound"].all()
