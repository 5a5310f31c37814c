"""The intake receipt: what a file holds, counted without its reader, against what was stored of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.adapters import adapter
from ingest.foreign.chat_lines import MappedChat
from ingest.reading.adapter_types import Place, Reading
from ingest.receipts import family_receipts
from schemas.records import Utterance
from tests.ingest.asked import Ingested, ingested, written
from tests.ingest.asympuzl import asympuzl_logs
from tests.ingest.craft import craft_logs

_CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": "a.txt"})}}
_TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "please read a.txt"},
    {"role": "assistant", "content": None, "tool_calls": [_CALL], "usage": {"prompt_tokens": 10, "completion_tokens": 5}},
    {"role": "tool", "content": "seven\n  lines", "tool_call_id": "c1"},
    {"role": "assistant", "content": [{"type": "text", "text": "It has"}, {"type": "text", "text": "seven."}]},
]


def _receipt(found: Ingested) -> dict[str, tuple[int | None, int | None]]:
    rows = found.rows("SELECT kind, counted, stored FROM receipts")
    return {kind: (counted, stored) for kind, counted, stored in rows}


def test_a_file_that_arrives_whole_has_equal_counts(tmp_path: Path) -> None:
    """Messages of several parts, results on several lines, and calls whose arguments are JSON text are all found again."""
    found = ingested(tmp_path, written(tmp_path / "a.jsonl", {"messages": _TALK, "score": 0.5}, {"messages": _TALK[:1], "score": 1}))
    assert found.refused == []
    receipt = _receipt(found)
    assert receipt.pop("tokens")[0] == 15
    assert receipt == {
        "messages": (4, 4),
        "words": (8, 8),
        "tool_calls": (1, 1),
        "results": (1, 1),
        "scores": (2, 2),
        "keys": (0, 0),
    }


def test_words_and_calls_that_a_mapping_leaves_out_are_a_loss(tmp_path: Path) -> None:
    """The loss is a reject, so that the exit code is 1, and names the key under which the words are."""
    rows: list[dict[str, Any]] = [
        {"by": "a", "says": "hello there", "output": "the words of a tool"},
        {"by": "b", "says": "good day", "output": None},
    ]
    (tmp_path / "map.yaml").write_text("conversation: {id: file}\nmessage: {speaker: by, text: says, role: role}\n", encoding="utf-8")
    path = written(tmp_path / "a.jsonl", *({"role": "assistant", **row} for row in rows))
    found = ingested(tmp_path, path, reader=MappedChat.of(tmp_path / "map.yaml"))
    assert [part.locator for part in found.report.rejected] == ["receipt"]
    assert "output: the words of a tool" in found.refused[0]
    assert _receipt(found)["words"] == (5, 0)


def test_what_no_message_holds_is_listed_among_the_keys(tmp_path: Path) -> None:
    """It is no loss of the conversation, and not hidden either; counts that a file does not have are null."""
    row: dict[str, Any] = {"messages": _TALK[:1], "tools": [{"name": "read", "about": "reads a file of text"}]}
    found = ingested(tmp_path, written(tmp_path / "a.json", {"note": "a run of today", **row}))
    assert found.refused == []
    assert found.rows("SELECT counted, stored FROM receipts WHERE kind IN ('scores', 'tokens')") == [(None, None), (None, None)]
    assert found.rows("SELECT counted, stored, missing FROM receipts WHERE kind = 'keys'") == [(2, 2, [])]


def test_a_receipt_goes_with_its_file(tmp_path: Path) -> None:
    """A file that has changed has the receipt of what it holds now."""
    path = written(tmp_path / "a.jsonl", {"messages": _TALK})
    ingested(tmp_path, path)
    written(path, {"messages": _TALK[:1]})
    assert _receipt(ingested(tmp_path, path))["messages"] == (1, 1)


def test_a_short_message_is_not_read_because_another_one_holds_its_words(tmp_path: Path) -> None:
    """A "yes" is a part of many messages: it counts as stored only where a line is just that."""
    rows: list[dict[str, Any]] = [{"by": "a", "words": "yes, of course", "output": "yes"}, {"by": "b", "words": "good day", "output": None}]
    (tmp_path / "map.yaml").write_text("conversation: {id: file}\nmessage: {speaker: by, text: words, role: role}\n", encoding="utf-8")
    path = written(tmp_path / "a.jsonl", *({"role": "assistant", **row} for row in rows))
    found = ingested(tmp_path, path, reader=MappedChat.of(tmp_path / "map.yaml"))
    assert _receipt(found)["words"] == (1, 0)
    assert ["the first that is missing: output: yes" in reason for reason in found.refused] == [True]


def test_what_is_logged_twice_and_stored_once_is_a_loss(tmp_path: Path) -> None:
    """So is a call; but not what a log writes twice, as its id tells."""
    (tmp_path / "map.yaml").write_text("conversation: {id: file}\nmessage: {needs: [content], id: content}\n", encoding="utf-8")
    call = {"type": "function", "function": {"name": "read", "arguments": json.dumps({"path": "a.txt"})}}
    rows: list[dict[str, Any]] = [
        {"role": "user", "content": "go on please"},
        {"role": "assistant", "content": "I read it", "tool_calls": [call]},
    ]
    reader = MappedChat.of(tmp_path / "map.yaml")
    found = ingested(tmp_path, written(tmp_path / "a.jsonl", *rows, *rows), reader=reader)
    assert [part.locator for part in found.report.rejected] == ["receipt"]
    assert {kind: counts for kind, counts in _receipt(found).items() if kind in {"messages", "words", "tool_calls"}} == {
        "messages": (4, 2),
        "words": (12, 6),
        "tool_calls": (2, 1),
    }
    (tmp_path / "b").mkdir()
    again = ingested(
        tmp_path / "b", written(tmp_path / "b" / "b.jsonl", *[{**row, "uuid": row["content"]} for row in (*rows[:1], *rows[:1])])
    )
    assert (again.refused, _receipt(again)["messages"]) == ([], (1, 1))


class _Forgetful:
    """The reader of a family that drops one message, and what else holds its words."""

    VERSION = 1

    def __init__(self, log_format: str) -> None:
        self.FORMAT = log_format

    def sniff(self, head: bytes) -> bool:
        return adapter(self.FORMAT).sniff(head)

    def read(self, data: bytes, place: Place) -> Reading:
        found = adapter(self.FORMAT).read(data, place)
        messages = [row for row in found.rows["utterances"] if isinstance(row, Utterance) and len(row.text.split()) > 2]
        found.rows["utterances"].remove(messages[-1])
        return found


@pytest.mark.parametrize("family", ["craft", "asympuzl"])
def test_a_message_that_the_reader_of_a_family_drops_is_a_loss(tmp_path: Path, family: str) -> None:
    """No list has the keys that hold messages of a published log: they are those most of whose texts are stored as such."""
    replies = [asympuzl_logs.answer(f"I am sure of place {place}") for place in range(4)]
    logs = {
        "craft": lambda: craft_logs.write(tmp_path / "a.json", craft_logs.published()),
        "asympuzl": lambda: asympuzl_logs.write(tmp_path / "a.jsonl", asympuzl_logs.log_of(replies)),
    }
    whole = ingested(tmp_path, path := logs[family]())
    assert [part.locator for part in whole.report.rejected] == []
    first = _receipt(whole)
    assert first["messages"][0]
    assert first["messages"][0] == first["messages"][1]
    (tmp_path / "again").mkdir()
    found = ingested(tmp_path / "again", path, reader=_Forgetful(family))
    assert [part.locator for part in found.report.rejected] == ["receipt"]
    counted, stored = _receipt(found)["messages"]
    assert (counted, stored) == (first["messages"][0], (first["messages"][1] or 0) - 1)


def test_what_is_missing_is_listed_in_the_order_of_the_file() -> None:
    """The list has room for the first alone, so two readings of one file have to have the same ones there."""
    texts = {f"text_{letter}": [f"this is message {number} of {letter}" for number in range(4)] for letter in "hgfedcba"}
    stored = [text for lines in texts.values() for text in lines[1:]]
    reading = Reading()
    reading.rows["utterances"] += [Utterance("game", 1, seq, "a", "public", ["a"], text) for seq, text in enumerate(stored, start=1)]
    missing = {row.kind: row.missing for row in family_receipts(json.dumps(texts).encode(), reading, "source", "a.json")}
    assert [one.rpartition(" of ")[2] for one in missing["words"]] == list("hgfedcba")
