"""A conversation as rows, and the scores of its log as numbers."""

import hashlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from ingest.conversation.usage import UNKNOWN_MODEL, ModelCall
from ingest.reading.adapter_types import Place, Reading, episode_id, run_id
from ingest.reading.text import WORDS_OF_SCORES, dumps, number
from schemas.common.errors import BadInputError
from schemas.records import Action, Agent, Call, Episode, EpisodeMetric, Json, Run, Turn, TurnMetric, Utterance


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool that a message calls."""

    name: str
    arguments: Mapping[str, Any]
    raw: str | None = None
    """What the agent wrote, where it was not understood."""
    succeeded: bool | None = None
    """None: the log does not say."""
    error_code: str | None = None
    error_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedMessage:
    """A message, in the order of the log."""

    agent: str
    text: str
    turn: int | None = None
    """The turn to which it belongs, from 1; None: each message is a turn of its own."""
    thought: str | None = None
    """Reasoning before the message, which its author alone could read."""
    private: bool = False
    audience: Sequence[str] | None = None
    """Who could read it, the author included; None: everybody, or of a private one the author alone."""
    tools: Sequence[ToolUse] = ()
    tokens: int | None = None
    error: str | None = None
    """The error, as logged."""
    at: datetime | None = None
    call: ModelCall | None = None
    role: str | None = None
    """Its role as a chat message: assistant, user, system, tool, ...; None: the log has none."""
    unread: Sequence[str] = ()
    """Keys of the log's message that hold something, where nothing of it was read."""

    @property
    def is_empty(self) -> bool:
        """Whether it has neither words nor a thought nor a call."""
        return not (self.text.strip() or self.thought or self.tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation and what is known about it."""

    benchmark: str
    run: str
    """Name of the experiment."""
    task: str
    messages: Sequence[LoggedMessage]
    roles: Mapping[str, str] = field(default_factory=dict)
    """Agent -> role; of one that is not named, its name."""
    team: Mapping[str, str | None] | None = None
    """What the log names as the team: role -> model; None: it follows from the models."""
    received: Mapping[str, Any] = field(default_factory=dict)
    """Agent -> what only it has received."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Agent -> model."""
    level: str | None = None
    goal: Any = None
    success: bool | None = None
    score: float | None = None
    by_number: bool = False
    """`success` is only that the score is 0 or 1."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of the game, by name."""
    turn_metrics: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    """Turn, from 1 -> numbers of the turn, by name."""
    condition: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    """What tells repetitions of a task apart."""
    attempt: int | None = None
    """Which attempt at the task it is, from 1; None: the log does not say."""
    max_turns: int | None = None
    stop_reason: str | None = None
    error: str | None = None
    """What crashed the game."""
    started_at: datetime | None = None
    model: str | None = None
    """The evaluated model, where the log names one for all; None: all that take part, joined by +."""
    details: Mapping[str, Any] = field(default_factory=dict)
    unanswered: Sequence[tuple[str, ModelCall]] = ()
    """Agent and request of which no message came."""
    notes: Sequence[str] = ()
    """What the reader reports of it, though nothing is lost."""
    lost: Sequence[str] = ()
    """What the reader could not read of it, and why: rejects of the file, of which the rest is read."""

    @property
    def agents(self) -> list[str]:
        """Every agent that speaks, hears or has received something, in order of appearance, then others whose role or model is logged."""
        heard = (name for message in self.messages for name in (message.agent, *(message.audience or ())))
        return list(dict.fromkeys([*heard, *self.received, *(agent for agent, _ in self.unanswered), *self.roles, *self.models]))


def reading_of(found: Conversation, place: Place, index: int | str = 0) -> Reading:
    """The rows of a conversation; `index` tells those of one file apart: a number, or a name that stays when the file grows."""
    episode = episode_id(found.benchmark, place.path, index)
    turns = _turns(found.messages)
    reading = Reading(episodes=[episode], turns=len(turns))
    run = Run(
        run_id(found.benchmark, found.run, _team(found), found.condition),
        found.benchmark,
        found.run,
        Json(dumps(found.condition)),
        found.started_at,
    )
    rows = reading.rows
    rows["runs"].append(run)
    rows["episodes"].append(_episode(found, episode, run, place, len(turns)))
    rows["agents"] += _agents(found, episode)
    for turn, spoken in turns.items():
        error = "; ".join(one.error for one in spoken if one.error) or None
        rows["turns"].append(Turn(episode, turn, None, None, None, None, None, None, error, spoken[0].at))
        rows["utterances"] += _utterances(found, episode, turn, spoken)
        rows["actions"] += _actions(episode, turn, spoken)
        rows["calls"] += _calls(episode, turn, spoken, run.run_id, lambda agent: found.models.get(agent) or found.model or UNKNOWN_MODEL)
    for seq, (agent, call) in enumerate(found.unanswered, start=1):
        rows["calls"].append(_call(call, (agent, None, None), f"{episode}/unanswered/{seq}", (episode, None, run.run_id)))
    rows["episode_metrics"] += [
        EpisodeMetric(episode, f"{found.benchmark}.{name}", float(value)) for name, value in found.metrics.items() if math.isfinite(value)
    ]
    rows["turn_metrics"] += [
        TurnMetric(episode, turn, f"{found.benchmark}.{name}", float(value))
        for turn, metrics in found.turn_metrics.items()
        for name, value in metrics.items()
        if turn in turns and math.isfinite(value)
    ]
    if found.by_number:
        reading.by_number.add(episode)
    reading.messages = len(found.messages)
    reading.empty = sum(message.is_empty for message in found.messages)
    reading.unread.update(key for message in found.messages for key in message.unread)
    reading.notes += found.notes
    reading.rejects += [BadInputError(reason, locator=found.task) for reason in found.lost]
    return reading


def completed(reading: Reading) -> Reading:
    """A whole file, with what only all of its games together show.

    A success that is only a score of 0 or 1 goes where other scores of the run show that the scale goes further. Games of one team with
    the same task are attempts at it: they are numbered in order where the log does not number them, and reported.
    """
    episodes = [one for one in reading.rows["episodes"] if isinstance(one, Episode)]
    beyond = {one.run_id for one in episodes if one.score not in _GRADES}
    episodes = [one._replace(success=None) if one.episode_id in reading.by_number and one.run_id in beyond else one for one in episodes]
    if any(one.attempt == 0 for one in episodes):  # counted from 0, as many logs do
        episodes = [one._replace(attempt=None if one.attempt is None else one.attempt + 1) for one in episodes]
    attempts = Counter((one.run_id, one.task_id) for one in episodes)
    if max(attempts.values(), default=0) > 1:
        if any(one.attempt is None for one in episodes):
            count: Counter[tuple[str, str]] = Counter()
            for index, one in enumerate(episodes):
                count[one.run_id, one.task_id] += 1
                episodes[index] = one._replace(attempt=count[one.run_id, one.task_id])
        reading.notes.append(_attempts_note(episodes, attempts))
    reading.rows["episodes"] = list(episodes)
    return reading


def _attempts_note(episodes: Sequence[Episode], attempts: Mapping[tuple[str, str], int]) -> str:
    tasks, models = len({one.task_id for one in episodes}), len({one.model for one in episodes})
    fewest, most = min(attempts.values()), max(attempts.values())
    each = f"{most} attempts each" if fewest == most else f"{fewest} to {most} attempts each"
    return f"{tasks} task{'s' * (tasks > 1)}, {models} model{'s' * (models > 1)}, {each}: statistics group the games by task"


_GRADES: Final = (None, 0.0, 1.0)


def _turns(messages: Sequence[LoggedMessage]) -> dict[int, list[LoggedMessage]]:
    """Number of the turn, from 1 -> its messages. A log that counts from 0 is counted from 1."""
    shift = 1 if any(message.turn == 0 for message in messages) else 0
    turns: dict[int, list[LoggedMessage]] = defaultdict(list)
    for place, message in enumerate(messages, start=1):
        turns[place if message.turn is None else message.turn + shift].append(message)
    return dict(sorted(turns.items()))


def _team(found: Conversation) -> dict[str, str | None]:
    """Role -> model: what the log names as the team, else its one evaluated model; else the models that took part.

    Users, tools and system prompts are no part of it: whether a game has them differs from game to game.
    """
    if found.team:
        return dict(found.team)
    if found.model is not None or not found.models:
        return {"model": found.model or UNKNOWN_MODEL}
    return {found.roles.get(agent, agent): found.models[agent] for agent in found.agents if agent in found.models}


def _episode(found: Conversation, episode: str, run: Run, place: Place, turns: int) -> Episode:
    return Episode(
        episode_id=episode,
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark=found.benchmark,
        task_id=found.task,
        level=found.level,
        model=found.model or "+".join(dict.fromkeys(found.models.values())) or UNKNOWN_MODEL,
        team=Json(dumps(_team(found))),
        seed=found.seed,
        max_turns=found.max_turns,
        turns_taken=turns,
        success=found.success,
        score=found.score,
        stop_reason=found.stop_reason,
        error=found.error,
        goal=None if found.goal is None else Json(dumps(found.goal)),
        details=Json(dumps(found.details)),
        file=place.file,
        started_at=found.started_at,
        attempt=found.attempt,
    )


def _agents(found: Conversation, episode: str) -> Iterator[Agent]:
    for agent in found.agents:
        received = found.received.get(agent)
        view = None if received is None else Json(dumps(received))
        model = found.models.get(agent)
        yield Agent(episode, agent, found.roles.get(agent, agent), model, None, view, None, None if view is None else "log")


def _utterances(found: Conversation, episode: str, number: int, turn: Sequence[LoggedMessage]) -> Iterator[Utterance]:
    """Each message, after its thought where there is one. A call or a thought alone is not a message; one with nothing at all is."""
    count = itertools.count(1)
    for message in turn:
        if message.thought:
            yield Utterance(episode, number, next(count), message.agent, "private", [message.agent], message.thought)
        if message.text or message.is_empty:
            yield Utterance(
                episode, number, next(count), message.agent, *_heard(found, message), message.text, message.tokens, superseded=False
            )


def _heard(found: Conversation, message: LoggedMessage) -> tuple[str, list[str]]:
    """Channel and audience."""
    if message.private:
        return "private", list(message.audience or [message.agent])
    return "public", list(message.audience or found.agents)


def _actions(episode: str, number: int, turn: Sequence[LoggedMessage]) -> Iterator[Action]:
    for seq, (agent, tool) in enumerate(((message.agent, tool) for message in turn for tool in message.tools), start=1):
        yield Action(
            episode,
            number,
            seq,
            agent,
            tool.name,
            Json(dumps(tool.arguments)),
            tool.raw,
            tool.succeeded,
            error_code=tool.error_code,
            error_text=tool.error_text,
        )


def _calls(episode: str, number: int, turn: Sequence[LoggedMessage], run: str, model_of: Callable[[str], str]) -> Iterator[Call]:
    for seq, message in enumerate(turn, start=1):
        if message.call is not None:
            call = message.call if message.call.model != UNKNOWN_MODEL else message.call._replace(model=model_of(message.agent))
            yield _call(call, (message.agent, message.text, message.thought), f"{episode}/{number}/{seq}", (episode, number, run))


def _call(call: ModelCall, reply_of: tuple[str, str | None, str | None], name: str, of: tuple[str, int | None, str]) -> Call:
    (agent, reply, thought), (episode, number, run) = reply_of, of
    facts = call._asdict()
    return Call(
        call_id=name,
        purpose="player",
        run=run,
        episode_id=episode,
        turn=number,
        agent=agent,
        prompt_hash=hashlib.sha256(dumps(facts.pop("prompt")).encode(errors="surrogatepass")).hexdigest(),
        reply=reply,
        reasoning=thought,
        status="answered" if call.error is None else "failed",
        **facts,
    )


class SampleOutcome(NamedTuple):
    """How a sample ended."""

    success: bool | None
    """None: no score reports it."""
    score: float | None
    by_number: bool = False
    """`success` is only that the score is 0 or 1, which means nothing on a longer scale."""


def whole_number(value: Any) -> int | None:
    """A whole number; None for anything else."""
    found = number(value)
    return int(found) if found is not None and found.is_integer() else None


def numbers(scores: Mapping[str, Any]) -> dict[str, float]:
    """Name of the score, with the key of an object after a point -> its number; values that are no numbers are left out."""
    return {name: found for scorer, value in scores.items() for name, found in _flat(scorer, value)}


def _flat(name: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _flat(f"{name}.{index}", inner)
    else:
        found = number(value)
        if found is not None:
            yield name, found


def outcome(scores: Mapping[str, Any]) -> SampleOutcome:
    """Success and score by the first scorer whose value is one number; success is known where that is 0, 1 or one of the words."""
    for value in scores.values():
        found = number(value)
        if found is not None:
            is_word = isinstance(value, bool) or (isinstance(value, str) and (value in WORDS_OF_SCORES or value.lower() in WORDS_OF_SCORES))
            return SampleOutcome(found >= 1 if is_word or found in (0.0, 1.0) else None, found, by_number=not is_word)
    return SampleOutcome(None, None)
