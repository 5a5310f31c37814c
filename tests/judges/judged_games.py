"""Little CRAFT games for tests of judges; every text in them says where it stands, so that it is seen wherever it turns up."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from providers.provider import ModelSettings
from schemas.records import Action, Agent, Episode, Failure, Json, Label, LogDisagreement, OracleAction, Run, Turn, TurnMetric, Utterance
from schemas.store import batches
from schemas.store import journal as journal_module
from schemas.store.store import Store
from tests.masters import begun, new_folder

DIRECTORS = ("D1", "D2", "D3")
CELLS = [f"({row},{column})" for row in range(3) for column in range(3)]


def mark(*parts: object) -> str:
    """A word that occurs nowhere else: `zq` and where it stands."""
    return "zq" + "".join(str(part) for part in parts).lower() + "qz"


def store_of(path: Path, games: int = 1, turns: int = 3, *, texts: Mapping[str, str] | None = None) -> Store:
    """A store with that many games; turn 2 is refused, the others are carried out.

    `texts` replaces marks: mark -> text.
    """
    shutil.copyfile(_filled(Store.blank(), games, turns, tuple((texts or {}).items())), path)
    return Store(path)


@cache
def _filled(_: Path | None, games: int, turns: int, texts: tuple[tuple[str, str], ...]) -> Path:
    """Such a store that is only copied: to check and write the rows takes longer; the first argument is what it began as."""
    rows: dict[str, list[tuple[object, ...]]] = {
        "runs": [Run("run", "craft", mark("run"), Json(json.dumps({"c": mark("condition")})), None)]
    }
    for number in range(games):
        for name, records in _game(f"game-{number}", turns, dict(texts)).items():
            rows.setdefault(name, []).extend(records)
    store = begun(new_folder() / "s.duckdb")
    arrow = batches.to_arrow(rows)
    batches.check(arrow)
    with store.writing() as connection:
        batches.insert(connection, arrow)
    return store.path


def _game(game: str, turns: int, texts: Mapping[str, str]) -> dict[str, Sequence[tuple[object, ...]]]:
    def say(*parts: object) -> str:
        return texts.get(mark(*parts), mark(*parts))

    numbers = range(1, turns + 1)
    return {
        "episodes": [_episode(game, turns)],
        "agents": [
            *(Agent(game, d, "director", mark("model", d), mark("persona", d), _view(d), "spans", "log") for d in DIRECTORS),
            Agent(game, "Builder", "builder", mark("model", "builder"), None, None, None, None),
        ],
        "turns": [_turn(game, turn) for turn in numbers],
        "utterances": [u for turn in numbers for u in _utterances(game, turn, say)],
        "actions": [_action(game, turn) for turn in numbers],
        "oracle_actions": [
            OracleAction(game, turn, rank, "place", _arguments(mark(kind, turn)), undoes=False, listed=kind == "listed", verified=True)
            for turn in numbers
            for rank, kind in enumerate(("listed", "unlisted"), start=1)
        ],
        "turn_metrics": [TurnMetric(game, turn, mark("metric"), 0.5) for turn in numbers],
        "failures": [Failure(game, turn, "Builder", "craft_published", mark("category", turn), mark("evidence", turn)) for turn in numbers],
        "log_disagreements": [LogDisagreement(game, turn, mark("field"), mark("logged"), mark("recomputed")) for turn in numbers],
        "labels": [
            Label("planted", mark("annotator"), "spatial_grounding", "SG1", f"{game}/{turn}/D1", game, turn, "D1", mark("truth"), 1.0)
            for turn in numbers
        ],
    }


def _episode(game: str, turns: int) -> Episode:
    return Episode(
        episode_id=game,
        run_id="run",
        source_id="source",
        benchmark="craft",
        task_id=mark("task"),
        level=mark("level"),
        model=mark("model"),
        team=Json(json.dumps({"director": mark("team")})),
        seed=1,
        max_turns=turns,
        turns_taken=turns,
        success=False,
        score=0.5,
        stop_reason=mark("stop"),
        error=mark("error"),
        goal=Json(json.dumps({"stacks": {"(0,0)": [mark("goal")]}})),
        details=Json(json.dumps({"d": mark("details")})),
        file=mark("file"),
        started_at=datetime(2026, 1, 1),  # noqa: DTZ001 - stored without a zone
    )


def _view(director: str) -> Json:
    row = [{"color": mark("view", director), "size": 1}] * 3
    return Json(json.dumps({"row_0": row, "row_1": row, "row_2": row}))


def _board(*parts: object) -> Json:
    stacks: dict[str, list[str]] = {cell: [] for cell in CELLS} | {"(0,0)": [mark(*parts)]}
    return Json(json.dumps({"stacks": stacks, "spans": {"0": [[mark("span", *parts), "(0,1)"]]}}))


def _turn(game: str, turn: int) -> Turn:
    return Turn(
        episode_id=game,
        turn=turn,
        state_before=_board("before", turn),
        state_after=_board("after", turn),
        oracle_available=True,
        oracle_followed=False,
        progress=0.5,
        goal_reached=False,
        error=mark("turnerror", turn),
        at=None,
    )


def _utterances(game: str, turn: int, say: Any) -> Iterator[Utterance]:
    lines = [("D1", "public", say("superseded", "D1", turn), True)]
    for director in DIRECTORS:
        lines += [(director, "private", say("private", director, turn), False), (director, "public", say("public", director, turn), False)]
    lines += [("Builder", "private", say("private", "builder", turn), False), ("Builder", "public", say("public", "builder", turn), False)]
    for seq, (agent, channel, text, superseded) in enumerate(lines, start=1):
        yield Utterance(game, turn, seq, agent, channel, ["Builder", *DIRECTORS], text, tokens=None, superseded=superseded)


def _arguments(block: str) -> Json:
    return Json(json.dumps({"block": block, "position": "(0,0)", "layer": 0, "span_to": None}))


def _action(game: str, turn: int) -> Action:
    refused = turn == 2
    return Action(
        episode_id=game,
        turn=turn,
        seq=1,
        agent="Builder",
        verb="place",
        arguments=_arguments(mark("tried", turn)),
        raw=mark("raw", turn),
        accepted=not refused,
        undoes=False,
        error_code=mark("code", turn) if refused else None,
        error_text=mark("refusal", turn) if refused else None,
    )


def counted(base_url: str) -> dict[str, Any]:
    """What the server has counted."""
    with urllib.request.urlopen(base_url.removesuffix("v1") + "stats") as reply:  # noqa: S310 - our own server
        found: dict[str, Any] = json.load(reply)
        return found


def ask_model(base_url: str | None, rubric: str = "pragmatic_sufficiency", **changes: Any) -> JudgeRequest:
    """A request to ask the server's model once about every unit, impatiently; `changes` go to request or settings."""
    settings: dict[str, Any] = {"model": "local/fake", "base_url": base_url, "timeout_s": 10.0, "tries": 3, "patience_s": 3.0}
    settings |= {name: changes.pop(name) for name in list(changes) if name in ModelSettings.__dataclass_fields__}
    variant = changes.pop("variant", None)
    request: dict[str, Any] = {"rubric": find(rubric).with_variant(variant), "settings": ModelSettings(**settings)}
    return JudgeRequest(**({"repeats": 1, "concurrency": 8} | request | changes))


def interrupt_with_lines(monkeypatch: pytest.MonkeyPatch, folder: Path, lines: int) -> None:
    """Interrupt the process when a journal in the folder has so many replies; until then the disk is not through with any of them."""
    forced = journal_module._force

    def slow(file: int) -> None:
        if threading.current_thread() is not threading.main_thread() and not interrupted.is_set():
            deadline = time.monotonic() + 30
            while sum(path.read_bytes().count(b"\n") - 1 for path in folder.glob("*.jsonl")) < lines and time.monotonic() < deadline:
                time.sleep(0.01)
            interrupted.set()
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)  # so that the tasks that wait are cancelled before the disk is through
        forced(file)

    interrupted = threading.Event()
    monkeypatch.setattr(journal_module, "_force", slow)


def verdict_counts(store: Store) -> dict[str, int]:
    """Verdicts by status; fails if a verdict stands there twice."""
    with store.reading() as connection:
        twice = connection.execute("SELECT unit_id, question, repeat FROM verdicts GROUP BY ALL HAVING count(*) > 1").fetchall()
        rows = connection.execute("SELECT status, count(*) FROM verdicts GROUP BY status").fetchall()
    assert twice == []
    return dict(rows)
