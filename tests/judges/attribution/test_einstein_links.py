"""Whose a step of an Einstein game was: hand-worked steps of one puzzle, what each could have kept by the fewest steps left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from games.einstein.engine.actions import parse_action
from games.einstein.engine.puzzle import Modes, parse_game_id
from games.einstein.engine.table import RULES, Setting, Table, advance, start_table
from games.einstein.value import values
from judges.attribution.findings import Attributed, Finding, Lost
from judges.einstein.attribution import attribute
from judges.evidence.transcript import ActionView, Transcript, TurnView, UtteranceView

PUZZLE = parse_game_id("4_0220_3120_0000_201")
"""block0 and block3 start with Player1, block1 and block2 with Player2; in order of their numbers they belong to the bottom right, bottom
left, top right and top left bins. Player1, at the bottom, cannot know block1, and Player2 not block2."""

TALK: Modes = ("provide_seek", "provide_seek")
TELL: Modes = ("provide", "provide")
SEEK: Modes = ("seek", "seek")
SILENT: Modes = ("none", "none")

PLACE_0 = "move block0 from player1_bin to bottom_right_bin"
HAND_OVER_3 = "move block3 from player1_bin to commonbin"
HAND_OVER_1 = "move block1 from player2_bin to commonbin"
COLUMN = "share (block0, block2, same, column)"
ROW = "share (block0, block1, same, row)"
DIAGONAL = "share (block0, block3, same, diagonal)"
GROUND = "share (block0, in, bottom_right_bin)"
TO_A_GUESS = (PLACE_0, HAND_OVER_1, HAND_OVER_3, "move block3 from commonbin to top_left_bin")
"""After these all that is left to Player1 is block1, of which it knows nothing."""


def logged(text: str) -> ActionView:
    """An action as a log has it."""
    verb, *rest = text.replace("(", "").replace(")", "").replace(",", "").split()
    arguments: dict[str, Any] = {}
    if verb == "move":
        arguments = {"block": rest[0], "from": rest[2], "to": rest[4]}
    elif verb == "ask":
        arguments = {"block": rest[0]}
    elif verb == "share":
        arguments = {"block": rest[0], "in": rest[2]} if rest[1] == "in" else {"blocks": rest[:2], "same": rest[3]}
    return ActionView("", verb, arguments, accepted=None, error_code=None, error_text=None)


def game(texts: Sequence[str], modes: Modes = TALK, **details: Any) -> Transcript:
    turns = tuple(
        TurnView(
            turn=number,
            state_before={},
            state_after={},
            utterances=(UtteranceView(7, f"Player{2 - number % 2}", "public", (), text, superseded=False),),
            actions=(logged(text),) if text else (),
            oracle=(),
            oracle_available=None,
            oracle_followed=None,
            error=None,
            goal_reached=None,
        )
        for number, text in enumerate(texts, start=1)
    )
    return Transcript("hand", "einstein", PUZZLE.game_id, "nobody", {}, None, {"modes": list(modes)} | details, {}, turns)


def played(texts: Sequence[str], modes: Modes) -> tuple[Setting, list[Table]]:
    setting = Setting(PUZZLE, modes, RULES["published"])
    tables = [start_table(PUZZLE)]
    for text in texts:
        tables.append(advance(setting, tables[-1], parse_action(text)).table)
    return setting, tables


def lost_by(setting: Setting, tables: Sequence[Table]) -> dict[int, Lost]:
    known = [found.know for found in values(setting, tables) if found.know is not None]
    assert len(known) == len(tables)
    return {turn: Lost(before, after, 1 + after - before) for turn, (before, after) in enumerate(pairwise(known), start=1)}


class Hand(NamedTuple):
    """Steps, of which the last one is looked at."""

    steps: Sequence[str]
    link: str | None
    """None: nobody is at fault."""

    told: str = ""
    careful: Sequence[str] = ()
    """What a careful player would have done in its place."""

    modes: Modes = TALK


HANDS = {
    "a known object placed": Hand([PLACE_0], None),
    "a known object passed on": Hand([HAND_OVER_3], None),
    "passed": Hand(["pass"], "idle", f"passed; by what it knew it could {PLACE_0}", [PLACE_0, HAND_OVER_3]),
    "asked first": Hand(["ask block1"], "acted_wrong", f"ask block1: by what it knew it could {PLACE_0}", [PLACE_0, HAND_OVER_3]),
    "told first": Hand([COLUMN], "acted_wrong", f"by what it knew it could {PLACE_0}", [PLACE_0, HAND_OVER_3]),
    "asked what it knew": Hand(
        ["ask block0"], "needless_question", "by what it knew the object belongs to bottom_right_bin", [PLACE_0, HAND_OVER_3]
    ),
    "asked of no object": Hand(["ask block4"], "rule_forgotten", "there is no such object", [PLACE_0, HAND_OVER_3]),
    "moved no object": Hand(
        ["move block4 from player1_bin to commonbin"], "rule_forgotten", "there is no such object", [PLACE_0, HAND_OVER_3]
    ),
    "told what it does not hold": Hand([ROW], "wrong_instruction", "it does not hold this item", [PLACE_0, HAND_OVER_3]),
    "reached too far": Hand([HAND_OVER_1], "rule_forgotten", "player2_bin is out of reach", [PLACE_0, HAND_OVER_3]),
    "moved too far": Hand(
        ["move block3 from player1_bin to top_left_bin"], "rule_forgotten", "top_left_bin is out of reach", [PLACE_0, HAND_OVER_3]
    ),
    "from where it does not lie": Hand(
        ["move block0 from commonbin to bottom_right_bin"], "rule_forgotten", "it lies in player1_bin, for both", [PLACE_0, HAND_OVER_3]
    ),
    "into the wrong bin": Hand(
        ["move block3 from player1_bin to bottom_right_bin"],
        "acted_wrong",
        "by what it knew the object belongs to top_left_bin",
        [PLACE_0, HAND_OVER_3],
    ),
    "a known object of its own handed over": Hand(
        ["move block0 from player1_bin to commonbin"], "acted_wrong", f"by what it knew it could {PLACE_0}", [PLACE_0, HAND_OVER_3]
    ),
    "nothing moved": Hand([HAND_OVER_3, "pass", "move block3 from commonbin to commonbin"], "acted_wrong", "that moves nothing", [PLACE_0]),
    "taken out again": Hand(
        [PLACE_0, "pass", "move block0 from bottom_right_bin to commonbin"],
        "acted_wrong",
        "it lay in its goal bin, where only right objects stay",
        [HAND_OVER_3],
    ),
    "unreadable": Hand([""], "format", "the answer cannot be read", [PLACE_0, HAND_OVER_3]),
    "asked where nothing may be asked": Hand(["ask block1"], "rule_forgotten", "nothing may be asked here", [PLACE_0, HAND_OVER_3], TELL),
    "told where nothing may be told": Hand([COLUMN], "rule_forgotten", "nothing may be shared here", [PLACE_0, HAND_OVER_3], SILENT),
    "told where only questions are answered": Hand([COLUMN], "rule_forgotten", "nothing may be shared here", [PLACE_0, HAND_OVER_3], SEEK),
    "told twice": Hand([COLUMN, "pass", COLUMN], "acted_wrong", "that had been shared before", [PLACE_0, HAND_OVER_3]),
    "told too late": Hand([PLACE_0, "pass", GROUND], "said_too_late", "all its objects are placed", [HAND_OVER_3]),
    "asked twice": Hand(["ask block1", "pass", "ask block1"], "needless_question", "it had asked that before", [PLACE_0, HAND_OVER_3]),
    "a question answered": Hand(["ask block1", ROW], None),
    "a question answered where only questions are": Hand(["ask block1", ROW], None, modes=SEEK),
    "a question passed over": Hand(["ask block1", "pass"], "idle", f"passed; by what it knew it could {ROW}", [ROW]),
    "a move in place of an answer": Hand(
        ["ask block1", HAND_OVER_1], "not_said", "the partner had asked about block1, and it holds (block0, block1, same, row)", [ROW]
    ),
    "a question in place of an answer": Hand(["ask block1", "ask block2"], "not_said", "the partner had asked about block1", [ROW]),
    "another answer": Hand(["ask block1", DIAGONAL], "not_said", "the partner had asked about block1", [ROW]),
    "a question beside news": Hand([PLACE_0, HAND_OVER_1, HAND_OVER_3, "move block3 from commonbin to top_left_bin", "ask block1"], None),
    "a question before guesses": Hand(
        [PLACE_0, HAND_OVER_1, HAND_OVER_3, "move block3 from commonbin to top_left_bin", "pass"],
        "idle",
        "by what it knew it could ask block1",
        ["ask block1"],
        SEEK,
    ),
    "a pass before a guess": Hand([*TO_A_GUESS, "pass"], None, modes=SILENT),
    "a lucky guess": Hand([*TO_A_GUESS, "move block1 from commonbin to bottom_left_bin"], None, modes=SILENT),
    "an object that its player does not know handed over": Hand([PLACE_0, HAND_OVER_1], None, modes=SILENT),
    "a wrong guess": Hand(
        [PLACE_0, HAND_OVER_1, HAND_OVER_3, "move block3 from commonbin to top_left_bin", "move block1 from commonbin to bottom_right_bin"],
        None,
        modes=SILENT,
    ),
    "a guess made again": Hand(
        [
            PLACE_0,
            HAND_OVER_1,
            HAND_OVER_3,
            "move block3 from commonbin to top_left_bin",
            "move block1 from commonbin to bottom_right_bin",
            "pass",
            "move block1 from commonbin to bottom_right_bin",
        ],
        "acted_wrong",
        "by what it had seen the object cannot belong there",
        ["move block1 from commonbin to bottom_left_bin"],
        SILENT,
    ),
}


def last(found: Attributed, steps: Sequence[str]) -> list[Finding]:
    return [one for one in found.findings if one.turn == len(steps)]


@pytest.mark.parametrize("hand", HANDS.values(), ids=HANDS)
def test_hand_worked_steps(hand: Hand) -> None:
    """The step's player would have kept what careful steps leave less to do on average; the rest of the cost is no agent's."""
    setting, tables = played(hand.steps, hand.modes)
    lost = lost_by(setting, tables)
    turn, agent = len(hand.steps), f"Player{2 - len(hand.steps) % 2}"
    value = lost[turn]
    gains = {text: value.after - one.know for text, one in zip(hand.careful, careful(setting, tables[-2], hand.careful), strict=True)}
    kept = sum(gains.values()) / max(len(gains), 1) if value.cost > 0 else 0.0
    expected: list[tuple[Any, ...]] = []
    if hand.link is not None and kept > 0:
        expected.append((agent, hand.link, min(kept, value.cost), min(kept, value.cost)))
    elif hand.link not in (None, "acted_wrong"):
        expected.append((agent, hand.link, 0.0, None))
    if value.cost - max(kept, 0.0) > 0:
        expected.append((None, "not_seen", value.cost - max(kept, 0.0), None))
    found = last(attribute(game(hand.steps, hand.modes), lost), hand.steps)
    assert [(one.agent, one.link, one.cost, one.regained) for one in found] == expected
    if hand.link is not None and expected:
        assert hand.told in found[0].evidence
    if kept > 0:
        assert found[0].ideal is not None
        assert found[0].ideal.kind == "do"
        assert gains[found[0].ideal.text] >= kept
        assert f"would have saved {kept:.2g} step{'' if kept == 1 else 's'}" in found[0].evidence


def careful(setting: Setting, table: Table, texts: Sequence[str]) -> Sequence[Any]:
    return list(values(setting, [advance(setting, table, parse_action(text)).table for text in texts]))


def test_some_hand_worked_steps_cost_something() -> None:
    costs = {name: lost_by(*played(hand.steps, hand.modes))[len(hand.steps)].cost for name, hand in HANDS.items()}
    assert {name for name, cost in costs.items() if cost > 0} >= {"passed", "taken out again", "into the wrong bin", "asked of no object"}


@pytest.mark.parametrize(
    ("sampled", "link", "told"),
    [
        (["pass", PLACE_0], "verifier", f"{PLACE_0} had been sampled, and was turned down"),
        (["pass", COLUMN, None, "nonsense"], "idle", "by what it knew it could"),
        ([], "idle", "by what it knew it could"),
    ],
)
def test_a_better_sample_was_turned_down(sampled: Sequence[str | None], link: str, told: str) -> None:
    """The harness has a part where a careful player would have chosen what its verifier turned down; the player gave what was chosen."""
    lost = lost_by(*played(["pass"], TALK))
    *_, found = findings = list(attribute(game(["pass"], sampled_actions={"1": sampled}), lost).findings)
    assert sum(one.cost for one in findings) == lost[1].cost
    assert (findings[0].agent, findings[0].link) == ("Player1", "idle")
    assert (found.agent, found.link, found.status) == ((None, link, "harness") if link == "verifier" else ("Player1", link, "answered"))
    assert len({one.cost for one in findings}) == 1
    assert told in found.evidence


@pytest.mark.parametrize(
    ("steps", "modes", "expected"),
    [
        (["ask block1", ROW], TALK, [("ask block1", "fully", True)]),
        (["ask block1", "pass"], TALK, [("ask block1", "no", True)]),
        (["ask block1", DIAGONAL], TALK, [("ask block1", "no", True)]),
        (["ask block0", GROUND], TALK, []),  # the rules refuse a question that the asker can answer
        (["ask block1", ROW], TELL, []),  # nothing may be asked
        (["ask block2", "pass"], TALK, []),  # the partner holds nothing about it
        (["ask block1"], TALK, []),
        ([PLACE_0, "ask block2", COLUMN], TALK, [("ask block2", "fully", True)]),
    ],
)
def test_questions_and_whether_they_were_answered(steps: Sequence[str], modes: Modes, expected: Sequence[Any]) -> None:
    found = attribute(game(steps, modes), {}).follows
    assert [(one.request, one.how, one.right) for one in found] == expected
    for one in found:
        turn = steps.index(one.request) + 1
        assert (one.turn, one.seq, one.agent, one.actor) == (turn, 7, f"Player{2 - turn % 2}", f"Player{1 + turn % 2}")


@pytest.mark.parametrize("text", ["", PLACE_0])
def test_an_answer_that_the_harness_lost_is_no_agents(text: str) -> None:
    """A call that failed, or a reply that was cut before its action: counted apart; a reply that was cut after it was read."""
    lost = lost_by(*played([text], TALK))
    (*found,) = attribute(game([text], lost_replies={"1": {"Player1": "its reply was cut at 300 tokens"}}), lost).findings
    if text:
        assert found == []
        return
    assert [(one.agent, one.link, one.status, one.cost) for one in found] == [(None, "harness", "harness", lost[1].cost)]
    assert "cut at 300 tokens" in found[0].evidence


@pytest.mark.parametrize("details", [{}, {"modes": ["provide"]}])
def test_without_the_action_spaces_nothing_is_decided(details: dict[str, Any]) -> None:
    found = attribute(replace(game([PLACE_0, "pass"]), details=details), {1: Lost(3, 2, 0), 2: Lost(3, 3, 1)}).findings
    assert [(one.turn, one.agent, one.link, one.cost) for one in found] == [(2, None, "undecided", 1)]
    assert "in which action spaces" in found[0].evidence
