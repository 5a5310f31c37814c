"""Models that reason and whose servers leave their thoughts in tags before the answer: the thoughts decide nothing and reach nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.games.seats import ingested, play, seat_server, turns

GAMES = {
    "craft": ("", ("--games", "1", "--turns", "4", "--reachable")),
    "craft, simulating": ("", ("--games", "1", "--turns", "2", "--reachable", "--simulations", "3")),
    "einstein": ("", ("--games", "1")),
    "einstein, bare": ("", ("--games", "1", "--no-reasoning")),
    "asympuzl": ("", ("--games", "1", "--size", "3")),
    "overcooked": ("", ("--task", "boiled_egg", "--rules", "paper")),
    "coordination": ("hanabi", ("--seed", "2")),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", GAMES)
def test_a_draft_in_tags_changes_no_game(name: str, tmp_path: Path) -> None:
    """What is done, what is said aloud and how it ends are as without the draft; the log holds it as reasoning where it keeps any."""
    before, options = GAMES[name]
    game = name.partition(",")[0]
    for mode in ("script", "thinking"):
        with seat_server(mode) as address:
            done = play(game, tmp_path / mode / "logs", ["all=openai/stub"], *options, "--base-url", f"{address}/v1", before=before)
        assert done.returncode == 0, done.stderr

    plain, drafted = (turns(tmp_path / mode) for mode in ("script", "thinking"))
    assert [happened(lines) for lines in drafted] == [happened(lines) for lines in plain]
    assert "draft" not in json.dumps([happened(lines) for lines in drafted])
    store = ingested(tmp_path / "thinking")
    with store.reading() as connection:
        asked = connection.execute("SELECT count(*), count(*) FILTER (starts_with(reply, '<think>')) FROM calls").fetchone()
    assert asked is not None
    assert asked[0] == asked[1] > 0  # the calls have every answer word for word


def happened(lines: list[dict[str, Any]]) -> list[Any]:
    """What stands of each turn for everybody to see, and the end."""
    return [
        [[one for one in line.get("utterances", ()) if one.get("channel") == "public"], line.get("actions"), line.get("end")]
        for line in lines
    ]
