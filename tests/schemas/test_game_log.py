"""`cotrace.GameLog` refuses at once what could not be read later: the game may have cost money."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analytics.installation import ensure_installed
from schemas.common.errors import UsageError
from schemas.game_log import GameLog
from tests.ingest.asked import ingested


def game(path: Path) -> GameLog:
    return GameLog(path, benchmark="negotiation", agents=["a", "b"])


WRONG: dict[str, tuple[Callable[[GameLog], None], str]] = {
    "progress": (lambda log: log.turn(progress=2), r"turn 2: progress is 2: give a number from 0 to 1"),
    "progress as text": (lambda log: log.turn(progress="half"), r"turn 2: progress is 'half'"),  # type: ignore[arg-type]
    "state": (lambda log: log.turn(state_after={"seen": {1, 2}}), r"turn 2: a value is not JSON \(.*set\): give numbers, texts, lists"),
    "audience": (lambda log: log.turn(messages=[{"agent": "a", "text": "x", "audience": ["c"]}]), r"turn 2: no agent 'c' in this game"),
    "success": (lambda log: log.end(success="yes"), r"success is 'yes': give True, False, or None"),  # type: ignore[arg-type]
    "score": (lambda log: log.end(score="high"), r"score is 'high': give a number, or None"),  # type: ignore[arg-type]
    "endless score": (lambda log: log.end(score=math.inf), r"score is inf: give a number, or None"),
    "no text": (lambda log: log.turn(messages=[("a", None)]), r"turn 2: .*Expected `str`, got `null` - at `\$\.utterances\[0\]\.text`"),  # type: ignore[list-item]
    "three parts": (lambda log: log.turn(messages=[("a", "b", "c")]), r"messages: .* is neither \(agent, text\) nor"),  # type: ignore[list-item]
    "a text": (lambda log: log.turn(messages="ab"), r"messages: 'a' is neither \(agent, text\) nor"),  # type: ignore[arg-type]
    "one name": (lambda log: log.turn(messages=[{"agent": "a", "text": "x", "audience": "b"}]), r"turn 2: .*array.*audience"),
    "arguments": (lambda log: log.turn(actions=[{"agent": "a", "verb": "bid", "arguments": [40]}]), r"turn 2: .*actions\[0\]\.arguments"),
    "no action": (lambda log: log.turn(actions=[7]), r"actions: 7 is not an object"),  # type: ignore[list-item]
    "metric": (lambda log: log.turn(metrics={"deals": None}), r"turn 2: .*Expected `float`, got `null`"),  # type: ignore[dict-item]
    "depth": (lambda log: log.turn(state_after=deep()), r"turn 2: a value is not JSON"),
    "last metric": (lambda log: log.end(metrics={"seen": {1}}), r"the end: a value is not JSON"),  # type: ignore[dict-item]
    "reason": (lambda log: log.end(reason=3), r"the end: .*stop_reason"),  # type: ignore[arg-type]
}


def deep() -> list[Any]:
    """Lists inside one another without end."""
    around: list[Any] = []
    around.append(around)
    return around


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", WRONG)
def test_what_no_ingest_would_read_is_refused_and_the_game_goes_on(tmp_path: Path, name: str) -> None:
    act, told = WRONG[name]
    with game(tmp_path / "game.jsonl") as log:
        log.turn(messages=[("a", "one")])
        with pytest.raises(UsageError, match=told):
            act(log)
        log.turn(messages=[("b", "two")])
        log.end(success=True, score=0.5)
    found = ingested(tmp_path, tmp_path / "game.jsonl")
    assert found.refused == []
    assert found.rows("SELECT turns_taken, success, score FROM episodes") == [(2, True, 0.5)]


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"task": 3}, "task is 3: give a text"),
        ({"level": 2}, "level is 2: give a text"),
        ({"seed": 2**63}, "seed is 9223372036854775808, and no table holds"),
        ({"seed": "7"}, r"the game: .*got `str` - at `\$\.seed`"),
        ({"goal": {1, 2}}, "the game: a value is not JSON"),
        ({"agents": [{"agent": "a", "role": None}]}, r"the game: .*agents\[0\]\.role"),
        ({"agents": [1]}, "agents: 1 is not an object"),
        ({"benchmark": " "}, "benchmark is ' ': give the game a name"),
    ],
)
def test_a_game_that_no_ingest_would_read_does_not_begin(tmp_path: Path, facts: dict[str, Any], told: str) -> None:
    """Its first line would cost all of it."""
    given: dict[str, Any] = {"benchmark": "negotiation", "agents": ["a", "b"]}
    with pytest.raises(UsageError, match=told):
        GameLog(tmp_path / "game.jsonl", **given | facts)
    assert not (tmp_path / "game.jsonl").exists()


def test_a_game_ends_once(tmp_path: Path) -> None:
    with game(tmp_path / "game.jsonl") as log:
        log.end()
        with pytest.raises(UsageError, match="turn 1: the game has ended"):
            log.turn()
        with pytest.raises(UsageError, match="the game has ended: call `end` once"):
            log.end(success=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("end", "found"),
    [
        ({"success": True}, ("ended", True, 1.0)),
        ({"success": False}, ("ended", False, 0.0)),
        ({"success": False, "score": 0.5}, ("ended", False, 0.5)),
        ({"score": 0.5}, ("ended", None, 0.5)),
        ({}, ("cut", None, None)),
    ],
)
def test_a_success_alone_is_an_end(tmp_path: Path, end: dict[str, Any], found: tuple[Any, ...]) -> None:
    """A game whose only number is whether it was won counts in rates and means; one that says nothing of its end does not."""
    with game(tmp_path / "game.jsonl") as log:
        log.turn(messages=[("a", "one")])
        log.end(**end)
    store = ingested(tmp_path, tmp_path / "game.jsonl")
    ensure_installed(store.store)
    assert store.rows("SELECT ending, success, score FROM games") == [found]


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    """Loops compute with numpy: a game must not end with a traceback by it."""
    with game(tmp_path / "game.jsonl") as log:
        log.turn(state_after={"bid": np.float64(2.5), "stock": np.array([1, 2])}, progress=np.float32(0.5))  # type: ignore[arg-type]
        log.end(success=np.True_, score=np.float64(0.25), metrics={"rounds": np.float64(3)})  # type: ignore[arg-type]
    found = ingested(tmp_path, tmp_path / "game.jsonl")
    assert found.refused == []
    assert found.rows(
        "SELECT success, score, state_after ->> 'bid', state_after -> 'stock' FROM episodes JOIN turns USING (episode_id)"
    ) == [(True, 0.25, "2.5", "[1,2]")]
