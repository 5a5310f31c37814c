"""Step logs of Hanabi whose tables cannot be: one line says which turn, and no row of the game goes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.asked import ingested, written

pytestmark = pytest.mark.shared

_Step = dict[str, Any]


@pytest.fixture
def steps(shared: Path) -> list[_Step]:
    """The first turns of a published game."""
    lines = (shared / "data/coordination/hanabi/hanabi_steps.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[:6]]


def _forgets(step: _Step) -> None:
    step["state_before"]["knowledge"][step["player"]].pop()


def _remembers(step: _Step) -> None:
    known = step["state_after"]["knowledge"]["Alice"]
    known.append(known[0])


def _empties(step: _Step) -> None:
    step["state_after"]["deck_size"] = step["state_before"]["deck_size"] - 1
    for part in ("hands", "knowledge"):
        step["state_after"][part][step["player"]] = []


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("part", "value"), [("colors", "R["), ("ranks", "16"), ("ranks", "[12")])
def test_knowledge_of_no_card_is_refused(part: str, value: str, steps: list[_Step], tmp_path: Path) -> None:
    """Colours and ranks that no card has."""
    for known in steps[3]["state_before"]["knowledge"].values():
        known[0][part] = value
    found = ingested(tmp_path, written(tmp_path / "hanabi_steps.jsonl", *steps))
    assert len(found.refused) >= 1
    assert not [reason for reason in found.refused if "please report" in reason]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("pile", [["R9"], ["[1"], ["R"]])
def test_a_discard_that_is_no_card_is_refused(pile: list[str], steps: list[_Step], tmp_path: Path) -> None:
    """The line says where."""
    steps[3]["state_before"]["discard_pile"] = pile
    found = ingested(tmp_path, written(tmp_path / "hanabi_steps.jsonl", *steps))
    assert "discard_pile" in " | ".join(found.refused)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(_forgets, "5 cards and knowledge of 4", id="fewer known than held"),
        pytest.param(_remembers, "5 cards and knowledge of 6", id="more known than held"),
        pytest.param(_empties, "takes a card from the deck and leaves", id="drawn into an empty hand"),
    ],
)
def test_a_table_that_cannot_be_is_one_line(change: Callable[[_Step], None], reason: str, steps: list[_Step], tmp_path: Path) -> None:
    """The turn, what is wrong, and what follows."""
    change(steps[3])
    found = ingested(tmp_path, written(tmp_path / "hanabi_steps.jsonl", *steps))
    assert found.rows("SELECT count(*) FROM episodes") == [(0,)]
    (told,) = found.refused
    assert "turn 4 " in told
    assert reason in told
    assert "the game is left out" in told
