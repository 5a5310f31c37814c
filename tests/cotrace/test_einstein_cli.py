"""`cotrace play einstein` plays what it is told to, and says what is wrong with what it cannot play."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cotrace.commands.play import command
from games.einstein.game import GameSettings
from tests.games.seats import cotrace

GAME = "4_0022_2130_0010_120"


def play(*arguments: object) -> None:
    CliRunner().invoke(command, ["einstein", *map(str, arguments)], catch_exceptions=False)


def test_every_option_reaches_the_games(tmp_path: Path) -> None:
    """One log for each mode and verifier, with the settings that were asked for."""
    wishes = f"--mode none --mode seek+provide --verifier affordance --samples 2 --no-reasoning --rules published --task {GAME}"
    play(
        "--player",
        "player1=script:mixed",
        "--player",
        "player2=script:planner",
        *wishes.split(),
        "--turns",
        5,
        "--seed",
        9,
        "--out",
        tmp_path,
    )

    paths = sorted(tmp_path.rglob("*.jsonl"))
    headers = [json.loads(path.read_bytes().split(b"\n", 1)[0]) for path in paths]
    settings = [GameSettings.of_log(header["run"]["condition"]) for header in headers]

    assert [path.name for path in paths] == [f"{GAME}_9.jsonl"] * 2
    assert [header["team"] for header in headers] == [{"Player1": "mixed", "Player2": "planner"}] * 2
    assert {found.modes for found in settings} == {("none", "none"), ("seek", "provide")}
    assert {(f.verifier, f.samples, f.reasoning, f.rules, f.step_limit) for f in settings} == {("affordance", 2, False, "published", 5)}


def test_puzzles_are_generated_in_the_sizes_asked_for(tmp_path: Path) -> None:
    """`--objects` may be repeated."""
    play("--games", 4, "--objects", 4, "--objects", 6, "--out", tmp_path)

    assert sorted(path.name[0] for path in tmp_path.rglob("*.jsonl")) == ["4", "4", "6", "6"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--mode", "all"), "input should be 'provide_seek', 'provide', 'seek' or 'none'"),
        (("--mode", "seek+seek+seek"), "at most 2 items"),
        (("--verifier", "wise"), "input should be 'affordance', 'communication' or 'reasoning'"),
        (("--rules", "mine"), "'mine' is not one of 'sane', 'published'"),
        (
            ("--rules", "published", "--verifier", "communication", "--mode", "none"),
            "the published communication verifier stops in mode none",
        ),
        (("--player", "all=script:nobody"), "sensible"),
        (("--objects", "9"), "4, 5 or 6 objects"),
        (("--task", "4_1"), "not a game id"),
    ],
)
def test_impossible_wishes_are_refused_in_one_line(tmp_path: Path, arguments: tuple[str, ...], reason: str) -> None:
    """The line names what there is; no log is written."""
    done = cotrace("play", "einstein", *arguments, "--out", str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert reason in done.stderr
    assert list(tmp_path.iterdir()) == []
