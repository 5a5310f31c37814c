"""How replies of players are read, in every family: a copied example is not a move, and logs, store and command say what was read."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from analytics.query import query
from games.asympuzl.answer import answer_reading
from games.craft.text.replies import READERS
from games.einstein.engine.actions import parse_answer
from games.overcooked.text.prompts import reply_reading
from judges.attribution.job import attribute_games
from schemas.replies import NOT_READ, ReadReply
from tests.games.seats import ingested, play, seat_server, turns

GAMES = {
    "craft": ("--games", "1", "--turns", "2"),
    "einstein": ("--games", "1"),
    "asympuzl": ("--size", "3", "--games", "1"),
    "overcooked": ("--task", "boiled_egg", "--turns", "3"),
    "coordination overcooked": ("--turns", "6"),
    "coordination collab_capture": (),
    "coordination collab_escape": (),
    "coordination hanabi": ("--turns", "10"),
}
"""Game -> a short one."""
AVALON = {"avalon": ("--size", "5", "--games", "1")}
"""A game that no script of the test server plays."""


def played(game: str, mode: str, folder: Path) -> tuple[int, str]:
    """Exit code and words of a game in which a server of that mode plays all."""
    family, _, before = game.partition(" ")
    with seat_server(mode) as address:
        seats, server = ["all=openai/stub"], ("--base-url", f"{address}/v1", "--max-tokens", "70")
        done = play(family, folder / "logs", seats, *(GAMES | AVALON)[game], *server, before=before)
    return done.returncode, done.stderr


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["parrot", "parrot-line"])
@pytest.mark.parametrize("game", [*GAMES, *AVALON])
def test_a_copied_example_is_unreadable_and_never_a_move(game: str, mode: str, tmp_path: Path) -> None:
    """The model repeats the form at the end of its prompt, or the last line of it: nothing was read, and the command says so."""
    code, said = played(game, mode, tmp_path)
    assert code == 1
    assert "replies: 0 read" in said
    store = ingested(tmp_path)
    assert {*query(store, "SELECT DISTINCT read FROM calls")["read"]} == {"unreadable"}
    assert {*query(store, "SELECT DISTINCT read FROM actions WHERE read IS NOT NULL")["read"]} <= {*NOT_READ}


@pytest.mark.parametrize(
    "games",
    [
        ("craft", "einstein", "avalon"),
        pytest.param(("craft", "einstein", "asympuzl", "avalon", "overcooked", "coordination overcooked"), marks=pytest.mark.long),
    ],
    ids=["some", "all"],
)
def test_cut_replies_are_named_with_their_limit(games: tuple[str, ...], tmp_path: Path) -> None:
    """Each reply breaks off at its token limit: it is cut, not unreadable, in the log, in the store and on the terminal."""
    for game in games:
        code, said = played(game, "cut", tmp_path)
        assert code == 1
        assert "0 read, " in said
        assert "cut at 70 tokens" in said
    store = ingested(tmp_path)
    read = query(store, "SELECT DISTINCT benchmark, c.read FROM calls AS c JOIN episodes USING (episode_id)")
    assert {*read.iter_rows()} == {(game.partition(" ")[0], "cut") for game in games}
    assert "format" not in query(store, "SELECT DISTINCT common FROM failures JOIN failure_map USING (taxonomy, category)")["common"]
    attribute_games(store)
    assert {*query(store, "SELECT DISTINCT agent FROM attributions WHERE link IN ('format', 'harness')")["agent"]} == {None}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("game", GAMES)
def test_what_a_script_says_is_read_as_asked(game: str, tmp_path: Path) -> None:
    """Logs say of each reply, and of each action that came of one, that it had the form asked for; of other actions nothing."""
    code, said = played(game, "script", tmp_path)
    assert code == 0, said
    assert " unreadable" not in said
    lines = [line for logged in turns(tmp_path / "logs") for line in logged if "turn" in line]
    assert {reply["read"] for line in lines for reply in line["replies"]} <= {"as asked"}
    for line in lines:
        asked = {reply["agent"] for reply in line["replies"]}
        assert [one for one in line["actions"] if one["read"] and one["raw"] is None and one["agent"] not in asked] == []
    store = ingested(tmp_path)
    assert {*query(store, "SELECT DISTINCT read FROM actions")["read"]} <= {"as asked", None}


@pytest.mark.parametrize(
    ("read", "reply"),
    [
        (READERS["sane"]["builder"], "CLARIFY:<question>"),
        (READERS["sane"]["builder"], "CLARIFY: [your question here]"),
        (READERS["sane"]["builder"], "I will not do PLACE:rs:(0,0):0:CONFIRM:red, since D1 wants to wait."),
        (READERS["sane"]["builder"], 'D1 said "PLACE:rs:(0,0):0:CONFIRM:red"'),
        (READERS["sane"]["builder"], "If D1 agrees, PLACE:rs:(0,0):0:CONFIRM:red"),
        (READERS["sane"]["director"], "<think>...</think><message>...</message>"),
        (READERS["sane"]["director"], "<think>Your reasoning</think><message>[Your instruction to the builder]</message>"),
        (answer_reading, '{"message": "<your message>", "actions": []}'),
        (answer_reading, '{"message": {"type": "string"}, "actions": {"type": "array"}}'),
        (partial(reply_reading, "plan", "Chef"), "Chef analysis: your analysis\nChef plan: <your plan>\nChef say: <message>"),
    ],
)
def test_an_unfilled_form_and_what_is_not_done_are_unreadable(read: ReadReply, reply: str) -> None:
    """Places of a form in whatever marks, its schema, and moves that are denied or reported."""
    assert read(reply).read == "unreadable"


@pytest.mark.parametrize(
    "before",
    [
        "D1 said to begin on the left, so ",
        "As D2 said, my move is ",
        "D1 says red. I'll do ",
        "It doesn't fit on the left, my move is ",
    ],
)
def test_an_action_after_a_reason_is_read(before: str) -> None:
    """What another said, or what is not possible, is in a sentence or clause before that of the action."""
    assert READERS["sane"]["builder"](f"{before}PLACE:rs:(0,0):1:CONFIRM:red").read != "unreadable"


def test_a_draft_in_thoughts_is_not_the_action_and_the_partners_part_is_not_ones_own() -> None:
    """Thoughts may be in the tags that the game asks for; a model may go on with the dialogue after its answer."""
    action = parse_answer("<THINK>I could <ACTION>pass</ACTION>, or better:</THINK><ACTION>ask block2</ACTION>").action
    assert action == parse_answer("<ACTION>ask block2</ACTION>").action != parse_answer("<ACTION>pass</ACTION>").action
    own = '{"message": "My first is a star.", "actions": []}'
    found = answer_reading(own + '\nPartner: {"message": "Then it is red.", "actions": []}')
    assert (found.read, found.used) == ("repaired", own)
