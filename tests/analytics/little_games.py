"""Little hand-made games: rows that tests of views can check by eye."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from schemas.records import Action, Episode, EpisodeMetric, Failure, Json, OracleAction, Run, Source, Turn, TurnMetric
from schemas.store import batches
from schemas.store.store import Store
from tests.masters import begun

STARTED = datetime(2026, 1, 1)  # noqa: DTZ001 - stored without a zone
UNDOING = {"remove", "back"}


@dataclass(frozen=True)
class Move:
    """An attempted action."""

    verb: str
    arguments: str = "{}"
    accepted: bool | None = True
    agent: str = "Builder"
    error: str | None = None


@dataclass(frozen=True)
class Candidate:
    """A verified action."""

    verb: str
    listed: bool = True
    verified: bool = True


@dataclass(frozen=True)
class Step:
    """A turn: the state it leaves behind, what was tried, what was verified."""

    after: str
    moves: tuple[Move, ...] = ()
    oracle: tuple[Candidate, ...] = (Candidate("place"),)
    progress: float = 0.0
    followed: bool | None = None
    categories: tuple[tuple[str, str], ...] = ()
    """Pairs (taxonomy, category)."""


@dataclass(frozen=True)
class Game:
    """A whole game; its states are texts, equal where the states are."""

    steps: Sequence[Step]
    name: str = "game"
    start: str = "{}"
    benchmark: str = "einstein"
    model: str = "m"
    condition: str = "c"
    level: str | None = "simple"
    score: float | None = 0.5
    success: bool | None = False
    max_turns: int | None = 20
    start_progress: float = 0.0
    condition_json: dict[str, object] = field(default_factory=dict)
    metrics: tuple[tuple[str, float], ...] = ()
    """Metrics of the game: pairs (name, value)."""
    task: str | None = None
    """None: a task of its own."""
    goal: str | None = None
    builder: str = "b"


def board(**stacks: Sequence[str]) -> str:
    """A CRAFT state: `board(c00=["gs"])` has one green block in cell (0,0)."""
    cells = {f"({row},{column})": list(stacks.get(f"c{row}{column}", ())) for row in range(3) for column in range(3)}
    return json.dumps({"stacks": cells, "spans": {}}, separators=(",", ":"))


def store_with(folder: Path, games: Iterable[Game]) -> Store:
    """A new store in the folder with these games and all views."""
    store = begun(folder / "little.duckdb")
    rows: dict[str, list[tuple[object, ...]]] = {}
    for game in games:
        for name, records in rows_of(game).items():
            rows.setdefault(name, []).extend(records)
    rows["runs"] = list(dict.fromkeys(rows.get("runs", [])))
    rows["sources"] = [Source("hand", "/hand.json", "hand.json", None, None, None, len(rows.get("episodes", [])), 0, STARTED)]
    checked = batches.to_arrow(rows)
    batches.check(checked)
    with store.writing() as connection:
        batches.insert(connection, checked)
    return Store(store.path)


def rows_of(game: Game) -> dict[str, list[tuple[object, ...]]]:
    """The game as rows of the store's tables."""
    run_id = f"{game.benchmark}-{game.condition}-{game.model}"
    rows: dict[str, list[tuple[object, ...]]] = {
        "runs": [Run(run_id, game.benchmark, game.condition, Json(json.dumps(game.condition_json)), STARTED)],
        "episodes": [_episode(game, run_id)],
        "turn_metrics": [TurnMetric(game.name, 0, f"{game.benchmark}.overall_progress", game.start_progress)],
        "episode_metrics": [EpisodeMetric(game.name, metric, value) for metric, value in game.metrics],
    }
    before = game.start
    for turn, step in enumerate(game.steps, start=1):
        for name, records in _turn_rows(game.name, turn, before, step).items():
            rows.setdefault(name, []).extend(records)
        before = step.after
    return rows


def _episode(game: Game, run_id: str) -> Episode:
    return Episode(
        episode_id=game.name,
        run_id=run_id,
        source_id="hand",
        benchmark=game.benchmark,
        task_id=game.task or game.name,
        level=game.level,
        model=game.model,
        team=Json(json.dumps({"director": game.model, "builder": game.builder})),
        seed=1,
        max_turns=game.max_turns,
        turns_taken=len(game.steps),
        success=game.success,
        score=game.score,
        stop_reason=None,
        error=None,
        goal=None if game.goal is None else Json(game.goal),
        details=Json("{}"),
        file=f"{game.name}.json",
        started_at=STARTED,
    )


def _turn_rows(episode: str, turn: int, before: str, step: Step) -> dict[str, list[tuple[object, ...]]]:
    listed = any(candidate.listed for candidate in step.oracle)
    return {
        "turns": [
            Turn(
                episode_id=episode,
                turn=turn,
                state_before=Json(before),
                state_after=Json(step.after),
                oracle_available=listed,
                oracle_followed=step.followed if listed else None,
                progress=step.progress,
                goal_reached=False,
                error=None,
                at=None,
            )
        ],
        "actions": [_action(episode, turn, seq, move) for seq, move in enumerate(step.moves, start=1)],
        "oracle_actions": [
            OracleAction(episode, turn, rank, candidate.verb, Json("{}"), candidate.verb in UNDOING, candidate.listed, candidate.verified)
            for rank, candidate in enumerate(step.oracle, start=1)
        ],
        "failures": [Failure(episode, turn, None, taxonomy, category, None) for taxonomy, category in step.categories],
    }


def _action(episode: str, turn: int, seq: int, move: Move) -> Action:
    return Action(
        episode_id=episode,
        turn=turn,
        seq=seq,
        agent=move.agent,
        verb=move.verb,
        arguments=Json(move.arguments),
        raw=None,
        accepted=move.accepted,
        undoes=move.verb in UNDOING,
        error_code="E" if move.accepted is False else None,
        error_text=move.error,
    )
