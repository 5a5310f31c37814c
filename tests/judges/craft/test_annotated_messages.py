"""Readers measured on single messages that people have annotated: `cotrace claims FILE --against ANNOTATIONS`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from click.testing import CliRunner

from cotrace.cli import main
from judges.craft.messages import annotated_messages, put_messages
from schemas.store.store import Store
from tests.places import SHARED
from tests.servers.simulated_reader import SimulatedReader, simulated_reader

REAL = SHARED / "data" / "craft" / "real_utterances"
NOT_READ = ("gemini-3-flash", "Qwen72B", "gpt-4.1-mini", "Mistral-7B", "Llama-8B")
"""The models whose texts nobody read who worked on the rules (docs/dev/engine_judge.md)."""
FIRST = {"verb": ("0.976", "0.930"), "color": ("1.000", "0.953"), "cells": ("0.923", "0.837"), "layer": ("0.949", "0.902")}
BOARD = {"(0,0)": ["rs"]}
RED: dict[str, Any] = {"verb": "place", "color": "r", "size": "s", "cells": ["(0,0)"], "layer": 0, "first": True}
MESSAGE = {"id": "a", "author": "ann", "speaker": "D1", "utterance": "Put a small red block on the left, bottom layer.", "board_before": {}}


def lines(path: Path, *records: object) -> str:
    """A file of JSON lines."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return str(path)


class Ran(NamedTuple):
    """What came of a command."""

    exit_code: int
    stdout: str
    stderr: str


def run(*words: str) -> Ran:
    """Call `cotrace` in this process."""
    with CliRunner().isolation() as (out, err, _):
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        return Ran(int(ended.value.code or 0), out.getvalue().decode(), err.getvalue().decode())


def rows(printed: str) -> dict[tuple[str, str, str], Mapping[str, str]]:
    """Author, kind, field -> the row of the report."""
    return {(row["author"], row["kind"], row["field"]): row for row in csv.DictReader(io.StringIO(printed))}


@pytest.mark.skipif(not REAL.exists(), reason="needs the shared data")
def test_the_rules_are_measured_on_messages_of_models(tmp_path: Path) -> None:
    """On the models that were not read, the figures of docs/dev/engine_judge.md, each with an interval over games."""
    texts = [json.loads(line) for line in (REAL / "utterances.jsonl").read_text().splitlines()]
    unread = lines(tmp_path / "unread.jsonl", *(text for text in texts if text["model"].startswith(NOT_READ)))
    ids = {text["id"] for text in texts if text["model"].startswith(NOT_READ)}
    said = [json.loads(line) for line in (REAL / "claims.jsonl").read_text().splitlines()]
    annotated = lines(tmp_path / "claims.jsonl", *(one for one in said if one["id"] in ids))
    done = run("claims", unread, "--against", annotated, "--store", str(tmp_path / "s.duckdb"), "--format", "csv")
    found = rows(done.stdout)
    assert (done.exit_code, "annotated messages: 56;" in done.stderr) == (0, True)
    first = {field: found["ALL", "(first)", field] for field in FIRST}
    assert {field: (f"{float(row['precision']):.3f}", f"{float(row['recall']):.3f}") for field, row in first.items()} == FIRST
    assert all(float(row["recall_low"]) < float(row["recall"]) < float(row["recall_high"]) for row in first.values())
    ambiguous_only = {"Llama-8B"}
    assert {author for author, _, _ in found} == {"ALL", *(text["model"] for text in texts if text["id"] in ids)} - ambiguous_only
    assert not list(tmp_path.glob("*.duckdb*"))


def test_a_model_is_asked_once_and_measured(tmp_path: Path) -> None:
    """A dry run asks nothing, a second run nothing again; that the model mistakes a field of every claim is found out."""
    messages = lines(
        tmp_path / "m.jsonl", MESSAGE, {**MESSAGE, "id": "b", "utterance": "Remove the red block on the left.", "board_before": BOARD}
    )
    remove = {"verb": "remove", "color": "r", "cells": ["(0,0)"], "first": True}
    annotated = lines(tmp_path / "a.jsonl", {"id": "a", "claims": [RED]}, {"id": "b", "claims": [remove]})
    known = Store(tmp_path / "known.duckdb")
    put_messages(annotated_messages(Path(messages), Path(annotated)), known)
    with simulated_reader(SimulatedReader(store=known.path, mistakes=1.0)) as url:
        reader = ("--reader", "llm-only:openai/poor", "--base-url", url, "--store", str(tmp_path / "s.duckdb"), "--format", "csv")
        words = ("claims", messages, "--against", annotated, *reader)
        assert "2 calls to make" in run(*words, "--dry-run").stderr
        first, again = run(*words), run(*words)
        assert httpx.get(f"{url.removesuffix('/v1')}/stats").json()["requests"] == 2
    assert (first.exit_code, again.stdout) == (0, first.stdout)
    found = {field: row for (author, kind, field), row in rows(first.stdout).items() if (author, kind) == ("ann", "request")}
    assert (found["(whole)"]["given"], found["(whole)"]["meant"], float(found["(whole)"]["precision"])) == ("2", "2", 0.0)


def test_an_annotation_that_cannot_be_used_is_named_and_left_out(tmp_path: Path) -> None:
    """One line each; the others count, and the exit code says that not all did."""
    bad = {
        "line 1: is list, not a JSON object": [1],
        "line 2: id is missing": {"claims": []},
        "line 3: id 'z' is not a message of m.jsonl": {"id": "z", "claims": []},
        "line 4: record 'm4': claims must be a list of objects": {"id": "m4"},
        "line 5: record 'm5', claims[0]: a claim of kind request: color": {"id": "m5", "claims": [{**RED, "color": "pink"}]},
        "line 6: record 'm6', claims[0]: a claim of kind remark: verb": {"id": "m6", "claims": [{**RED, "verb": "jump"}]},
        "line 7: record 'm7', claims[0]: cells must be a list": {"id": "m7", "claims": [{**RED, "cells": 7}]},
        "line 8: record 'm8', claims[0]: cells must be a list": {"id": "m8", "claims": [{**RED, "old": "red"}]},
        "line 9: record 'm9': speaker 'D7' is not a director": {"id": "m9", "claims": []},
    }
    messages = lines(
        tmp_path / "m.jsonl", *({**MESSAGE, "id": f"m{number}"} for number in range(9)), {**MESSAGE, "id": "m9", "speaker": "D7"}
    )
    annotated = Path(lines(tmp_path / "a.jsonl", *bad.values(), {"id": "m0", "claims": [RED]}, {"id": "m0", "claims": []}))
    annotated.write_text(f"{annotated.read_text()}no json\n")
    done = run("claims", messages, "--against", str(annotated), "--store", str(tmp_path / "s.duckdb"))
    told = done.stderr.splitlines()
    assert [line for line, start in zip(told, bad, strict=False) if not line.startswith(f"a.jsonl, {start}")] == []
    assert told[9].startswith("a.jsonl, line 11: id 'm0' is annotated twice")
    assert told[10].startswith("a.jsonl, line 12: no JSON")
    assert (done.exit_code, told[-1].startswith("annotated messages: 1; ")) == (1, True)


def test_what_cannot_be_measured_is_refused_in_one_line(tmp_path: Path) -> None:
    """No messages, no annotation that fits, and a reader that is the truth itself."""
    messages = lines(tmp_path / "m.jsonl", MESSAGE)
    annotated = lines(tmp_path / "a.jsonl", {"id": "a", "claims": [RED]})
    none = lines(tmp_path / "none.jsonl", {"id": "z", "claims": [RED]})
    for words, told in (
        (("--against", annotated), "give the file of the messages"),
        ((messages, "--against", none), "no annotation of a message"),
        ((messages, "--against", annotated, "--reader", "planted"), "measure rules"),
        ((messages, "--against", annotated, "--batch"), "answers at once"),
    ):
        done = run("claims", *words, "--store", str(tmp_path / "s.duckdb"))
        assert (done.exit_code, done.stderr.count("\n"), told in done.stderr) == (2, 1, True), done.stderr


def test_messages_of_a_game_that_has_none_are_refused(tmp_path: Path) -> None:
    """One line: whose, and whose can be read."""
    ran = run("claims", lines(tmp_path / "m.jsonl", MESSAGE), "--benchmark", "einstein")
    assert (ran.exit_code, ran.stderr) == (2, "cotrace: --benchmark einstein: single messages are read of craft\n")
