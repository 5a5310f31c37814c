"""What becomes of damaged, foreign and unusual Collab-Overcooked logs."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest

from analytics.query import query
from games.overcooked.engine.layout import kitchen
from games.overcooked.engine.world import Pot, start_world
from games.overcooked.replay import verified_actions
from ingest.files.run import ingest_paths
from ingest.overcooked.records import StepRecord, read_log, read_step
from schemas.store.store import Store
from tests.ingest.overcooked.overcooked_logs import play_order
from tests.masters import published_store


@pytest.fixture(scope="module")
def log() -> dict[str, Any]:
    """A whole game of sixteen timesteps, without what cotrace adds."""
    *_, found = play_order("boiled_egg", "optimal")
    return {key: value for key, value in json.loads(json.dumps(found)).items() if key != "cotrace"}


def ingested(folder: Path, *logs: tuple[str, str]) -> Store:
    for name, text in logs:
        path = folder / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    store = Store(folder / "store.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    return store


FILE = "gpt-x/boiled_egg/experiment_2026-02-03_04-05-06_boiled_egg.json"


@pytest.mark.usefixtures("with_views")
def test_the_model_is_the_folder_above_the_order(tmp_path: Path, log: dict[str, Any]) -> None:
    """The log names no model; the time of its start stands in the file's name; the horizon is the time limit."""
    store = ingested(tmp_path, (FILE, json.dumps(log)))
    row = query(store, "select model, task_id, level, success, turns_taken, started_at::varchar, max_turns from episodes").row(0)
    assert row == ("gpt-x", "boiled_egg", "1", True, 16, "2026-02-03 04:05:06", None)
    assert query(store, "select policy, horizon, pc from overcooked_games").row(0) == ("gpt-x", 24, 1.0)
    assert query(store, "select agent, role, view_kind from agents order by agent").rows() == [
        ("Assistant", "assistant", None),
        ("Chef", "chef", "recipe"),
    ]


def test_who_could_read_what(tmp_path: Path, log: dict[str, Any]) -> None:
    """Analysis and plan are the author's alone; what is said reaches both; a say of nothing leaves no row."""
    store = ingested(tmp_path, (FILE, json.dumps(log)))
    rows = query(store, "select channel, agent, audience, text from utterances where turn = 1 order by seq").rows()
    assert [(channel, agent) for channel, agent, _, _ in rows] == [
        ("private", "Chef"), ("private", "Chef"), ("public", "Chef"),
        ("private", "Assistant"), ("private", "Assistant"), ("public", "Assistant"),
        ("private", "Chef"), ("private", "Chef"), ("public", "Chef"),
    ]  # fmt: skip
    assert all(audience == [agent] for channel, agent, audience, _ in rows if channel == "private")
    assert query(store, "select count(*) from utterances where text = '[NOTHING]'").item() == 0


def test_a_cut_file_is_a_reject(tmp_path: Path, log: dict[str, Any]) -> None:
    """The JSON breaks off: nothing of it is used, and the reason says so."""
    store = ingested(tmp_path, (FILE, json.dumps(log)[:4000]))
    assert "breaks off" in query(store, "select reason from rejects").item()
    assert query(store, "from episodes").is_empty()


def test_a_killed_run_is_an_episode(tmp_path: Path, log: dict[str, Any]) -> None:
    """A shorter log is valid: what is there is the game; whether it would have been delivered nobody knows."""
    cut = deepcopy(log)
    cut |= {"total_timestamp": list(range(6)), "total_order_finished": [], "total_score": 0, "content": log["content"][:6]}
    cut["total_action_list"] = [[entry for entry in own if entry["timestamp"] < 6] for own in log["total_action_list"]]
    store = ingested(tmp_path, (FILE, json.dumps(cut)))
    assert query(store, "select turns_taken, success, score from episodes").row(0) == (6, None, None)
    assert query(store, "from rejects").is_empty()
    assert query(store, "from log_disagreements").is_empty()


def test_a_broken_step_keeps_what_came_before(tmp_path: Path, log: dict[str, Any]) -> None:
    """The game is kept up to the step before; where and how much is lost stands in the reject."""
    broken = deepcopy(log)
    del broken["content"][9]["actions"]
    store = ingested(tmp_path, (FILE, json.dumps(broken)))
    assert query(store, "select turns_taken, success, score from episodes").row(0) == (9, None, None)
    locator, reason = query(store, "select locator, reason from rejects").row(0)
    assert locator == "content[9].actions"
    assert "7 of 16 steps are lost" in reason


def test_both_readers_give_the_same_records(log: dict[str, Any]) -> None:
    """A NaN in a field that nobody asks for makes the fast reader refuse a log; the other finds the same in it, missing fields too."""
    log = deepcopy(log)
    del log["content"][1]["order_list"]
    fast, slow = read_log(json.dumps(log).encode()), read_log(json.dumps({**log, "spent": math.nan}).encode())
    assert [isinstance(record.content[0], StepRecord) for record in (fast, slow)] == [True, False]
    slow.content = [read_step(raw) for raw in slow.content]
    assert msgspec.json.encode(slow) == msgspec.json.encode(fast)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", ["18446744073709551616", "1.0", "true"])
def test_what_is_no_whole_number_is_refused(number: str, tmp_path: Path, log: dict[str, Any]) -> None:
    """A number beyond 64 bits is none either: it would fit into no table."""
    text = json.dumps(log).replace('"timestamp": 3,', f'"timestamp": {number},', 1)
    store = ingested(tmp_path, (FILE, text))
    assert "valid integer" in query(store, "select reason from rejects").item()


def test_a_number_that_nothing_can_be_reckoned_with_is_told(tmp_path: Path, log: dict[str, Any]) -> None:
    """Not as a fault of cotrace."""
    text = json.dumps(log).replace('"error_num": 0', f'"error_num": {10**400}', 1)
    store = ingested(tmp_path, (FILE, text))
    assert "so large" in query(store, "select reason from rejects").item()


def test_bytes_that_are_no_utf8_are_refused_wherever_they_stand(tmp_path: Path, log: dict[str, Any]) -> None:
    """A text that nobody asks for is held to it, too."""
    path = tmp_path / FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(json.dumps({**log, "remark": "caf?"}).encode().replace(b"caf?", b"caf\xe9"))
    store = Store(tmp_path / "store.duckdb")
    ingest_paths([path], store, workers=1)
    assert "not UTF-8" in query(store, "select reason from rejects").item()


def test_an_unknown_order_is_a_reject(tmp_path: Path, log: dict[str, Any]) -> None:
    """Nothing can be measured for an order that is not the benchmark's."""
    other = json.loads(json.dumps(log).replace("boiled_egg", "fried_egg"))
    store = ingested(tmp_path, (FILE, json.dumps(other)))
    assert "'fried_egg' is not one of the benchmark's thirty" in query(store, "select reason from rejects").item()


def take_observation(log: dict[str, Any], *, agent: int) -> None:
    """What an agent was shown in the first step in which it was asked stands in the last such step, too."""
    shown = [step["content"]["observation"] for step in log["content"] if isinstance(step["content"]["observation"][agent], str)]
    assert len(shown) > 1
    shown[-1][agent] = shown[0][agent]


def tell_first(log: dict[str, Any], words: str, other: str) -> None:
    """What the Chef was shown in the first step says something else."""
    shown = log["content"][0]["content"]["observation"]
    assert words in shown[0]
    shown[0] = shown[0].replace(words, other)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda log: log["content"][4].update(map="X"), "map"),
        (lambda log: log["total_action_list"][0].pop(), "total_action_list[0]"),
        (lambda log: log.update(total_score=40), "total_score"),
        (lambda log: take_observation(log, agent=0), "Chef.observation.scene"),
        (lambda log: take_observation(log, agent=1), "Assistant.observation.scene"),
        (lambda log: tell_first(log, "<Assistant> holds nothing.", "<Assistant> holds one egg."), "Chef.observation.Assistant"),
        (
            lambda log: tell_first(log, "<Chef> holds nothing.", "<Chef> holds a dish with boiled_egg and needs to deliver it."),
            "Chef.observation.Chef",
        ),
        (lambda log: tell_first(log, "Order:boiled_egg", "Order:boiled_mushroom"), "Chef.observation.order"),
    ],
)
def test_disagreements_are_said(tmp_path: Path, log: dict[str, Any], change: Any, field: str) -> None:
    """What the log says is stored as it says it; where the replay differs, a row says where."""
    changed = deepcopy(log)
    change(changed)
    store = ingested(tmp_path, (FILE, json.dumps(changed)))
    assert query(store, "select field from log_disagreements").to_series().to_list() == [field]


def test_what_is_said_while_correcting_opens_no_talk(tmp_path: Path, log: dict[str, Any]) -> None:
    """An action of a queue is refused: the agent is asked for another one, and may say what it likes."""
    changed = deepcopy(log)
    step = next(step for step in changed["content"] if not step["content"]["content"][0])
    step["content"]["content"][0] = [{"agent": 0, "analysis": "It was refused.", "say": "Sorry.", "plan": "wait(1)"}]
    step["content"]["observation"][0] = f"Scene {step['timestamp']}: <Chef> holds nothing."
    step["statistical_data"]["error"][0]["validator_error"] = {"error_num": 1, "error_message": ["There is no dish in hand."]}
    store = ingested(tmp_path, (FILE, json.dumps(changed)))
    assert query(store, "select field from log_disagreements").rows() == []
    assert query(store, "select count(*) from utterances where text = 'Sorry.'").item() == 1


def test_what_is_asked_for_in_the_last_step_is_not_done_yet(tmp_path: Path, log: dict[str, Any]) -> None:
    """The delivery is recorded with its own step, all else with the next one: the Assistant asks for it before it is made."""
    changed = deepcopy(log)
    step = changed["content"][-1]
    says = ["Deliver it.", "Yes.", "Thank you. [END]"]
    plans = ["Assistant plan: request('deliver_soup()')", "Chef plan: deliver_soup()", "Assistant plan: wait(1)"]
    step["content"]["content"][1] = [
        {"agent": agent, "analysis": "", "say": say, "plan": plan} for agent, say, plan in zip((1, 0, 1), says, plans, strict=True)
    ]
    step["statistical_data"]["communication"][1] = {"call": 1, "turn": says, "token": [1, 1, 1]}
    store = ingested(tmp_path, (FILE, json.dumps(changed)))
    asked = "select category from failures where agent = 'Assistant' and taxonomy in ('overcooked_paper', 'overcooked_initiating')"
    assert query(store, asked).to_series().to_list() == ["correct", "correct"]


@pytest.mark.usefixtures("with_views")
def test_too_late_is_no_success(tmp_path: Path) -> None:
    """Delivered behind the time limit: a success for the code, none for the paper, and a second row as cut to the limit."""
    *_, late = play_order("baked_carrot_soup", "repetitive-request", horizon=120)
    waits = late["content"][-1]
    assert len(late["content"]) < 52
    found = json.loads(json.dumps({key: value for key, value in late.items() if key != "cotrace"}))
    pause = json.loads(json.dumps(waits)) | {"actions": ["wait(1)", "wait(1)"]}
    del found["content"][-1]
    first = len(found["content"])
    found["content"] += [pause | {"timestamp": first + extra} for extra in range(60 - first)] + [waits | {"timestamp": 60}]
    found["total_timestamp"] = list(range(61))
    found["total_action_list"][0][-1]["timestamp"] = 60
    store = ingested(tmp_path, ("m/baked_carrot_soup/experiment_x.json", json.dumps(found)))
    rows = query(store, "select variant, success, within_limit, n_timesteps, horizon from overcooked_games order by variant").rows()
    assert rows == [("raw", 1, 0, 61, 120), ("truncated_1_5", 0, 0, 52, 120)]
    assert query(store, "select success from episodes").item() is False


@pytest.mark.usefixtures("with_views")
def test_what_is_done_behind_the_limit_is_in_no_score(tmp_path: Path) -> None:
    """Success and score are measured over the same time; the whole game's numbers have names of their own."""
    store = ingested(tmp_path, ("m/boiled_egg/experiment_x.json", json.dumps(delayed(30))))
    success, score = query(store, "select success, score from episodes").row(0)
    metrics = dict(query(store, "select metric, value from episode_metrics").rows())
    assert (success, metrics["overcooked.success_upstream"]) == (False, 1.0)
    assert score == metrics["overcooked.pc"] < metrics["overcooked.pc_uncut"] == 1.0
    assert metrics["overcooked.initiate_collaboration"] == 0.0 < metrics["overcooked.initiate_collaboration_uncut"] == 1.0
    assert dict(query(store, "select variant, pc from overcooked_games").rows()) == {"raw": 1.0, "truncated_1_5": score}


def delayed(waits: int) -> dict[str, Any]:
    """A perfect game that begins so many steps late."""
    *_, found = play_order("boiled_egg", "optimal")
    late: dict[str, Any] = json.loads(json.dumps({key: value for key, value in found.items() if key != "cotrace"}))
    quiet = next(step for step in late["content"] if not any(opened["call"] for opened in step["statistical_data"]["communication"]))
    for step in late["content"]:
        step["timestamp"] += waits
    for action in (*late["total_action_list"][0], *late["total_action_list"][1]):
        action["timestamp"] += waits
    pause = {**quiet, "actions": ["wait(1)", "wait(1)"], "map": "", "content": {**quiet["content"], "content": [[], []]}}
    late["content"] = [{**pause, "timestamp": step} for step in range(waits)] + late["content"]
    late["total_timestamp"] = list(range(len(late["content"])))
    return late


def test_a_required_hand_over_counts_once(tmp_path: Path) -> None:
    """The Chef asks twice for the first of two hand-overs and never for the second: half of what it had to initiate."""
    *_, found = play_order("baked_carrot_soup", "bad-responder-refuse")
    log = json.loads(json.dumps({key: value for key, value in found.items() if key != "cotrace"}))
    asked = [index for index, step in enumerate(log["content"]) if step["statistical_data"]["communication"][0]["call"]]
    assert len(asked) == 3
    log["content"], log["total_order_finished"] = log["content"][: asked[2]], []
    log["total_timestamp"] = list(range(asked[2]))
    log["total_action_list"] = [[entry for entry in actions if entry["timestamp"] <= asked[2]] for actions in log["total_action_list"]]
    store = ingested(tmp_path, ("m/baked_carrot_soup/experiment_x.json", json.dumps(log)))
    metrics = dict(query(store, "select replace(metric, 'overcooked.', ''), value from episode_metrics").rows())
    assert (metrics["n_initiate_ok"], metrics["n_respond_ok"], metrics["n_required_collaborations"]) == (2, 1, 2)
    assert (metrics["n_hand_overs_asked"], metrics["initiate_collaboration"]) == (1, 0.5)
    assert (metrics["n_hand_overs_answered"], metrics["respond_collaboration"]) == (1, 0.5)
    assert metrics["initiate_collaboration_upstream"] == 1.0


def test_evaluation_files_are_left_alone(tmp_path: Path) -> None:
    """Results, references and kitchens beside the logs are no logs, and no rejects."""
    store = ingested(
        tmp_path,
        ("evaluation_result.json", '{"boiled_egg": {"similarity_and_redundancy_result": {}}}'),
        ("ref.txt", '{"reference_1": {"agent_0": [], "agent_1": []}}'),
    )
    assert query(store, "from rejects").is_empty()
    assert query(store, "from episodes").is_empty()


@pytest.mark.usefixtures("with_views")
def test_verified_actions_bring_the_order_on(shared: Path, tmp_path: Path) -> None:
    """In the published games a step with nothing but verified actions always raises progress, save one that the log does not record."""
    store = published_store(shared, tmp_path, "overcooked/runs")
    sql = """with steps as (
            select episode_id, turn, progress > coalesce(lag(progress) over game, 0) as rose,
                turn = max(turn) over (partition by episode_id) as last
            from turns window game as (partition by episode_id order by turn))
        select followed.value, episodes.success, last, rose, count(*) as n
        from turn_metrics as followed inner join steps using (episode_id, turn) inner join episodes using (episode_id)
        where followed.metric = 'overcooked.followed_verified' group by all"""
    rows = query(store, sql).to_dicts()
    verified = [row for row in rows if row["value"] == 1]
    assert sum(row["n"] for row in verified if row["rose"]) > 900
    assert [(row["success"], row["last"], row["n"]) for row in verified if not row["rose"]] == [(False, True, 1)]
    sql = """select regexp_extract(episodes.file, '[^/]+') as policy, avg(value) as share
        from turn_metrics inner join episodes using (episode_id)
        where metric = 'overcooked.followed_verified' group by all"""
    shares = {row["policy"]: row["share"] for row in query(store, sql).to_dicts()}
    assert shares["optimal"] == 1
    assert shares["wrong-ingredient"] < shares["slow"] < 1


def test_what_the_kitchen_forbids_is_not_verified(tmp_path: Path, log: dict[str, Any]) -> None:
    """At the start the Assistant alone can act; the Chef's pickup comes when the egg lies there; nothing follows what has been spoilt."""
    store = ingested(tmp_path, (FILE, json.dumps(log)))
    rows = query(store, "select turn, arguments ->> 'agent', verb, listed, undoes from oracle_actions order by turn, rank").rows()
    assert rows[0] == (1, "Assistant", "pickup", False, False)
    first_of_chef = min(turn for turn, agent, *_ in rows if agent == "Chef")
    laid = query(store, "select turn from actions where verb = 'place_obj_on_counter' order by turn limit 1").item()
    assert first_of_chef == laid + 1
    assert query(store, "select bool_or(oracle_available), count(oracle_followed) from turns").rows() == [(False, 0)]


@pytest.mark.parametrize(
    ("held", "contents", "action", "is_verified"),
    [
        ("egg", (), "put_obj_in_utensil(pot0)", True),
        ("apple", (), "put_obj_in_utensil(pot0)", False),
        ("egg", ("egg",), "put_obj_in_utensil(pot0)", False),
        (None, ("egg",), "cook(pot0)", True),
        (None, ("egg", "apple"), "cook(pot0)", False),
        ("egg", (), "deliver_soup()", False),
    ],
)
def test_only_what_belongs_to_the_order_is_verified(held: str | None, contents: tuple[str, ...], action: str, is_verified: bool) -> None:  # noqa: FBT001  # a table
    """What the references have next does not help where the hand or the pot holds something else."""
    world = start_world(kitchen(), "boiled_egg")
    world.bodies[0].held = held
    if contents:
        world.utensils["pot0"] = Pot(contents)
    assert bool(verified_actions(world, 0, (action,))) is is_verified


def test_nothing_is_passed_over_full_counters() -> None:
    """With all three shared counters taken, putting something down would lose it for the partner."""
    world = start_world(kitchen(), "boiled_egg")
    world.bodies[1].held = "egg"
    assert verified_actions(world, 1, ("place_obj_on_counter()",)) == ("place_obj_on_counter()",)
    world.counters = dict.fromkeys(world.layout.shared_counters, "apple")
    assert verified_actions(world, 1, ("place_obj_on_counter()",)) == ()
