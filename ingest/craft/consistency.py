"""What a published CRAFT log records of a game and of its turns, and where the two differ (docs/formats/craft.md, section 3).

Types are strict: a number in quotes is not a number. Fields that cotrace has no use for (prompts of the builder, raw answers) are not
listed; fields that no published log has are counted by the adapter and named in the episode's details.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from games.craft.engine.board import BLOCKS, CELLS, MAX_HEIGHT, NEIGHBORS, VIEW_KINDS, Board, all_views, is_large, views_json
from games.craft.engine.rules import Move
from games.craft.measures import COMPLETION_THRESHOLD
from games.craft.targets import COMPLEXITIES, complexity_of
from games.craft.text.prompts import trimmed
from games.craft.text.replies import FAILED_CALL_MESSAGE, NO_MESSAGE, parse_director
from ingest.craft.replay import close
from ingest.reading.adapter_types import Difference
from ingest.reading.text import dumps, read_time

Int = Annotated[int, Field(ge=-(2**63), lt=2**63)]


def _no_tall_stack(structure: dict[str, list[str]]) -> dict[str, list[str]]:
    """The nine cells hold at most three blocks; stray cells that a badly written coordinate made can be taller."""
    tall = [cell for cell in CELLS if len(structure.get(cell, ())) > MAX_HEIGHT]
    if tall:
        raise ValueError(f"{tall[0]} holds {len(structure[tall[0]])} blocks, a stack has at most {MAX_HEIGHT}")
    return structure


Structure = Annotated[dict[str, list[str]], AfterValidator(_no_tall_stack)]
"""Cell name -> block codes, bottom to top."""

Layer = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,4}$")]
SpanPair = Annotated[list[str], Field(min_length=2, max_length=2)]
Spans = dict[Layer, list[SpanPair]]


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class ModelNames(_Record):
    """Who played."""

    director: str
    builder: str


class ExperimentInfo(_Record):
    """Conditions of a file; None where the log does not say."""

    model_config = ConfigDict(strict=True, extra="allow")

    timestamp: str | None = None
    dataset_path: str | None = None
    structure_index: Int | None = None
    max_turns: Annotated[Int, Field(ge=0)] | None = None
    models: ModelNames
    use_oracle: bool | None = None
    num_oracle: Annotated[Int, Field(ge=0)] | None = None
    builder_tool_use: bool | None = None
    run: Int | None = None
    max_tokens: Int | None = None
    partial_completion: str | None = None


class GameRecord(_Record):
    """One game, its turns still untyped: each is read on its own, so that a bad one costs only itself and what follows.

    A game that could not be set up has an ``error`` and neither target nor turns.
    """

    model_config = ConfigDict(strict=True, extra="allow")

    structure_id: str
    error: str | None = None
    complexity: str | None = None
    target_structure: Structure | None = None
    target_spans: Spans = {}
    target_director_views: dict[str, Any] = {}
    completed: bool | None = None
    turns_taken: Int | None = None
    final_progress: float | None = None
    final_structure: Structure | None = None
    final_spans: Spans | None = None
    stopping_reason: str | None = None
    start_board: Annotated[str | None, Field(alias="partialCompletionCategory")] = None
    d1_archetype: Annotated[str | None, Field(alias="D1 Archetype")] = None
    d2_archetype: Annotated[str | None, Field(alias="D2 Archetype")] = None
    d3_archetype: Annotated[str | None, Field(alias="D3 Archetype")] = None
    turns: list[Any] = []


class ResponseRecord(_Record):
    """A director's last thought and message of a turn."""

    internal_thinking: str
    public_message: str
    raw_response: str | None = None
    """The whole answer; empty where the call failed."""


class MoveRecord(_Record):
    """A move; ``block`` is absent on removals that the engine has not completed."""

    action: str
    block: str | None = None
    position: str
    layer: Int
    span_to: str | None = None
    confirmation: str | None = None

    def move(self) -> Move:
        """The move itself."""
        return Move(self.action, self.block, self.position, self.layer, self.span_to)


class ProgressRecord(_Record):
    """Scores after an accepted move, or the engine's refusal."""

    error: str | None = None
    metrics: dict[str, float] = {}
    structure_snapshot: Structure | None = None
    turn_number: Int | None = None
    move: MoveRecord | None = None
    progress_delta: float | None = None
    """Since the accepted move before; 0 of the first one."""


class TurnRecord(_Record):
    """One turn; which fields are there tells what kind of turn it was."""

    turn_number: Annotated[Int, Field(ge=1)]
    timestamp: str | None = None
    structure_before: Structure
    spans_before: Spans = {}
    director_responses: dict[str, ResponseRecord] = {}
    clarification: str | None = None
    move_executed: bool | None = None
    failed_move: bool | None = None
    builder_confirmation: str | None = None
    builder_move_raw: MoveRecord | None = None
    move_attempted: MoveRecord | None = None
    progress_data: ProgressRecord | None = None
    oracle_moves: list[MoveRecord] | None = None
    builder_followed_oracle: bool | None = None
    correct_structure_placement: bool | None = None
    correct_side_placement: bool | None = None
    overall_structure_correctness: bool | None = None
    target_achieved: bool | None = None
    director_discussion_full: str | None = None
    """What the builder read of the turn."""
    conversation_snapshot: list[str] | None = None
    """The shared history after the turn."""
    error: str | None = None


TURN_FIELDS: Final = frozenset(TurnRecord.model_fields) | {
    "builder_prompt",
    "director_prompt_D1",
    "director_prompt_D2",
    "director_prompt_D3",
}
"""Every field a published turn can have."""


_EMPTY_CELL: Final = re.compile(r', "\([^"]*\)": \[\]')


def turn_contradictions(turn: TurnRecord, before: TurnRecord | None) -> Iterator[Difference]:
    """What cannot be true of a turn, by itself and behind the one before."""
    due = before.turn_number + 1 if before else 1
    if turn.turn_number != due:
        yield Difference("turn_number", dumps(turn.turn_number), dumps(due))
    yield from _time(turn.timestamp, before.timestamp if before else None)
    for director, response in turn.director_responses.items():
        raw = response.raw_response
        if raw and response.public_message != FAILED_CALL_MESSAGE:
            answer = parse_director(raw)
            if answer.message != response.public_message:
                yield Difference(f"director_responses.{director}", dumps(response.public_message), dumps(answer.message))
            elif answer.thinking != response.internal_thinking:
                field = f"director_responses.{director}.internal_thinking"
                yield Difference(field, dumps(response.internal_thinking), dumps(answer.thinking))
    if turn.clarification is not None and turn.move_executed:
        yield Difference("move_executed", "true", "false")
    if turn.failed_move is not None and turn.failed_move == turn.move_executed:
        yield Difference("failed_move", dumps(turn.failed_move), dumps(not turn.move_executed))
    yield from _discussion(turn)
    yield from (
        Difference(f"{name}.confirmation", dumps(move.confirmation), dumps(turn.builder_confirmation))
        for name, move in (("builder_move_raw", turn.builder_move_raw), ("move_attempted", turn.move_attempted))
        if move is not None
        and None not in {move.confirmation, turn.builder_confirmation}
        and move.confirmation != turn.builder_confirmation
    )
    yield from _progress(turn)
    yield from _history(turn, before)


def _time(at: str | None, before: str | None) -> Iterator[Difference]:
    if at is None:
        return
    now, then = read_time(at), None if before is None else read_time(before)
    if now is None:
        yield Difference("timestamp", dumps(at), None)
    elif then is not None and now < then:
        yield Difference("timestamp", dumps(at), dumps(before))


def _discussion(turn: TurnRecord) -> Iterator[Difference]:
    """What the builder was shown: the last message of each director that spoke."""
    if turn.director_discussion_full is None:
        return
    lines = [
        f"{director}: {response.public_message}"
        for director, response in turn.director_responses.items()
        if response.public_message != NO_MESSAGE
    ]
    if turn.director_discussion_full != "\n".join(lines):
        yield Difference("director_discussion_full", dumps(turn.director_discussion_full), dumps("\n".join(lines)))


def _progress(turn: TurnRecord) -> Iterator[Difference]:
    data = turn.progress_data
    if data is None:
        return
    if data.turn_number not in {None, turn.turn_number}:
        yield Difference("progress_data.turn_number", dumps(data.turn_number), dumps(turn.turn_number))
    if data.move is not None and turn.move_attempted is not None and data.move != turn.move_attempted:
        yield Difference("progress_data.move", dumps(data.move.model_dump()), dumps(turn.move_attempted.model_dump()))


def _history(turn: TurnRecord, before: TurnRecord | None) -> Iterator[Difference]:
    """The history after a turn: the one before, cut to its end, then the directors' lines, the builder's, and what became of the move."""
    lines = turn.conversation_snapshot
    if lines is None or (before is not None and before.conversation_snapshot is None):
        return
    known = trimmed((before.conversation_snapshot if before else None) or ())
    new, end = lines[len(known) :], _builder_lines(turn)
    response = [line.partition(": ") for line in new[: len(new) - len(end)]]
    last = {director: answer.public_message for director, answer in turn.director_responses.items()}
    ends_alike = list(map(_without_empty_cells, new[len(response) :])) == list(map(_without_empty_cells, end))
    if tuple(lines[: len(known)]) != known or not ends_alike or {name: text for name, _, text in response} != last:
        yield Difference("conversation_snapshot", dumps(new), dumps([*(f"{name}: {text}" for name, text in last.items()), *end]))


def _without_empty_cells(line: str) -> str:
    """The released engine makes an empty ghost cell where it only looks for one."""
    return _EMPTY_CELL.sub("", line)


def _builder_lines(turn: TurnRecord) -> list[str]:
    """The builder's question, or its confirmation and the engine's answer."""
    if turn.clarification is not None:
        return [f"Builder: {turn.clarification}"]
    move, data = turn.move_attempted, turn.progress_data
    if move is None or data is None:
        return []
    span = f"↔{move.span_to}" if move.span_to else ""
    result = (
        f"Builder: Placed {move.block} at {move.position}{span} layer {move.layer}. Current board: {json.dumps(data.structure_snapshot)}"
        if data.error is None
        else f"Builder: FAILED — {data.error}. Board unchanged: {json.dumps(turn.structure_before)}"
    )
    return [f"Builder: {turn.builder_confirmation}", result]


def target_differences(target: Board, level: str | None) -> Iterator[Difference]:
    """Yield what cannot be true of a target; its tier is compared where it is one of the published."""
    yield from _faults(target)
    tier = complexity_of(target.blocks_total())
    if level in COMPLEXITIES and level != tier:
        yield Difference("complexity", dumps(level), dumps(tier))


@lru_cache(maxsize=1024)
def _faults(target: Board) -> tuple[Difference, ...]:
    strange = sorted({block for stack in target.stacks for block in stack} - set(BLOCKS)) + [name for name, _ in target.ghosts]
    found = [Difference("target_structure", dumps(strange), None)] if strange else []
    spans = [(layer, *span) for layer, records in target.spans for span in records]
    wrong = [span for span in spans if not _is_large_block(target, *span)]
    halves = {(layer, cell) for layer, *cells in spans for cell in cells}
    single = [
        (layer, cell)
        for cell, stack in zip(CELLS, target.stacks, strict=True)
        for layer, block in enumerate(stack)
        if block in BLOCKS and is_large(block) and (layer, cell) not in halves
    ]
    if wrong or single or len(halves) < 2 * len(spans):
        found.append(Difference("target_spans", dumps(spans), dumps(single) if single else None))
    return tuple(found)


def _is_large_block(target: Board, layer: int, first: str, second: str) -> bool:
    """Whether the same large block lies on both cells, side by side."""
    if second not in NEIGHBORS.get(first, ()):
        return False
    one, other = target.stack(first), target.stack(second)
    return layer < min(len(one), len(other)) and one[layer] == other[layer] and is_large(one[layer])


_TREND: Final = 3
"""Accepted moves that the logged trend is the mean of."""

_FALLING: Final = -0.05
"""A trend above it counts as improving."""

_ENDLESS: Final = math.inf


def game_contradictions(
    record: GameRecord, info: ExperimentInfo, turns: Sequence[TurnRecord], target: Board | None
) -> Iterator[Difference]:
    """What cannot be true of a game as a whole; turns are those that could be read."""
    numbers = {"structure_index": info.structure_index, "run": info.run, "max_tokens": info.max_tokens}
    yield from (Difference(name, dumps(number), None) for name, number in numbers.items() if number is not None and number < 0)
    if info.timestamp is not None and read_time(info.timestamp) is None:
        yield Difference("timestamp", dumps(info.timestamp), None)
    if info.max_turns is not None and turns and turns[-1].turn_number > info.max_turns:
        yield Difference("max_turns", dumps(info.max_turns), dumps(turns[-1].turn_number))
    if info.partial_completion is not None and record.start_board not in {None, info.partial_completion}:
        yield Difference("partialCompletionCategory", dumps(record.start_board), dumps(info.partial_completion))
    if target is not None:
        yield from target_differences(target, record.complexity)
        readings = [views_json(all_views(target, kind)) for kind in VIEW_KINDS]
        for director, view in record.target_director_views.items():
            if all(reading.get(director) != view for reading in readings):
                yield Difference(f"target_director_views.{director}", dumps(view), dumps(readings[0].get(director)))
    if not record.turns:
        yield from _compared({"completed": False, "turns_taken": 0, "final_progress": 0.0}, record)
    elif len(turns) == len(record.turns):
        yield from _summary((record.model_extra or {}).get("progress_summary"), turns)


def _compared(due: Mapping[str, Any], record: Any) -> Iterator[Difference]:
    for name, value in due.items():
        logged = getattr(record, name)
        if logged is not None and logged != value:
            yield Difference(name, dumps(logged), dumps(value))


def _summary(summary: Any, turns: Sequence[TurnRecord]) -> Iterator[Difference]:
    """The numbers at the end against the logged progress of the accepted moves."""
    if not isinstance(summary, dict):
        return
    accepted = [turn for turn in turns if turn.move_executed and turn.progress_data and turn.progress_data.metrics]
    if not accepted:
        return
    yield from _deltas(accepted)
    last = accepted[-1].progress_data
    assert last is not None
    progress = last.metrics.get("overall_progress", 0.0)
    deltas = [turn.progress_data.progress_delta or 0.0 for turn in accepted if turn.progress_data]
    trend = sum(deltas[-_TREND:]) / len(deltas[-_TREND:]) if len(deltas) > 1 else 0.0
    due = {
        "current_turn": accepted[-1].turn_number,
        "overall_progress": progress,
        "completion_percentage": last.metrics.get("completion_percentage"),
        "blocks_correct": last.metrics.get("blocks_placed_correctly"),
        "blocks_total_needed": last.metrics.get("blocks_total_target"),
        "recent_trend": trend,
        "is_improving": trend > _FALLING,
        "estimated_turns_remaining": _remaining(progress, len(accepted)),
    }
    for name, value in due.items():
        logged = summary.get(name)
        if logged is not None and value is not None and not _same(logged, value):
            yield Difference(f"progress_summary.{name}", dumps(logged), dumps(value))


def _deltas(accepted: Sequence[TurnRecord]) -> Iterator[Difference]:
    before: float | None = None
    for turn in accepted:
        data = turn.progress_data
        assert data is not None
        now = data.metrics.get("overall_progress")
        due = None if now is None else 0.0 if before is None else now - before
        if data.progress_delta is not None and due is not None and not close(data.progress_delta, due):
            yield Difference(f"progress_delta[{turn.turn_number}]", dumps(data.progress_delta), dumps(due))
        before = now


def _remaining(progress: float, moves: int) -> float:
    if progress >= COMPLETION_THRESHOLD:
        return 0
    return max(1, int((1 - progress) / (progress / moves))) if progress > 0 and moves >= _TREND else _ENDLESS


def _same(logged: Any, due: float) -> bool:
    if isinstance(logged, bool) or isinstance(due, bool):
        return logged is due
    return isinstance(logged, int | float) and (logged == due or close(logged, due))
