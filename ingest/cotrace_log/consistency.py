"""Where an own log contradicts itself, whatever game it is: names, counts and times that cannot all be right."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

from ingest.reading.json_text import dumps
from ingest.reading.times import read_time
from schemas.game import End, Header, Turn, UtteranceEntry
from schemas.records import LogDisagreement

__all__ = ["contradictions"]

_ROUNDING: Final = 1e-6

_LABELLED: Final = attrgetter("rubric", "question", "agent")
_AGENT: Final = attrgetter("agent")

_Found = tuple[str, Any, Any]
"""Field, what is logged, what would have to stand there: None if nothing could."""


def contradictions(
    header: Header, turns: Sequence[Turn], end: End | None, progress: Sequence[float | None], episode: str
) -> Iterator[LogDisagreement]:
    """What a log says that its other lines rule out.

    Args:
        header: the first line.
        turns: those that could be read.
        end: the last line; None if there is none, or turns before it are lost.
        progress: after each turn, as far as it is known otherwise than by the log.
        episode: id of the game.
    """
    yield from _rows(episode, None, _of_header(header))
    names = {agent.agent for agent in header.agents}
    number, at = 0, header.started_at or None
    for turn, reached in zip(turns, progress, strict=True):
        if turn.progress is not None and reached is not None and not math.isclose(turn.progress, reached, abs_tol=_ROUNDING):
            yield from _rows(episode, turn.turn, [("progress", turn.progress, reached)])
        yield from _rows(episode, turn.turn, _of_turn(turn, number, names, header.max_turns))
        yield from _rows(episode, turn.turn, _of_time(turn.at, at))
        number, at = turn.turn, turn.at or at
    if end is not None and end.turns_taken not in {None, len(turns)}:
        yield from _rows(episode, None, [("turns_taken", end.turns_taken, len(turns))])


def _rows(episode: str, turn: int | None, found: Iterator[_Found] | Sequence[_Found]) -> Iterator[LogDisagreement]:
    for field, logged, due in found:
        yield LogDisagreement(episode, turn, field, dumps(logged), None if due is None else dumps(due))


def _of_header(header: Header) -> Iterator[_Found]:
    if header.started_at and read_time(header.started_at) is None:
        yield "started_at", header.started_at, None
    for key, said in header.team.items():
        agents = [agent for agent in header.agents if key in {agent.agent, agent.agent.lower(), agent.role}]
        known = {name for agent in agents for name in (agent.model, agent.persona) if name is not None}
        if not agents or (known and said not in known and not known.issuperset(said.split("+"))):
            yield f"team.{key}", said, "+".join(sorted(known)) or None
        for agent in agents:
            if agent.model not in {None, said, *said.split("+")}:
                yield f"agents.{agent.agent}.model", agent.model, said


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
    for seq, said in enumerate(utterances, start=1):
        if said.agent not in names:
            yield f"utterances[{seq}].agent", said.agent, None
        elif said.audience is not None and (said.agent not in said.audience or not names.issuperset(said.audience)):
            yield f"utterances[{seq}].audience", list(said.audience), sorted({said.agent, *said.audience} & names)
        if said.superseded and not any((later.agent, later.channel) == (said.agent, said.channel) for later in utterances[seq:]):
            yield f"utterances[{seq}].superseded", True, False


def _of_time(at: str | None, before: str | None) -> Iterator[_Found]:
    if at is None:
        return
    now, then = read_time(at), read_time(before)
    if now is None:
        yield "at", at, None
    elif then is not None and now < then:
        yield "at", at, before
