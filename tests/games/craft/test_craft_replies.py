"""What players of CRAFT really reply: actions and messages are found wherever they stand, thoughts stay private, the rest is unreadable."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from analytics.query import query
from games.craft.engine.board import Board
from games.craft.engine.rules import Move
from games.craft.game import Game, GameSettings
from games.craft.setup import GameSetup, header_of, turn_entry
from games.craft.targets import Structure
from games.craft.text.prompts import archetypes
from games.craft.text.replies import (
    NO_MESSAGE,
    NO_THINKING,
    Clarification,
    DirectorAnswer,
    ParsedMove,
    Unreadable,
    read_answer,
    read_director,
)
from ingest.files.run import ingest_paths
from judges.evidence.transcript import load
from judges.rubric_files.load import find
from schemas.game import LogWriter
from schemas.store.store import Store
from tests.ingest.craft.craft_logs import published
from tests.judges.craft.test_craft_checks import SPANS, TARGET
from tests.judges.test_visible_evidence import prompts_of

PLACED = Move("place", "yl", "(0,2)", 1, "(1,2)")
REMOVED = Move("remove", None, "(0,1)", 0)
LINE = "PLACE:yl:(0,2):1:(1,2):CONFIRM:D3 asks"
SMALL = Move("place", "os", "(2,2)", 0)

TEAM = {"D1": "clear", "D2": "clear", "D3": "clear", "Builder": "literal"}


@pytest.mark.parametrize(
    ("reply", "move", "confirmation"),
    [
        (f"D3 is the clearest, so I do that.\n{LINE}", PLACED, "D3 asks"),
        (f"D3 is the clearest. {LINE}", PLACED, "D3 asks"),
        (f"Let me see: D1 wants red, D3 yellow.\n\n{LINE}\n\nWhat comes next?", PLACED, "D3 asks"),
        ("PLACE:os:(2,2):0:CONFIRM:I follow D3: it is clear: the corner", SMALL, "I follow D3: it is clear: the corner"),
        ("REMOVE:(0,1):0:CONFIRM:D2: take it off", REMOVED, "D2: take it off"),
        (f"**{LINE}**", PLACED, "D3 asks"),
        (f"```text\n{LINE}\n```", PLACED, "D3 asks"),
        (f"- `{LINE}`", PLACED, "D3 asks"),
        (f"My move: {LINE}", PLACED, "D3 asks"),
        ("**REMOVE**: (0,1) : 0 : CONFIRM : as asked", REMOVED, "as asked"),
        (f"Perhaps PLACE:rs:(0,0):0:CONFIRM:no.\n</think>\n{LINE}", PLACED, "D3 asks"),
        (f"<think>PLACE:rs:(0,0):0:CONFIRM:no</think>{LINE}", PLACED, "D3 asks"),
        (f"<reasoning>hm</reasoning>\n{LINE}", PLACED, "D3 asks"),
        ("PLACE:yl:(0,2):1:(1,2)", PLACED, "Placing yl at (0,2)"),
        ("REMOVE:(0,1):0", REMOVED, "Removing the top at (0,1)"),
        (f"{LINE}\nPLACE:os:(2,2):0:CONFIRM:next turn", PLACED, "D3 asks"),
    ],
)
def test_a_move_is_found_with_all_of_its_confirmation(reply: str, move: Move, confirmation: str) -> None:
    """A sentence before it, colons, markdown, and thoughts with or without their opening tag."""
    assert read_answer(reply) == ParsedMove(move, confirmation)


@pytest.mark.parametrize("before", ["", "I cannot tell.\n", "hm</think>"])
def test_only_what_asks_is_a_question(before: str) -> None:
    """In the form for it."""
    assert read_answer(f"{before}CLARIFY:Which end: left or right?") == Clarification("Which end: left or right?")


@pytest.mark.parametrize(
    "reply",
    [
        "", "</think>", "OK", "Which end do you mean?", "CLARIFY:", "CLARIFY: question", "PLACE:block:position:layer:CONFIRM:text",
        "PLACE:yl:(0,2):bottom:CONFIRM:x", f"<think>I could say\n{LINE}", f"Either\n{LINE}\nor\nPLACE:os:(2,2):0:CONFIRM:x",
        f"Either\n{LINE}\nor\nCLARIFY:which one?",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_no_question(reply: str) -> None:
    """Nor is a draft in thoughts that do not end a move, nor one of several different ones."""
    assert isinstance(read_answer(reply), Unreadable)


@pytest.mark.parametrize(
    ("reply", "thought", "message"),
    [
        ("a small red one</think><message>Red at my left.</message>", "a small red one", "Red at my left."),
        ("a small red one\n</thinking>\nRed at my left.", "a small red one", "Red at my left."),
        ("<analysis>hm</analysis>\nRed at my left.", "hm", "Red at my left."),
        ("<think><message>blue</message>?</think><message>Red at my left.</message>", "<message>blue</message>?", "Red at my left."),
        ("<think>maybe <message>blue</message>? No, wait", "maybe <message>blue</message>? No, wait", NO_MESSAGE),
        ("<think>the left end lacks a small red block", "the left end lacks a small red block", NO_MESSAGE),
        ("<think>hm\n<message>Red at my left.</message>", "hm", "Red at my left."),
        ("<message>Red at my left.</message>\n<think>hm</think>", "hm", "Red at my left."),
        ("My left end is empty.\n<message>Red at my left.</message>", "My left end is empty.", "Red at my left."),
        ("<message>Red at my left.", NO_THINKING, "Red at my left."),
        ("Red at my left.", NO_THINKING, "Red at my left."),
    ],
)  # fmt: skip
def test_thoughts_never_reach_the_message(reply: str, thought: str, message: str) -> None:
    """Whatever their tag is, and whether it is opened or closed."""
    assert read_director(reply) == DirectorAnswer(thought, message)


def played(folder: Path, replies: list[str], *, as_before: bool) -> Store:
    """A game with these replies of the builder, read into a store; as before: what could not be read stands in the log as a question."""
    at = datetime(2026, 1, 1)  # noqa: DTZ001 - logs hold local times
    structure = Structure("structure_001", "medium", Board.from_json(TARGET, SPANS))
    settings = GameSettings(max_turns=len(replies))
    game = Game(structure, settings, seed=1)
    with LogWriter(
        folder / "logs" / "game.jsonl",
        header_of(GameSetup(structure=structure, characters=archetypes(0, 1), settings=settings, taken=TEAM, seed=1, started_at=at)),
    ) as log:
        for reply in replies:
            for director in game.speakers:
                game.act(director, "<think>t</think><message>Go on.</message>")
            record = game.act("builder", reply)
            assert record is not None
            entry = turn_entry(record, settings, at)
            log.turn(entry)
    path = folder / "logs" / "game.jsonl"
    if as_before:
        head, *lines = path.read_text().splitlines()
        turns = [json.loads(line) for line in lines]
        for turn in turns:
            for action in turn["actions"]:
                if action["verb"] == "unreadable":
                    action |= {"verb": "clarify", "arguments": {"question": f"Could not parse response: {action['raw']}"}}
        path.write_text("\n".join([head, *map(json.dumps, turns)]) + "\n")
    store = Store(folder / "s.duckdb")
    assert ingest_paths([folder / "logs"], store, workers=1).rejected == []
    return store


@pytest.mark.sampled(1)
@pytest.mark.parametrize("as_before", [True, False], ids=["logs of before", "logs of today"])
def test_rates_and_failures_tell_unreadable_replies_from_questions(tmp_path: Path, *, as_before: bool) -> None:
    """One of four turns is a question; two are the builder's failures of form; no judge is told that it asked."""
    store = played(
        tmp_path, ["CLARIFY:Which end?", "Placing it now.", "Sure.\nPLACE:ys:(0,0):0:CONFIRM:so: yes", "OK"], as_before=as_before
    )
    assert query(store, "SELECT outcome FROM outcomes ORDER BY turn")["outcome"].to_list()[:2] == ["clarify", "no_move"]
    assert query(store, "SELECT clarify, turns FROM leaderboard").rows() == [(1, 4)]
    found = query(store, "SELECT turn, agent FROM failures WHERE category = 'unreadable_reply' ORDER BY turn").rows()
    assert found == [(2, "Builder"), (4, "Builder")]
    assert query(store, "SELECT field FROM log_disagreements").is_empty()
    assert query(store, "SELECT verb FROM actions ORDER BY turn")["verb"].to_list() == ["clarify", "unreadable", "place", "unreadable"]
    (game,) = load(store, query(store, "SELECT episode_id FROM episodes")["episode_id"].to_list())
    (shown,) = prompts_of(store, find("pragmatic_sufficiency"), f"{game.episode_id}/2")
    assert "The builder's reply could not be read:" in shown
    assert "The builder asked" not in shown


@pytest.mark.long
def test_a_published_log_keeps_what_its_parser_made_of_a_reply(tmp_path: Path) -> None:
    """Its rates are those of the published code; judges and failures call a complaint of its parser what it is."""
    log = published()
    question = next(turn for turn in log["games"][0]["turns"] if turn.get("clarification"))
    lines = question["conversation_snapshot"]
    lines[lines.index(f"Builder: {question['clarification']}")] = "Builder: Could not parse response: OK"
    question["clarification"] = "Could not parse response: OK"
    (tmp_path / "craft_structure_001_3.json").write_text(json.dumps(log))
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "craft_structure_001_3.json"], store, workers=1)
    turn = question["turn_number"]
    assert query(store, "SELECT n_clarify FROM craft_games").item() == 1
    assert query(store, "SELECT turn FROM failures WHERE category = 'unreadable_reply'")["turn"].to_list() == [turn]
    (game,) = load(store, query(store, "SELECT episode_id FROM episodes")["episode_id"].to_list())
    (shown,) = prompts_of(store, find("pragmatic_sufficiency"), f"{game.episode_id}/{turn}")
    assert "The builder asked" not in shown
