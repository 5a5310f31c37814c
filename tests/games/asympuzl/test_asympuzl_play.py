"""Runs of scripted AsymPuzl games: the same bytes again, interrupted or not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from games.asympuzl.play import PlayRequest, play
from games.asympuzl.players.personas import PERSONAS
from games.asympuzl.record import solved_turn
from schemas.errors import UsageError


def request(out: Path, **changes: object) -> PlayRequest:
    settings: dict[str, object] = {"personas": ("sharing", "silent"), "sizes": (3, 4), "modes": ("both", "none"), "seeds": (0, 1, 2)}
    return PlayRequest(out=out, **{**settings, **changes})  # type: ignore[arg-type]


def test_a_run_is_one_file_with_every_size_mode_and_seed(tmp_path: Path) -> None:
    """Each game is named by run, size, mode and seed, and has its first and last line."""
    report = play(request(tmp_path))

    assert (report.played, report.kept) == (24, 0)
    assert [path.name for path in report.paths] == ["sharing_sharing.jsonl", "silent_silent.jsonl"]
    lines = [json.loads(line) for line in report.paths[0].read_text().split("\n")[:-1]]
    names = [f"sharing_sharing:{size}:{mode}:{seed}" for size in (3, 4) for mode in ("both", "none") for seed in (0, 1, 2)]
    assert [line["game_id"] for line in lines if line["type"] == "game"] == names
    assert [line["game_id"] for line in lines if line["type"] == "result"] == names
    assert all(line["turns"] == 2 for line in lines if line["type"] == "result")


def test_the_same_request_gives_the_same_bytes(tmp_path: Path) -> None:
    """In another folder, and again in the same one, where nothing is played twice."""
    first = play(request(tmp_path / "a"))
    second = play(request(tmp_path / "b"))
    again = play(request(tmp_path / "a"))

    assert [path.read_bytes() for path in first.paths] == [path.read_bytes() for path in second.paths]
    assert (again.played, again.kept, again.turns) == (0, 24, 0)


@pytest.mark.parametrize("cut", [1, 400, 5000, -1, -3000])
def test_a_cut_run_is_completed_from_its_last_whole_game(tmp_path: Path, cut: int) -> None:
    """Wherever the file ends, the result has the same bytes; whole games are kept."""
    (path,) = play(request(tmp_path, personas=("sharing",))).paths
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    kept = whole[:cut].count(b'{"type":"result"') - (cut == -1)

    report = play(request(tmp_path, personas=("sharing",)))

    assert path.read_bytes() == whole
    assert (report.played, report.kept) == (12 - kept, kept)


def test_a_longer_list_of_seeds_goes_on_where_the_shorter_ended(tmp_path: Path) -> None:
    """The games that are there are kept."""
    few = {"personas": ("sharing",), "sizes": (3,), "modes": ("both",)}
    play(request(tmp_path, **few))
    report = play(request(tmp_path, **few, seeds=(0, 1, 2, 3)))
    assert (report.played, report.kept) == (1, 3)


@pytest.mark.parametrize("content", [b"notes\n", b'{"type":"game"}\n'])
def test_a_file_with_something_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    """It is not overwritten."""
    path = tmp_path / "sharing_sharing.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="holds other games than those asked for"):
        play(request(tmp_path))
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"personas": ("kind",)}, "unknown asympuzl persona 'kind': there are sharing"),
        ({"partners": ("kind",)}, "unknown asympuzl persona 'kind'"),
        ({"sizes": (25,)}, "size 25 is out of range"),
        ({"seeds": ()}, "at least one seed"),
        ({"modes": ("all",)}, "no feedback mode 'all'"),
        ({"tokenizer": "words"}, "no tokenizer 'words'"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_written(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    """With what there is."""
    with pytest.raises(UsageError, match=message):
        play(request(tmp_path / "out", **changes))
    assert not (tmp_path / "out").exists()


def test_partners_are_paired_with_every_persona(tmp_path: Path) -> None:
    """Without partners each plays with itself, as in the paper."""
    report = play(request(tmp_path, partners=("sharing", "ignoring"), sizes=(3,), modes=("both",), seeds=(0,)))
    assert [path.stem for path in report.paths] == ["sharing_sharing", "sharing_ignoring", "silent_sharing", "silent_ignoring"]


def test_progress_is_told_game_by_game(tmp_path: Path) -> None:
    """Up to the number of all games."""
    told: list[tuple[int, int]] = []
    play(request(tmp_path, sizes=(3,), modes=("both",)), lambda done, total: told.append((done, total)))
    assert told == [(number, 6) for number in range(1, 7)]


@pytest.mark.parametrize("persona", PERSONAS)
def test_only_those_who_share_and_listen_solve(tmp_path: Path, persona: str) -> None:
    """The paper's patterns: who tells and takes in solves, the others do not."""
    (path,) = play(PlayRequest(out=tmp_path, personas=(persona,), sizes=(4,), seeds=tuple(range(5)))).paths
    solved = {json.loads(line)["solved"] for line in path.read_text().split("\n") if line.startswith('{"type":"result"')}
    assert solved == {persona in {"sharing", "piecewise", "format_breaking", "guessing", "rewriting"}}


@pytest.mark.parametrize(
    ("ok", "turn"),
    [
        ([], None),
        ([False], None),
        ([True, False], None),
        ([True], 1),
        ([True, True], 1),
        ([False, True], 2),
        ([True, False, True, True], 3),
    ],
)
def test_a_part_is_solved_from_when_it_stays_right(ok: list[bool], turn: int | None) -> None:
    """`solved_turn_a` and `solved_turn_b` of the result line."""
    assert solved_turn(ok) == turn
