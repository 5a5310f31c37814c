"""Kitchens of one's own: what holds in the published kitchen holds there, and what nobody could cook in is told in one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from analytics.query import query
from games.experiments.plan import load
from games.overcooked.engine.layout import Layout, kitchen
from games.overcooked.engine.own_kitchen import own_kitchen, read_kitchen
from games.overcooked.engine.references import published_references
from games.overcooked.engine.tasks import orders_of, recipe_text, task_of, time_of
from games.overcooked.engine.world import start_world
from games.overcooked.game import Game
from games.overcooked.text.prompts import Query, prompt_for
from games.overcooked.value import steps_left
from schemas.common.errors import BadInputError, UsageError
from schemas.store.store import Store
from tests.games.overcooked.driven import timestep
from tests.games.seats import cotrace, ingested, play, seat_server, turns
from tests.ingest.overcooked.overcooked_logs import play_order
from tests.servers.seats.overcooked import KITCHEN

OWN: dict[str, Any] = yaml.safe_load(KITCHEN.read_text(encoding="utf-8"))
PUBLISHED_PLACES = ("pot0", "oven0", "chopping_board0", "blender0", "cook(", "bake(", "stir(")


@pytest.fixture(scope="module")
def own() -> Layout:
    return read_kitchen(KITCHEN)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both orders over HTTP and by the script itself, and a store of the former."""
    folder = tmp_path_factory.mktemp("own_kitchen")
    options = ("--kitchen", str(KITCHEN), "--rules", "paper")
    assert play("overcooked", folder / "script", ["all=script:plain"], *options).returncode == 0
    with seat_server("script") as address:
        done = play("overcooked", folder / "logs", ["all=openai/stub"], *options, "--base-url", f"{address}/v1")
    assert done.returncode == 0, done.stderr
    return folder


def test_a_game_over_http_is_that_of_the_script_and_is_played_again_without_a_disagreement(played: Path) -> None:
    """Prompts carry all that a role needs there; references, values and success are those of this kitchen."""
    assert turns(played / "logs") == turns(played / "script")
    store = ingested(played)
    found = query(store, "SELECT task_id, level, success, round(score, 9) FROM episodes ORDER BY task_id").rows()
    assert found == [("fried_nuts@kitchen", None, True, 1.0), ("pesto_toast@kitchen", "4", True, 1.0)]
    assert query(store, "SELECT DISTINCT condition ->> 'kitchen' AS kitchen FROM runs")["kitchen"].to_list() == ["kitchen"]
    left = query(store, "SELECT min(value_after) AS least, bool_and(value_before >= 0) AS sound FROM turn_values").rows()
    assert left == [(0.0, True)]
    assert query(store, "SELECT count(*) AS n FROM oracle_actions WHERE verified")["n"].item() > 0
    engine = cotrace("judge", "--rubric", "overcooked_initiating", "--judge", "engine", "--store", str(store.path))
    assert engine.returncode == 0, engine.stderr
    assert query(store, "SELECT DISTINCT answer FROM verdicts WHERE status = 'answered'")["answer"].to_list() == ["correct"]


@pytest.mark.long
def test_a_logged_game_goes_on_otherwise(played: Path) -> None:
    """The kitchen of a continuation is the logged one."""
    store = played / "s.duckdb" if (played / "s.duckdb").exists() else ingested(played).path
    episode = query(Store(store), "SELECT episode_id FROM episodes WHERE task_id = 'fried_nuts@kitchen'")["episode_id"].item()
    done = cotrace(
        "replay", episode, "--turn", "3", "--player", "all=script:plain", "--out", str(played / "replays"), "--store", str(store)
    )
    assert done.returncode == 0, done.stderr
    found = query(Store(store), "SELECT success FROM episodes WHERE origin IS NOT NULL")["success"].to_list()
    assert found == [True]


def test_prompts_name_the_kitchens_own_places_and_keep_the_recipe_from_the_assistant(own: Layout) -> None:
    """Nothing of the published kitchen is left in any prompt of either role."""
    asked: list[Query] = []

    class Keeper:
        def answer(self, query: Query) -> str:
            asked.append(query)
            return "???"

    timestep(Game(task_of("pesto_toast", own), horizon=1), (Keeper(), Keeper()))
    recipe = recipe_text("pesto_toast", own)
    for one in asked:
        text = "\n".join(prompt_for(one))
        assert not [place for place in PUBLISHED_PLACES if place in text]
        assert (recipe in text) == (one.agent == 0)
        assert "processing takes 4 timesteps" in text
        assert ("grind(mortar0), fry(wok0)" in text) == (one.agent == 0)
        assert ("grill(grill0)" in text) == (one.agent == 1)
    assert {one.agent for one in asked} == {0, 1}


def test_times_are_those_of_the_kitchen(own: Layout) -> None:
    """What references take is never below the bound; a limit of one's own counts, else 1.5 times the reference's time."""
    for order in orders_of(own):
        least = steps_left(order, start_world(own, order).to_json(), delivered=False, layout=own)
        assert all((time_of(order, pair, layout=own) or 0) + 1 >= least for pair in published_references(order, own))
    assert task_of("fried_nuts", own).time_limit == 40
    free = own_kitchen({**OWN, "orders": {"fried_nuts": {}}})
    assert task_of("fried_nuts", free).time_limit == int(1.5 * task_of("fried_nuts", free).time_optimal)


def changed(**other: Any) -> Callable[[], Layout]:
    """The kitchen of the test with other entries."""
    return lambda: own_kitchen({**OWN, **other})


def grid(*pairs: tuple[str, str]) -> Callable[[], Layout]:
    """The kitchen of the test with other rows."""
    text = OWN["grid"]
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return changed(grid=text)


def makes(**products: list[str]) -> Callable[[], Layout]:
    """The kitchen of the test with other products of the wok."""
    return changed(utensils={**OWN["utensils"], "wok0": {**OWN["utensils"]["wok0"], "makes": products}})


BAD: list[tuple[str, Callable[[], Layout], str]] = [
    ("key", changed(gird=[]), "unknown key gird: did you mean grid"),
    ("row", grid(("I..X.0X", "I..X.0")), "row 2: 'I..X.0' has 6 cells, the first row 7"),
    ("symbol", grid(("X..X..S", "X.?X..S")), "row 3: '?' is no symbol"),
    ("twice", grid(("XXXXMXX", "XXMXMXX")), "M (mortar0) stands there 2 times"),
    ("nowhere", grid(("X..X..S", "X..X..X")), "S (delivery) stands there 0 times"),
    ("one room", grid(("X..X..S", "X.....S")), "stand in one room"),
    ("no counter", grid(("I..X.0X", "I.XX.0X"), ("X..X..S", "X.XX..S")), "no counter (X) is in reach of both"),
    ("nobody", grid(("XXXXMXX", "MXXXXXX")), "nobody reaches mortar0"),
    ("whose", grid(("I..X.0X", "S..X.0X"), ("X..X..S", "X..X..I")), "ingredient_dispenser is the Assistant's"),
    ("letter", changed(utensils={**OWN["utensils"], "wok0": {**OWN["utensils"]["wok0"], "symbol": "S"}}), "symbol S stands for two"),
    ("order", changed(orders={"pesto_tost": {}}), "order pesto_tost: no utensil makes it: did you mean pesto_toast"),
    ("limit", changed(orders={"fried_nuts": {"time_limit": 0}}), "orders.fried_nuts.time_limit is '0'"),
    ("assistant's", changed(orders={"grilled_bread": {}}), "is made in grill0, which the Chef does not reach"),
    ("itself", makes(pesto_toast=["pesto", "fried_nuts"], fried_nuts=["pesto_toast"]), "is made of itself"),
    ("two places", makes(pesto_toast=["pesto"], fried_nuts=["nuts"], pesto=["basil"]), "pesto is made in mortar0 and in wok0"),
    ("too many", makes(pesto_toast=["a", "b", "c", "d"], fried_nuts=["nuts"]), "4 items do not go into wok0"),
    ("item twice", makes(pesto_toast=["pesto", "nuts"], fried_nuts=["nuts"]), "order pesto_toast takes nuts twice"),
    ("name", makes(pesto_toast=["pesto"], fried_nuts=["wait_nuts"]), "the name wait_nuts holds 'wait'"),
    ("capital", makes(pesto_toast=["Pesto"], fried_nuts=["nuts"]), "no name"),
    ("verb", changed(utensils={**OWN["utensils"], "wok0": {**OWN["utensils"]["wok0"], "operation": "pickup"}}), "is an action already"),
    ("no orders", lambda: own_kitchen({key: value for key, value in OWN.items() if key != "orders"}), "no orders"),
]


@pytest.mark.parametrize(("make", "told"), [(make, told) for _, make, told in BAD], ids=[name for name, _, _ in BAD])
def test_a_kitchen_in_which_nobody_could_cook_is_told_in_one_line(make: Callable[[], Layout], told: str) -> None:
    """Each with what is wrong and where."""
    with pytest.raises(BadInputError) as error:
        make()
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_an_order_that_takes_too_long_is_told_before_anything_is_played() -> None:
    """Eight cookings of fifty steps, one after the other."""
    slow = own_kitchen({**OWN, "cook_time": 50, "orders": {"deep": {}}, **_deep()})
    with pytest.raises(BadInputError, match="order deep takes more than 200 steps"):
        task_of("deep", slow)


def _deep() -> dict[str, Any]:
    """Seven cookings of fifty steps one after the other."""
    chain = {f"stage{number}": [f"stage{number - 1}" if number else "nuts"] for number in range(7)}
    wok = {**OWN["utensils"]["wok0"], "makes": {"fried_nuts": ["bread"], **chain, "deep": ["stage6"]}}
    return {"utensils": {**OWN["utensils"], "wok0": wok}}


def test_the_command_tells_a_bad_kitchen_and_an_unknown_order(tmp_path: Path) -> None:
    """Exit code 2, one line, nothing written."""
    bad = tmp_path / "mine.yaml"
    bad.write_text("grid: [XX]", encoding="utf-8")
    for words, told in (
        (("--kitchen", str(bad)), "mine.yaml: kitchen: grid"),
        (("--kitchen", str(tmp_path / "none.yaml")), "cannot be read"),
        (("--kitchen", str(KITCHEN), "--task", "boiled_egg"), "there is no overcooked order 'boiled_egg'"),
        (("--kitchen", str(KITCHEN), "--planted", "3"), "--planted"),
    ):
        done = cotrace("play", "overcooked", *words, "--player", "all=script:plain", "--out", str(tmp_path / "logs"))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert told in done.stderr
    assert not (tmp_path / "logs").exists()


def test_an_experiment_has_a_kitchen_as_a_file_or_written_out_and_time_limits(tmp_path: Path) -> None:
    """With the orders of the kitchen, its conditions, and a limit for all."""
    shutil.copy(KITCHEN, tmp_path / "mine.yaml")
    head = "name: own\ngame: overcooked\nteams: [{all: 'script:plain'}]\n"
    file = tmp_path / "own.yaml"
    file.write_text(f"{head}tasks: {{kitchen: mine.yaml, time_limit: 33}}\n", encoding="utf-8")
    assert [job.header.max_turns for job in load(file).jobs] == [33, 33]
    assert [job.header.task["id"] for job in load(file).jobs] == ["pesto_toast@mine", "fried_nuts@mine"]
    file.write_text(f"{head}tasks: {{kitchen: {json.dumps(OWN)}, orders: [fried_nuts]}}\n", encoding="utf-8")
    assert [job.header.max_turns for job in load(file).jobs] == [40]
    file.write_text(f"{head}tasks: {{orders: [boiled_egg], time_limit: 21}}\n", encoding="utf-8")
    assert [(job.header.max_turns, job.header.run["condition"]["kitchen"]) for job in load(file).jobs] == [(21, "limit-21")]
    for wrong, told in (
        ("{grid: [XX]}", "kitchen: grid"),
        ("5", "tasks.kitchen is 5: input should be a valid string"),
        ("no.yaml", "no.yaml cannot"),
    ):
        file.write_text(f"{head}tasks: {{kitchen: {wrong}}}\n", encoding="utf-8")
        with pytest.raises(UsageError, match=rf"own\.yaml, line 4: .*{told}"):
            load(file)


def as_others_log(order: str, layout: Layout, folder: Path) -> None:
    """A game as other people's engine logs it: nothing says in which kitchen."""
    task = task_of(order, layout)
    log = list(play_order(task, "optimal"))[-1]
    path = folder / "some-model" / order / f"experiment_2025-01-01_00-00-00_{order}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({key: value for key, value in log.items() if key != "cotrace"}), encoding="utf-8")


def test_logs_of_other_peoples_kitchens(own: Layout, tmp_path: Path) -> None:
    """A grid of their own is read off the log's picture; recipes of their own need the kitchen beside the log, which is said."""
    other_grid = own_kitchen({"grid": ["XXXPXX", "I.X.0X", "D1X..X", "X..X.O", "XCBXSX"], "name": "theirs"})
    as_others_log("boiled_corn_slices", other_grid, tmp_path / "a")
    as_others_log("pesto_toast", own, tmp_path / "b")
    as_others_log("boiled_egg", kitchen(), tmp_path / "b")
    store = str(tmp_path / "s.duckdb")
    first = cotrace("ingest", str(tmp_path), "--store", store)
    assert first.returncode == 1
    assert "order 'pesto_toast' is not one of the benchmark's thirty: put its kitchen next to the log" in first.stderr
    shutil.copy(KITCHEN, tmp_path / "b" / "kitchen.yaml")
    assert cotrace("ingest", str(tmp_path), "--store", store).returncode == 0
    found = query(Store(Path(store)), "SELECT split_part(task_id, '@', 1) AS one, model, success FROM episodes ORDER BY 1").rows()
    assert found == [(order, "some-model", True) for order in ("boiled_corn_slices", "boiled_egg", "pesto_toast")]
    assert query(Store(Path(store)), "SELECT * FROM log_disagreements").to_dicts() == []


@pytest.mark.shared
def test_the_published_layout_file_is_the_published_kitchen(shared: Path) -> None:
    """Read as a kitchen of one's own, it has the same grid, recipes and times."""
    theirs, ours = read_kitchen(shared / "data/overcooked/new_env.layout"), kitchen()
    assert (theirs.fixtures, theirs.counters, theirs.starts) == (ours.fixtures, ours.counters, ours.starts)
    assert {name: utensil.makes for name, utensil in theirs.utensils.items()} == {name: one.makes for name, one in ours.utensils.items()}
    for order in ("boiled_egg", "baked_carrot_soup"):
        assert set(published_references(order, theirs)) == set(published_references(order))


def test_a_product_can_go_back_into_the_utensil_that_made_it() -> None:
    """Fried twice: the utensil is emptied by what fills it."""
    wok = {**OWN["utensils"]["wok0"], "makes": {"fried_nuts": ["nuts"], "crisp_nuts": ["fried_nuts"], "pesto_toast": ["pesto"]}}
    layout = own_kitchen({**OWN, "utensils": {**OWN["utensils"], "wok0": wok}, "orders": {"crisp_nuts": {}}})
    (pair,) = published_references("crisp_nuts", layout)
    assert pair.chef[3:5] == ("pickup(fried_nuts,wok0)", "put_obj_in_utensil(wok0)")
    log = list(play_order(task_of("crisp_nuts", layout), "optimal"))[-1]
    assert log["total_order_finished"] == ["crisp_nuts"]
