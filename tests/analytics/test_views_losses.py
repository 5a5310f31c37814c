"""Costs across benchmarks: the turns that cost, the one that decided, and the curve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.records import Attribution, TurnValue
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.ingest.asympuzl.asympuzl_logs import PlayRequest, play
from tests.masters import held_open
from tests.scripted import CraftRequest
from tests.scripted import play as play_craft


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("losses")
    play(PlayRequest(out=folder / "asympuzl", personas=("sharing", "silent"), partners=("sharing",), sizes=(3,), seeds=(0, 1)))
    play_craft(CraftRequest(out=folder / "craft", personas=("vague",), builders=("literal",), structures=2, turns=8))
    found = Store(folder / "games.duckdb")
    ingest_paths([folder], found, workers=1)
    ensure_installed(found)
    yield from held_open(found)


def test_the_curve_ends_at_what_the_game_lost(store: Store) -> None:
    """Both views sum the same costs, and every game with values has a curve over all its turns."""
    curve = query(store, "select episode_id, arg_max(lost_so_far, turn) as lost, count(*) as turns from cost_curve group by all order by 1")
    costly = query(
        store, "select episode_id, any_value(lost_in_game) as lost, sum(share) as shares from costly_turns group by all order by 1"
    )
    assert curve["turns"].to_list() == query(store, "select turns_taken from games order by episode_id")["turns_taken"].to_list()
    both = curve.join(costly, on="episode_id")
    assert len(both) == len(costly) == 4
    assert both["lost"].to_list() == pytest.approx(both["lost_right"].to_list())
    assert both["shares"].to_list() == pytest.approx([1] * len(both))


def test_a_silent_game_is_decided_when_time_runs_out(store: Store) -> None:
    """Nobody ever tells A anything it could not catch up on: the last turn puts the end out of reach, each turn before cost the same."""
    found = query(store, "select turn, why, cost, share from decisive_turns where benchmark = 'asympuzl' and model = 'silent+sharing'")
    assert found.select("turn", "why", "cost").unique().rows() == [(6, "out_of_reach", 1.0)]
    assert found["share"].to_list() == pytest.approx([1 / 5] * 2)
    assert query(store, "select * from costly_turns where model = 'sharing'").is_empty()


def test_a_target_out_of_reach_from_the_start_is_decided_by_the_largest_cost(store: Store) -> None:
    """Eight turns are too few for any target: what decides is the turn that lost most."""
    found = query(store, "select episode_id, why, cost, lost_before from decisive_turns where benchmark = 'craft'")
    largest = query(store, "select episode_id, max(cost) as cost from turn_costs where benchmark = 'craft' group by all")
    assert found["why"].unique().to_list() == ["largest_cost"]
    assert found["lost_before"].all()
    assert found.select("episode_id", "cost").sort("episode_id").equals(largest.filter(pl.col("cost") > 1e-9).sort("episode_id"))


def test_turns_that_decided_a_game_equally_are_all_named(tmp_path: Path) -> None:
    """The first of equals is the row's turn; the list has every one, and no other."""
    made = store_with(tmp_path, [Game([Step("{}") for _ in range(4)], "g", benchmark="asympuzl")])
    costs = [
        TurnValue("g", turn, "asympuzl.know", 8.0, 8.0 - cost, cost, "turns", "exact")
        for turn, cost in enumerate((0.5, 1.0, 0.0, 1.0), start=1)
    ]
    with made.writing() as connection:
        batches.insert(connection, batches.to_arrow({"turn_values": costs}))
    assert query(made, "SELECT turn, equal_turns FROM decisive_turns").rows() == [(2, [2, 4])]


def test_of_equal_blame_the_first_turn_is_named(tmp_path: Path) -> None:
    """The agent named was the one that a thread met first, and another on the next run."""
    steps = [Step('"A"', (Move("place"),))] * 5
    store = store_with(tmp_path, [Game(steps, name="g")])
    costs = [(5, "B", 0.1), (2, "A", 0.2), (4, "A", 0.1), (3, "B", 0.2), (1, "C", 0.2)]
    rows = [Attribution("g", turn, agent, "acted", cost, None, "so", "engine", "answered") for turn, agent, cost in costs]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"attributions": rows}))
    assert query(store, "SELECT agent, turn FROM blamed_agents").rows() == [("A", 2)]
