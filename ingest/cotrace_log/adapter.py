"""Reads cotrace's own log: JSON Lines, one game a file, readable while it grows.

Format: docs/formats/cotrace_log.md; its records are those of `schemas.game`. A file without a last line is a game that still runs or was
cut:
what is there is the episode, and the next ingest replaces it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ingest.cotrace_log import as_written
from ingest.cotrace_log.calls import call_row
from ingest.cotrace_log.consistency import contradictions
from ingest.cotrace_log.derivation import BadTurnError, Derivation, Derived, lost_replies
from ingest.cotrace_log.kept import json_of
from ingest.cotrace_log.lines import LogLines, header_line, lost, read_lines
from ingest.cotrace_log.planted import planted_claims, planted_labels
from ingest.reading.adapter_types import Place, Reading, episode_id, run_id
from ingest.reading.json_text import dumps
from ingest.reading.malformed import validated
from ingest.reading.times import read_time
from schemas.batches import Coded
from schemas.errors import BadInputError
from schemas.families import module
from schemas.game import ActionEntry, AgentEntry, End, Header, Turn, UtteranceEntry
from schemas.records import Action, Agent, Call, Episode, Json, Label, Run, Utterance
from schemas.records import Turn as TurnRow

__all__ = ["FORMAT", "PATH_PARTS", "VERSION", "read", "sniff"]

FORMAT: Final = "cotrace"
VERSION: Final = 8
PATH_PARTS: Final = 0

UNKNOWN_MODEL: Final = "unknown"
"""The model of an agent of which the log names neither model nor persona."""

SURVEY: Final = "survey"
"""`labels.source` of the players' questionnaires."""

_BEGINNING: Final = re.compile(rb'\s*\{\s*"cotrace_log"\s*:')
_HEADER: Final = re.compile(r"^line 1(?![0-9])")
"""What all that read it call the header's line."""


class _RunEntry(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    name: str | None = None
    condition: dict[str, Any] = {}


class _TaskEntry(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    id: str | None = None
    level: str | None = None
    goal: Any = None


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is cotrace's own log."""
    return _BEGINNING.match(head) is not None


def read(data: bytes, place: Place) -> Reading:
    """Read a file.

    Raises:
        BadInputError: its header is not whole, of a newer version, or names no agents.
    """
    try:
        return _read(data, place)
    except BadInputError as error:
        where = _HEADER.sub(f"line {header_line(data)}", error.locator)
        raise BadInputError(error.reason, locator=where, excerpt=error.excerpt) from error


def _read(data: bytes, place: Place) -> Reading:
    log = read_lines(data, _keeps)
    _tell_agents(log.header)
    derivation: Derivation = getattr(_rules(log.header), "derive", as_written.derive)
    episode = episode_id(log.header.benchmark, place.path)
    started = time.perf_counter()
    derived = _derived(log, derivation, episode)
    replay_s = time.perf_counter() - started
    rejects = [log.reject] if log.reject else []
    replayed = derivation is not as_written.derive
    rows = _rows(log, derived, episode, place, replayed=replayed)
    return Reading(rows, [episode], len(log.turns), rejects, replay_s, coded=_planted(log, episode))


def _rules(header: Header) -> ModuleType | None:
    return module(header.benchmark, "ingest", "own")


def _keeps(header: Header) -> bool:
    return bool(getattr(_rules(header), "KEEPS", False))


def _derived(log: LogLines, derivation: Derivation, episode: str) -> Derived:
    """Replay what can be replayed; turns from the first on that the benchmark cannot read are lost."""
    try:
        return derivation(log.header, log.turns, log.end, episode)
    except BadTurnError as error:
        log.reject = lost(error, log.lines[error.index], log.line_count)
        del log.turns[error.index :]
        return derivation(log.header, log.turns, None, episode)


# -- rows -----------------------------------------------------------------------------------------


def _rows(log: LogLines, derived: Derived, episode: str, place: Place, *, replayed: bool) -> dict[str, list[tuple[object, ...]]]:
    run = _run(log.header)
    rows: dict[str, list[tuple[object, ...]]] = {
        **derived.rows,
        "runs": [run],
        "episodes": [_episode(log, derived, run, place)],
        "agents": list(_agents(log.header, episode)),
        "turns": [_turn(episode, turn, progress, replayed=replayed) for turn, progress in zip(log.turns, derived.progress, strict=True)],
    }
    end = None if log.reject else log.end
    found = contradictions(log.header, log.turns, end, derived.progress, episode)
    rows["log_disagreements"] = [*rows.get("log_disagreements", ()), *found]
    everybody = [agent.agent for agent in log.header.agents]
    rows["utterances"] = [row for turn in log.turns for row in _utterances(episode, turn, everybody)]
    as_stored = getattr(_rules(log.header), "as_stored", _as_logged)
    rows["actions"] = [row for turn in log.turns for row in _actions(episode, turn.turn, map(as_stored, turn.actions))]
    rows["calls"] = [row for turn in log.turns for row in _calls(episode, turn, run.run_id)]
    rows["labels"] = list(_surveys(episode, log.end))
    return rows


def _planted(log: LogLines, episode: str) -> dict[str, list[Coded]]:
    """What scripted players write into their logs: more rows than all others together."""
    personas = {agent.agent: agent.persona for agent in log.header.agents}
    return {"claims": [planted_claims(episode, log.turns)], "labels": [planted_labels(episode, log.turns, personas, _model(log.header))]}


def _run(header: Header) -> Run:
    entry = validated(_RunEntry, header.run, "line 1.run")
    name = entry.name or header.benchmark
    key = run_id(header.benchmark, name, _team(header), entry.condition)
    return Run(key, header.benchmark, name, Json(dumps(entry.condition)), read_time(header.started_at))


def _tell_agents(header: Header) -> None:
    names = [agent.agent for agent in header.agents]
    if not names or len(set(names)) < len(names):
        raise BadInputError("agents: give at least one, each with a name of its own", locator="line 1.agents", excerpt=", ".join(names))


def _team(header: Header) -> dict[str, str]:
    """Role -> model; several models of a role are joined by +."""
    if header.team:
        return dict(header.team)
    models: dict[str, list[str]] = {}
    for agent in header.agents:
        models.setdefault(agent.role, []).append(_played_by(agent))
    return {role: "+".join(dict.fromkeys(names)) for role, names in models.items()}


def _played_by(agent: AgentEntry) -> str:
    return agent.model or agent.persona or UNKNOWN_MODEL


def _model(header: Header) -> str:
    return header.model or "+".join(dict.fromkeys(_played_by(agent) for agent in header.agents))


def _episode(log: LogLines, derived: Derived, run: Run, place: Place) -> Episode:
    header, end = log.header, log.end
    task = validated(_TaskEntry, header.task, "line 1.task")
    return Episode(
        episode_id=episode_id(header.benchmark, place.path),
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark=header.benchmark,
        task_id=task.id or header.episode or Path(place.path).stem,
        level=task.level,
        model=_model(header),
        team=Json(dumps(_team(header))),
        seed=header.seed,
        max_turns=header.max_turns,
        turns_taken=len(log.turns),
        success=derived.success,
        score=derived.score,
        stop_reason=end.stop_reason if end else None,
        error=(end.error if end else None) or next((turn.error for turn in log.turns if turn.error), None),
        goal=None if task.goal is None else Json(dumps(task.goal)),
        details=Json(dumps(_details(log, derived))),
        file=place.file,
        started_at=read_time(header.started_at),
        origin=Json(dumps(header.details["origin"])) if header.details.get("origin") else None,
    )


def _details(log: LogLines, derived: Derived) -> dict[str, object]:
    """What else the log says; ``final_progress``, ``completed`` and ``turns_taken`` once the game has ended."""
    details = {**log.header.details, **derived.details, "episode": log.header.episode, "complete": log.end is not None}
    if log.end is not None:
        details |= {"completed": log.end.success, "final_progress": log.end.score, "turns_taken": log.end.turns_taken}
    if log.unfinished_bytes:
        details["unfinished_line_bytes"] = log.unfinished_bytes
    lost = {str(turn.turn): found for turn in log.turns if (found := lost_replies(turn))}
    return details | ({"lost_replies": lost} if lost else {})


def _agents(header: Header, episode: str) -> Iterator[Agent]:
    for agent in header.agents:
        view = None if agent.private_view is None else Json(dumps(agent.private_view))
        source = None if view is None else "log"
        yield Agent(episode, agent.agent, agent.role, agent.model, agent.persona, view, agent.view_kind, source)


def _json(value: object) -> Json | None:
    text = json_of(value)
    return None if text is None else Json(text)


def _turn(episode: str, turn: Turn, progress: float | None, *, replayed: bool) -> TurnRow:
    return TurnRow(
        episode_id=episode,
        turn=turn.turn,
        state_before=_json(turn.state_before),
        state_after=_json(turn.state_after),
        oracle_available=None if turn.oracle is None and not replayed else bool(turn.oracle),
        oracle_followed=turn.oracle_followed,
        progress=progress,
        goal_reached=turn.goal_reached,
        error=turn.error,
        at=read_time(turn.at),
    )


def _utterances(episode: str, turn: Turn, everybody: list[str]) -> Iterator[Utterance]:
    for seq, said in enumerate(turn.utterances, start=1):
        audience = _audience(said, everybody)
        dropped = said.superseded and not _was_received(turn.utterances[seq - 1 :], everybody)
        yield Utterance(episode, turn.turn, seq, said.agent, said.channel, audience, said.text, None, dropped)


def _was_received(from_here: Sequence[UtteranceEntry], everybody: list[str]) -> bool:
    """Whether the first of these, marked as superseded, reached all agents all the same; a thought goes with the message after it."""
    first = from_here[0]
    message = next((said for said in from_here if said.agent == first.agent and (said is not first or said.channel == "public")), first)
    return message.channel == "public" and set(everybody) <= {*_audience(message, everybody)}


def _audience(said: UtteranceEntry, everybody: list[str]) -> list[str]:
    if said.audience is not None:
        return everybody if said.audience == everybody else list(said.audience)  # the same texts, not equal ones: tables are made faster
    return [said.agent] if said.channel == "private" else everybody


def _as_logged(action: ActionEntry) -> ActionEntry:
    return action


def _actions(episode: str, turn: int, actions: Iterable[ActionEntry]) -> Iterator[Action]:
    for seq, done in enumerate(actions, start=1):
        yield Action(
            episode,
            turn,
            seq,
            done.agent,
            done.verb,
            Json(dumps(done.arguments)),
            done.raw,
            done.accepted,
            done.undoes,
            done.error_code,
            done.error_text,
            done.read,
            done.used,
        )


def _calls(episode: str, turn: Turn, run: str) -> Iterator[Call]:
    for call in turn.calls:
        yield call_row(call, "player", run=run, episode=episode, turn=turn.turn)


def _surveys(episode: str, end: End | None) -> Iterator[Label]:
    """What players said of their partners after the game."""
    for said in () if end is None else end.survey:
        yield Label(
            source=SURVEY,
            annotator=f"player {said.agent}",
            rubric=said.rubric,
            question=said.question,
            unit_key=f"{episode}/{said.agent}",
            episode_id=episode,
            turn=None,
            agent=said.agent,
            answer=said.answer,
            score=said.score,
        )
