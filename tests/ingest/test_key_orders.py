"""Logs of other people are told by what they hold, in whatever order a writer put the keys of a document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.ingest.asked import ingested, written
from tests.ingest.clembench.test_clembench import NEW
from tests.ingest.whoandwhen.test_whoandwhen import RUN

TRACE = {
    "mas_name": "AG2",
    "llm_name": "m",
    "benchmark_name": "GSM",
    "trace_id": 3,
    "extra": 1,
    "trace": {
        "key": "k",
        "trajectory": [{"content": "a", "role": "assistant", "name": "x"}, {"content": "b", "role": "user", "name": "y"}],
    },
    "mast_annotation": {"1.1": 1},
}
EVAL: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {
        "created": "2026-01-02T03:04:05+00:00",
        "task": "t",
        "model": "m/x",
        "dataset": {},
        "config": {},
        "eval_id": "e",
        "run_id": "r",
    },
    "samples": [{"id": 1, "epoch": 1, "input": "a", "target": "b", "messages": [{"role": "user", "content": "a"}], "scores": {}}],
}


@pytest.mark.parametrize(
    ("benchmark", "document", "turns"),
    [
        ("whoandwhen", RUN, 5),
        ("clembench", NEW, 2),
        ("mast", TRACE, 2),
        ("mast", [TRACE], 2),
        pytest.param("inspect", EVAL, 1, marks=pytest.mark.long),
    ],
)
def test_keys_may_stand_in_any_order(tmp_path: Path, benchmark: str, document: Any, turns: int) -> None:
    """Backwards, and behind one that no format names."""
    if benchmark == "inspect":
        pytest.importorskip("inspect_ai", reason="the extra [inspect] is not installed")
    turned = [{"zz": 1} | dict(reversed(one.items())) for one in (document if isinstance(document, list) else [document])]
    written(tmp_path / "logs" / "a" / "interactions.json", turned if isinstance(document, list) else turned[0])
    found = ingested(tmp_path, tmp_path / "logs")
    assert found.refused == []
    assert found.rows("SELECT benchmark, turns_taken FROM episodes") == [(benchmark, turns)]


def test_a_file_that_is_no_log_stays_one(tmp_path: Path) -> None:
    """Keys of no format."""
    written(tmp_path / "logs" / "a.json", {"evaluation": {}, "status": "x"})
    assert ingested(tmp_path, tmp_path / "logs").report.episodes == 0
