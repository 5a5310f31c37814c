"""Runs of scripted AsymPuzl games: the same bytes again, interrupted or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from games.asympuzl.players import PERSONAS
from games.asympuzl.record import solved_turn
from games.experiments.plan import play
from games.players.running import PlayProgress
from schemas.common.errors import UsageError

WISHES: dict[str, Any] = {"players": ["all=script:sharing", "all=script:silent"], "size": [3, 4], "feedback": ["both", "none"], "games": 3}


def test_a_game_is_named_by_team_mode_size_and_seed(tmp_path: Path) -> None:
    """Every persona with itself, on every size, mode and seed."""
    report = play("asympuzl", tmp_path, **WISHES)

    assert (report.played, report.stored) == (24, 0)
    names = {
        f"{team}/{mode}_history1_turns{2 * size}/{size}_{seed}.jsonl"
        for team in ("sharing", "silent")
        for mode in ("both", "none")
        for size in (3, 4)
        for seed in (0, 1, 2)
    }
    assert {str(path.relative_to(tmp_path)) for path in report.paths} == names


def test_the_same_request_gives_the_same_bytes(tmp_path: Path) -> None:
    """In another folder, and again in the same one, where nothing is played twice."""
    first = play("asympuzl", tmp_path / "a", **WISHES)
    second = play("asympuzl", tmp_path / "b", **WISHES)
    again = play("asympuzl", tmp_path / "a", **WISHES)

    assert [path.read_bytes() for path in first.paths] == [path.read_bytes() for path in second.paths]
    assert (again.played, again.stored, again.turns) == (0, 24, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"players": ["all=script:kind"]}, "no script of that name for a alice: there are sharing"),
        ({"size": 25}, "size is 25: input should be less than or equal to 24"),
        ({"games": 0}, "generate is 0: input should be greater than or equal to 1"),
        ({"feedback": "all"}, "feedback is 'all': input should be 'none'"),
        ({"sizes": 3}, "asympuzl has no setting 'sizes': did you mean size"),
        ({"tokenizer": "words"}, "no tokenizer 'words'"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_written(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    """With what there is."""
    with pytest.raises(UsageError, match=message):
        play("asympuzl", tmp_path / "out", **{**WISHES, **changes})
    assert not (tmp_path / "out").exists()


def test_partners_are_paired_with_every_persona(tmp_path: Path) -> None:
    """A seat that is named again has each of its players in turn."""
    players = ["A=script:sharing", "A=script:silent", "B=script:sharing", "B=script:ignoring"]
    report = play("asympuzl", tmp_path, players=players, size=3, games=1)
    assert sorted(path.relative_to(tmp_path).parts[0] for path in report.paths) == [
        "sharing",
        "sharing_ignoring",
        "silent_ignoring",
        "silent_sharing",
    ]


def test_progress_is_told_game_by_game(tmp_path: Path) -> None:
    """Up to the number of all games."""
    told: list[tuple[int, int]] = []

    def watch(now: PlayProgress) -> None:
        told.append((now.games, now.total))

    play("asympuzl", tmp_path, on_progress=watch, **{**WISHES, "size": 3, "feedback": "both"})
    assert told == [(number, 6) for number in range(1, 7)]


@pytest.mark.parametrize("persona", PERSONAS)
def test_only_those_who_share_and_listen_solve(tmp_path: Path, persona: str) -> None:
    """The paper's patterns: who tells and takes in solves, the others do not."""
    paths = play("asympuzl", tmp_path, players=[f"all=script:{persona}"], size=4, games=5).paths
    solved = {json.loads(path.read_text().splitlines()[-1])["end"]["success"] for path in paths}
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
