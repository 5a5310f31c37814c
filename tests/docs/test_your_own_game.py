"""docs/your_own_game.md: the program and every command of the page work, in their order, and lead to numbers and pages."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from analytics.query import query
from cotrace.cli import cli
from dashboards.address import Address
from dashboards.pages import pages
from dashboards.reader import reader
from schemas.store.store import Store
from tests.places import DOCS, ROOT
from tests.servers.stub_server import stub_server

PAGE = (DOCS / "your_own_game.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks of one language."""
    return [part.partition("\n```")[0] for part in PAGE.split(f"```{language}\n")[1:]]


def ran(line: str) -> str:
    """What a command of the page prints."""
    result = CliRunner().invoke(cli, shlex.split(line)[1:], catch_exceptions=False)
    assert result.exit_code in {0, None}, (line, result.stderr)
    return result.stdout


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the page's two files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "negotiate.py").write_text(blocks("python")[0], encoding="utf-8")
    (tmp_path / "reveals_limit.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    return tmp_path


FEW = frozenset({"/", "/spirals", "/game"})
"""Of the pages, those that show of such games the most that is their own."""


@pytest.mark.parametrize("shown", [FEW, pytest.param({page.PATH for page in pages()} - FEW, marks=pytest.mark.long)], ids=["few", "others"])
def test_the_page_leads_from_nothing_to_numbers_and_pages(folder: Path, shown: set[str]) -> None:
    """The program is run as a person runs it; the numbers are those of its games; pages draw, the game page with the messages."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    printed: dict[str, str] = {}
    with stub_server() as base_url:
        for line in lines:
            if line.startswith("python "):
                here = os.environ | {"PYTHONPATH": str(ROOT)}
                subprocess.run([sys.executable, *line.split()[1:]], check=True, cwd=folder, env=here)
            elif line != "cotrace dash":
                printed[line] = ran(line.replace("http://localhost:8000/v1", base_url))
    games = list((folder / "logs").glob("*.jsonl"))
    ends = [json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["end"] for path in games]
    store = Store(folder / "cotrace.duckdb")
    board = query(store, "SELECT model, games, successes, score_mean FROM leaderboard ORDER BY model")
    assert board["games"].to_list() == [6, 6]
    assert board["successes"].sum() == sum(end["success"] for end in ends)
    assert board["score_mean"].mean() == pytest.approx(sum(end["score"] for end in ends) / len(ends))
    assert query(store, "SELECT count(DISTINCT kind) AS kinds FROM correction_spirals WHERE kind = 'stall'")["kinds"][0] == 1
    assert query(store, "SELECT DISTINCT category FROM failure_breakdown")["category"].to_list() == ["deadlock"]
    assert query(store, "SELECT count(*) AS n FROM verdicts WHERE status = 'answered'")["n"][0] > 100
    assert "reveals_limit" in printed["cotrace report judges"]
    assert "on 6 shared tasks" in printed["cotrace report compare"]
    assert "differ at once" not in printed["cotrace report compare"]
    episode = query(store, "SELECT episode_id FROM episodes LIMIT 1")["episode_id"][0]
    for page in (page for page in pages() if page.PATH in shown):
        asked = {"episode": (episode,), "turn": ("1",)} if page.PATH == "/game" else {}
        with reader(store, Address(page.PATH, asked)) as read:
            drawn = str(page.content(read))
        assert page.PATH != "/game" or "I can go to" in drawn


def test_a_log_written_by_hand_goes_in_whole(tmp_path: Path) -> None:
    """Four lines; what they do not say is null, and no judge of it is a no."""
    (tmp_path / "hand.jsonl").write_text(blocks("json")[0], encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    ran(f"cotrace ingest {tmp_path / 'hand.jsonl'} --store {store.path}")
    game = query(store, "SELECT success, score, stop_reason, turns_taken, model, seed, goal FROM episodes").to_dicts()
    assert game == [
        {"success": False, "score": 0.0, "stop_reason": "no deal", "turns_taken": 2, "model": "unknown", "seed": None, "goal": None}
    ]
    turn = query(store, "SELECT * FROM turns ORDER BY turn").to_dicts()[0]
    unknown = ("state_before", "state_after", "progress", "oracle_available", "oracle_followed", "goal_reached")
    assert [turn[name] for name in unknown] == [None] * len(unknown)
    heard = query(store, "SELECT audience FROM utterances ORDER BY turn")["audience"].to_list()
    assert heard == [["buyer", "seller"], ["buyer", "seller"]]
