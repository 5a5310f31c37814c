"""Scripted games: written as published logs, replayed exactly, with the planted faults found by rule and by the engine judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analytics.query import query
from analytics.views import ensure_installed
from games.overcooked.play import PlayRequest, play, play_order
from games.overcooked.players import POLICIES
from games.overcooked.tasks import task_of
from ingest.run import ingest_paths
from judges.overcooked.checks import CHECKS
from judges.transcript import load
from schemas.errors import UsageError
from schemas.store import Store

ORDERS = ("boiled_egg", "baked_carrot_soup", "mashed_potato_and_pea_patty")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("overcooked_play")
    play(PlayRequest(out=folder / "logs", orders=ORDERS, policies=tuple(POLICIES)))
    filled = Store(folder / "played.duckdb")
    ingest_paths([folder / "logs"], filled, workers=1)
    ensure_installed(filled)
    return filled


def test_every_game_replays_exactly(store: Store) -> None:
    """Pictures, recorded actions and points of all games; nothing is rejected."""
    assert query(store, "select count(*) from episodes").item() == len(ORDERS) * len(POLICIES)
    assert query(store, "from log_disagreements").is_empty()
    assert query(store, "from rejects").is_empty()


def test_the_good_team_is_perfect(store: Store) -> None:
    """It takes the published optimal time, and every request and answer is right; against all references its score is 1."""
    found = query(
        store,
        "select task_id, turns_taken, episodes.success, f.value as fair, c.initiate_collaboration, c.respond_collaboration from episodes "
        "inner join episode_metrics as f on episodes.episode_id = f.episode_id and f.metric = 'overcooked.pc_all_references' "
        "inner join overcooked_games as c on episodes.file = c.file where model = 'optimal'",
    )
    for task, steps, success, fair, initiated, responded in found.rows():
        assert steps == task_of(task).time_optimal + 1 - (task == "boiled_egg")
        assert (success, initiated, responded) == (True, 1.0, 1.0)
        assert fair == pytest.approx(1.0)


def test_every_planted_fault_is_named(store: Store) -> None:
    """The rule's category of each request and answer is what its player meant, and each kind of fault occurs."""
    found = query(
        store,
        "select l.answer, f.category from labels as l inner join failures as f on l.episode_id = f.episode_id and l.turn = f.turn "
        "and l.agent = f.agent and l.rubric = f.taxonomy",
    )
    assert len(found) == query(store, "select count(*) from labels").item()
    assert found.filter(found["answer"] != found["category"]).is_empty()
    planted = set(query(store, "select distinct question || ' ' || answer from labels").to_series())
    faults = ("premature", "repetitive", "irrelevant", "infeasible", "wrong_parameter", "missing_step")
    assert {f"IC1 {fault}" for fault in faults} <= planted
    assert {f"RC1 {fault}" for fault in ("wrong_parameter", "missing_step", "infeasible", "refused", "followed_wrong_request")} <= planted


def test_the_engine_judge_agrees(store: Store) -> None:
    """What the checks read out of the stored conversation is what was planted."""
    ids = query(store, "select episode_id from episodes order by episode_id").to_series().to_list()
    games = {game.episode_id: game for game in load(store, ids)}
    rows = query(store, "select episode_id, turn, agent, question, answer from labels").rows()
    wrong = [
        (agent, question, answer)
        for episode, turn, agent, question, answer in rows
        if CHECKS[f"overcooked.{question}"](games[episode], turn, agent).answer != answer
    ]
    assert wrong == []


def test_a_turn_without_conversation_is_not_judged(store: Store) -> None:
    """The silent Chef asks for nothing: not applicable, for either agent."""
    (episode,) = query(store, "select episode_id from episodes where model = 'silent' and task_id = 'boiled_egg'").to_series()
    (game,) = load(store, [episode])
    answers = {check(game, turn.turn, agent).answer for turn in game.turns for check in CHECKS.values() for agent in game.agents}
    assert answers == {"na"}


def test_published_layout_of_files(tmp_path: Path) -> None:
    """`<policy>/<order>/experiment_<time>_<order>.json`, byte for byte the same each time."""
    request = PlayRequest(out=tmp_path / "a", orders=("boiled_egg",), games=2)
    report = play(request)
    again = play(PlayRequest(out=tmp_path / "b", orders=("boiled_egg",), games=2))
    assert report.paths[0] == tmp_path / "a/optimal/boiled_egg/experiment_2026-01-01_00-00-00_boiled_egg.json"
    assert [path.read_bytes() for path in report.paths] == [path.read_bytes() for path in again.paths]
    assert (report.played, play(request).kept) == (2, 2)


def test_a_cut_game_is_played_again_and_another_is_not_touched(tmp_path: Path) -> None:
    """A log that says it is not complete is replaced; one of another seed is refused."""
    request = PlayRequest(out=tmp_path, orders=("boiled_egg",))
    (path,) = play(request).paths
    whole = path.read_bytes()
    log = json.loads(whole)
    log["cotrace"]["complete"], log["content"] = False, log["content"][:4]
    path.write_text(json.dumps(log), encoding="utf-8")
    assert play(request).played == 1
    assert path.read_bytes() == whole
    with pytest.raises(UsageError, match="holds another game"):
        play(PlayRequest(out=tmp_path, orders=("boiled_egg",), seed=4))


def test_a_running_game_is_a_whole_log_after_every_step() -> None:
    """Killed at any step, a game leaves a log with that many steps."""
    lengths = [len(log["content"]) for log in play_order("boiled_egg", "optimal")]
    assert lengths == list(range(1, 17))


def test_the_sane_rules_record_fillings_rightly() -> None:
    """Without the engine's defects the Chef's last actions at the oven carry their own name."""
    *_, log = play_order("mashed_potato_and_pea_patty", "optimal", rules="sane")
    assert [entry["action"] for entry in log["total_action_list"][0]][-2:] == ["fill_dish_with_food(oven0)", "deliver_soup()"]


@pytest.mark.parametrize(
    ("request_part", "message"),
    [
        ({"policies": ("optimum",)}, "no overcooked policy 'optimum'"),
        ({"orders": ("soup",)}, "no overcooked order 'soup'"),
        ({"levels": (7,)}, "no overcooked level 7"),
        ({"games": 0}, "must be at least 1"),
        ({"horizon": 0}, "must be at least 1"),
    ],
)
def test_wrong_requests(tmp_path: Path, request_part: dict[str, tuple[str, ...]], message: str) -> None:
    """Each is told in one line before anything is played."""
    with pytest.raises(UsageError, match=message):
        play(PlayRequest(out=tmp_path / "logs", **request_part))  # type: ignore[arg-type]  # one field of several types at a time
    assert not (tmp_path / "logs").exists()
