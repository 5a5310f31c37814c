"""Stores on their way out: Inspect reads our logs, and nothing is lost on the way there and back; datasets, spans, views."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from cotrace.commands.export import exported
from schemas.common.errors import UsageError
from schemas.game_log import GameLog
from schemas.store.store import Store
from tests.ingest.asked import Ingested, ingested
from tests.ingest.asked import written as logged
from tests.masters import held_open
from tests.played import played_store

WORDS = (
    "SELECT task_id, seed, turn, agent, channel, list_sort(audience), text FROM utterances JOIN episodes USING (episode_id) ORDER BY ALL"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Nine games of CRAFT, judged by the engine."""
    yield from held_open(played_store(tmp_path_factory.mktemp("exports")))


def written(store: Store, folder: Path, form: str, **options: Any) -> list[Path]:
    return [path for path, _ in exported(store, folder, form, **options)]


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    return Ingested(store, None).rows(sql)  # type: ignore[arg-type]


def test_inspect_reads_our_logs_with_verdicts_as_scores(store: Store, tmp_path: Path) -> None:
    """Every game a sample, every message a message, every question of a judge a score with its verdicts."""
    log_module = pytest.importorskip("inspect_ai.log")
    samples = [sample for path in written(store, tmp_path, "inspect") for sample in log_module.read_eval_log(str(path)).samples]
    assert len(samples) == rows(store, "SELECT count(*) FROM episodes")[0][0]
    questions = {
        f"{rubric}.{question} (engine)"
        for rubric, question in rows(store, "SELECT DISTINCT rubric, question FROM verdicts WHERE status = 'answered'")
    }
    assert questions <= {name for sample in samples for name in sample.scores}
    given = [
        verdict for sample in samples for name in questions & set(sample.scores) for verdict in sample.scores[name].metadata["verdicts"]
    ]
    answered = [verdict for verdict in given if verdict["status"] == "answered"]
    assert len(answered) == rows(store, "SELECT count(*) FROM verdicts WHERE status = 'answered'")[0][0]
    texts = sorted(text for (text,) in rows(store, "SELECT text FROM utterances WHERE channel = 'public'"))
    spoken = sorted(message.text for sample in samples for message in sample.messages if message.metadata["channel"] == "public")
    assert [text for text in spoken if text] == [text for text in texts if text]
    header = log_module.read_eval_log(str(next(tmp_path.glob("*.eval"))), header_only=True)
    assert header.results.scores[0].metrics["mean"].name == "mean"


@pytest.mark.parametrize("trips", [1, pytest.param(2, marks=pytest.mark.long)])
def test_there_and_back_no_message_and_no_score_is_lost(store: Store, tmp_path: Path, trips: int) -> None:
    """Our games through Inspect: words, thoughts, audiences, outcomes, actions; and from there through Inspect again."""
    pytest.importorskip("inspect_ai")
    written(store, tmp_path / "a", "inspect")
    (tmp_path / "1").mkdir()
    once = ingested(tmp_path / "1", tmp_path / "a")
    assert once.refused == []
    same = "SELECT agent, channel, list_sort(audience), text FROM utterances WHERE text <> '' ORDER BY ALL"
    assert once.rows(same) == rows(store, same)
    for facts in (
        "SELECT task_id, success, score FROM episodes ORDER BY ALL",
        "SELECT agent, verb, arguments::VARCHAR, coalesce(accepted, true) FROM actions ORDER BY ALL",
        "SELECT agent, role, model, count(*) FROM agents GROUP BY ALL ORDER BY ALL",
    ):
        assert once.rows(facts) == rows(store, facts)
    if trips == 1:
        return
    written(once.store, tmp_path / "b", "inspect")
    (tmp_path / "2").mkdir()
    twice = ingested(tmp_path / "2", tmp_path / "b")
    numbers = "SELECT metric, value FROM episode_metrics ORDER BY ALL"
    assert (twice.rows(WORDS), twice.rows(numbers)) == (once.rows(WORDS), once.rows(numbers))


def test_a_dataset_folder_has_a_card_whose_files_are_there(store: Store, tmp_path: Path) -> None:
    """The configurations that the card names, and the conversations as lists of messages."""
    written(store, tmp_path, "dataset", where="task_id IS NOT NULL")
    _, front, text = (tmp_path / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    configs = {entry["config_name"]: tmp_path / entry["data_files"] for entry in yaml.safe_load(front)["configs"]}
    assert {"games", "utterances", "verdicts", "turns"} <= set(configs)
    assert all(path.is_file() and f"`{name}`" in text for name, path in configs.items())
    games = pl.read_parquet(configs["games"])
    assert len(games) == rows(store, "SELECT count(*) FROM episodes")[0][0]
    said = sum(1 for messages in games["messages"] for message in messages for key in ("text", "thought") if message[key])
    assert said == rows(store, "SELECT count(*) FROM utterances WHERE text <> ''")[0][0]


def test_spans_hold_messages_and_verdicts_and_are_read_back(store: Store, tmp_path: Path) -> None:
    """A verdict about an agent's turn is an event of its message; ids are as OTLP wants them."""
    (path,) = written(store, tmp_path / "out", "otlp")
    spans = [
        span
        for line in path.read_text(encoding="utf-8").splitlines()
        for span in json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ]
    assert {(len(span["traceId"]), len(span["spanId"])) for span in spans} == {(32, 16)}
    names = [event["attributes"][0]["value"]["stringValue"] for span in spans for event in span["events"]]
    assert sum("." in name for name in names) == rows(store, "SELECT count(*) FROM verdicts_latest")[0][0]
    back = ingested(tmp_path, path)
    same = "SELECT agent, text FROM utterances WHERE channel = 'public' AND text <> '' ORDER BY ALL"
    assert back.rows(same) == rows(store, same)
    assert back.rows("SELECT success, count(*) FROM episodes GROUP BY ALL") == rows(
        store, "SELECT success, count(*) FROM episodes GROUP BY ALL"
    )


@pytest.mark.long
def test_views_are_written_too_and_wrong_words_are_one_line(tmp_path: Path) -> None:
    """Parquet of a view; a form that is none, a condition where there is none."""
    chat = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    small = ingested(tmp_path, logged(tmp_path / "chat.json", {"messages": chat, "score": 1})).store
    files = written(small, tmp_path / "out", "parquet", views=True)
    assert tmp_path / "out" / "leaderboard" / "part-0.parquet" in files
    assert len(pl.read_parquet(tmp_path / "out" / "outcomes" / "part-0.parquet")) == 2
    with pytest.raises(UsageError, match="no form 'csv'"):
        written(small, tmp_path, "csv")
    with pytest.raises(UsageError, match="--where chooses games"):
        written(small, tmp_path, "parquet", where="score > 1")


@pytest.mark.parametrize("form", ["inspect", "dataset", "otlp"])
def test_a_condition_that_no_game_fits_is_told(store: Store, tmp_path: Path, form: str) -> None:
    """Nothing is written then: a misspelt benchmark gave an empty folder, and the line that says how to read it."""
    with pytest.raises(UsageError, match=r"--where benchmark = 'crft': no game fits; the store has games of craft"):
        written(store, tmp_path / "out", form, where="benchmark = 'crft'")
    assert not (tmp_path / "out").exists()


def test_names_out_of_a_log_lead_to_no_other_folder(tmp_path: Path) -> None:
    """A log may come from anybody: its benchmark and its experiment are parts of a file's name."""
    pytest.importorskip("inspect_ai.log")
    for place, name in enumerate(("x/../../../escaped/e", "n" * 300)):
        with GameLog(tmp_path / "logs" / f"{place}.jsonl", benchmark=name, run=name, agents=["a"]) as log:
            log.turn(messages=[("a", "hi")])
            log.end(success=True)
    held = ingested(tmp_path, tmp_path / "logs").store
    out = tmp_path / "deep" / "out"
    paths = written(held, out, "inspect")
    assert len(paths) == 2
    assert sorted(tmp_path.rglob("*.eval")) == sorted(paths)
    assert {path.parent for path in paths} == {out}
