"""What a turn of a published CRAFT log says twice, and where its two sayings differ.

A director's raw answer holds the thought and the message, the shared history has every line of the turn, the move stands in three places
(formats/craft.md, sections 3.3 to 3.7).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from games.craft.text.director_output import FAILED_CALL_MESSAGE, NO_MESSAGE, parse_director
from games.craft.text.history import trimmed
from ingest.craft.records import TurnRecord
from ingest.reading.difference import Difference
from ingest.reading.json_text import dumps
from ingest.reading.times import read_time

__all__ = ["turn_contradictions"]

_EMPTY_CELL: Final = re.compile(r', "\([^"]*\)": \[\]')


def turn_contradictions(turn: TurnRecord, before: TurnRecord | None) -> Iterator[Difference]:
    """What cannot be true of a turn, by itself and behind the one before."""
    due = before.turn_number + 1 if before else 1
    if turn.turn_number != due:
        yield Difference("turn_number", dumps(turn.turn_number), dumps(due))
    yield from _time(turn.timestamp, before.timestamp if before else None)
    for director, said in turn.director_responses.items():
        raw = said.raw_response
        if raw and said.public_message != FAILED_CALL_MESSAGE:
            answer = parse_director(raw)
            if answer.message != said.public_message:
                yield Difference(f"director_responses.{director}", dumps(said.public_message), dumps(answer.message))
            elif answer.thinking != said.internal_thinking:
                field = f"director_responses.{director}.internal_thinking"
                yield Difference(field, dumps(said.internal_thinking), dumps(answer.thinking))
    if turn.clarification is not None and turn.move_executed:
        yield Difference("move_executed", "true", "false")
    if turn.failed_move is not None and turn.failed_move == turn.move_executed:
        yield Difference("failed_move", dumps(turn.failed_move), dumps(not turn.move_executed))
    yield from _discussion(turn)
    yield from _confirmation(turn)
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
        f"{director}: {said.public_message}" for director, said in turn.director_responses.items() if said.public_message != NO_MESSAGE
    ]
    if turn.director_discussion_full != "\n".join(lines):
        yield Difference("director_discussion_full", dumps(turn.director_discussion_full), dumps("\n".join(lines)))


def _confirmation(turn: TurnRecord) -> Iterator[Difference]:
    for name, move in (("builder_move_raw", turn.builder_move_raw), ("move_attempted", turn.move_attempted)):
        if (
            move is not None
            and None not in {move.confirmation, turn.builder_confirmation}
            and move.confirmation != turn.builder_confirmation
        ):
            yield Difference(f"{name}.confirmation", dumps(move.confirmation), dumps(turn.builder_confirmation))


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
    said = [line.partition(": ") for line in new[: len(new) - len(end)]]
    last = {director: answer.public_message for director, answer in turn.director_responses.items()}
    ends_alike = list(map(_without_empty_cells, new[len(said) :])) == list(map(_without_empty_cells, end))
    if tuple(lines[: len(known)]) != known or not ends_alike or {name: text for name, _, text in said} != last:
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
