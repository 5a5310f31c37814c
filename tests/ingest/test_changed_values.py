"""A changed value that other values of the log rule out leaves a row in `log_disagreements` or `rejects`; a sound log leaves none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.fuzz.changes import changes_of
from tests.fuzz.documents import read_document
from tests.fuzz.ingested import outcomes_of
from tests.fuzz.specimens import Specimen, all_specimens

CHECKED: dict[str, dict[str, str]] = {
    "einstein, own log": {
        "turn.actions[].verb": "another value, garbled",
        "turn.actions[].arguments.block": "another value, garbled, left out",
        "turn.actions[].arguments.from": "another value, garbled, left out",
        "turn.actions[].arguments.to": "another value, garbled, left out",
        "turn.actions[].undoes": "another value",
        "turn.actions[].raw": "another value",
        "turn.actions[].error_text": "another value, garbled",
        "turn.utterances": "one fewer, one twice",
        "turn.utterances[].text": "another value, garbled",
        "turn.utterances[].agent": "another value, garbled",
        "turn.utterances[].channel": "another value",
        "turn.utterances[].audience": "one fewer",
        "turn.at": "garbled",
        "header.max_turns": "another value, negative",
        "header.run.condition.action_mode": "garbled",
        "header.task.level": "garbled",
        "header.agents": "one fewer, one twice, swapped",
        "header.agents[].agent": "another value, garbled",
        "header.team.*": "garbled",
        "end.end.stop_reason": "garbled",
    },
    "einstein, own log, with verifier": {
        "turn.actions[].undoes": "another value",
        "turn.samples": "left out",
        "header.run.condition.samples_per_step": "another value, negative",
    },
    "craft, own log": {
        "header.run.condition.num_oracle": "negative",
        "header.run.condition.max_turns": "another value",
        "header.task.goal.stacks.*[]": "garbled",
        "header.task.goal.spans.*[][]": "another value, garbled",
        "header.agents[].private_view": "another value",
        "header.agents[].private_view.*": "left out",
        "header.agents[].model": "garbled",
        "turn": "entry left out",
        "turn.turn": "another value, negative",
        "turn.actions": "one fewer, one twice",
        "turn.actions[].undoes": "another value",
        "turn.actions[].error_code": "garbled",
        "turn.utterances": "one twice",
        "turn.utterances[].audience": "one fewer, one twice",
        "turn.utterances[].superseded": "another value",
        "turn.labels": "one twice",
        "end.end.score": "another value, negative, above one",
        "end.end.turns_taken": "another value, negative",
    },
    "craft, published layout": {
        "experiment_info.max_tokens": "negative",
        "experiment_info.run": "negative",
        "games": "one fewer",
        "games[].target_structure.*[]": "another value, garbled",
        "games[].target_spans.*[][]": "another value, garbled",
        "games[].target_director_views.*.*[].color": "another value, garbled",
        "games[].target_director_views.*.*[].size": "another value, negative",
        "games[].turns[].turn_number": "another value",
        "games[].turns[].director_responses.*.public_message": "another value, garbled",
        "games[].turns[].director_responses.*.raw_response": "another value",
        "games[].turns[].failed_move": "another value",
        "games[].turns[].builder_confirmation": "garbled",
        "games[].turns[].progress_data.progress_delta": "another value, negative",
        "games[].turns[].progress_data.metrics.blocks_placed_correctly": "negative",
        "games[].turns[].progress_data.metrics.iou_score": "above one",
        "games[].turns[].conversation_snapshot": "one fewer, one twice",
    },
    "craft, published log": {
        "games[].progress_summary.current_turn": "another value, negative",
        "games[].progress_summary.overall_progress": "another value, above one",
        "games[].progress_summary.blocks_correct": "another value, negative",
        "games[].progress_summary.recent_trend": "another value",
    },
    "asympuzl, own log": {
        "header.temperature": "negative",
        "turn.actions[].index": "another value, negative",
        "turn.actions[].changed": "another value",
        "turn.actions[].right_after": "another value",
        "turn.actions[].before.color": "another value, garbled",
    },
    "overcooked, own log": {
        "total_timestamp": "one fewer, one twice",
        "total_order_finished": "one fewer, one twice",
        "content[].order_list[]": "garbled",
        "content[].actions[]": "another value, garbled",
        "content[].statistical_data.score": "another value, negative",
        "content[].statistical_data.communication[].call": "another value, negative",
        "content[].statistical_data.communication[].turn[]": "another value, garbled",
        "content[].statistical_data.error[].validator_error.error_num": "another value, negative",
        "content[].content.content[][].agent": "another value",
        "cotrace.horizon": "negative",
        "cotrace.order": "garbled",
        "cotrace.complete": "another value",
        "cotrace.labels[].timestep": "negative",
    },
    "coordination, kitchen, own log": {
        "line.game": "garbled",
        "line.score": "another value, negative",
        "line.actions[].current_macro": "another value",
        "line.actions[].new_macro": "another value",
    },
    "coordination, capture, own log": {
        "turn.players": "one fewer, one twice, swapped",
        "turn.players[].player": "another value, garbled",
        "turn.players[].available_actions": "one fewer, one twice, swapped",
        "turn.players[].policy": "garbled",
        "turn.rooms_before.Thief": "another value, negative",
        "turn.doors_before.*": "another value, left out",
        "turn.captured": "another value",
        "turn.terminal": "another value",
    },
    "coordination, escape, own log": {
        "turn.turn": "another value, negative",
        "turn.generators_before.*": "another value, negative, left out",
        "turn.exit_gate_before": "another value",
        "turn.generators_fixed.*": "another value",
        "turn.seed": "another value",
        "turn.players[].available_actions": "one fewer, one twice, swapped",
        "turn.outcome": "another value, garbled",
    },
    "coordination, hanabi, step log": {
        "turn.fireworks_sum": "another value, negative",
        "turn.engine_score": "another value, negative",
        "turn.legal_actions": "one fewer, one twice, swapped",
        "turn.n_generator_calls": "another value, negative",
        "turn.state_before.life_tokens": "another value, negative",
        "turn.state_before.hands.Alice[]": "another value, garbled",
        "turn.terminal": "another value",
    },
    "coordination, capture, console": {"Turns to Completion: #": "another value, entry left out"},
    "coordination, hanabi, players' files": {"[].Partner Cards": "another value", "[].Board Information": "another value, a number in it"},
    "coordination, kitchen, player's file": {
        "[].c0_num_onions": "another value, garbled",
        "[].player_held_object": "another value, garbled",
    },
    "coordination, questions, lines": {"line.correct": "another value, negative", "line.extracted": "another value", "line.key": "garbled"},
}
"""Specimen -> field -> kinds of change; more in docs/dev/checked_fields.md."""


@pytest.fixture(scope="module")
def specimens() -> dict[str, Specimen]:
    return {specimen.name: specimen for specimen in all_specimens()}


FEW: Final = ("craft, own log", "coordination, capture, own log")
"""Each family has tests of its own of where log and rules differ."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in FEW else pytest.mark.long) for name in CHECKED])
def test_what_the_rest_of_the_log_rules_out_is_told(specimens: dict[str, Specimen], tmp_path: Path, name: str) -> None:
    """Each change of each field, in one place: all are told; `python -m tests.fuzz.checked_fields` tries several."""
    if name not in specimens:
        pytest.skip("the published logs are not beside the project")
    specimen = specimens[name]
    document = read_document(specimen.data)
    wanted = {(field, kind) for field, kinds in CHECKED[name].items() for kind in kinds.split(", ")}
    found = ((change.field, change.kind, change) for change in changes_of(document, occurrences=2))
    changes = [*{(field, kind): change for field, kind, change in found if (field, kind) in wanted}.values()]
    sound, *outcomes = outcomes_of(specimen, [document.to_bytes(), *(change.data for change in changes)], tmp_path)
    silent = Counter(
        f"{change.field}: {change.kind}"
        for change, outcome in zip(changes, outcomes, strict=True)
        if outcome not in {"rejected", "difference"}
    )
    assert sound == "unread"
    assert dict(silent) == {}
    assert {(change.field, change.kind) for change in changes} == wanted
