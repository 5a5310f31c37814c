"""CRAFT games in cotrace's own log, made ready for replay."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Final

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from games.craft.engine.board import CELLS, DIRECTORS, MAX_HEIGHT, VIEW_KINDS, Board, ViewKind, all_views, views_json
from games.craft.engine.rules import DEFAULT_SAMPLE, ErrorCode, Move
from games.craft.targets import START_BOARDS, start_board
from games.craft.text.replies import NO_MESSAGE, Clarification, ParsedMove, is_complaint, parse_answer, read_answer
from ingest.cotrace_log.derivation import BadTurnError, Derived
from ingest.cotrace_log.lines import json_of
from ingest.craft.consistency import Int, Spans, Structure, target_differences
from ingest.craft.replay import BUILDER, OTHER_VIEW, CraftGame, CraftOutcome, CraftTurn, shown_views
from ingest.craft.replay import derive as derive_craft
from ingest.reading.adapter_types import Difference, malformed, validated
from ingest.reading.text import dumps
from schemas.common.errors import BadInputError
from schemas.game import ActionEntry, AgentEntry, End, Header, Turn
from schemas.records import LogDisagreement

_REASONS: Final = {True: "target_achieved", False: "max_turns_reached"}
"""Success -> why cotrace's own games end."""

_ROLES: Final = dict.fromkeys(DIRECTORS, "director") | {BUILDER: "builder"}
_NO_ROLE: Final = "agent"
"""The role of an agent without a logged role."""


def header_differences(header: Header, target: Board) -> Iterator[Difference]:
    """What cannot be true of the first line."""
    level = header.task.get("level")
    yield from target_differences(target, level if isinstance(level, str) else None)
    for agent in header.agents:
        role = _ROLES.get(agent.agent, agent.role)
        if agent.role not in {role, _NO_ROLE}:
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
        if action.undoes != (action.verb == "remove"):
            yield Difference("undoes", dumps(action.undoes), dumps(action.verb == "remove"))
        if action.error_code != error_code:
            yield Difference("error_code", dumps(action.error_code), dumps(error_code))
        if action.verb == "clarify" and action.raw is not None:
            answers = [read(action.raw) for read in (read_answer, parse_answer)]
            questions = [answer.text if isinstance(answer, Clarification) else None for answer in answers]
            if action.arguments.get("question") not in questions:
                yield Difference("arguments", dumps(action.arguments), dumps({"question": questions[0]}))
    for rank, candidate in enumerate(turn.oracle or (), start=1):
        if candidate.undoes != (candidate.verb == "remove"):
            yield Difference(f"oracle[{rank}].undoes", dumps(candidate.undoes), dumps(candidate.verb == "remove"))
    yield from _utterance_differences(header, turn)


def _utterance_differences(header: Header, turn: Turn) -> Iterator[Difference]:
    everybody = [agent.agent for agent in header.agents]
    for seq, uttered in enumerate(turn.utterances):
        due = everybody if uttered.channel == "public" else [uttered.agent]
        hidden = uttered.channel == "public" and (uttered.superseded or uttered.text == NO_MESSAGE)  # the builder is not shown it
        possible = [sorted(due), *([sorted({*due} - {BUILDER})] if hidden else [])]
        if uttered.audience is not None and sorted(uttered.audience) not in possible:
            yield Difference(f"utterances[{seq + 1}].audience", dumps(list(uttered.audience)), dumps(sorted(due)))
    thinking = {BUILDER, *(uttered.agent for uttered in turn.utterances if uttered.channel == "private")}
    for number, (uttered, following) in enumerate(pairwise(turn.utterances), start=1):
        if uttered.agent != following.agent:
            continue
        if uttered.channel == following.channel and uttered.agent in thinking:  # a thought before each message, one answer of the builder
            yield Difference(f"utterances[{number + 1}].channel", dumps(following.channel), None)
        if (uttered.channel, following.channel) == ("private", "public") and uttered.superseded != following.superseded:
            yield Difference(f"utterances[{number}].superseded", dumps(uttered.superseded), dumps(following.superseded))


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


KEEPS: Final = True
"""Takes states as they stand in the file (`ingest.cotrace_log.lines`)."""


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _State(_Record):
    stacks: Structure
    spans: Spans = {}


class _Plain(msgspec.Struct):
    """A state without ghost cells."""

    stacks: dict[str, Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_HEIGHT)]]
    spans: dict[str, tuple[tuple[str, str], ...]]


_PLAIN: Final = msgspec.json.Decoder(_Plain)
_DIGITS: Final = frozenset(str(layer) for layer in range(MAX_HEIGHT))


class _Condition(_Record):
    use_oracle: bool = True
    num_oracle: Annotated[Int, Field(ge=0)] = DEFAULT_SAMPLE
    start_board: str | None = None


class _Task(_Record):
    id: str
    level: str | None = None
    goal: _State


class _Arguments(_Record):
    block: str | None = None
    position: str
    layer: Int
    span_to: str | None = None


_MOVES: Final = ("place", "remove")


def derive(header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
    """Replay a game; see `ingest.cotrace_log.derivation.Derivation`."""
    task = validated(_Task, header.task, "line 1.task")
    condition = validated(_Condition, header.run.get("condition", {}), "line 1.run.condition")
    target = _board(task.goal)
    game = CraftGame(
        structure_id=task.id,
        complexity=task.level or "",
        target=target,
        start=next((start_board(target, kind) for kind in START_BOARDS if kind == condition.start_board), None),
        num_oracle=condition.num_oracle if condition.use_oracle else None,
        max_turns=header.max_turns,
        turns=tuple(_turn(turn, index) for index, turn in enumerate(turns)),
        outcome=None
        if end is None
        else CraftOutcome(completed=end.success, progress=end.score, turns_taken=None, board=None, spans_logged=False),
    )
    derived = derive_craft(game, episode)
    rows = dict(derived.rows)
    rows["log_disagreements"] = [
        *rows["log_disagreements"],
        *(LogDisagreement(episode, None, *found) for found in header_differences(header, target)),
        *(LogDisagreement(episode, None, *found) for found in end_differences(end)),
        *(
            LogDisagreement(episode, turn.turn, *found)
            for turn, result in zip(turns, derived.turns, strict=True)
            for found in turn_differences(header, turn, result.error_code)
        ),
    ]
    return Derived(
        progress=[turn.metrics.overall_progress for turn in derived.turns], success=derived.success, score=derived.score, rows=rows
    )


def _turn(turn: Turn, index: int) -> CraftTurn:
    try:
        action = next((action for action in turn.actions if action.verb in _MOVES), None)
        attempted = None if action is None else _move(action.verb, action.arguments, ".actions")
        return CraftTurn(
            turn=turn.turn,
            board_before=_logged_board(turn.state_before, ".state_before"),
            board_after=_logged_board(turn.state_after, ".state_after"),
            spans_after_logged=True,
            written=None if action is None or attempted is None else _written(action, attempted),
            attempted=attempted,
            accepted=None if action is None else action.accepted,
            error_text=None if action is None else action.error_text,
            listed=tuple(_move(entry.verb, entry.arguments, ".oracle") for entry in turn.oracle or ()),
            followed=turn.oracle_followed,
            flags={},
            metrics={},
            goal_reached=turn.goal_reached,
            unreadable=_unreadable(turn),
        )
    except BadInputError as error:
        raise BadTurnError(error, index) from error


def _unreadable(turn: Turn) -> str | None:
    found = next((action.arguments for action in map(as_stored, turn.actions) if action.verb == "unreadable"), None)
    return None if found is None else str(found.get("reason"))


def _logged_board(state: object, where: str) -> Board:
    try:
        return _board_of(json_of(state) or "null")
    except ValidationError as error:
        raise malformed(error, where) from error


@lru_cache(maxsize=4096)  # a turn begins with the board that the one before left
def _board_of(text: str) -> Board:
    return _plain_board(text) or _board(_State.model_validate_json(text))


def _plain_board(text: str) -> Board | None:
    """The board of a state as most are, read in a fifth of the time; None of any other, right or wrong."""
    try:
        state = _PLAIN.decode(text)
        stacks = tuple([state.stacks[cell] for cell in CELLS])
    except (msgspec.MsgspecError, KeyError):
        return None
    if len(state.stacks) != len(CELLS) or not _DIGITS.issuperset(state.spans):
        return None
    return Board(stacks, tuple((int(layer), spans) for layer, spans in state.spans.items()))


def _board(state: _State) -> Board:
    return Board.from_json(state.stacks, state.spans)


def _move(verb: str, arguments: Mapping[str, Any], where: str) -> Move:
    get = arguments.get
    try:
        return _move_of(verb, get("block"), get("position"), get("layer"), get("span_to"))
    except (TypeError, ValidationError):  # a list cannot be looked up; of what is missing, the fault is reported below
        pass
    try:
        known = _Arguments.model_validate_json(dumps(arguments))
    except ValidationError as error:
        raise malformed(error, where) from error
    return Move(verb, known.block, known.position, known.layer, known.span_to)


@lru_cache(maxsize=65536, typed=True)  # the moves of all games are few; a layer 1.0 or True is none
def _move_of(verb: str, block: object, position: object, layer: object, span_to: object) -> Move:
    known = _Arguments.model_validate({"block": block, "position": position, "layer": layer, "span_to": span_to})
    return Move(verb, known.block, known.position, known.layer, known.span_to)


def _written(action: ActionEntry, attempted: Move) -> Move:
    """The move as the builder wrote it: its blanks make ghost cells. Without a readable text, the move as the engine understood it."""
    readings = [read(action.raw) for read in (read_answer, parse_answer)] if action.raw is not None else []
    moves = [parsed.move for parsed in readings if isinstance(parsed, ParsedMove)]
    return next((move for move in moves if _plain(move) == _plain(attempted)), moves[0] if moves else attempted)


def _plain(move: Move) -> tuple[object, ...]:
    """What two ways to read the same line can differ in, without blanks; the engine adds the block of a removal."""
    block = None if move.action == "remove" else move.block
    return move.action, block, move.position.replace(" ", ""), move.layer, move.span_to and move.span_to.replace(" ", "")


def as_stored(action: ActionEntry) -> ActionEntry:
    """The action as it is stored: in logs of earlier versions a reply that could not be read is a question."""
    asked = action.arguments.get("question")
    if action.verb != "clarify" or not isinstance(asked, str) or not is_complaint(asked):
        return action
    return ActionEntry(agent=action.agent, verb="unreadable", arguments={"reason": asked}, raw=action.raw, accepted=action.accepted)
