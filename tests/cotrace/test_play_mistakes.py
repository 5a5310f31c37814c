"""`cotrace play` with something wrong: one clear line and exit code 2, whatever the game."""

from __future__ import annotations

from pathlib import Path

import pytest

from cotrace.cli import main

GAMES = {
    "craft": ("craft", "--games", "1", "--turns", "2"),
    "einstein": ("einstein", "--games", "1"),
    "asympuzl": ("asympuzl", "--games", "1", "--size", "3"),
    "overcooked": ("overcooked", "--task", "boiled_egg"),
    "coordination": ("coordination", "collab_capture", "--player", "all=script:greedy"),
}


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a wrong call gives."""
    with pytest.raises(SystemExit) as stopped:
        main(["play", *arguments])
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert stopped.value.code == 2
    assert "internal error" not in line
    return line


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], game: tuple[str, ...]) -> None:
    """A file stands where a folder should be, or nobody may make one there."""
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "logs"
    line = complaint(capsys, *game, "--out", str(out))
    assert line.startswith(f"cotrace: --out {out}: ")
    assert "Not a directory" in line
    assert "choose a folder that can be written" in line
    assert "/proc/none" in complaint(capsys, *game, "--out", "/proc/none")


@pytest.mark.parametrize("game", list(GAMES.values()))
@pytest.mark.parametrize("seed", ["99999999999999999999999", "-9223372036854775809"])
def test_a_seed_that_no_log_can_hold_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], game: tuple[str, ...], seed: str
) -> None:
    """Nothing is played, and the line says which seeds there are."""
    line = complaint(capsys, *game, "--seed", seed, "--out", str(tmp_path / "logs"))
    assert f"seed {seed} does not fit a log: choose one from -2^63" in line
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("craft", "--file", "nofile.json"), "nofile.json cannot be read (No such file or directory): give a published structures file"),
        (("craft", "--file", "."), "'--file': File '.' is a directory"),
        (("craft", "--games", "-3"), "'--games': -3 is not in the range 1<=x<=1000000"),
        (("craft", "--games", "99999999999"), "'--games': 99999999999 is not in the range 1<=x<=1000000"),
        (("craft", "--turns", "99999999999999999999"), "turns is 99999999999999999999"),
        (("asympuzl", "--games", "99999999999"), "--games"),
        (("asympuzl", "--history", "0"), "history is 0: input should be greater than or equal to 1"),
        (("asympuzl", "--history", "99999999999999999999"), "history is 99999999999999999999"),
        (("einstein", "--turns", "99999999999999999999"), "turns is 99999999999999999999"),
        (("overcooked", "--turns", "99999999999999999999"), "turns is 99999999999999999999"),
    ],
)
def test_a_wrong_number_or_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str) -> None:
    """What, why, and what to give instead."""
    assert told in complaint(capsys, *arguments, "--out", str(tmp_path / "logs"))


@pytest.mark.parametrize(
    ("game", "old", "new"),
    [
        (("craft", "--games", "1"), ("--seat", "all=script:plain"), ("--player", "all=script:plain")),
        (("coordination", "collab_capture"), ("--policy", "stayer"), ("--player", "all=script:stayer")),
        (("coordination", "overcooked"), ("--ticks", "9", "--layout", "cramped_room"), ("--turns", "9", "--task", "cramped_room")),
    ],
)
def test_older_options_play_the_same_games_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], game: tuple[str, ...], old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    """They work until the next release; the line names what took their place."""
    logs = []
    for folder, options in (("new", new), ("old", old)):
        with pytest.raises(SystemExit):
            main(["play", *game, *options, "--seed", "2", "--out", str(tmp_path / folder)])
        logs.append({path.relative_to(tmp_path / folder): path.read_bytes() for path in (tmp_path / folder).rglob("*.jsonl")})
        lines = [line for line in capsys.readouterr().err.splitlines() if "until the next release" in line]
        assert len(lines) == (folder == "old")
        assert all(old[0] in line and new[0] in line for line in lines)
    assert logs[0] == logs[1] != {}
