"""Chats for fine-tuning: the very messages that the agents saw, pairs by what turns cost, and no puzzle in two splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analytics.query import query
from ingest.files.run import ingest_paths
from providers.asker import fingerprint, shown
from providers.forms import ModelQuestion
from providers.provider import ModelSettings
from schemas.store.store import Store
from tests.games.seats import cotrace, play, seat_server

VAGUE = ("--player", "directors=script:vague", "--player", "builder=script:oracle_follower")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's games in three families, a scripted persona's and, out of one of them, what might have been."""
    home = tmp_path_factory.mktemp("chats")
    with seat_server("script") as address:
        url = ("--base-url", f"{address}/v1")
        play("craft", home / "logs" / "c", ["all=openai/stub"], "--games", "2", "--turns", "3", "--reachable", *url)
        play("einstein", home / "logs" / "e", ["all=openai/stub"], "--games", "3", "--turns", "4", *url)
        play("asympuzl", home / "logs" / "a", ["all=openai/stub"], "--size", "3", "--games", "2", *url)
    cotrace(
        "play",
        "craft",
        "--player",
        "directors=script:vague",
        "--player",
        "builder=script:oracle_follower",
        "--games",
        "1",
        "--turns",
        "2",
        "--out",
        str(home / "logs" / "p"),
    )
    store = Store(home / "s.duckdb")
    ingest_paths([home / "logs"], store, workers=1)
    episode = query(store, "SELECT min(episode_id) FROM episodes WHERE benchmark = 'craft' AND model = 'openai/stub'").item()
    for line in ("PLACE:bs:(0,0):0:CONFIRM:x", "CLARIFY:Where?"):
        done = cotrace(
            "replay", episode, "--turn", "2", "--turns", "1", "--player", "all=script:plain", "--do", f"builder={line}",
            "--out", str(home / "replays"), "--store", str(store.path),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    Store.settle(store)
    return home


def export(home: Path, folder: Path, *options: str, code: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Split -> lines."""
    done = cotrace("export", "chats", "--to", str(folder), "--store", str(home / "s.duckdb"), *options)
    assert done.returncode == code, done.stderr
    return {path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in folder.glob("*.jsonl")}


def test_a_chat_is_what_the_model_was_asked(home: Path, tmp_path: Path) -> None:
    """The hash of every exported prompt is that of the request; the answer is the reply, and no call is missing."""
    found = export(home, tmp_path, "--where", "model = 'openai/stub'")
    lines = [line for split in found.values() for line in split]
    settings = ModelSettings(model="openai/stub", temperature=0.7, max_tokens=2000)
    exported = sorted(
        (
            line["episode_id"],
            line["turn"],
            line["agent"],
            shown(fingerprint(settings, ModelQuestion(messages=line["messages"][:-1]))),
            reply,
        )
        for line in lines
        if (reply := line["messages"][-1]["content"]) and line["messages"][-1]["role"] == "assistant"
    )
    asked = query(Store(home / "s.duckdb"), "SELECT episode_id, turn, agent, prompt_hash, reply FROM calls").rows()
    assert exported == sorted(asked)
    assert {line["benchmark"] for line in lines} == {"craft", "einstein", "asympuzl"}


@pytest.mark.long
def test_splits_share_no_puzzle_and_load_as_one_dataset(home: Path, tmp_path: Path) -> None:
    """Every puzzle is in one split, the same in every export; the columns of all files are the same."""
    found = export(home, tmp_path / "a", "--splits", "0.4,0.3,0.3")
    assert len(found) >= 2
    goals = dict(query(Store(home / "s.duckdb"), "SELECT episode_id, benchmark || goal FROM episodes").iter_rows())
    of_split = {split: {goals[line["episode_id"]] for line in lines} for split, lines in found.items()}
    assert sum(map(len, of_split.values())) == len(set().union(*of_split.values()))
    assert export(home, tmp_path / "b", "--splits", "0.4,0.3,0.3") == found
    schemas = [pl.read_ndjson(path).schema for path in (tmp_path / "a").glob("*.jsonl")]
    assert all(schema == schemas[0] for schema in schemas)
    assert set(export(home, tmp_path / "b", "--splits", "1,0,0")) == {"train"}
    assert "add up to 1" in cotrace("export", "chats", "--to", "x", "--store", str(home / "s.duckdb"), "--splits", "1,1,1").stderr


def test_only_what_is_wanted_goes_out(home: Path, tmp_path: Path) -> None:
    """By role, by success, by what a turn cost, and without thoughts; the thoughts of a persona's log are there too."""
    store = Store(home / "s.duckdb")
    lines = [line for split in export(home, tmp_path / "s", "--keep", "successful").values() for line in split]
    assert {line["episode_id"] for line in lines} == set(query(store, "SELECT episode_id FROM episodes WHERE success")["episode_id"])
    lines = [line for split in export(home, tmp_path / "l", "--keep", "lossless").values() for line in split]
    assert lines
    assert all(line["cost"] <= 0 for line in lines)
    where = ("--where", "model = 'vague'", "--role", "director")
    for name, wanted in (("--reasoning", True), ("--no-reasoning", False)):
        said = [line["messages"][-1]["content"] for split in export(home, tmp_path / name, *where, name).values() for line in split]
        assert said
        assert all(("<think>" in text) == wanted and "<message>" in text for text in said)


def test_pairs_prefer_the_answer_whose_turn_cost_less(home: Path, tmp_path: Path) -> None:
    """Same prompt, other answer: out of continuations."""
    found = export(home, tmp_path, "--pairs")
    (lines,) = found.values()
    assert {(line["chosen"][0]["content"][:5], line["rejected"][0]["content"]) for line in lines} >= {
        ("PLACE", "PLACE:bs:(0,0):0:CONFIRM:x")
    }
    for line in lines:
        assert line["rejected_cost"] > line["chosen_cost"]
        assert line["chosen"][0]["content"] != line["rejected"][0]["content"]
        assert [message["role"] for message in line["prompt"]] == ["system", "user"]
