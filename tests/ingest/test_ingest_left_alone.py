"""Files that are no logs: each is named with its reason, and what looks like a damaged log is none of them."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cotrace.cli import main
from ingest.files.run import ingest_paths
from schemas.store.store import Store


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    with pytest.raises(SystemExit) as stopped:
        main(["ingest", *arguments])
    return int(stopped.value.code or 0), [line.strip() for line in capsys.readouterr().err.splitlines() if "left alone" in line]


@pytest.mark.usefixtures("with_views")
def test_files_left_alone_are_told_by_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path and a reason a line; of many with one reason the first three, and how to see all."""
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(11):
        (logs / f"note{number:02d}.txt").write_text(f"nothing to see here, {number}")
    (logs / "ref.json").write_text('{"reference_1": {"agent_0": [], "agent_1": []}}')
    where = ("--store", str(tmp_path / "s.duckdb"), str(logs))

    code, lines = told(capsys, *where)

    assert code == 1  # a folder without a single log
    assert lines == [
        *(f"left alone: {logs}/note{number:02d}.txt: not a game log" for number in range(3)),
        "left alone: 8 more: not a game log (all: --list)",
        f"left alone: {logs}/ref.json: not a game log: a Collab-Overcooked reference file",
    ]
    assert [line.split(": ")[1] for line in told(capsys, *where, "--list")[1]] == [
        *(f"{logs}/note{number:02d}.txt" for number in range(11)),
        f"{logs}/ref.json",
    ]


CONSOLE = "collab_games/native/collab_capture_bfs_open_open_console.txt"
STATES = "collab_games/native/collab_escape_fixer_a_game_state.txt"


@pytest.mark.shared
@pytest.mark.parametrize("log", [CONSOLE, STATES])
def test_a_text_that_lost_its_beginning_is_a_reject(shared: Path, tmp_path: Path, log: str) -> None:
    """It has states of a game further on, so it is no note that somebody left there."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "notes.txt").write_bytes((shared / "data/coordination" / log).read_bytes()[40:])
    report = ingest_paths([logs], Store(tmp_path / "s.duckdb"), workers=1)
    assert [part.reason for part in report.rejected] == [
        "a log of format coordination_console whose beginning is damaged: copy the file again"
    ]
    assert report.others == []


@pytest.mark.shared
def test_files_beside_published_logs_stay_left_alone(shared: Path, tmp_path: Path) -> None:
    """Questions, results and ends of console texts quote games and are none."""
    logs = tmp_path / "logs"
    for name in ("single_turn_trials.csv", "hanabi/native/cautious_s212/console_tail.txt", "coordqa/native_logs/refusal_output.txt"):
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shared / "data/coordination" / name, logs / name)
    shutil.copytree(shared / "data/coordination/per_game", logs / "per_game", copy_function=shutil.copyfile)
    report = ingest_paths([logs], Store(tmp_path / "s.duckdb"), workers=1)
    assert report.rejected == []
    assert {reason for _, reason in report.others} == {"not a game log"}
    assert len(report.others) == 6


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.jsonl", b'<<<<<<< HEAD\n{"id": "g", "claims": []}\n', "no JSON (Expecting value at line 1, column 1)"),
        ("a.jsonl", b'{"id": "g"}\n{"id" "h"}\n', "line 2 is not JSON (no JSON (Expecting ':' delimiter at column 7)"),
        ("a.json", b'[{"id": "\xfc"}]', "byte 9 is not UTF-8: convert the file first"),
        ("a.json", b"[{'id': 'g'}]", "Python's notation, not JSON: write it again with json.dump"),
        ("a.eval", b"\0" * 900, "a log of format inspect whose beginning is damaged"),
        ("b.eval", b"\xef\xbb\xbfPK\x03\x04", "a log of format inspect whose beginning is damaged"),
    ],
)
def test_a_log_that_is_damaged_where_it_begins_is_a_reject(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    """Whatever words stand further on, and whatever its format."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / name).write_bytes(content)
    report = ingest_paths([logs], Store(tmp_path / "s.duckdb"), workers=1)
    assert report.others == []
    assert [part.reason.startswith(reason) for part in report.rejected] == [True]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: b"\x28\xb5\x2f\xfd" + data,
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("suffix", "mend"), [("bz2", "bunzip2 -k"), ("xz", "unxz -k"), ("zst", "unzstd")])
def test_a_compressed_file_is_told_as_what_it_is(tmp_path: Path, suffix: str, mend: str) -> None:
    """With what to do: beside logs it is left alone, named it is a reject."""
    logs = tmp_path / "logs"
    logs.mkdir()
    packed = logs / f"game.jsonl.{suffix}"
    packed.write_bytes(PACKERS[suffix](b'{"cotrace_log": 1}\n'))
    beside = ingest_paths([logs], Store(tmp_path / "s.duckdb"), workers=1)
    named = ingest_paths([packed], Store(tmp_path / "s.duckdb"), workers=1)
    reasons = [reason for _, reason in beside.others] + [part.reason for part in named.rejected]
    assert len(reasons) == 2
    assert all("compressed" in reason and f"({mend} FILE)" in reason for reason in reasons)


@pytest.mark.usefixtures("with_views")
def test_each_kind_of_problem_is_one_line_with_its_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first place of each, how many more, and all of them with --list; notes by what they state."""
    rows = [{"id": f"t{number // 2}", "messages": 7 if number % 2 else [{"role": "user", "content": "Hi"}]} for number in range(40)]
    rows += [{"id": "t0", "messages": [{"role": "user", "content": "Hi"}]}]
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({**row, "file": name}) + "\n" for row in rows) + "{\n")
    where = ("--store", str(tmp_path / "s.duckdb"), str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))
    with pytest.raises(SystemExit) as stopped:
        main(["ingest", *where])
    lines = [line.strip() for line in capsys.readouterr().err.splitlines()]
    assert stopped.value.code == 1
    rejected = [line for line in lines if line.startswith("rejected:")]
    assert len(rejected) == 2
    assert "a.jsonl at line 2" in rejected[0]
    assert rejected[0].endswith("(39 more like it)")
    assert rejected[1].endswith("(1 more like it)")
    assert [line.split(": ")[1].rpartition("/")[2] for line in lines if line.startswith("note:")] == ["a.jsonl and 1 more"]
    assert any(line.startswith("42 parts rejected") for line in lines)
    with pytest.raises(SystemExit):
        main(["ingest", *where, "--list"])
    assert sum(line.strip().startswith("rejected:") for line in capsys.readouterr().err.splitlines()) == 42


def test_utterances_of_somebodys_own_are_not_left_alone_as_messages_for_claims(tmp_path: Path) -> None:
    """Corpora of dialogue have ids, speakers and utterances too; those for `cotrace claims` have a board."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "own.jsonl").write_text('{"id": "u1", "speaker": "ann", "utterance": "Hi"}\n')
    (logs / "claims.jsonl").write_text('{"id": "u1", "speaker": "D1", "utterance": "Hi", "board_before": {}}\n')
    report = ingest_paths([logs], Store(tmp_path / "s.duckdb"), workers=1)
    assert ["--map" in part.reason for part in report.rejected] == [True]
    assert [reason for _, reason in report.others] == ["not a game log: messages for `cotrace claims`"]
