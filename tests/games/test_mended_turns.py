"""A faulty player who is faultless in one turn: the game is the same up to that turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from games.craft import experiment as craft
from games.einstein import experiment as einstein
from games.players.setup import fixed_in, onset_of, unmended
from schemas.common.errors import UsageError


def test_who_plays_in_which_turn() -> None:
    onset = onset_of("vague@3!5", ("vague",), "persona")
    assert [onset.at(turn, "clear") for turn in range(2, 7)] == ["clear", "vague", "vague", "clear", "vague"]
    assert onset_of("vague!1", ("vague",), "persona").at(1, "clear") == "clear"
    assert fixed_in("vague@3!5", 6) == "vague@3!6"
    assert unmended("clear+vague@3!5+clear") == "clear+vague@3+clear"


@pytest.mark.parametrize("name", ["vague@", "vague!", "vague!x", "vague@0", "vague@3!0"])
def test_a_turn_that_is_none_is_told(name: str) -> None:
    with pytest.raises(UsageError, match="vague@8 for one who plays so from turn 8 on"):
        onset_of(name, ("vague",), "persona")


@pytest.mark.parametrize(("family", "place"), [(craft, 1), (einstein, 0)])
def test_a_mended_game_is_the_same_up_to_the_turn(family: Any, place: int, tmp_path: Path) -> None:
    """In what players said and did; names of scripts differ."""
    (whole,) = family.play_planted(tmp_path / "whole", place + 1, 4_242).paths[place:]
    texts = {name: _turns(path) for name, path in [("whole", whole), *_mended(family, place, tmp_path)]}
    assert texts["4"][:3] == texts["whole"][:3]
    assert len({str(turns) for turns in texts.values()}) > 1, "no turn was mended in which a fault was at work"


def _mended(family: Any, place: int, folder: Path) -> list[tuple[str, Path]]:
    turns = range(4, 9)
    report = family.play_planted(folder / "mended", place + 1, 4_242, fixed=[(place, turn) for turn in turns])
    assert len({*report.paths}) == len(turns)
    return [(str(turn), path) for turn, path in zip(turns, report.paths, strict=True)]


def _turns(path: Path) -> list[Any]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(line["state_before"], [said["text"] for said in line["utterances"]], line["actions"]) for line in lines if "turn" in line]
