"""`cotrace.GameLog` refuses at once what could not be read later: the game may have cost money."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import UsageError
from schemas.game_log import GameLog
from tests.ingest.asked import ingested


def game(path: Path) -> GameLog:
    return GameLog(path, benchmark="negotiation", agents=["a", "b"])


WRONG: dict[str, tuple[Callable[[GameLog], None], str]] = {
    "progress": (lambda log: log.turn(progress=2), r"turn 2: progress is 2: give a number from 0 to 1"),
    "progress as text": (lambda log: log.turn(progress="half"), r"turn 2: progress is 'half'"),  # type: ignore[arg-type]
    "state": (lambda log: log.turn(state_after={"seen": {1, 2}}), r"turn 2: a value is no JSON \(.*set\): give numbers, texts, lists"),
    "audience": (lambda log: log.turn(messages=[{"agent": "a", "text": "x", "audience": ["c"]}]), r"turn 2: no agent 'c' in this game"),
    "success": (lambda log: log.end(success="yes"), r"success is 'yes': give True, False, or None"),  # type: ignore[arg-type]
    "score": (lambda log: log.end(score="high"), r"score is 'high': give a number, or None"),  # type: ignore[arg-type]
}


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


def test_a_game_ends_once(tmp_path: Path) -> None:
    with game(tmp_path / "game.jsonl") as log:
        log.end()
        with pytest.raises(UsageError, match="turn 1: the game has ended"):
            log.turn()
        with pytest.raises(UsageError, match="the game has ended: call `end` once"):
            log.end(success=True)


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
