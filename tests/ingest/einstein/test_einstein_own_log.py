"""cotrace's own logs of Einstein games: replayed beside the log, whole, while they grow, and when they are bad."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from games.einstein.game import GameSettings
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.ingest.asked import rows
from tests.scripted import EinsteinRequest as PlayRequest
from tests.scripted import play

Json = dict[str, Any]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """The lines of a scripted game with a verifier."""
    request = PlayRequest(
        out=tmp_path_factory.mktemp("play"),
        personas=("mixed",),
        partners=("sensible",),
        games=1,
        conditions=(GameSettings(verifier="reasoning"),),
    )
    (path,) = play(request).paths
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "game.jsonl"


def write(path: Path, lines: list[Json]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def changed(lines: list[Json], change: Callable[[list[Json]], Any]) -> list[Json]:
    """A deep copy of a log with one change."""
    copy: list[Json] = json.loads(json.dumps(lines))
    change(copy)
    return copy


def test_a_whole_log_agrees_with_its_replay(store: Store, log: Path, played: list[Json]) -> None:
    """As many turns as lines, no difference, planted labels on every turn, costs of the verifier."""
    write(log, played)
    report = ingest_paths([log], store)
    end = played[-1]["end"]

    assert (report.episodes, report.turns, report.rejected) == (1, len(played) - 2, [])
    assert rows(store, "FROM log_disagreements") == []
    assert rows(store, "SELECT success, score, stop_reason FROM episodes") == [(end["success"], end["score"], end["stop_reason"])]
    assert rows(store, "SELECT count(*) FROM labels") == [(5 * (len(played) - 2),)]
    costs = [cost for turn in played[1:-1] for cost in turn["samples"]["costs"]]
    assert rows(store, "SELECT count(*), sum(value)::int FROM turn_metrics WHERE metric LIKE 'einstein.sample_cost.%'") == [
        (len(costs), sum(costs))
    ]


def test_a_growing_log_is_one_episode(store: Store, log: Path, played: list[Json]) -> None:
    """Each ingest replaces the game by what is there now; what is there is never rejected."""
    for count in (1, 2, 5, len(played) - 1, len(played)):
        write(log, played[:count])
        report = ingest_paths([log], store)
        assert report.rejected == []
        assert rows(store, "SELECT count(*), max(turns_taken) FROM episodes") == [(1, min(count - 1, len(played) - 2))]
        assert rows(store, "FROM log_disagreements") == []


def set_in(line: int, *keys: str | int, value: object) -> Callable[[list[Json]], None]:
    def change(lines: list[Json]) -> None:
        target: Any = lines[line]
        for key in keys[:-1]:
            target = target[key]
        target[keys[-1]] = value

    return change


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("change", "field"),
    [
        (set_in(2, "state_after", "bins", "commonbin", value=["block9"]), "state_after"),
        (set_in(2, "state_before", "knowledge", "Player1", "items", value=[]), "state_before"),
        (set_in(2, "actions", 0, "agent", value="Player1"), "agent"),
        (set_in(2, "goal_reached", value=True), "goal_reached"),
        (set_in(2, "samples", "executed", value=9), "samples.executed"),
        (set_in(-1, "end", "turns_taken", value=99), "turns_taken"),
        (set_in(-1, "end", "score", value=0.125), "final_progress"),
        (set_in(0, "task", "goal", value={"bins": {}}), "goal"),
        (set_in(0, "agents", 1, "private_view", value=None), "private_view.Player2"),
    ],
)
def test_what_the_log_says_otherwise_is_told(
    store: Store, log: Path, played: list[Json], change: Callable[[list[Json]], None], field: str
) -> None:
    """One change in the log is one disagreement."""
    write(log, changed(played, change))
    report = ingest_paths([log], store)

    assert report.rejected == []
    assert rows(store, "SELECT field FROM log_disagreements") == [(field,)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("change", "reason", "locator"),
    [
        (set_in(0, "run", "condition", "modes", value=["all"]), "modes is 'all'", "line 1.run.condition.modes"),
        (set_in(0, "run", "condition", value=7), "condition must be an object", "line 1.run.condition"),
        (set_in(0, "task", "id", value="4_1"), "not a game id", "line 1.task.id"),
    ],
)
def test_a_log_that_cannot_be_replayed_is_rejected(
    store: Store, log: Path, played: list[Json], change: Callable[[list[Json]], None], *, reason: str, locator: str
) -> None:
    """The line says what is wrong with the header, and where."""
    write(log, changed(played, change))
    (reject,) = ingest_paths([log], store).rejected

    assert reason in reject.reason
    assert reject.locator == locator
    assert rows(store, "FROM episodes") == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (set_in(3, "actions", value=[]), "must have one action"),
        (set_in(3, "actions", 0, "raw", value=None), "must have one action"),
        (set_in(3, "samples", "costs", value=[0]), "as many costs as texts"),
        (set_in(3, "turn", value=4), "turn 4 is out of order, turn 3 is due"),
    ],
)
def test_a_bad_turn_costs_itself_and_what_follows(
    store: Store, log: Path, played: list[Json], change: Callable[[list[Json]], None], reason: str
) -> None:
    """The game is kept up to the turn before."""
    write(log, changed(played[:4] + played[6:], change))
    (reject,) = ingest_paths([log], store).rejected

    assert reason in reject.reason
    assert reject.locator.startswith("line 4")
    assert rows(store, "SELECT turns_taken FROM episodes") == [(2,)]


def test_turns_after_the_end_are_lost(store: Store, log: Path, played: list[Json]) -> None:
    """A game that is over has no further step."""
    last = played[-2]
    more = [last | {"turn": last["turn"] + 1}]
    write(log, [*played[:-1], *more, played[-1]])
    (reject,) = ingest_paths([log], store).rejected

    assert "after the end" in reject.reason
    assert rows(store, "SELECT turns_taken FROM episodes") == [(len(played) - 2,)]
