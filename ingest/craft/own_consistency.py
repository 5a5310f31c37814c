"""Where a CRAFT game in cotrace's own log says of itself what cannot be: views, audiences, answers, conditions.

What replay tells of boards, moves and candidates is compared in `ingest.craft.differences`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from games.craft.engine.blocks import DIRECTORS
from games.craft.engine.board import Board
from games.craft.engine.errors import ErrorCode
from games.craft.engine.views import VIEW_KINDS, ViewKind, all_views, views_json
from games.craft.targets.start_boards import START_BOARDS
from games.craft.text.builder import Clarification, parse_answer
from games.craft.text.director_output import NO_MESSAGE
from games.craft.text.replies import read_answer
from ingest.craft.game import BUILDER
from ingest.craft.target import target_differences
from ingest.craft.views import OTHER_VIEW, shown_views
from ingest.reading.difference import Difference
from ingest.reading.json_text import dumps
from schemas.game import ActionEntry, AgentEntry, End, Header, Turn

__all__ = ["end_differences", "header_differences", "turn_differences"]

_REASONS: Final = {True: "target_achieved", False: "max_turns_reached"}
"""Success -> why cotrace's own games end."""

_ROLES: Final = dict.fromkeys(DIRECTORS, "director") | {BUILDER: "builder"}
_NOT_SAID: Final = "agent"
"""The role of an agent of which a log says none."""


def header_differences(header: Header, target: Board) -> Iterator[Difference]:
    """What cannot be true of the first line."""
    level = header.task.get("level")
    yield from target_differences(target, level if isinstance(level, str) else None)
    for agent in header.agents:
        role = _ROLES.get(agent.agent, agent.role)
        if agent.role not in {role, _NOT_SAID}:
            yield Difference(f"agents.{agent.agent}.role", dumps(agent.role), dumps(role))
        if agent.agent in DIRECTORS and (agent.private_view, agent.view_kind) != (None, None):
            yield from _view_differences(agent, target)
        elif agent.agent == BUILDER and agent.private_view is not None:
            yield Difference(f"private_view.{BUILDER}", dumps(agent.private_view), dumps(None))
    condition = header.run.get("condition", {})
    for name, due in (("max_turns", header.max_turns), ("run", header.seed)):
        if condition.get(name, due) != due:
            yield Difference(f"condition.{name}", dumps(condition[name]), dumps(due))
    start = condition.get("start_board")
    if start is not None and start not in START_BOARDS:
        yield Difference("condition.start_board", dumps(start), None)


def end_differences(end: End | None) -> Iterator[Difference]:
    """What cannot be true of the last line, by itself."""
    due = None if end is None or end.success is None else _REASONS[end.success]
    if end is not None and due is not None and end.stop_reason in _REASONS.values() and end.stop_reason != due:
        yield Difference("stop_reason", dumps(end.stop_reason), dumps(due))


def turn_differences(header: Header, turn: Turn, error_code: ErrorCode | None) -> Iterator[Difference]:
    """What cannot be true of a turn, by itself; ``error_code`` is that of the logged refusal."""
    if len(turn.actions) > 1:
        yield Difference("actions", dumps(len(turn.actions)), dumps(1))
    for action in turn.actions[:1]:
        yield from _action_differences(action, error_code)
    for rank, candidate in enumerate(turn.oracle or (), start=1):
        if candidate.undoes != (candidate.verb == "remove"):
            yield Difference(f"oracle[{rank}].undoes", dumps(candidate.undoes), dumps(candidate.verb == "remove"))
    yield from _utterance_differences(header, turn)


def _utterance_differences(header: Header, turn: Turn) -> Iterator[Difference]:
    everybody = [agent.agent for agent in header.agents]
    for seq, said in enumerate(turn.utterances):
        due = everybody if said.channel == "public" else [said.agent]
        hidden = said.channel == "public" and (said.superseded or said.text == NO_MESSAGE)  # the builder is not shown it
        possible = [sorted(due), *([sorted({*due} - {BUILDER})] if hidden else [])]
        if said.audience is not None and sorted(said.audience) not in possible:
            yield Difference(f"utterances[{seq + 1}].audience", dumps(list(said.audience)), dumps(sorted(due)))
    thinking = {BUILDER, *(said.agent for said in turn.utterances if said.channel == "private")}
    for number, (said, following) in enumerate(pairwise(turn.utterances), start=1):
        if said.agent != following.agent:
            continue
        if said.channel == following.channel and said.agent in thinking:  # a thought before each message, one answer of the builder
            yield Difference(f"utterances[{number + 1}].channel", dumps(following.channel), None)
        if (said.channel, following.channel) == ("private", "public") and said.superseded != following.superseded:
            yield Difference(f"utterances[{number}].superseded", dumps(said.superseded), dumps(following.superseded))


def _action_differences(action: ActionEntry, error_code: ErrorCode | None) -> Iterator[Difference]:
    if action.undoes != (action.verb == "remove"):
        yield Difference("undoes", dumps(action.undoes), dumps(action.verb == "remove"))
    if action.error_code != error_code:
        yield Difference("error_code", dumps(action.error_code), dumps(error_code))
    if action.verb == "clarify" and action.raw is not None:
        answers = [read(action.raw) for read in (read_answer, parse_answer)]
        questions = [answer.text if isinstance(answer, Clarification) else None for answer in answers]
        if action.arguments.get("question") not in questions:
            yield Difference("arguments", dumps(action.arguments), dumps({"question": questions[0]}))


def _view_differences(agent: AgentEntry, target: Board) -> Iterator[Difference]:
    """A logged view that is not the reading of the target that the log names, or whose reading has no known name."""
    kinds = VIEW_KINDS if agent.view_kind is None else [kind for kind in VIEW_KINDS if kind == agent.view_kind]
    if agent.view_kind == OTHER_VIEW:
        return
    if not kinds:
        shown = shown_views(target, {}, {agent.agent: agent.private_view})
        found = next(view.kind for name, view in shown.items() if name == agent.agent)
        yield Difference(f"view_kind.{agent.agent}", str(agent.view_kind), found)
        return
    readings = [_views(target, kind)[agent.agent] for kind in kinds]
    if agent.private_view not in readings:
        yield Difference(f"private_view.{agent.agent}", dumps(agent.private_view), dumps(readings[0]))


@lru_cache(maxsize=1024)
def _views(target: Board, kind: ViewKind) -> Mapping[str, Any]:
    return views_json(all_views(target, kind))
