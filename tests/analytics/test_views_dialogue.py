"""Games without states: repetitions and open questions in their words and calls; where nothing can be seen, null and not 0."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.labels.load import import_labels
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
    "changing": [_sent("user" if turn % 2 else "assistant", f"statement of turn {turn}") for turn in range(1, 15)],
    "steady": [_sent("user" if turn % 2 else "assistant", f"claim of turn {turn}") for turn in range(1, 5)],
}

_CONTRADICTS = {"changing": {4: "no", 6: "yes", 8: "no", 10: "yes", 14: "unclear"}, "steady": {2: "no", 4: "No"}}
"""Answers of a person about the assistant: conversation -> turn -> whether the message contradicts an earlier one of its own."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """A conversation for each thing that can be seen, and some for what must not be."""
    folder = tmp_path_factory.mktemp("dialogue")
    for name, talk in _TALKS.items():
        written(folder / "logs" / f"{name}.json", json.dumps(talk))
    found = ingested(folder, folder / "logs")
    games = dict(found.rows("SELECT task_id, episode_id FROM episodes"))
    lines = [
        f"of_mine,contradicts_itself,ann,{games[name]},{turn},assistant,{answer}"
        for name, answers in _CONTRADICTS.items()
        for turn, answer in answers.items()
    ]
    path = written(folder / "labels.csv", "rubric,question,annotator,episode_id,turn,agent,answer", *lines)
    import_labels(path, found.store)
    return found


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


def test_contradictions_have_a_denominator_of_their_own(found: Ingested) -> None:
    """Messages that someone has looked at, and no other: the others are unknown, and in no number."""
    known = found.rows(
        "SELECT condition, basis, messages, contradictions, share, games_with_spirals FROM contradictions WHERE games > 0 ORDER BY ALL"
    )
    others = found.rows(
        "SELECT basis, contradictions, share, games_with_spirals, sum(games_unknown) FROM contradictions WHERE games = 0 GROUP BY ALL"
    )

    assert known == [("changing", "labels", 4, 2, 0.5, 1), ("steady", "labels", 2, 0, 0.0, 0)]
    assert others == [(None, None, None, None, len(_TALKS) - 2)]
    assert found.rows("SELECT start_turn, end_turn, turns_wasted FROM contradiction_spirals") == [(6, 10, 2)]


def test_contradictions_are_failures_of_their_own(found: Ingested) -> None:
    """In a taxonomy of their own, so that the denominator of repetitions stays what it was."""
    numbers = "condition, category, turns, denominator FROM failure_breakdown WHERE taxonomy = 'contradictions'"
    rows = found.rows(f"SELECT {numbers} ORDER BY ALL")
    shown = found.rows("SELECT DISTINCT taxonomy FROM default_taxonomies")

    assert rows == [
        ("changing", "contradicts_itself", 2, 4),
        ("changing", "none", 2, 4),
        ("steady", "contradicts_itself", 0, 2),
        ("steady", "none", 2, 2),
    ]
    assert shown == [("dialogue",)]
