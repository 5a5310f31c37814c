"""The check of words: a word that the glossary replaced is refused in new text, and its number may only fall."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tools import words


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A project with one such word, which is recorded."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "games").mkdir()
    (tmp_path / "games/play.py").write_text("told = 1\n")
    path = tmp_path / "words.json"
    path.write_text(json.dumps({"words": {"told": "reported", "nobody": "no agent", "told again": "duplicate"}, "most": {"games": 1}}))
    return path


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("total = 1", 0),
        ("is_told_apart(row)", 1),
        ("class NobodyThere: ...", 1),
        ("def _untold(): ...", 0),
        ('say("12 games told again, nobody won")', 2),
    ],
)
def test_new_text_is_checked(record: Path, capsys: pytest.CaptureFixture[str], text: str, more: int) -> None:
    """In identifiers and messages alike; the line names package, numbers and where to look."""
    (record.parent / "games/new.py").write_text(f"{text}\n")
    assert words.main([], root=record.parent, record=record) == (1 if more else 0)
    assert (f"games: {1 + more} replaced words, 1 allowed" in capsys.readouterr().out) == bool(more)


def test_recorded_numbers_only_fall(record: Path) -> None:
    """Fewer words pass; `--write` records them, and never more."""
    (record.parent / "games/play.py").write_text("reported = 1\n")
    assert words.main(["--write"], root=record.parent, record=record) == 0
    (record.parent / "games/play.py").write_text("told = 1\n")
    assert words.main(["--write"], root=record.parent, record=record) == 1
    assert json.loads(record.read_text())["most"] == {"games": 0}


def test_rooms_of_games_are_rooms(record: Path) -> None:
    """The word never means a package; of games that are played in rooms it is a term."""
    record.write_text(json.dumps({"words": {"room": "package"}, "most": {"games": 1}}))
    for name in ("play", "coordination_play"):
        (record.parent / f"games/{name}.py").write_text("room = 1\n" * 2)
    assert [place[1] for place in words.places(record.parent, words.pattern({"room": "package"}))] == ["games/play.py"] * 2
