"""Steps left in Collab-Overcooked: never more than a game then takes, and exact where nothing can be done side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from games.overcooked.engine.layout import kitchen
from games.overcooked.engine.references import published_references
from games.overcooked.engine.tasks import tasks, time_of
from games.overcooked.engine.world import start_world
from games.overcooked.value import steps_left
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.ingest.overcooked.overcooked_logs import PlayRequest, play
from tests.masters import held_open, published_store

LEVELS = {task.level: task for task in tasks().values()}


@pytest.mark.parametrize("order", sorted(tasks()))
def test_no_order_takes_less_than_the_bound(order: str) -> None:
    """At the start: not the fastest pair of references, whose time is known, and in levels 1 and 2 exactly that time."""
    task = tasks()[order]
    bound = steps_left(order, start_world(kitchen(), order).to_json(), delivered=False)
    assert task.time_shortest + 1 >= bound >= 0.75 * task.time_shortest
    assert (task.level or 0) > 2 or bound == task.time_shortest + 1


def test_a_delivered_order_needs_nothing() -> None:
    """Whatever lies about."""
    assert steps_left("boiled_egg", start_world(kitchen(), "boiled_egg").to_json(), delivered=True) == 0


@pytest.mark.parametrize(
    ("order", "counters", "partner", "steps"),
    [
        ("boiled_egg", {"(2,1)": "boiled_egg"}, None, 5),  # west, take, south, south, deliver
        ("boiled_egg", {}, "boiled_egg", 7),  # the Assistant turns and puts it down first
        ("boiled_egg", {"(1,0)": "egg"}, None, 15),  # nearer than the dispenser
        ("baked_pumpkin_slices", {"(4,2)": "baked_pumpkin_slices"}, None, 5),
        ("baked_pumpkin_soup", {"(4,1)": "baked_pumpkin_soup"}, None, 5),
        ("baked_pumpkin_soup", {"(4,1)": "baked_pumpkin_slices", "(2,1)": "dish"}, None, 12),
        ("mashed_potato_and_pea_patty", {"(1,0)": "mashed_potato", "(2,1)": "pea", "(2,2)": "dish"}, None, 19),
    ],
)
def test_what_was_put_down_is_not_made_again(order: str, counters: dict[str, str], partner: str | None, steps: int) -> None:
    """Somebody puts on a counter what is as good as done: it is taken from there, in as many steps as counted by hand."""
    state = start_world(kitchen(), order).to_json()
    state["agents"][1]["held"] = partner
    assert steps_left(order, {**state, "counters": counters}, delivered=False) <= steps


def test_who_holds_a_dish_need_not_fill_it() -> None:
    """The order stands on a counter: it is taken from there, as with empty hands."""
    state = {**start_world(kitchen(), "baked_pumpkin_soup").to_json(), "counters": {"(4,1)": "baked_pumpkin_soup"}}
    empty = steps_left("baked_pumpkin_soup", state, delivered=False)
    state["agents"][0]["held"] = "dish"
    assert steps_left("baked_pumpkin_soup", state, delivered=False) == empty


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("overcooked_values")
    play(PlayRequest(out=folder, orders=tuple(task.order for task in LEVELS.values()), policies=("optimal", "bad-responder-refuse")))
    store = Store(folder / "games.duckdb")
    ingest_paths([folder], store, workers=1)
    ensure_installed(store)
    yield from held_open(store)


def test_no_game_takes_less_than_the_bound_at_any_step(played: Store) -> None:
    """Of every delivered game, from every step on; and costs sum to the steps lost against the bound at the start."""
    games = query(
        played,
        "select episodes.success, bool_and(turn + left_after <= turns_taken) as holds, "
        "sum(cost) = count(*) + arg_max(left_after, turn) - arg_min(left_before, turn) as sound "
        "from values_overcooked inner join episodes using (episode_id) group by episode_id, success",
    )
    assert games["sound"].all()
    assert games.filter(games["success"])["holds"].all()
    assert games["success"].sum() >= len(LEVELS)


def test_published_games(shared: Path, tmp_path: Path) -> None:
    """The same over the published runs, failed ones included: what is left never falls faster than time passes where it is delivered."""
    store = published_store(shared, tmp_path, "overcooked/runs")
    games = query(
        store,
        "select arg_max(left_after, turn) = 0 as delivered, bool_and(turn + left_after <= turns_taken) as holds, "
        "count(*) as steps, sum(cost) as cost, arg_max(left_after, turn) - arg_min(left_before, turn) as gain "
        "from values_overcooked inner join episodes using (episode_id) group by episode_id",
    )
    assert len(games) == 76
    assert games.filter(games["delivered"])["holds"].all()
    assert (games["cost"] == games["steps"] + games["gain"]).all()
    above = query(
        store,
        "select sum(turns_taken - turn - left_after), count(*) from values_overcooked inner join episodes using (episode_id) where success",
    )
    assert above.row(0) == (14510, 2520)  # how far the delivered games stay above the bound, over their turns: a looser one shows here


def test_the_published_time_of_a_pair_is_reached_from_its_bound() -> None:
    """Level 1: following the only reference, the bound falls by one each step, so no step costs anything."""
    order = LEVELS[1].order
    (pair,) = published_references(order)
    assert time_of(order, pair) == steps_left(order, start_world(kitchen(), order).to_json(), delivered=False) - 1
