"""Reads cotrace's own log: JSON Lines, one game a file, readable while it grows.

Format: docs/formats/cotrace_log.md; its records are those of `schemas.game`. A file without a last line is a game that still runs or was
cut:
what is there is the episode, and the next ingest replaces it.
"""

import math
import re
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import chain
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict

from ingest.cotrace_log.derivation import BadTurnError, Derivation, Derived, lost_replies
from ingest.cotrace_log.lines import LogLines, PlannedClaim, claims_in, header_line, json_of, lost, read_lines
from ingest.reading.adapter_types import Place, Reading, begins, episode_id, run_id, validated
from ingest.reading.text import dumps, read_time
from schemas import records
from schemas.common.errors import BadInputError
from schemas.common.text import text_hash
from schemas.families import module
from schemas.game import ActionEntry, AgentEntry, CallEntry, End, Header, PlantedLabel, Turn, UtteranceEntry
from schemas.store.batches import Coded, Group


def as_written(header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
    """Give what the log itself states; what it leaves out is not known.

    Raises:
        BadTurnError: a turn's progress is not between 0 and 1, or one of its numbers is none.
    """
    for index, turn in enumerate(turns):
        _check(turn, index)
    rows: dict[str, list[tuple[object, ...]]] = {
        "failures": [row for turn in turns for row in _failures(episode, turn)],
        "oracle_actions": [row for turn in turns for row in _oracle(episode, turn)],
        "turn_metrics": [
            records.TurnMetric(episode, turn.turn, f"{header.benchmark}.{name}", value)
            for turn in turns
            for name, value in turn.metrics.items()
        ],
        "episode_metrics": [
            records.EpisodeMetric(episode, f"{header.benchmark}.{name}", value) for name, value in (end.metrics if end else {}).items()
        ],
    }
    reached = any(turn.goal_reached for turn in turns)
    success = end.success if end else (True if reached else None)
    score = end.score if end else None
    if score is None and success is not None:  # a game whose only number is whether it was won
        score = float(success)
    return Derived(progress=[turn.progress for turn in turns], success=success, score=score, rows=rows)


def _check(turn: Turn, index: int) -> None:
    numbers: Mapping[str, float] = turn.metrics if turn.progress is None else {"progress": turn.progress, **turn.metrics}
    for name, value in numbers.items():
        if not math.isfinite(value):
            raise BadTurnError(BadInputError(f"{name} is {value}: give a finite number, or leave it out", locator=f".{name}"), index)
    if turn.progress is not None and not 0 <= turn.progress <= 1:
        raise BadTurnError(BadInputError(f"progress is {turn.progress}: give a share from 0 to 1", locator=".progress"), index)


def _failures(episode: str, turn: Turn) -> Iterator[records.Failure]:
    for found in dict.fromkeys((entry.agent, entry.taxonomy, entry.category) for entry in turn.failures):
        agent, taxonomy, category = found
        same = (entry.evidence for entry in turn.failures if (entry.agent, entry.taxonomy, entry.category) == found)
        yield records.Failure(episode, turn.turn, agent, taxonomy, category, "; ".join(text for text in same if text) or None)


def _oracle(episode: str, turn: Turn) -> Iterator[records.OracleAction]:
    for rank, entry in enumerate(turn.oracle or (), start=1):
        yield records.OracleAction(
            episode, turn.turn, rank, entry.verb, records.Json(dumps(entry.arguments)), undoes=entry.undoes, listed=True, verified=True
        )


PLANTED: Final = "planted"
"""`labels.source` of the truth that scripted players write into their logs, and `claims.reader` of what they know their texts to claim."""

_SCORES: Final = {"yes": 1.0, "no": 0.0}

_CLAIM_ALWAYS: Final = ("episode_id", "reader", "words", "start_char", "end_char", "certain", "reason", "prompt_hash")
_CLAIM_TEXT: Final = ("turn", "seq", "agent", "text_hash")
_CLAIM_FACTS: Final = ("kind", "claim")

_LABEL_ALWAYS: Final = ("source", "episode_id", "imported_at", "sampling_probability")
_LABEL_UNIT: Final = ("annotator", "unit_key", "turn", "agent")
_Key = TypeVar("_Key", bound=Hashable)

_LABEL_FACTS: Final = ("rubric", "question", "answer", "score", "basis", "planted")


def planted_claims(episode: str, turns: Sequence[Turn]) -> Coded:
    """What the authors of the texts know them to claim: first the row that reports it, then a row a claim."""
    import numpy as np

    texts: list[tuple[object, ...]] = []
    planned: list[tuple[PlannedClaim, ...]] = []
    for turn in turns:
        for seq, utterance in enumerate(turn.utterances, start=1):
            claims = claims_in(utterance.claims)
            if claims is not None:
                texts.append((turn.turn, seq, utterance.agent, text_hash(utterance.text)))
                planned.append(claims)
    distinct = _numbering(PlannedClaim)
    positions = list(map(distinct.__getitem__, chain.from_iterable(planned)))
    counts = np.fromiter(map(len, planned), np.int32, len(planned))
    numbers = np.arange(len(positions)) - np.repeat(counts.cumsum() - counts, counts)
    always = (episode, PLANTED, None, None, None, True, None, None)
    return Coded(
        (
            Group(_CLAIM_ALWAYS, [always], np.zeros_like(numbers)),
            Group(_CLAIM_TEXT, texts, np.repeat(np.arange(len(texts)), counts)),
            Group(("number",), [(number,) for number in range(max(map(len, planned), default=0))], numbers),
            Group(_CLAIM_FACTS, list(distinct), positions),
        )
    )


def planted_labels(episode: str, turns: Sequence[Turn], personas: Mapping[str, str | None], model: str) -> Coded:
    """Answers that the authors know to be true; ``personas``: who plays each agent, ``model``: who is evaluated."""
    import numpy as np

    distinct = _numbering(PlantedLabel)
    positions = list(map(distinct.__getitem__, chain.from_iterable(turn.labels for turn in turns)))
    agents = list(dict.fromkeys(label.agent for label in distinct))
    of_agent = np.array([agents.index(label.agent) for label in distinct], np.int32)
    of_turn = np.repeat(np.arange(len(turns)), [len(turn.labels) for turn in turns])
    units = [_unit(episode, turn.turn, agent, personas, model) for turn in turns for agent in agents]
    answers = [(each.rubric, each.question, each.answer, _SCORES.get(each.answer.lower()), each.basis, each.planted) for each in distinct]
    return Coded(
        (
            Group(_LABEL_ALWAYS, [(PLANTED, episode, None, None)], np.zeros_like(of_turn)),
            Group(_LABEL_UNIT, units, of_turn * len(agents) + of_agent[positions]),
            Group(_LABEL_FACTS, answers, positions),
        )
    )


def _numbering(_: type[_Key]) -> defaultdict[_Key, int]:
    """Numbers its keys from 0, in the order in which they are first asked for."""
    numbers: defaultdict[_Key, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def _unit(episode: str, turn: int, agent: str | None, personas: Mapping[str, str | None], model: str) -> tuple[object, ...]:
    """What was labelled: a turn of the team, or of an agent, who is then the annotated one."""
    if agent is None:
        return model, f"{episode}/{turn}", turn, None
    return personas.get(agent) or model, f"{episode}/{turn}/{agent}", turn, agent


_UNKNOWN_TIME: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - times in the store have no zone


def call_row(call: CallEntry, purpose: str, *, run: str, episode: str, turn: int) -> records.Call:
    """Give the row of a call in a turn of an episode."""
    facts: dict[str, Any] = {field.name: getattr(call, field.name) for field in fields(call) if field.name != "asked_at"}
    return records.Call(
        **facts, purpose=purpose, run=run, episode_id=episode, turn=turn, asked_at=read_time(call.asked_at) or _UNKNOWN_TIME
    )


_ROUNDING: Final = 1e-6

_LABELLED: Final = attrgetter("rubric", "question", "agent")
_AGENT: Final = attrgetter("agent")

_Found = tuple[str, Any, Any]
"""Field, what is logged, what would have to stand there: None if nothing could."""


def contradictions(
    header: Header, turns: Sequence[Turn], end: End | None, progress: Sequence[float | None], episode: str
) -> Iterator[records.LogDisagreement]:
    """What a log states although its other lines rule it out.

    Args:
        header: the first line.
        turns: those that could be read.
        end: the last line; None if there is none, or turns before it are lost.
        progress: after each turn, as far as it is known otherwise than by the log.
        episode: id of the game.
    """
    yield from _disagreements(episode, None, _of_header(header))
    names = {agent.agent for agent in header.agents}
    number, at = 0, header.started_at or None
    for turn, reached in zip(turns, progress, strict=True):
        if turn.progress is not None and reached is not None and not math.isclose(turn.progress, reached, abs_tol=_ROUNDING):
            yield from _disagreements(episode, turn.turn, [("progress", turn.progress, reached)])
        yield from _disagreements(episode, turn.turn, _of_turn(turn, number, names, header.max_turns))
        yield from _disagreements(episode, turn.turn, _of_time(turn.at, at))
        number, at = turn.turn, turn.at or at
    if end is not None and end.turns_taken not in {None, len(turns)}:
        yield from _disagreements(episode, None, [("turns_taken", end.turns_taken, len(turns))])


def _disagreements(episode: str, turn: int | None, found: Iterator[_Found] | Sequence[_Found]) -> Iterator[records.LogDisagreement]:
    for field, logged, due in found:
        yield records.LogDisagreement(episode, turn, field, dumps(logged), None if due is None else dumps(due))


def _of_header(header: Header) -> Iterator[_Found]:
    if header.started_at and read_time(header.started_at) is None:
        yield "started_at", header.started_at, None
    for key, named in header.team.items():
        agents = [agent for agent in header.agents if key in {agent.agent, agent.agent.lower(), agent.role}]
        known = {name for agent in agents for name in (agent.model, agent.persona) if name is not None}
        if not agents or (known and named not in known and not known.issuperset(named.split("+"))):
            yield f"team.{key}", named, "+".join(sorted(known)) or None
        for agent in agents:
            if agent.model not in {None, named, *named.split("+")}:
                yield f"agents.{agent.agent}.model", agent.model, named


def _of_turn(turn: Turn, before: int, names: set[str], limit: int | None) -> Iterator[_Found]:
    if turn.turn != before + 1:
        yield "turn", turn.turn, before + 1
    if limit is not None and turn.turn > limit:
        yield "max_turns", limit, turn.turn
    yield from _of_utterances(turn.utterances, names)
    for seq, action in enumerate(turn.actions, start=1):
        if action.agent not in names:
            yield f"actions[{seq}].agent", action.agent, None
        if action.accepted and action.error_code is not None:
            yield f"actions[{seq}].error_code", action.error_code, None
    labelled = set(map(_LABELLED, turn.labels))
    if len(labelled) < len(turn.labels):
        yield "labels", len(turn.labels), len(labelled)
    strangers = set(map(_AGENT, turn.labels)) - names - {None}
    if strangers:
        yield "labels.agent", sorted(filter(None, strangers)), None


def _of_utterances(utterances: Sequence[UtteranceEntry], names: set[str]) -> Iterator[_Found]:
    for seq, uttered in enumerate(utterances, start=1):
        if uttered.agent not in names:
            yield f"utterances[{seq}].agent", uttered.agent, None
        elif uttered.audience is not None and (uttered.agent not in uttered.audience or not names.issuperset(uttered.audience)):
            yield f"utterances[{seq}].audience", list(uttered.audience), sorted({uttered.agent, *uttered.audience} & names)
        if uttered.superseded and not any((later.agent, later.channel) == (uttered.agent, uttered.channel) for later in utterances[seq:]):
            yield f"utterances[{seq}].superseded", True, False


def _of_time(at: str | None, before: str | None) -> Iterator[_Found]:
    if at is None:
        return
    now, then = read_time(at), read_time(before)
    if now is None:
        yield "at", at, None
    elif then is not None and now < then:
        yield "at", at, before


FORMAT: Final = "cotrace"
VERSION: Final = 8

UNKNOWN_MODEL: Final = "unknown"
"""The model of an agent of which the log names neither model nor persona."""

SURVEY: Final = "survey"
"""`labels.source` of the players' questionnaires."""

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


sniff: Final = begins(rb'\A\s*\{\s*"cotrace_log"\s*:')


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
    log = read_lines(data, lambda header: bool(getattr(_rules(header), "KEEPS", False)))
    names = [agent.agent for agent in log.header.agents]
    if not names or len(set(names)) < len(names):
        raise BadInputError("agents: give at least one, each with a name of its own", locator="line 1.agents", excerpt=", ".join(names))
    derivation: Derivation = getattr(_rules(log.header), "derive", as_written)
    episode = episode_id(log.header.benchmark, place.path)
    started = time.perf_counter()
    derived = _derived(log, derivation, episode)
    replay_s = time.perf_counter() - started
    rejects = [log.reject] if log.reject else []
    replayed = derivation is not as_written
    rows = _rows(log, derived, episode, place, replayed=replayed)
    return Reading(rows, [episode], len(log.turns), rejects, replay_s, coded=_planted(log, episode))


def _rules(header: Header) -> ModuleType | None:
    return module(header.benchmark, "ingest", "native")


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
    entry = validated(_RunEntry, log.header.run, "line 1.run")
    name = entry.name or log.header.benchmark
    key = run_id(log.header.benchmark, name, _team(log.header), entry.condition)
    run = records.Run(key, log.header.benchmark, name, records.Json(dumps(entry.condition)), read_time(log.header.started_at))
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
    as_stored = getattr(_rules(log.header), "as_stored", lambda action: action)
    rows["actions"] = [row for turn in log.turns for row in action_rows(episode, turn.turn, map(as_stored, turn.actions))]
    rows["calls"] = [call_row(call, "player", run=run.run_id, episode=episode, turn=turn.turn) for turn in log.turns for call in turn.calls]
    rows["labels"] = list(_surveys(episode, log.end))
    return rows


def _planted(log: LogLines, episode: str) -> dict[str, list[Coded]]:
    """What scripted players write into their logs: more rows than all others together."""
    personas = {agent.agent: agent.persona for agent in log.header.agents}
    return {"claims": [planted_claims(episode, log.turns)], "labels": [planted_labels(episode, log.turns, personas, _model(log.header))]}


def _team(header: Header) -> dict[str, str]:
    """Role -> model; several models of a role are joined by +."""
    if header.team:
        return dict(header.team)
    models: dict[str, list[str]] = {}
    for agent in header.agents:
        models.setdefault(agent.role, []).append(_played_by(agent))
    return {
        role: "+".join(dict.fromkeys(names)) for role, names in sorted(models.items())
    }  # in whatever order they are listed, it is one team


def _played_by(agent: AgentEntry) -> str:
    return agent.model or agent.persona or UNKNOWN_MODEL


def _model(header: Header) -> str:
    return header.model or "+".join(dict.fromkeys(_played_by(agent) for agent in header.agents))


def _episode(log: LogLines, derived: Derived, run: records.Run, place: Place) -> records.Episode:
    header, end = log.header, log.end
    task = validated(_TaskEntry, header.task, "line 1.task")
    return records.Episode(
        episode_id=episode_id(header.benchmark, place.path),
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark=header.benchmark,
        task_id=task.id or header.episode or Path(place.path).stem,
        level=task.level,
        model=_model(header),
        team=records.Json(dumps(_team(header))),
        seed=header.seed,
        max_turns=header.max_turns,
        turns_taken=len(log.turns),
        success=derived.success,
        score=derived.score,
        stop_reason=end.stop_reason if end else None,
        error=(end.error if end else None) or next((turn.error for turn in log.turns if turn.error), None),
        goal=None if task.goal is None else records.Json(dumps(task.goal)),
        details=records.Json(dumps(_details(log, derived))),
        file=place.file,
        started_at=read_time(header.started_at),
        origin=records.Json(dumps(header.details["origin"])) if header.details.get("origin") else None,
    )


def _details(log: LogLines, derived: Derived) -> dict[str, object]:
    """What else the log states; ``final_progress``, ``completed`` and ``turns_taken`` once the game has ended."""
    details = {**log.header.details, **derived.details, "episode": log.header.episode, "complete": log.end is not None}
    if log.end is not None:
        details |= {"completed": log.end.success, "final_progress": log.end.score, "turns_taken": log.end.turns_taken}
    if log.unfinished_bytes:
        details["unfinished_line_bytes"] = log.unfinished_bytes
    lost = {str(turn.turn): found for turn in log.turns if (found := lost_replies(turn))}
    return details | ({"lost_replies": lost} if lost else {})


def _agents(header: Header, episode: str) -> Iterator[records.Agent]:
    for agent in header.agents:
        view = None if agent.private_view is None else records.Json(dumps(agent.private_view))
        source = None if view is None else "log"
        yield records.Agent(episode, agent.agent, agent.role, agent.model, agent.persona, view, agent.view_kind, source)


def _json(value: object) -> records.Json | None:
    text = json_of(value)
    return None if text is None else records.Json(text)


def _turn(episode: str, turn: Turn, progress: float | None, *, replayed: bool) -> records.Turn:
    return records.Turn(
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


def _utterances(episode: str, turn: Turn, everybody: list[str]) -> Iterator[records.Utterance]:
    for seq, uttered in enumerate(turn.utterances, start=1):
        audience = _audience(uttered, everybody)
        dropped = uttered.superseded and not _was_received(turn.utterances[seq - 1 :], everybody)
        yield records.Utterance(episode, turn.turn, seq, uttered.agent, uttered.channel, audience, uttered.text, None, dropped)


def _was_received(from_here: Sequence[UtteranceEntry], everybody: list[str]) -> bool:
    """Whether the first of these, marked as superseded, reached all agents all the same; a thought goes with the message after it."""
    first = from_here[0]
    message = next(
        (uttered for uttered in from_here if uttered.agent == first.agent and (uttered is not first or uttered.channel == "public")), first
    )
    return message.channel == "public" and set(everybody) <= {*_audience(message, everybody)}


def _audience(uttered: UtteranceEntry, everybody: list[str]) -> list[str]:
    if uttered.audience is not None:
        return (
            everybody if uttered.audience == everybody else list(uttered.audience)
        )  # the same texts, not equal ones: tables are made faster
    return [uttered.agent] if uttered.channel == "private" else everybody


def action_rows(episode: str, turn: int, actions: Iterable[ActionEntry]) -> Iterator[records.Action]:
    """The rows of a turn's actions, in their order."""
    for seq, done in enumerate(actions, start=1):
        yield records.Action(
            episode,
            turn,
            seq,
            done.agent,
            done.verb,
            records.Json(dumps(done.arguments)),
            done.raw,
            done.accepted,
            done.undoes,
            done.error_code,
            done.error_text,
            done.read,
            done.used,
        )


def _surveys(episode: str, end: End | None) -> Iterator[records.Label]:
    """What players reply of their partners after the game."""
    for reply in () if end is None else end.survey:
        yield records.Label(
            source=SURVEY,
            annotator=f"player {reply.agent}",
            rubric=reply.rubric,
            question=reply.question,
            unit_key=f"{episode}/{reply.agent}",
            episode_id=episode,
            turn=None,
            agent=reply.agent,
            answer=reply.answer,
            score=reply.score,
        )
