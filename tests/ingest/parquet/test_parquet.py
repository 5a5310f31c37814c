"""Parquet: Scout's transcripts, chat in OpenAI's form, other columns by a mapping; tables that are something else are left alone."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ingest.foreign.chat_lines import MappedChat
from tests.ingest.asked import ingested

MESSAGES = [
    {"role": "user", "content": "Hello"},
    {
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Hi"}],
        "metadata": {"speaker": "Ann"},
    },
]


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    pl.DataFrame(rows).write_parquet(path)
    return path


def test_transcripts_of_scout_are_games(tmp_path: Path) -> None:
    """Score, success, repeat and limit; a transcript with damaged messages is told and costs no other."""
    row = {
        "transcript_id": "a",
        "source_type": "eval_log",
        "task_set": "tasks",
        "task_id": "7",
        "task_repeat": 2,
        "model": "m/x",
        "limit": "token",
    }
    rows = [
        row | {"messages": json.dumps(MESSAGES), "score": '{"polite": 0.5}', "success": True},
        row | {"transcript_id": "b", "messages": "[{"},
    ]
    found = ingested(tmp_path, table(tmp_path / "transcripts.parquet", rows))
    facts = "SELECT benchmark, task_id, seed, model, success, stop_reason FROM episodes"
    assert found.rows(facts) == [("scout", "7", 2, "m/x", True, "limit: token")]
    assert found.rows("SELECT agent, channel, text FROM utterances ORDER BY turn, seq") == [
        ("user", "public", "Hello"),
        ("Ann", "private", "Hm."),
        ("Ann", "public", "Hi"),
    ]
    assert found.rows("SELECT metric, value FROM episode_metrics") == [("scout.score.polite", 0.5)]
    assert [reason.split(":")[0] for reason in found.refused] == ["b.messages"]


def test_points_of_transcripts_are_no_success(tmp_path: Path) -> None:
    """A score of 1 is one where others are 0.3; a success that the row tells stands."""
    rows = [
        {"transcript_id": name, "messages": json.dumps(MESSAGES), "score": score, "success": success}
        for name, score, success in (("a", "1", None), ("b", "0.3", None), ("c", "0.3", True))
    ]
    found = ingested(tmp_path, table(tmp_path / "transcripts.parquet", rows))
    assert found.rows("SELECT success, score FROM episodes ORDER BY task_id") == [(None, 1.0), (None, 0.3), (True, 0.3)]


def test_chat_in_parquet_and_by_a_mapping(tmp_path: Path) -> None:
    """Lists of structs; a mapping names other columns."""
    chat = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    by_itself = ingested(tmp_path, table(tmp_path / "chat.parquet", [{"id": "x", "messages": chat}]))
    assert by_itself.rows("SELECT task_id, agent, text FROM utterances JOIN episodes USING (episode_id) ORDER BY turn") == [
        ("x", "user", "Hello"),
        ("x", "assistant", "Hi"),
    ]
    (tmp_path / "map.yaml").write_text("conversation: {id: game}\nmessage: {speaker: by, text: says}\n", encoding="utf-8")
    rows = [{"game": "g", "by": "a", "says": "one"}, {"game": "g", "by": "b", "says": "two"}]
    (tmp_path / "other").mkdir()
    found = ingested(tmp_path / "other", table(tmp_path / "rows.parquet", rows), reader=MappedChat.of(tmp_path / "map.yaml"))
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn") == [("a", "one"), ("b", "two")]


def test_other_tables_are_left_alone_and_damaged_ones_refused(tmp_path: Path) -> None:
    """Numbers are no log; a file that was cut is."""
    (tmp_path / "logs").mkdir()
    other = table(tmp_path / "logs" / "numbers.parquet", [{"a": 1}])
    (tmp_path / "logs" / "cut.parquet").write_bytes(other.read_bytes()[:-20])
    found = ingested(tmp_path, tmp_path / "logs")
    assert [reason for _, reason in found.report.others] == ["Parquet without a column messages (a): say with --map which column is what"]
    assert len(found.refused) == 1
    assert "cut or damaged" in found.refused[0]


@pytest.mark.shared
def test_events_of_scout_are_read_too(shared: Path, tmp_path: Path) -> None:
    """The published file has none; its messages arrive."""
    found = ingested(tmp_path, shared / "data/interop/scout_two_games.parquet")
    assert found.rows("SELECT agent, count(*) FROM utterances GROUP BY agent ORDER BY agent") == [("Builder", 6), ("Director", 6)]


def test_columns_of_other_types_are_kept_as_json_has_them(tmp_path: Path) -> None:
    """Bytes, times and decimals in details; a repeat that is no number is no seed; a time of Parquet's own is a time."""
    row = {"transcript_id": "a", "messages": json.dumps(MESSAGES), "task_repeat": "second", "date": datetime(2026, 1, 2, 3)}  # noqa: DTZ001
    odd = {"raw": b"x\xff", "cost": Decimal("1.5"), "took": timedelta(seconds=2), "day": date(2026, 1, 2)}
    found = ingested(tmp_path, table(tmp_path / "transcripts.parquet", [row | odd]))
    assert found.refused == []
    ((seed, started, details),) = found.rows("SELECT seed, started_at, details FROM episodes")
    assert (seed, started) == (None, datetime(2026, 1, 2, 3))  # noqa: DTZ001
    kept = {key: json.loads(details)[key] for key in odd}
    assert kept == {"raw": "x\ufffd", "cost": 1.5, "took": "0:00:02", "day": "2026-01-02"}


def test_a_transcript_without_an_id_is_one_line(tmp_path: Path) -> None:
    """The other one is read."""
    rows = [{"transcript_id": name, "messages": json.dumps(MESSAGES), "events": "[]"} for name in (None, "b")]
    found = ingested(tmp_path, table(tmp_path / "transcripts.parquet", rows))
    assert (found.report.episodes, len(found.refused)) == (1, 1)
    assert "no transcript_id" in found.refused[0]
