"""A guessed mapping says what is where, and reads the file as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cotrace.cli import cli
from ingest.foreign.chat_lines import MappedChat
from ingest.guess import guess
from schemas.common.errors import UsageError
from tests.ingest.asked import ingested, written

_SAID = [
    ("g1", 1, "ann", "I offer ten coins", {"offer": 10}, True, 0.5, True),
    ("g1", 2, "bob", "Make it twelve", None, None, 0.7, True),
    ("g2", 1, "ann", "Ten is all I have", {"offer": 9}, False, 0.1, False),
]
_ROWS = [dict(zip(("game", "turn", "by", "says", "move", "ok", "trust_score", "won"), row, strict=True)) for row in _SAID]
_TALK = [
    {"speaker": "A", "text": "hello my friend"},
    {"speaker": "B", "text": "good day to you", "tool": "look", "tool_input": {"at": 1}, "observation": "a shelf of cans"},
]
_RUNS = [{"run_id": f"r{one}", "task_id": "t", "trial": one, "reward": one, "dialogue": _TALK} for one in (0, 1)]
_ENVELOPE = {"meta": {"day": "x"}, "results": {"runs": _RUNS}}
_CASES: dict[str, tuple[str, list[Any], list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "rows that are messages": (
        "a.jsonl",
        _ROWS,
        [("ann", "move", True), ("ann", "move", False)],
        [("g1", True, None), ("g2", False, None)],
    ),
    "rows inside an envelope": ("b.json", [_ENVELOPE], [("B", "look", None)] * 2, [("t", False, 1), ("t", True, 2)]),
}


@pytest.mark.parametrize("case", _CASES)
def test_a_guessed_mapping_reads_the_file(case: str, tmp_path: Path) -> None:
    """It is printed as YAML with comments, which `--map` takes as it is; nothing is lost."""
    name, documents, actions, games = _CASES[case]
    path = written(tmp_path / name, *documents)
    printed = CliRunner().invoke(cli, ["ingest", "--guess", str(path)])
    assert (printed.exit_code, printed.stderr) == (0, "")
    assert "the first messages:" in printed.stdout
    (tmp_path / "map.yaml").write_text(printed.stdout, encoding="utf-8")
    found = ingested(tmp_path, path, reader=MappedChat.of(tmp_path / "map.yaml"))
    assert found.refused == []
    assert sorted(found.rows("SELECT agent, verb, accepted FROM actions"), key=str) == sorted(actions, key=str)
    assert sorted(found.rows("SELECT task_id, success, attempt FROM episodes"), key=str) == sorted(games, key=str)


def test_scores_of_messages_are_scores_of_their_turns(tmp_path: Path) -> None:
    """By the name of their column."""
    path = written(tmp_path / "a.jsonl", *_ROWS)
    (tmp_path / "map.yaml").write_text("\n".join(guess(path).lines(path)), encoding="utf-8")
    found = ingested(tmp_path, path, reader=MappedChat.of(tmp_path / "map.yaml"))
    assert found.rows("SELECT metric, turn, value FROM turn_metrics ORDER BY value") == [
        ("a.trust_score", 1, 0.1),
        ("a.trust_score", 1, 0.5),
        ("a.trust_score", 2, 0.7),
    ]


def test_what_would_be_lost_is_listed_and_the_exit_code_is_1(tmp_path: Path) -> None:
    """A second column of words is not a message, and is named."""
    rows = [{"role": "a", "utterance": "good day to you", "response": f"and {one} fine days"} for one in (2, 3)]
    printed = CliRunner().invoke(cli, ["ingest", "--guess", str(written(tmp_path / "a.jsonl", *rows))], standalone_mode=False)
    assert printed.return_value == 1
    assert "# words: 8 of 16 would be stored; not stored: response: and 2 fine days" in printed.stdout


def test_a_known_format_needs_no_mapping_and_other_files_have_none(tmp_path: Path) -> None:
    """One line says so."""
    chat = written(tmp_path / "c.json", {"messages": [{"role": "user", "content": "hello to you"}]})
    assert next(guess(chat).lines(chat)).startswith("# c.json is read without a mapping, as chat_lines")
    with pytest.raises(UsageError, match="nothing in it looks like messages; its keys are a, b"):
        guess(written(tmp_path / "d.json", {"a": 1, "b": 2}))


def test_a_row_with_a_question_and_its_answer_is_two_messages(tmp_path: Path) -> None:
    """As people log them; beside messages with speakers a question is a fact."""
    rows = [
        {"session_id": "s", "user_input": "Where is it?", "agent_response": "On its way."},
        {"session_id": "s", "user_input": "Since when?"},
    ]
    path = written(tmp_path / "a.jsonl", *[{"agent_response": "Since monday.", **row} for row in rows])
    found = guess(path)
    assert found.mapping is not None
    assert (found.mapping.message.prompt, found.mapping.message.text) == ("user_input", "agent_response")
    assert found.first == [("user", "Where is it?"), ("assistant", "On its way."), ("user", "Since when?")]
    with_speaker = guess(written(tmp_path / "b.jsonl", *[{"by": "ann", "says": "I see it", "question": "Where is it now?"}] * 2))
    assert with_speaker.mapping is not None
    assert with_speaker.mapping.message.prompt is None


def test_columns_of_messages_that_no_entry_names_are_listed(tmp_path: Path) -> None:
    """Such as numbers whose names do not tell that they are scores."""
    path = written(tmp_path / "a.json", {"runs": [{"log": [{"by": "Ann", "words": "look for the key", "trust": 0.5}]}]})
    assert [line for line in guess(path).lines(path) if line.endswith(": trust")] == [
        "# no entry names these keys of messages, numbers go into message.scores: trust"
    ]
