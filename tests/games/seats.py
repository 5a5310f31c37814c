"""Playing with seats, for the tests of every family: a server that takes them, and what a game's log holds."""

from __future__ import annotations

import atexit
import io
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from analytics.installation import ensure_installed
from analytics.query import query
from cotrace.cli import main
from games.experiments.family import game_of
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.places import ROOT

KEY = {"OPENAI_API_KEY": "x"}
"""What commands find in their environment."""


@cache
def _server() -> str:
    """Address of the one server of this process; it ends with it."""
    command = [sys.executable, "-m", "tests.servers.seat_server"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    atexit.register(process.kill)
    assert process.stdout is not None
    return f"http://127.0.0.1:{process.stdout.readline().strip()}"


@contextmanager
def seat_server(mode: str) -> Iterator[str]:
    """A server that plays; gives its address."""
    yield f"{_server()}/{mode}"


def command_of(game: str, out: Path, seats: list[str], *options: str, before: str = "") -> list[str]:
    """The command that plays a game with whoever takes the seats; ``before``: which of a family's games."""
    chosen = [word for seat in seats for word in ("--player", seat)]
    return [
        sys.executable,
        "-c",
        "from cotrace.cli import main; main()",
        "play",
        game,
        *filter(None, [before]),
        *chosen,
        "--out",
        str(out),
        *options,
    ]


def play(game: str, out: Path, seats: list[str], *options: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Play it, in this process."""
    return cotrace(*command_of(game, out, seats, *options, before=before)[3:])


@contextmanager
def without_memory(game: str) -> Iterator[None]:
    """Scripts among themselves play as they play among others: by what they are shown alone."""
    family = game_of(game)
    seats = family.player_setup
    with patch.object(family, "player_setup", lambda asked: seats(asked)._replace(casts={})):
        yield


def cotrace(*words: str) -> subprocess.CompletedProcess[str]:
    """The command with these words, in this process."""
    said, wrong = io.StringIO(), io.StringIO()
    with patch.dict(os.environ, KEY), redirect_stdout(said), redirect_stderr(wrong):
        try:
            main(words)
        except SystemExit as ended:
            return subprocess.CompletedProcess(words, int(ended.code or 0), said.getvalue(), wrong.getvalue())
    raise AssertionError("the command did not end")


def turns(folder: Path) -> list[list[dict[str, Any]]]:
    """What happened in each game, who played and what it took aside."""
    games = []
    for path in sorted(folder.rglob("*.jsonl"), key=lambda path: (path.name, str(path))):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        games.append([{key: value for key, value in line.items() if key != "calls"} for line in lines[1:]])
    return games


def stats(address: str) -> dict[str, int]:
    """What the server counted."""
    with urllib.request.urlopen(f"{address}/stats") as reply:  # noqa: S310 - our own server
        found: dict[str, int] = json.load(reply)
        return found


def whatever_it_says(game: str, folder: Path, mode: str, *options: str, before: str = "") -> Store:
    """Games in which every seat is played by a server of that mode, ingested: nothing is lost, and the rules give what the logs say."""
    with seat_server(mode) as address:
        done = play(game, folder / "logs", ["all=openai/stub"], *options, "--base-url", f"{address}/v1", before=before)
    assert done.returncode == (1 if ": 0 read" in done.stderr else 0), done.stderr
    return ingested(folder)


def ingested(folder: Path) -> Store:
    """The games below a folder in a store; all of them, whole and without a disagreement."""
    store = Store(folder / "s.duckdb")
    report = ingest_paths([folder / "logs"], store, workers=1)
    assert report.rejected == []
    assert report.episodes == len(list((folder / "logs").rglob("*.jsonl")))
    ensure_installed(store)
    assert query(store, "SELECT * FROM log_disagreements").to_dicts() == []
    assert query(store, "SELECT count(*) AS cut FROM games WHERE ending <> 'ended'")["cut"].item() == 0
    return store
