"""Who&When: every message and both labels of every run go in, thoughts and addressees as written, and odd files get one line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.store.store import Store

RUN: dict[str, Any] = {
    "is_correct": False,
    "question": "Which shop is open?",
    "question_ID": "q1",
    "level": 2,
    "ground_truth": "the one in the south",
    "history": [
        {"content": "Which shop is open?", "role": "human"},
        {"content": "I shall ask the surfer.", "role": "Orchestrator (thought)"},
        {"content": "Please look it up.", "role": "Orchestrator (-> WebSurfer)"},
        {"content": "The one in the north.", "role": "WebSurfer"},
        {"content": "Done.", "role": "Orchestrator (termination condition)"},
    ],
    "mistake_agent": "WebSurfer",
    "mistake_step": "3",
    "mistake_reason": "did not scroll",
}


def store_of(tmp_path: Path, run: Any) -> tuple[Store, list[str]]:
    """The store of one file, and why anything was refused."""
    (tmp_path / "1.json").write_text(run if isinstance(run, str) else json.dumps(run), encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    report = ingest_paths([tmp_path / "1.json"], store, workers=1)
    return store, [part.reason for part in report.rejected]


def test_speakers_thoughts_addressees_and_labels_go_in_as_written(tmp_path: Path) -> None:
    """A thought is private, an addressed message is for two, everything else for all; steps count from 1."""
    store, refused = store_of(tmp_path, RUN)
    assert refused == []
    said = query(store, "SELECT turn, agent, channel, audience FROM utterances ORDER BY turn").rows()
    everybody = ["human", "Orchestrator", "WebSurfer"]
    assert said == [
        (1, "human", "public", everybody),
        (2, "Orchestrator", "private", ["Orchestrator"]),
        (3, "Orchestrator", "public", ["Orchestrator", "WebSurfer"]),
        (4, "WebSurfer", "public", everybody),
        (5, "Orchestrator", "public", everybody),
    ]
    labels = query(store, "SELECT rubric, question, answer, episode_id IS NOT NULL AS joined FROM labels ORDER BY question").rows()
    assert labels == [("decisive_error", "agent", "WebSurfer", True), ("decisive_error", "step", "4", True)]
    assert query(store, "SELECT success, score, level, task_id FROM episodes").rows() == [(False, 0.0, "2", "q1")]
    assert query(store, "SELECT * FROM log_disagreements").is_empty()


def test_a_label_of_somebody_who_does_not_speak_there_is_told_and_kept(tmp_path: Path) -> None:
    """Two agents, one step: the label stays, the disagreement is a row."""
    store, _ = store_of(tmp_path, RUN | {"mistake_agent": "Orchestrator"})
    assert query(store, "SELECT turn, field, logged, recomputed FROM log_disagreements").rows() == [
        (4, "mistake_agent", "Orchestrator", "WebSurfer")
    ]
    assert query(store, "SELECT answer FROM labels WHERE question = 'agent'")["answer"].to_list() == ["Orchestrator"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("step", [math.inf, math.nan, 2.5, "soon", 5, "99", -1, True, None])
def test_a_step_that_the_log_does_not_have_is_reported_and_no_label(tmp_path: Path, step: Any) -> None:
    """It would count against every judge. A file without a step reports nothing."""
    store, refused = store_of(tmp_path, RUN | {"mistake_step": step})
    assert ["mistake_step is" in reason and "steps 0 to 4" in reason for reason in refused] == ([] if step is None else [True])
    assert query(store, "SELECT question, answer FROM labels").rows() == [("agent", "WebSurfer")]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("run", "reason"),
    [
        pytest.param(RUN | {"history": []}, "it has no messages", id="no messages"),
        pytest.param(RUN | {"history": [{"content": "x"}]}, "neither name nor role", id="nobody speaks"),
        pytest.param(RUN | {"history": ["x"]}, "object", id="a text for a message"),
        pytest.param(json.dumps(RUN)[:-40], "", id="cut"),
    ],
)
def test_odd_files_are_one_reject(tmp_path: Path, run: Any, reason: str) -> None:
    """What, and how to mend it; nothing of the file is in the store."""
    store, refused = store_of(tmp_path, run)
    assert (len(refused), reason in refused[0]) == (1, True)
    assert query(store, "SELECT * FROM episodes").is_empty()


@pytest.mark.shared
def test_every_message_of_the_published_runs_arrives(tmp_path: Path, shared: Path) -> None:
    """As many games, turns and labels as the files hold; the rows whose agent is not the speaker are those that people found."""
    files = list((shared / "data/whoandwhen").rglob("*.json"))
    store = Store(tmp_path / "s.duckdb")
    report = ingest_paths([shared / "data/whoandwhen"], store, workers=1)
    said = [message["content"] for path in files for message in json.loads(path.read_bytes())["history"]]
    assert (report.episodes, report.turns, report.rejected) == (len(files), len(said), [])
    assert sorted(query(store, "SELECT text FROM utterances")["text"].to_list()) == sorted(said)
    assert query(store, "SELECT count(*) AS n FROM labels")["n"][0] == 2 * len(files)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("step", ["3", 3, 3.0, "3.0", " 3 "])
def test_a_step_is_a_whole_number_however_it_is_written(tmp_path: Path, step: Any) -> None:
    """`10.0` of a spreadsheet is the step 10."""
    store, refused = store_of(tmp_path, RUN | {"mistake_step": step})
    assert refused == []
    assert query(store, "SELECT answer FROM labels WHERE question = 'step'").rows() == [("4",)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("written", ["WebSurfer ", "websurfer", "Web Surfer", "web_surfer", "WebSurfer (thought)"])
def test_a_name_that_can_mean_only_one_agent_is_read_as_it_and_reported(tmp_path: Path, written: str) -> None:
    """Case, blanks and brackets."""
    (tmp_path / "1.json").write_text(json.dumps(RUN | {"mistake_agent": written}), encoding="utf-8")
    report = ingest_paths([tmp_path / "1.json"], store := Store(tmp_path / "s.duckdb"), workers=1)
    assert report.rejected == []
    assert [f"mistake_agent {written!r} is read as 'WebSurfer'" in note for _, note in report.notes] == [True]
    with store.reading() as connection:
        assert connection.execute("SELECT answer FROM labels WHERE question = 'agent'").fetchall() == [("WebSurfer",)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("written", ["Coder", "coder", "surfer"])
def test_a_name_that_means_no_agent_or_several_is_reported_and_no_label(tmp_path: Path, written: str) -> None:
    """`coder` where there are Coder_ and CODER is nobody's name."""
    history = [*RUN["history"], {"content": "a", "role": "Coder_"}, {"content": "b", "role": "CODER"}]
    store, refused = store_of(tmp_path, RUN | {"mistake_agent": written, "history": history})
    assert [f"mistake_agent is {written!r}" in reason for reason in refused] == [True]
    assert query(store, "SELECT question FROM labels").rows() == [("step",)]


@pytest.mark.parametrize("without", ["mistake_agent", "mistake_step"])
def test_a_history_of_another_program_is_no_run_of_who_and_when(tmp_path: Path, without: str) -> None:
    """SWE-agent's trajectories have a history too; it is read as the messages that it holds, without labels."""
    store, refused = store_of(
        tmp_path, {"history": RUN["history"], **{key: one for key, one in RUN.items() if key not in {without, "history"}}}
    )
    assert refused == []
    assert query(store, "SELECT benchmark FROM episodes").rows() == [("chat",)]
    assert query(store, "SELECT * FROM labels").is_empty()


def test_contents_of_parts_are_words_and_calls_are_actions(tmp_path: Path) -> None:
    """A message that only calls a tool is no empty message."""
    call = {"content": "", "role": "WebSurfer", "tool_calls": [{"id": "c1", "function": {"name": "click", "arguments": '{"at": "menu"}'}}]}
    store, refused = store_of(
        tmp_path, RUN | {"history": [{"content": [{"type": "text", "text": "Open?"}], "role": "human"}, call, call, call]}
    )
    assert refused == []
    assert query(store, "SELECT agent, text FROM utterances").rows() == [("human", "Open?")]
    assert query(store, "SELECT turn, agent, verb, arguments ->> 'at' FROM actions ORDER BY turn").rows() == [
        (turn, "WebSurfer", "click", "menu") for turn in (2, 3, 4)
    ]
