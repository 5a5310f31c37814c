"""`cotrace play FILE --stop-when`: tasks are played until the teams are told apart, and no further."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cotrace.cli import cli
from schemas.common.errors import UsageError

FILE = """
name: until-apart
game: craft
tasks: {{generate: 24, seed: 3, reachable: true}}
seeds: [1]
conditions: {{turns: {turns}}}
teams:
  - {{directors: "script:plain", builder: "script:plain"}}
limits: {{concurrency: 4}}
out: {out}
"""


def played(folder: Path, turns: str) -> str:
    """What the command says; its logs are in the folder."""
    (folder / "e.yaml").write_text(FILE.format(turns=turns, out=folder / "logs"), encoding="utf-8")
    done = CliRunner().invoke(cli, ["play", str(folder / "e.yaml"), "--stop-when", "0.05"], catch_exceptions=False)
    return done.output


def test_it_stops_once_the_conditions_are_told_apart_and_plays_nothing_more_when_started_again(tmp_path: Path) -> None:
    """One turn against fourteen: told apart long before the last task; the same looks come from the logs that are there."""
    first = played(tmp_path, "[1, 14]")
    logs = sorted((tmp_path / "logs").rglob("*.jsonl"))
    assert "turns-14/script-plain_script-plain is " in first
    assert "they differ at level 0.05, however often one looks" in first
    assert 0 < len(logs) < 48
    again = played(tmp_path, "[1, 14]")
    assert [line for line in again.splitlines() if "differ" in line] == [line for line in first.splitlines() if "differ" in line]
    assert sorted((tmp_path / "logs").rglob("*.jsonl")) == logs


def test_one_side_alone_is_told_in_one_line(tmp_path: Path) -> None:
    """There is nothing to compare it with."""
    with pytest.raises(UsageError, match="needs two teams or conditions"):
        played(tmp_path, "2")
