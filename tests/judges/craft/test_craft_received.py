"""A director who speaks twice in a turn: judges and attribution see the messages that the builder received, and no other."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from analytics.query import query
from games.craft.engine.board import Board
from games.craft.game import Game, GameSettings
from games.craft.setup import GameSetup, header_of, turn_entry
from games.craft.targets import Structure
from games.craft.text.prompts import archetypes
from games.craft.text.replies import director_text
from ingest.files.run import ingest_paths
from judges.attribution.findings import Lost
from judges.checks import find as check
from judges.craft.attribution import attribute
from judges.evidence.transcript import load
from judges.rubric_files.load import find
from schemas.game import LogWriter
from schemas.store.store import Store
from tests.ingest.craft.craft_logs import published
from tests.judges.craft.test_craft_checks import SPANS, TARGET
from tests.judges.test_visible_evidence import prompts_of

FIRST = "Put a small yellow block on the left of my bottom layer."
SECOND = "Put a small green block on the left of my top layer."
OTHER = "Put a small orange block on the right of my bottom layer."
AT = datetime(2026, 1, 1)  # noqa: DTZ001 - logs hold local times

TEAM = {"D1": "clear", "D2": "clear", "D3": "clear", "Builder": "literal"}


def own_log(path: Path, *, marked: bool) -> Path:
    """A game of one turn in which D1 speaks twice and the builder does what it asked for first.

    Args:
        path: the folder.
        marked: as logs had it: the first message marked as superseded, with everybody in its audience.
    """
    structure = Structure("structure_001", "medium", Board.from_json(TARGET, SPANS))
    settings = GameSettings(max_turns=1)
    game = Game(structure, settings, seed=1, speakers=[("D1", "D1", "D3")])
    game.act("D1", director_text("I need a small yellow block at (0,0), layer 0.", FIRST))
    game.act("D1", director_text("I need a small green block at (0,0), layer 2.", SECOND))
    game.act("D3", director_text("I need a small orange block at (2,2), layer 0.", OTHER))
    assert FIRST in game.observe_builder().discussion
    record = game.act("builder", "PLACE:ys:(0,0):0:CONFIRM:As D1 asks.")
    assert record is not None
    header = header_of(GameSetup(structure=structure, characters=archetypes(0, 1), settings=settings, taken=TEAM, seed=1, started_at=AT))
    with LogWriter(path / "game.jsonl", header) as log:
        log.turn(turn_entry(record, settings, AT))
    if marked:
        head, line = (path / "game.jsonl").read_text().splitlines()
        turn: dict[str, Any] = json.loads(line)
        for said in turn["utterances"][:2]:
            said["superseded"] = True
        (path / "game.jsonl").write_text(f"{head}\n{json.dumps(turn)}\n")
    return path


@pytest.mark.sampled(1)
@pytest.mark.parametrize("marked", [True, False], ids=["as logs had it", "as logs have it"])
def test_what_the_builder_received_is_judged_whoever_spoke_again(tmp_path: Path, *, marked: bool) -> None:
    """Evidence, checks, attribution and metrics have the first message, which the builder followed."""
    store = Store(tmp_path / "s.duckdb")
    assert ingest_paths([own_log(tmp_path / "logs", marked=marked)], store, workers=1).rejected == []
    assert query(store, "SELECT * FROM log_disagreements").is_empty()
    (game,) = load(store, query(store, "SELECT episode_id FROM episodes")["episode_id"].to_list())
    (group,) = prompts_of(store, find("pragmatic_sufficiency"), f"{game.episode_id}/1")
    assert all(text in group for text in (FIRST, SECOND, OTHER))
    director = "\n".join(prompts_of(store, find("mind_modeling"), f"{game.episode_id}/1/D1"))
    assert all(text in director for text in (FIRST, SECOND, OTHER))
    assert check("craft.PS5")(game, 1, None).answer == "yes"
    assert check("craft.SG1")(game, 1, "D1").answer == "yes"
    assert check("craft.SG5")(game, 1, "D1").answer is None  # the first can be carried out, the second cannot
    follows = {(one.agent, one.how) for one in attribute(game, {1: Lost(0.1, 0.1, 0.0, 1)}).follows if one.seq == 2}
    assert follows == {("D1", "fully")}
    assert [said.text for said in game.turn(1).received() if said.agent != "Builder"] == [FIRST, SECOND, OTHER]
    assert query(store, "SELECT count(*) AS n FROM utterances WHERE channel = 'public' AND NOT superseded")["n"].item() == 4


def test_what_a_published_log_dropped_reaches_no_judge_of_the_turn(tmp_path: Path) -> None:
    """The earlier message is no evidence of its turn; the history says that the builder did not receive it."""
    (tmp_path / "craft_structure_001_3.json").write_text(json.dumps(published()))
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "craft_structure_001_3.json"], store, workers=1)
    (game,) = load(store, query(store, "SELECT episode_id FROM episodes")["episode_id"].to_list())
    (group,) = prompts_of(store, find("pragmatic_sufficiency"), f"{game.episode_id}/2")
    assert "words 2a" not in group
    later = next(text for text in prompts_of(store, find("mind_modeling"), f"{game.episode_id}/3/D1") if "words 2a" in text)
    assert "turn 2, D2 said (Builder did not receive this):\n| words 2a" in later
    assert "turn 2, D1 said:\n| words 2\n" in later
    assert [said.text for said in game.turn(2).received() if said.agent != "Builder"] == ["words 2", "words 2b"]
