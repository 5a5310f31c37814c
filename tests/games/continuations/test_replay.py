"""Logged games go on otherwise: until the changed seat's call as they went, then as the players play, compared with what happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.games.seats import cotrace, play, seat_server, stats, without_memory

GAMES = {
    "craft": (["all=script:plain"], ["--games", "1", "--turns", "6"]),
    "einstein": (["all=script:sensible"], ["--games", "1", "--turns", "12", "--verifier", "reasoning", "--samples", "2"]),
    "asympuzl": (["all=script:sharing"], ["--size", "4", "--games", "1"]),
    "overcooked": (["all=script:plain"], ["--task", "boiled_egg", "--turns", "6", "--rules", "paper"]),
    "coordination": (["all=script:cautious"], ["hanabi", "--seed", "1"]),
}
PUBLISHED = {
    "craft": "craft/craft_results/api/oracle5_no_tools_run3/gpt-4o-mini_gpt-4o-mini/craft_structure_001_3.json",
    "einstein": "einstein/cot_seek_reasoning/json/dialog_6_200202_211033_000020_10210_00.json",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game of each family, played by scripts, in a store."""
    home = tmp_path_factory.mktemp("replay")
    for family, (seats, options) in GAMES.items():
        with without_memory(family):
            assert play(family, home / "logs" / family, seats, *options).returncode == 0
    ingest_paths([home / "logs"], Store(home / "s.duckdb"), workers=1)
    return home


def replay(home: Path, episode: str, *options: str, code: int = 0) -> str:
    """What the command says."""
    done = cotrace("replay", episode, "--store", str(home / "s.duckdb"), *options)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def lines(path: Path) -> list[dict[str, Any]]:
    """A log."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def only_log(folder: Path) -> Path:
    """The one log in a folder."""
    (path,) = folder.rglob("*.jsonl")
    return path


@pytest.mark.sampled(1)
@pytest.mark.parametrize("family", sorted(GAMES))
def test_with_the_same_players_the_same_game_goes_on(family: str, folder: Path, tmp_path: Path) -> None:
    """From every script's game: up to its second turn it is the log's, and behind it the same scripts do the same again."""
    (seats, _), store = GAMES[family], Store(folder / "s.duckdb")
    episode = query(store, "SELECT episode_id FROM episodes WHERE benchmark = $f AND origin IS NULL", {"f": family}).item()
    replay(folder, episode[:-3], "--turn", "2", "--player", *seats, "--repeats", "2", "--out", str(tmp_path))
    before, *afters = (lines(path)[1:] for path in [only_log(folder / "logs" / family), *sorted(tmp_path.rglob("*.jsonl"))])
    assert len(afters) == 2
    assert all(after == before for after in afters)
    ensure_installed(store)
    found = query(store, f"SELECT measure, games, happened, mean FROM continuations WHERE episode_id = '{episode}'").to_dicts()
    measures = {row["measure"] for row in found}
    assert "progress" in measures
    assert ("success" in measures) == (family != "coordination")  # Hanabi has a score and no success
    assert all(row["games"] == 2 and row["mean"] == row["happened"] for row in found)
    assert query(store, "SELECT * FROM log_disagreements").is_empty()
    changed = query(store, f"SELECT origin->>'$.changed' AS changed FROM episodes WHERE origin->>'$.episode' = '{episode}'")["changed"]
    assert changed.to_list() == seats * 2


def test_a_model_takes_a_seat_in_the_middle(folder: Path, tmp_path: Path) -> None:
    """It is asked from that turn on and for its seat alone; the calls of the beginning are not counted again."""
    store = Store(folder / "s.duckdb")
    episode = query(store, "SELECT episode_id FROM episodes WHERE benchmark = 'craft' AND origin IS NULL").item()
    with seat_server("garbage") as address:
        asked = stats(address)["requests"]
        told = replay(
            folder, episode, "--turn", "4", "--player", "builder=openai/stub", "--turns", "2", "--repeats", "3",
            "--base-url", f"{address}/v1", "--out", str(tmp_path), code=1,
        )  # fmt: skip
        assert stats(address)["requests"] - asked == 2 * 3
    assert "3 games with 15 turns played" in told
    before = lines(only_log(folder / "logs" / "craft"))
    for path in tmp_path.rglob("*.jsonl"):
        header, *turns, end = lines(path)
        assert turns[:3] == before[1:4]
        assert [len(turn["calls"]) for turn in turns] == [0, 0, 0, 1, 1]
        assert turns[3]["utterances"][:-1] == before[4]["utterances"][:-1]  # the directors have spoken before the builder is asked
        assert turns[3]["actions"][0]["verb"] == "unreadable"
        assert (end["end"]["stop_reason"], end["end"]["success"]) == ("stopped", None)
        assert header["details"]["origin"] == {"episode": episode, "turn": 4, "changed": "builder=openai/stub", "turns": 2}
        assert header["team"] == {"director": "script:plain", "builder": "openai/stub"}
    row = query(store, "SELECT * FROM continuations WHERE measure = 'progress' AND turns = 2").to_dicts()[0]
    stopped = query(store, f"SELECT progress FROM turns WHERE episode_id = '{episode}' AND turn = 5").item()
    assert (row["games"], row["happened"], row["difference"]) == (3, stopped, row["mean"] - stopped)
    assert row["low"] <= row["mean"] <= row["high"]
    assert query(store, "SELECT * FROM continuations WHERE measure = 'success' AND turns = 2").is_empty()
    assert query(store, "SELECT * FROM log_disagreements").is_empty()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("family", "seat", "team"),
    [
        ("coordination", "bob", {"alice": "script:cautious", "bob": "openai/stub"}),
        ("overcooked", "Assistant", {"chef": "script:plain", "assistant": "openai/stub"}),
        ("asympuzl", "B", {"alice": "script:sharing", "bob": "openai/stub"}),
    ],
)
def test_the_team_is_who_plays_on(family: str, seat: str, team: dict[str, str], folder: Path, tmp_path: Path) -> None:
    """Whatever the log calls its seats: a leaderboard must not count the new player's games for the old one."""
    store = Store(folder / "s.duckdb")
    episode = query(store, "SELECT episode_id FROM episodes WHERE benchmark = $f AND origin IS NULL", {"f": family}).item()
    with seat_server("script") as address:
        options = ("--turn", "1", "--player", f"{seat}=openai/stub", "--turns", "1", "--base-url", f"{address}/v1")
        replay(folder, episode, *options, "--out", str(tmp_path))
    assert lines(only_log(tmp_path))[0]["team"] == team
    assert query(store, "SELECT * FROM log_disagreements").is_empty()


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("family", sorted(PUBLISHED))
def test_published_games_go_on_too(family: str, shared: Path, tmp_path: Path) -> None:
    """Out of the store's tables; the states up to the turn are those that the log holds, and a person may do something else there."""
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([shared / "data" / PUBLISHED[family]], store, workers=1)
    episode = query(store, "SELECT episode_id FROM episodes").item()
    seat, act = {
        "craft": ("all=script:plain", "builder=REMOVE:(0,0):0:CONFIRM:no"),
        "einstein": ("all=script:sensible", "Player1=pass"),
    }[family]
    replay(tmp_path, episode, "--turn", "3", "--player", seat, "--do", act, "--turns", "1", "--out", str(tmp_path / "out"))
    states = "SELECT turn, state_before FROM turns WHERE episode_id {} '" + episode + "' AND turn <= 3 ORDER BY turn"
    was, now = (query(store, states.format(sign))["state_before"].to_list() for sign in ("=", "<>"))
    assert was == now
    done = query(store, f"SELECT verb FROM actions WHERE episode_id <> '{episode}' AND turn = 3")["verb"].to_list()
    assert done == [{"craft": "remove", "einstein": "pass"}[family]]
    assert query(store, f"SELECT * FROM log_disagreements WHERE episode_id <> '{episode}'").is_empty()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--turn", "99", "--player", "all=script:plain"], "the game has turns 1 to 6"),
        (["--turn", "2"], "nothing to change"),
        (["--turn", "2", "--player", "boss=human"], "no such role"),
        (["--turn", "2", "--do", "builder"], "write ROLE=TEXT"),
        (["--turn", "2", "--do", "boss=PASS"], "no such role"),
        (["--turn", "2", "--player", "all=script:plain", "--turns", "2", "--to-end"], "contradict each other"),
    ],
)
def test_wrong_use_is_one_line(options: list[str], message: str, folder: Path, tmp_path: Path) -> None:
    """Exit code 2, and nothing is written."""
    episode = query(Store(folder / "s.duckdb"), "SELECT episode_id FROM episodes WHERE benchmark = 'craft' AND origin IS NULL").item()
    said = replay(folder, episode, *options, "--out", str(tmp_path), code=2)
    assert message in said
    assert len(said.strip().splitlines()) == 1
    assert "no game nobody" in replay(folder, "nobody", "--turn", "1", code=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_who_cannot_be_called_again_must_be_replaced(folder: Path, tmp_path: Path) -> None:
    """A persona of a scripted game takes no seat: the message names the seat and the mend."""
    home = tmp_path / "home"
    cotrace("play", "craft", "--games", "1", "--turns", "3", "--out", str(home / "logs"))
    store = Store(home / "s.duckdb")
    ingest_paths([home / "logs"], store, workers=1)
    episode = query(store, "SELECT episode_id FROM episodes").item()
    assert "D1 was 'clear', who cannot be called again: add --player D1=" in replay(
        home, episode, "--turn", "2", "--player", "builder=script:plain", code=2
    )
    assert folder.exists()
    said = replay(home, episode, "--turn", "2", "--player", "all=script:plain", "--out", str(tmp_path / "out"))
    assert "1 game with 3 turns played" in said
