"""A changed value that other values of the log rule out leaves a row in `log_disagreements` or `rejects`; a sound log leaves none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

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
}
"""Specimen -> field -> kinds of change; more in docs/checked_fields.md."""


@pytest.fixture(scope="module")
def specimens() -> dict[str, Specimen]:
    return {specimen.name: specimen for specimen in all_specimens()}


@pytest.mark.parametrize("name", CHECKED)
def test_what_the_rest_of_the_log_rules_out_is_told(specimens: dict[str, Specimen], tmp_path: Path, name: str) -> None:
    """Each change of each field, in several places: all are told."""
    if name not in specimens:
        pytest.skip("the published logs are not beside the project")
    specimen = specimens[name]
    document = read_document(specimen.data)
    wanted = {(field, kind) for field, kinds in CHECKED[name].items() for kind in kinds.split(", ")}
    changes = [change for change in changes_of(document, occurrences=3) if (change.field, change.kind) in wanted]
    sound, *outcomes = outcomes_of(specimen, [document.to_bytes(), *(change.data for change in changes)], tmp_path)
    silent = Counter(
        f"{change.field}: {change.kind}"
        for change, outcome in zip(changes, outcomes, strict=True)
        if outcome not in {"rejected", "difference"}
    )
    assert sound == "unread"
    assert dict(silent) == {}
    assert {(change.field, change.kind) for change in changes} == wanted
