"""Games without states: repetitions and open questions in their words and calls; where nothing can be seen, null and not 0."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ingest.asked import Ingested, ingested, written

_LONG = "I have looked at the order and it was sent on the third of May by the usual carrier"


def _sent(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


def _called(number: int, order: int) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "look_up", "arguments": json.dumps({"order": order})}}
    return [_sent("assistant", "", tool_calls=[call]), _sent("tool", "not found", tool_call_id=f"c{number}")]


_TALKS: dict[str, list[dict[str, Any]]] = {
    "exact": [
        _sent("user", "one word"),
        _sent("assistant", "Guess: apple!"),
        _sent("user", "wrong again"),
        _sent("assistant", "guess apple"),
    ],
    "near": [_sent("user", "and now"), _sent("assistant", _LONG), _sent("user", "not yet"), _sent("assistant", _LONG + " today")],
    "other": [
        _sent("user", "and now"),
        _sent("assistant", _LONG),
        _sent("user", "not yet"),
        _sent("assistant", "That is all I can say of it"),
    ],
    "short": [_sent("user", "first"), _sent("assistant", "ok"), _sent("user", "second"), _sent("assistant", "ok")],
    "open": [
        _sent("user", "hello there"),
        _sent("assistant", "Which order?"),
        _sent("assistant", "I take seven."),
        _sent("user", "good so"),
    ],
    "calls": [_sent("user", "find it"), *_called(1, 7), *_called(2, 7), *_called(3, 7), *_called(4, 8)],
    "once": [_sent("user", "hello there"), _sent("assistant", "hello")],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """A conversation for each thing that can be seen, and some for what must not be."""
    folder = tmp_path_factory.mktemp("dialogue")
    for name, talk in _TALKS.items():
        written(folder / "logs" / f"{name}.json", json.dumps(talk))
    return ingested(folder, folder / "logs")


def test_repetitions_and_open_questions_are_failures(found: Ingested) -> None:
    """Exact, near, equal calls, a question that no one answers; nothing else."""
    rows = found.rows(
        "SELECT task_id, turn, agent, category FROM failure_turns WHERE taxonomy = 'dialogue' AND category <> 'none' ORDER BY ALL"
    )

    assert rows == [
        ("calls", 4, "assistant", "repeated_call"),
        ("calls", 6, "assistant", "repeated_call"),
        ("exact", 4, "assistant", "repeated_message"),
        ("near", 4, "assistant", "similar_message"),
        ("open", 2, "assistant", "unanswered_question"),
    ]


def test_repetitions_are_spirals(found: Ingested) -> None:
    """From what is repeated to the last repetition."""
    rows = found.rows("SELECT task_id, kind, start_turn, end_turn, turns, turns_wasted FROM correction_spirals ORDER BY ALL")

    assert rows == [
        ("calls", "repeated_call", 2, 6, 5, 2),
        ("exact", "repeated_message", 2, 4, 3, 1),
        ("near", "repeated_message", 2, 4, 3, 1),
    ]


def test_where_nothing_can_repeat_nothing_is_known(found: Ingested) -> None:
    """A conversation in which every agent speaks once has no zero: it is in no denominator."""
    rows = found.rows("SELECT task_id, episode_id IN (SELECT episode_id FROM spiral_games) FROM episodes ORDER BY task_id")

    assert dict(rows) == {name: name != "once" for name in _TALKS}
    assert found.rows("SELECT count(*) FROM failure_turns WHERE task_id = 'once'") == [(0,)]


def test_categories_have_the_common_words_for_failures(found: Ingested) -> None:
    """So pages and reports show what went right as right."""
    mapped = "failure_turns LEFT JOIN failure_map USING (taxonomy, category)"
    rows = found.rows(f"SELECT DISTINCT common FROM {mapped} WHERE taxonomy = 'dialogue' ORDER BY common")

    assert rows == [("no_progress",), ("none",), ("redundant_talk",), ("unanswered_request",)]
