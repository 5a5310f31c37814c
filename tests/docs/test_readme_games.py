"""The README's model games are played as they stand there, against a server that takes the models' seats."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.games.seats import cotrace, seat_server
from tests.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def command(beginning: str) -> list[str]:
    """The words of a command line of the README, with one game where there are more."""
    (line,) = re.findall(rf"^cotrace ({re.escape(beginning)}.*?)(?: +#.*)?$", README, re.MULTILINE)
    words = shlex.split(line)
    return ["1" if words[place - 1] == "--games" else word for place, word in enumerate(words)]


def test_the_tour_plays_a_model_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model sits where the command puts it, and a whole log is left."""
    monkeypatch.chdir(tmp_path)
    with seat_server("script") as address:
        done = cotrace(*command("play craft --player directors=openai"), "--turns", "3", "--base-url", f"{address}/v1")
    assert done.returncode == 0, done.stderr
    (log,) = (tmp_path / "logs").rglob("*.jsonl")
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    asked = {(call["agent"], call["model"]) for line in lines for call in line.get("calls", ())}
    assert asked == {(director, "openai/gpt-4o-mini") for director in ("D1", "D2", "D3")}
    assert lines[-1]["end"]["turns_taken"] == 3


def test_the_experiment_of_the_tour_is_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it will take, before anything is asked."""
    monkeypatch.chdir(ROOT)
    done = cotrace(*command("play docs/experiments/craft.yaml"))
    assert done.returncode == 0, done.stderr
    assert "calls" in done.stdout + done.stderr
