"""clembench: rounds are turns, events messages with their addressee, scores come from the file beside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.ingest.asked import ingested, written


def event(speaker: str, to: str, kind: str, content: Any) -> dict[str, Any]:
    return {"from": speaker, "to": to, "timestamp": "2024-09-12T17:08:54.740640", "action": {"type": kind, "content": content}}


OLD: dict[str, Any] = {
    "players": {"GM": "Game master for taboo", "Player 1": "WordDescriber, gpt-4", "Player 2": "WordGuesser, llama"},
    "turns": [
        [event("GM", "Player 1", "send message", "Describe."), event("Player 1", "GM", "get message", "It barks.")],
        [
            event("GM", "Player 2", "send message", "It barks."),
            event("Player 2", "GM", "get message", "dog"),
            event("GM", "GM", "correct guess", "dog"),
        ],
    ],
}
NEW = {
    "meta": {"game_name": "taboo", "experiment_name": "high_en", "game_id": 3},
    "players": {"GM": {"game_role": "master", "model_name": "programmatic"}, "Player 1": {"game_role": "Describer", "model_name": "gpt-4"}},
    "turns": OLD["turns"],
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("log", "task", "level", "role"), [(OLD, "episode_0", "0_high_en", "WordDescriber"), (NEW, "3", "high_en", "Describer")]
)
def test_episodes_of_both_versions(tmp_path: Path, log: dict[str, Any], task: str, level: str, role: str) -> None:
    """Audiences, notes of the game master, models and roles; the files beside are no rejects."""
    folder = tmp_path / "logs" / "taboo" / "0_high_en" / "episode_0"
    written(folder / "interactions.json", log)
    written(folder / "scores.json", {"turn scores": {}, "episode scores": {"Success": 1, "Lose": 0, "Aborted": 0, "Main Score": 50}})
    written(folder / "requests.json", [{"timestamp": "t", "manipulated_prompt_obj": {}, "raw_response_obj": {}}])
    found = ingested(tmp_path, tmp_path / "logs")
    assert found.refused == []
    said = found.rows("SELECT turn, agent, channel, audience, text FROM utterances ORDER BY turn, seq")
    assert [row[:3] for row in said] == [
        (1, "GM", "public"),
        (1, "Player 1", "public"),
        (2, "GM", "public"),
        (2, "Player 2", "public"),
        (2, "GM", "private"),
    ]
    assert said[1][3:] == (["Player 1", "GM"], "It barks.")
    assert found.rows("SELECT agent, verb FROM actions") == [("GM", "correct guess")]
    facts = "SELECT task_id, level, success, score, stop_reason, turns_taken FROM episodes"
    assert found.rows(facts) == [(task, level, True, 50.0, "success", 2)]
    assert found.rows("SELECT role, model FROM agents WHERE agent = 'Player 1'") == [(role, "gpt-4")]
    assert found.rows("SELECT name FROM runs") == [("taboo",)]


def test_scores_that_come_later_are_read_and_bad_episodes_are_one_line(tmp_path: Path) -> None:
    """Without scores nothing is said of the end; with them the game is read again."""
    path = written(tmp_path / "e" / "interactions.json", OLD)
    assert ingested(tmp_path, path).rows("SELECT success, score FROM episodes") == [(None, None)]
    written(path.with_name("scores.json"), {"episode scores": {"Success": 0, "Lose": 0, "Aborted": 1}})
    again = ingested(tmp_path, path)
    assert again.report.replaced == 1
    assert again.rows("SELECT success, score, stop_reason FROM episodes") == [(False, None, "aborted")]
    bad = written(tmp_path / "b" / "interactions.json", OLD | {"turns": [[{"to": "GM"}]]})
    assert "from whom" in ingested(tmp_path, bad).refused[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("at", [7, {"at": 1}, ["2024"]])
def test_a_time_that_is_no_text_is_no_time(tmp_path: Path, at: Any) -> None:
    """The message is kept."""
    path = written(tmp_path / "interactions.json", OLD | {"turns": [[event("GM", "Player 1", "send message", "Hi") | {"timestamp": at}]]})
    found = ingested(tmp_path, path)
    assert found.refused == []
    assert found.rows("SELECT text, started_at FROM utterances JOIN episodes USING (episode_id)") == [("Hi", None)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("to", [7, ["Player 1"], {"name": "Player 1"}])
def test_an_addressee_that_is_no_name_is_nobody(tmp_path: Path, to: Any) -> None:
    """A note that is for nobody by name is the speaker's own."""
    path = written(tmp_path / "interactions.json", OLD | {"turns": [[event("GM", "", "note", "Hi") | {"to": to}]]})
    found = ingested(tmp_path, path)
    assert found.refused == []
    assert found.rows("SELECT text, channel, audience FROM utterances") == [("Hi", "private", ["GM"])]


def test_a_score_larger_than_a_float_is_no_number(tmp_path: Path) -> None:
    """It stays in the details as it stands in the file; the other scores count."""
    path = written(tmp_path / "interactions.json", OLD)
    written(path.with_name("scores.json"), {"episode scores": {"Success": 10**400, "Lose": 1, "Main Score": 5}})
    found = ingested(tmp_path, path)
    assert found.refused == []
    facts = "SELECT success, score, stop_reason, contains(details, '1' || repeat('0', 400)) FROM episodes"
    assert found.rows(facts) == [(False, 5.0, "lose", True)]


def test_an_episode_that_ended_before_somebody_spoke_is_of_the_same_run(tmp_path: Path) -> None:
    """Who plays is told at the beginning of the log: one who never came to speak has a row, and the team is the same team."""
    cut = {**OLD, "turns": OLD["turns"][:1]}
    for episode, log in enumerate((OLD, cut)):
        written(tmp_path / "logs" / "taboo" / "0_high_en" / f"episode_{episode}" / "interactions.json", log)
    found = ingested(tmp_path, tmp_path / "logs")
    assert found.rows("SELECT count(*) FROM runs") == [(1,)]
    assert found.rows("SELECT role, model, count(*) FROM agents WHERE agent = 'Player 2' GROUP BY ALL") == [("WordGuesser", "llama", 2)]


def test_scores_of_turns_are_metrics_of_turns_and_a_player_has_one_name(tmp_path: Path) -> None:
    """Files count turns from 0; `Player_1` of the list of players is `Player 1` of the events."""
    players = {name.replace(" ", "_"): told for name, told in OLD["players"].items()}
    path = written(tmp_path / "interactions.json", OLD | {"players": players})
    written(path.with_name("scores.json"), {"turn scores": {"0": {"Accuracy": 1, "Note": "x"}, "1": {"Accuracy": 0}}, "episode scores": {}})
    found = ingested(tmp_path, path)
    assert found.rows("SELECT turn, metric, value FROM turn_metrics ORDER BY turn") == [
        (1, "clembench.Accuracy", 1.0),
        (2, "clembench.Accuracy", 0.0),
    ]
    assert found.rows("SELECT agent, model FROM agents WHERE agent <> 'GM' ORDER BY agent") == [
        ("Player 1", "gpt-4"),
        ("Player 2", "llama"),
    ]


@pytest.mark.parametrize("players", [[{"name": "Ann"}], {"Ann": {"role": "spy"}}])
def test_players_and_rounds_of_another_game_are_no_episode_of_clembench(tmp_path: Path, players: Any) -> None:
    """Refused as a format that is not known, not as a damaged log of this one."""
    found = ingested(tmp_path, written(tmp_path / "game.json", {"players": players, "rounds": [{"votes": {"Ann": True}}], "turns": [{}]}))
    assert ["no log format that cotrace knows" in reason for reason in found.refused] == [True]


@pytest.mark.shared
def test_logs_of_avalon_are_not_of_clembench_and_instances_are_left_alone(shared: Path, tmp_path: Path) -> None:
    """Both have players and rounds; in a folder too each log has its own reader. An instance of a game of clembench is not a log."""
    games = sorted((shared / "data/avalon").rglob("*.json"))[::9]
    for number, path in enumerate(games):
        (tmp_path / "logs" / str(number)).mkdir(parents=True)
        (tmp_path / "logs" / str(number) / "game.json").write_bytes(path.read_bytes())
    written(tmp_path / "logs" / "instance.json", {"game_id": 3, "target_word": "dog"})
    found = ingested(tmp_path, tmp_path / "logs")
    assert found.refused == []
    assert found.rows("SELECT format, count(*) FROM sources GROUP BY ALL") == [("avalon", len(games))]
    assert [reason for _, reason in found.report.others] == ["not a game log: instance of a clembench game"]
