"""A conversation as rows: speaker -> agent, message -> utterance and turn, tool call -> action, outcome -> success and score.

What a foreign format does not say is null. There are no states, no verified actions and no progress: engine checks do not apply, while
rubrics, labels, statistics and pages do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ingest.reading.adapter_types import Place, Reading, episode_id, run_id
from ingest.reading.json_text import dumps
from schemas.records import Action, Agent, Episode, Json, Run, Turn, Utterance

__all__ = ["UNKNOWN_MODEL", "Conversation", "Said", "ToolUse", "reading_of"]

UNKNOWN_MODEL: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool that a message calls."""

    name: str
    arguments: Mapping[str, Any]
    succeeded: bool | None = None
    """None: the log does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message; each is a turn of its own, in the order of the log."""

    agent: str
    text: str
    private: bool = False
    audience: Sequence[str] | None = None
    """Who could read it, the author included; None: everybody, or of a private one the author alone."""
    tools: Sequence[ToolUse] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation and what is known about it."""

    benchmark: str
    run: str
    """Name of the experiment."""
    task: str
    messages: Sequence[Said]
    roles: Mapping[str, str] = field(default_factory=dict)
    """Agent -> role; of one that is not named, its name."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """Agent -> what only it was told."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Agent -> model."""
    level: str | None = None
    goal: Any = None
    success: bool | None = None
    score: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def agents(self) -> list[str]:
        """Everybody who speaks, hears or was told something, in order of appearance."""
        heard = (name for said in self.messages for name in (said.agent, *(said.audience or ())))
        return list(dict.fromkeys([*heard, *self.told]))


def reading_of(found: Conversation, place: Place, index: int = 0) -> Reading:
    """The rows of a conversation; `index`: its place in the file, from 0."""
    episode = episode_id(found.benchmark, place.path, index)
    reading = Reading(episodes=[episode], turns=len(found.messages))
    team = {found.roles.get(agent, agent): found.models.get(agent, UNKNOWN_MODEL) for agent in found.agents}
    run = Run(run_id(found.benchmark, found.run, team, {}), found.benchmark, found.run, Json("{}"), None)
    reading.rows["runs"].append(run)
    reading.rows["episodes"].append(_episode(found, episode, run.run_id, place, team))
    reading.rows["agents"] += _agents(found, episode)
    for number, said in enumerate(found.messages, start=1):
        reading.rows["turns"].append(Turn(episode, number, None, None, None, None, None, None, None, None))
        reading.rows["utterances"].append(
            Utterance(episode, number, 1, said.agent, *_heard(found, said), said.text, None, superseded=False)
        )
        reading.rows["actions"] += _actions(episode, number, said)
    return reading


def _episode(found: Conversation, episode: str, run: str, place: Place, team: Mapping[str, str]) -> Episode:
    return Episode(
        episode_id=episode,
        run_id=run,
        source_id=place.source_id,
        benchmark=found.benchmark,
        task_id=found.task,
        level=found.level,
        model="+".join(dict.fromkeys(found.models.values())) or UNKNOWN_MODEL,
        team=Json(dumps(team)),
        seed=None,
        max_turns=None,
        turns_taken=len(found.messages),
        success=found.success,
        score=found.score,
        stop_reason=None,
        error=None,
        goal=None if found.goal is None else Json(dumps(found.goal)),
        details=Json(dumps(found.details)),
        file=place.file,
        started_at=None,
    )


def _agents(found: Conversation, episode: str) -> Iterator[Agent]:
    for agent in found.agents:
        told = found.told.get(agent)
        view = None if told is None else Json(dumps(told))
        model = found.models.get(agent)
        yield Agent(episode, agent, found.roles.get(agent, agent), model, None, view, None, None if view is None else "log")


def _heard(found: Conversation, said: Said) -> tuple[str, list[str]]:
    """Channel and audience."""
    if said.private:
        return "private", list(said.audience or [said.agent])
    return "public", list(said.audience or found.agents)


def _actions(episode: str, number: int, said: Said) -> Iterator[Action]:
    for seq, tool in enumerate(said.tools, start=1):
        arguments = Json(dumps(tool.arguments))
        yield Action(
            episode, number, seq, said.agent, tool.name, arguments, None, tool.succeeded, undoes=False, error_code=None, error_text=None
        )
