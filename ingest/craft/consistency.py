"""What a published CRAFT log says of a game as a whole and of its turns, and where the two differ (formats/craft.md, section 3.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from games.craft.engine.board import Board
from games.craft.engine.views import VIEW_KINDS, all_views, views_json
from games.craft.measures.metrics import COMPLETION_THRESHOLD
from ingest.craft.differences import close
from ingest.craft.records import ExperimentInfo, GameRecord, TurnRecord
from ingest.craft.target import target_differences
from ingest.reading.difference import Difference
from ingest.reading.json_text import dumps
from ingest.reading.times import read_time

__all__ = ["game_contradictions"]

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
        yield from _views(record.target_director_views, target)
    if not record.turns:
        yield from _compared({"completed": False, "turns_taken": 0, "final_progress": 0.0}, record)
    elif len(turns) == len(record.turns):
        yield from _summary((record.model_extra or {}).get("progress_summary"), turns)


def _views(logged: Mapping[str, Any], target: Board) -> Iterator[Difference]:
    """The stated views, which are none of the readings of the target that the released code makes."""
    readings = [views_json(all_views(target, kind)) for kind in VIEW_KINDS]
    for director, view in logged.items():
        if all(reading.get(director) != view for reading in readings):
            yield Difference(f"target_director_views.{director}", dumps(view), dumps(readings[0].get(director)))


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
