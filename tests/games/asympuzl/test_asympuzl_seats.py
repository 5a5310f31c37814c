"""Models, scripts and people at AsymPuzl's table: prompts hold what a role needs, whatever comes back is played on and played again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analytics.query import query
from games.asympuzl.game import FEEDBACK_MODES, Game, GameSettings, observe
from games.asympuzl.puzzle import AGENTS
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from schemas.store.store import Store
from tests.games.seats import ingested, play, seat_server, turns, whatever_it_says, without_memory

EVERY_MODE = [word for mode in FEEDBACK_MODES for word in ("--feedback", mode)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seats", [["all=openai/stub"], ["A=script:sharing", "B=openai/stub"], ["A=openai/stub", "B=script:sharing"]])
def test_a_game_over_http_is_the_game_of_the_script_itself(seats: list[str], tmp_path: Path) -> None:
    """The server knows the prompt alone; every feedback mode, each role, same and mixed pairs."""
    options = [*EVERY_MODE, "--size", "4", "--games", "2", "--history", "2" if "A=openai/stub" in seats else "1"]
    with without_memory("asympuzl"):
        assert play("asympuzl", tmp_path / "script", ["all=script:sharing"], *options).returncode == 0
    with seat_server("script") as address:
        done = play("asympuzl", tmp_path / "logs", seats, *options, "--base-url", f"{address}/v1")
    assert done.returncode == 0, done.stderr
    played = turns(tmp_path / "logs")
    assert played == turns(tmp_path / "script")
    assert len(played) == 12
    assert all(game[-1]["end"]["success"] for game in played)
    store = ingested(tmp_path)
    found = query(store, "SELECT sum(games) AS games, sum(solved) AS solved, count(*) AS modes FROM asympuzl_configurations").to_dicts()[0]
    assert found == {"games": 12, "solved": 12, "modes": 6}


def test_one_agent_with_all_clues_plays_alone(tmp_path: Path) -> None:
    """Command, log and view; the games of two do not count it."""
    options = ("--solo", "--size", "5", "--games", "2")
    with seat_server("script") as address:
        assert play("asympuzl", tmp_path / "logs" / "m", ["A=openai/stub"], *options, "--base-url", f"{address}/v1").returncode == 0
    assert play("asympuzl", tmp_path / "logs" / "s", ["A=script:solver"], *options).returncode == 0
    assert turns(tmp_path / "logs" / "m") == turns(tmp_path / "logs" / "s")
    store = ingested(tmp_path)
    rows = query(store, "SELECT model, games, solved, success_pct, progress FROM asympuzl_solo ORDER BY model").to_dicts()
    assert [(row["model"], row["games"], row["solved"], row["progress"]) for row in rows] == [
        ("openai/stub", 2, 2, 1.0),
        ("script:solver", 2, 2, 1.0),
    ]
    assert query(store, "SELECT * FROM asympuzl_games").is_empty()


@pytest.mark.long
@pytest.mark.parametrize("mode", ["garbage", "refusal", "empty", "flaky", "cut"])
def test_games_end_and_are_played_again_whatever_the_model_says(mode: str, tmp_path: Path) -> None:
    """An answer that cannot be read takes the turn and is a failure by rule; every call is in `calls`."""
    options = ("--size", "3", "--games", "2", "--turns", "2")
    if mode == "cut":  # failed calls, which the command's exit code tells
        with seat_server(mode) as address:
            assert play("asympuzl", tmp_path / "logs", ["all=openai/stub"], *options, "--base-url", f"{address}/v1").returncode == 1
        store = ingested(tmp_path)
    else:
        store = whatever_it_says("asympuzl", tmp_path, mode, *options)
    counted = query(
        store, "SELECT (SELECT count(*) FROM calls) AS calls, sum(answers) AS answers, sum(no_json) AS broken FROM asympuzl_games"
    )
    assert counted.to_dicts()[0] == {"calls": 8, "answers": 8, "broken": 0 if mode == "flaky" else 8}
    attribute_games(store)
    whose = query(store, "SELECT DISTINCT link, agent IS NULL, status FROM attributions").rows()
    assert whose == {"cut": [("harness", True, "harness")], "flaky": []}.get(mode, [("format", False, "answered")])
    failed = query(store, "SELECT DISTINCT category, common FROM failures INNER JOIN failure_map USING (taxonomy, category)").rows()
    expected = {"cut": ("lost_reply", "harness"), "flaky": ("correct", "none")}.get(mode, ("no_json", "format"))
    assert expected in failed
    assert ("no_json" in dict(failed)) == (expected[0] == "no_json")


def test_a_log_that_was_changed_is_found_out(tmp_path: Path) -> None:
    """The replies are played again: a state, a reply or a result that they do not give is a disagreement."""
    assert play("asympuzl", tmp_path / "logs", ["all=script:sharing"], "--size", "3", "--games", "1").returncode == 0
    (path,) = (tmp_path / "logs").rglob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines[1]["state_after"]["B"][0]["shape"] = "blob"
    lines[2]["replies"][0]["text"] = "{}"
    lines[-1]["end"]["score"] = 0.5
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "logs"], store, workers=1)
    found = query(store, "SELECT turn, field FROM log_disagreements ORDER BY turn NULLS LAST, field").rows()
    assert found[0] == (1, "state_after")
    assert {field for turn, field in found if turn == 2} >= {"actions", "utterances", "state_after"}
    assert (None, "final_progress") in found


def test_a_log_without_the_reply_of_a_seat_is_kept_up_to_there(tmp_path: Path) -> None:
    """Its loss is told."""
    assert play("asympuzl", tmp_path / "logs", ["all=script:sharing"], "--size", "3", "--games", "1").returncode == 0
    (path,) = (tmp_path / "logs").rglob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    del lines[2]["replies"][1]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    report = ingest_paths([tmp_path / "logs"], store, workers=1)
    assert [reject.reason.split(";")[0] for reject in report.rejected] == ["has no reply of B (act)"]
    assert query(store, "SELECT turns_taken, success FROM episodes").rows() == [(1, None)]


def test_a_prompt_holds_what_a_role_needs_and_nothing_that_only_the_partner_knows() -> None:
    """Canaries: no color reaches A but by B's words, no order reaches B; nobody sees the other's actions, hypothesis or the seed."""
    game = Game.drawn(size=6, seed=4, settings=GameSettings(mode="both_detailed", max_turns=17))
    game.act("A", '{"message": "canary-message", "actions": [{"replace": 1, "by": {"shape": "square", "color": "plaid"}}]}')
    words = game.puzzle.vocabulary
    bob = game.observe("B")
    assert "canary-message" in bob.user
    assert "plaid" not in bob.user
    game.act("B", '{"message": "", "actions": []}')
    alice = game.observe("A")
    own, shown = (alice.user.split("## Feedback")[part] for part in (0, 1))
    assert not any(color in own for color in words.colors)
    assert all(f"Position {place}: shape {entry.shape}" in own for place, entry in enumerate(game.puzzle.truth, start=1))
    assert "Wrong positions of Agent B" in shown
    for seen in (alice, bob):
        for needed in (f"You are Agent {seen.agent}", "6 positions", "Positions count from 1", "`message` is all that your partner gets"):
            assert needed in seen.system + seen.user
        assert "cannot see your actions" in seen.user
        assert "17" not in seen.system + seen.user
    pairs = [f"shape {entry.shape}, color {entry.color}" for entry in game.puzzle.clues_b]
    assert [line.split(": ", 1)[1] for line in bob.user.splitlines() if line.startswith("Position")] == pairs * 2


def test_the_prompt_of_one_alone_holds_both_clues_and_no_partner() -> None:
    """And one attempt, without feedback."""
    seen = observe(Game.drawn(size=4, seed=1).puzzle)
    assert all(entry.color is not None and f"shape {entry.shape}, color {entry.color}" in seen.user for entry in seen.clues_b)
    assert "one attempt" in seen.user
    assert not any(f"Agent {agent}" in seen.system + seen.user for agent in AGENTS)
    assert "Feedback" not in seen.user
