"""MAST: every trace and every character of it goes in, annotations become labels of the rubric that ships, by number or by words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.ingest.asked import Ingested, ingested, written

AG2 = "start\nproblem_solver (to verifier):\n\nIt is 4.\n-----\nverifier (to problem_solver):\n\nWrong.\n-----\n"
TRACE: dict[str, Any] = {
    "mas_name": "AG2",
    "llm_name": "gpt-4o",
    "benchmark_name": "GSM",
    "trace_id": 7,
    "trace": {"key": "k", "index": 0, "trajectory": AG2},
    "mast_annotation": {"1.1": 1, "2.6": 0, "3.3": None},
}


def read(tmp_path: Path, *traces: Any) -> Ingested:
    return ingested(tmp_path, written(tmp_path / "mad.json", list(traces)))


def test_traces_are_games_with_labels(tmp_path: Path) -> None:
    """Speakers and addressees out of the console's text; nothing of it is lost; a mode that was not annotated has no label."""
    found = read(tmp_path, TRACE)
    said = found.rows("SELECT agent, audience, text FROM utterances ORDER BY turn")
    assert [(agent, audience) for agent, audience, _ in said][1:] == [
        ("problem_solver", ["problem_solver", "verifier"]),
        ("verifier", ["verifier", "problem_solver"]),
    ]
    assert "".join("".join(text.split()) for _, _, text in said) == "".join(AG2.split())
    labels = found.rows("SELECT rubric, question, annotator, answer, score, episode_id IS NOT NULL FROM labels ORDER BY question")
    assert labels == [("mast", "acts_against_reasoning", "mast", "no", 1.0, True), ("mast", "disobeys_task", "mast", "yes", 0.0, True)]
    assert found.rows("SELECT task_id, model, team ->> 'model' FROM episodes") == [("GSM/7", "gpt-4o", "gpt-4o")]


def test_people_s_annotations_go_by_their_words_where_numbers_differ(tmp_path: Path) -> None:
    """A round before the final taxonomy numbers otherwise; a mode that it dropped is kept under the round's name."""
    modes = [
        {"failure mode": "2.4 Step repetition", "annotator_1": True, "annotator_2": False},
        {"failure mode": "1.5 Poor task constraint compliance", "annotator_1": True},
    ]
    row = {key: entry for key, entry in TRACE.items() if key not in {"mast_annotation", "llm_name"}}
    found = read(tmp_path, row | {"round": "Round 1", "trace": AG2, "annotations": modes})
    assert found.rows("SELECT rubric, question, annotator, answer FROM labels ORDER BY ALL") == [
        ("mast", "repeats_steps", "annotator_1", "yes"),
        ("mast", "repeats_steps", "annotator_2", "no"),
        ("mast_round_1", "1.5 Poor task constraint compliance", "annotator_1", "yes"),
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("trajectory", "agents"),
    [
        pytest.param([{"role": "user", "content": "a"}, {"name": "bob", "role": "assistant", "content": "b"}], ["user", "bob"], id="list"),
        pytest.param(
            "{'trajectory': [{'role': 'user', 'content': ['a']}, {'role': 'assistant', 'name': 'bob'}]}", ["user", "bob"], id="python"
        ),
        pytest.param(
            r"[{'role': 'user', 'content': 'half a pair: \ud83d'}, {'role': 'assistant', 'name': 'bob'}]", ["user", "bob"], id="half pair"
        ),
        pytest.param(
            "[2025-03-31 19:23:37 INFO] Programmer: **a**\nx\n[2025-03-31 19:24:00 INFO] Reviewer: **b**\ny",
            ["Programmer", "Reviewer"],
            id="chatdev",
        ),
        pytest.param("[FROM: Human TO: {'<all>'}]\nCONTENT: a\n[FROM: Coder TO: {'<all>'}]\nb", ["Human", "Coder"], id="metagpt"),
        pytest.param("words without speakers", ["AG2"], id="plain"),
    ],
)
def test_trajectories_of_any_system(tmp_path: Path, trajectory: Any, agents: list[str]) -> None:
    """Lists, Python text, console text."""
    found = read(tmp_path, TRACE | {"trace": {"trajectory": trajectory}})
    assert found.refused == []
    assert [agent for (agent,) in found.rows("SELECT agent FROM utterances ORDER BY turn")] == agents


def test_an_empty_trace_costs_no_other_and_labels_are_not_doubled(tmp_path: Path) -> None:
    """One reject; the file read again in a changed state has its labels once."""
    found = read(tmp_path, TRACE, TRACE | {"trace": {"trajectory": " "}})
    assert (found.report.episodes, len(found.refused)) == (1, 1)
    again = read(tmp_path, TRACE, TRACE | {"trace_id": 8})
    assert again.rows("SELECT count(*) FROM labels") == [(4,)]
