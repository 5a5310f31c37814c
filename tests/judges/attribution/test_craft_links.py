"""Through which link a hand-worked CRAFT turn lost what it lost, and how much: the last turn of a game, worth the progress it ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from games.craft.engine.board import Board
from games.craft.engine.rules import Move, execute
from games.craft.measures import progress
from judges.attribution.findings import Attributed, Finding, Lost
from judges.craft.attribution import attribute
from judges.evidence.transcript import Transcript
from tests.games.craft.test_craft_value import after_each_move
from tests.judges.craft.test_craft_checks import BLUE_DOMINO, CLEAR, FOREIGN, HALF, SPANS, TARGET, VAGUE, YELLOW_CORNER, Played, game, turn

GOAL = Board.from_json(TARGET, SPANS)


def board_of(played: Played) -> Board:
    return Board.from_json(dict(played.board), dict(played.spans))


def moved(board: Board, move: Move | None) -> Board:
    return board if move is None else execute(board, move).board


def worth(board: Board) -> float:
    return progress(board, GOAL).overall_progress


def logged(*turns: Played, error: str | None = None) -> Transcript:
    """A game whose boards after the turns are what the engine makes of the moves."""
    told = game(*turns)
    after = [moved(board_of(played), played.move if played.accepted else None) for played in turns]
    views = [
        replace(view, state_after={"stacks": board.structure_json(), "spans": board.spans_json()}, error=error)
        for view, board in zip(told.turns, after, strict=True)
    ]
    return replace(told, turns=tuple(views))


def lost_in(played: Played, left: int = 1) -> Lost:
    """What the turn cost as the last of a game, by trying every move."""
    board = board_of(played)
    before = max(map(worth, after_each_move(board) | {board}))
    after = worth(moved(board, played.move if played.accepted else None))
    return Lost(before, after, before - after, left)


WRONG_RED = Move("place", "rs", "(0,0)", 0)
ELSEWHERE = Move("place", "gs", "(2,0)", 0)
GREEN_CORNER = Move("place", "gs", "(0,2)", 0)
ORANGE_CORNER = Move("place", "os", "(0,2)", 0)
ORANGE_NEXT = Move("place", "os", "(0,0)", 1)
WORDS = {
    YELLOW_CORNER: "a small yellow block on my left cell, bottom layer",
    BLUE_DOMINO: "a large blue block on my middle and right cell, bottom layer",
    ORANGE_CORNER: "a small orange block on my left cell, bottom layer",
    ORANGE_NEXT: "a small orange block on my left cell, middle layer",
}
"""What a director says who asks for a move on its own wall."""

RIGHT = {"(0,0)": ["ys"]}
TALL = {"(0,0)": ["ys", "rs"]}
FULL = {"(0,0)": ["ys", "os", "gs"]}
REPLACE_RED = ("D1", "Replace the small red block at the left of my bottom layer with a small yellow block.")
CHAT = ("D1", "Sounds great, thanks!")
ORANGE = ("D1", "Put a small orange block on my left, middle layer.")


class Hand(NamedTuple):
    """A turn worked by hand."""

    played: Played
    causes: Sequence[tuple[str, str, Move | None]] = ()
    """Agent, link and the best that it could have brought about; None: nothing better than what was done."""

    rest: str | None = None
    """The link of what is nobody's."""

    told: str = ""
    """Words of the evidence."""

    follows: Sequence[tuple[str, str, bool]] = ()
    """Of each request: who asked, how it was followed, whether its author's view asks for it."""


def played(*messages: tuple[str, str], **facts: Any) -> Played:
    return turn(**({"messages": messages, "listed": ()} | facts))


HANDS = {
    "asked back though told": Hand(
        played(CLEAR, question="Which one?"),
        [("Builder", "needless_question", YELLOW_CORNER)],
        "not_seen",
        'asked "Which one?", and had received: place small yellow at (0,0), layer 0',
        [("D1", "no", True)],
    ),
    "unreadable": Hand(
        played(CLEAR, question="Could not parse response: ???"),
        [("Builder", "format", YELLOW_CORNER)],
        "not_seen",
        "no move can be read",
        [("D1", "no", True)],
    ),
    "unreadable, moves listed": Hand(turn(question="Parse error: ???"), [("Builder", "format", BLUE_DOMINO)], None, "no move can be read"),
    "empty question": Hand(turn(question=" "), [("Builder", "format", BLUE_DOMINO)], None, "no move can be read"),
    "failed call": Hand(turn(messages=[CLEAR], question="No response from API"), (), "undecided", "call failed", [("D1", "no", True)]),
    "another colour": Hand(
        played(CLEAR, move=WRONG_RED),
        [("Builder", "misread", YELLOW_CORNER)],
        "not_seen",
        "D1 asked for another colour",
        [("D1", "differs", True)],
    ),
    "another size": Hand(
        played(CLEAR, move=Move("place", "yl", "(0,0)", 0, "(1,0)")),
        [("Builder", "misread", YELLOW_CORNER)],
        "not_seen",
        "D1 asked for another size",
        [("D1", "differs", True)],
    ),
    "another place": Hand(
        played(CLEAR, move=Move("place", "ys", "(2,0)", 0)),
        [("Builder", "misread", YELLOW_CORNER)],
        "not_seen",
        "D1 asked for another place",
        [("D1", "differs", True)],
    ),
    "another layer": Hand(
        played(CLEAR, move=Move("place", "ys", "(0,0)", 1), accepted=False),
        [("Builder", "misread", YELLOW_CORNER)],
        "not_seen",
        "was refused: no reason is logged; D1 asked for another layer",
        [("D1", "differs", True)],
    ),
    "something else": Hand(
        played(CLEAR, move=ELSEWHERE),
        [("Builder", "not_heard", YELLOW_CORNER)],
        "not_seen",
        "place gs at (2,0), layer 0; D1 asked for place small yellow",
        [("D1", "no", True)],
    ),
    "right removal ignored, worth nothing in the last turn": Hand(
        played(("D1", "Remove the small red block at the left of my middle layer."), board=TALL, move=ELSEWHERE),
        [("Builder", "not_heard", None)],
        "not_seen",
        "D1 asked for remove small red at (0,0), layer 1",
        [("D1", "no", True)],
    ),
    "as asked, but refused": Hand(
        played(("D1", "Put a small yellow block on the left of my wall."), move=Move("place", "ys", "(0,0)", 2), accepted=False),
        [("Builder", "rule_forgotten", YELLOW_CORNER)],
        "not_seen",
        "asked for was place small yellow at (0,0), no layer",
        [("D1", "fully", True)],
    ),
    "refused, and nobody had asked": Hand(
        turn(move=Move("place", "ys", "(0,0)", 2), accepted=False),
        [("Builder", "rule_forgotten", BLUE_DOMINO)],
        None,
        "was refused: no reason is logged; no director asked for it",
    ),
    "into a cell that no wall has": Hand(
        turn(move=Move("place", "ys", "(0, 0)", 0)), [("Builder", "format", BLUE_DOMINO)], None, "went into a cell that no wall has"
    ),
    "listed": Hand(turn(move=YELLOW_CORNER), (), "not_seen", "was listed as a verified move"),
    "listed, a large block named from its other end": Hand(
        played(move=Move("place", "gl", "(2,0)", 0, "(1,0)"), listed=[Move("place", "gl", "(1,0)", 0, "(2,0)")]),
        (),
        "not_seen",
        "was listed as a verified move",
    ),
    "alone": Hand(turn(move=WRONG_RED), (), "acted_alone", "no director asked for it or for anything better; place bl at (1,0) to (2,0)"),
    "alone, nothing listed": Hand(played(move=WRONG_RED), (), "acted_alone", "no director asked for it or for anything better"),
    "a right request carried out": Hand(
        played(CLEAR, move=YELLOW_CORNER), (), "not_seen", "as D1 asked and its view shows", [("D1", "fully", True)]
    ),
    "a wrong request carried out": Hand(
        played(FOREIGN, move=GREEN_CORNER),
        [("D3", "wrong_instruction", ORANGE_CORNER)],
        "not_seen",
        "D3's view has os at (0,2) layer 0",
        [("D3", "fully", False)],
    ),
    "a wrong request ignored": Hand(
        played(FOREIGN, move=WRONG_RED),
        [("D3", "wrong_instruction", ORANGE_CORNER)],
        "acted_alone",
        "D3's view has os at (0,2) layer 0",
        [("D3", "no", False)],
    ),
    "a wrong request beside a right one": Hand(
        played(CLEAR, FOREIGN, move=GREEN_CORNER),
        [("D3", "wrong_instruction", ORANGE_CORNER)],
        "not_seen",
        "D3's view has os at (0,2) layer 0",
        [("D1", "no", True), ("D3", "fully", False)],
    ),
    "no place": Hand(
        played(VAGUE, move=Move("place", "ys", "(2,0)", 0)),
        [("D1", "said_unclear", YELLOW_CORNER)],
        "not_seen",
        "place left open; the builder made it place ys at (2,0), layer 0",
        [("D1", "partly", True)],
    ),
    "no place, twice": Hand(
        played(VAGUE, ("D2", "Put a small yellow block on my wall."), move=Move("place", "ys", "(2,0)", 0)),
        [("D2", "said_unclear", YELLOW_CORNER), ("D1", "said_unclear", YELLOW_CORNER)],
        "not_seen",
        "place left open",
        [("D1", "partly", True), ("D2", "partly", True)],
    ),
    "no second cell": Hand(
        played(HALF, move=Move("place", "rl", "(2,0)", 0, "(1,0)")),
        [("D1", "said_unclear", BLUE_DOMINO)],
        None,
        "second cell left open",
        [("D1", "differs", True)],
    ),
    "no colour": Hand(
        played(("D1", "Put a small block on the left of my bottom layer."), move=WRONG_RED),
        [("D1", "said_unclear", YELLOW_CORNER)],
        "not_seen",
        "colour left open",
        [("D1", "partly", True)],
    ),
    "no size": Hand(
        played(("D1", "Put a blue block in the middle of my bottom layer."), move=Move("place", "bs", "(1,0)", 0)),
        [("D1", "said_unclear", BLUE_DOMINO)],
        None,
        "size left open",
        [("D1", "partly", True)],
    ),
    "chat": Hand(
        played(CHAT, move=WRONG_RED), [("D1", "not_said", BLUE_DOMINO)], None, "asks for nothing, and its view asks for: place ys"
    ),
    "chat, where a block stands right": Hand(
        played(("D2", "Sounds great, thanks!"), board=RIGHT, question="What now?"),
        [("D2", "not_said", ORANGE_NEXT)],
        "not_seen",
        "its view asks for: place os at (0,0), layer 1",
    ),
    "chat, and a question": Hand(played(CHAT, question="What now?"), [("D1", "not_said", BLUE_DOMINO)], None, "asks for nothing"),
    "silence, shared out by what each could have kept": Hand(
        played(("D1", "No message provided"), ("D3", ""), move=WRONG_RED),
        [("D1", "not_said", BLUE_DOMINO), ("D3", "not_said", ORANGE_CORNER)],
        None,
        "is silent, and its view asks for: place ys at (0,0), layer 0",
    ),
    "two against each other": Hand(
        played(ORANGE, ("D2", "Put a small blue block on my left, middle layer."), board=RIGHT, question="Which one?"),
        [("D2", "wrong_instruction", ORANGE_NEXT)],
        "conflict",
        "D2's view has os at (0,0) layer 1",
        [("D1", "no", True), ("D2", "no", False)],
    ),
    "a right block taken away": Hand(
        played(("D1", "Remove the small yellow block at the left of my bottom layer."), board=RIGHT, move=Move("remove", None, "(0,0)", 0)),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "what is at (0,0) looks right in D1's view",
        [("D1", "fully", False)],
    ),
    "nothing to take away": Hand(
        played(("D1", "Remove the small yellow block at the right of my bottom layer."), board=RIGHT, question="What?"),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "nothing is at (2,0)",
        [("D1", "no", False)],
    ),
    "taken away from above": Hand(
        played(("D1", "Remove the small red block at the left of my middle layer."), board=RIGHT, question="What?"),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "the stack at (0,0) is 1 high",
        [("D1", "no", False)],
    ),
    "taken away from below": Hand(
        played(("D1", "Remove the small yellow block at the left of my bottom layer."), board=TALL, question="What?"),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "another block is on layer 0 of (0,0)",
        [("D1", "no", False)],
    ),
    "replaced under another block": Hand(
        played(REPLACE_RED, board={"(0,0)": ["rs", "os"]}, question="What?"),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "another block is on layer 0 of (0,0)",
        [("D1", "no", False)],
    ),
    "replaced where another colour is": Hand(
        played(REPLACE_RED, board=RIGHT, question="What?"),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "ys is at (0,0) layer 0",
        [("D1", "no", False)],
    ),
    "replaced by what is there": Hand(
        played(("D1", "Replace the block at the left of my bottom layer with a small yellow block."), board=RIGHT, question="What?"),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "what is at (0,0) looks right in D1's view",
        [("D1", "no", False)],
    ),
    "not understood": Hand(
        played(("D1", "Add something to the middle somewhere in that area."), move=WRONG_RED),
        (),
        "not_understood",
        "was not understood whole",
    ),
    "on a full stack": Hand(
        played(
            ("D1", "Put a small yellow block on the left of my wall."), board=FULL, move=Move("place", "ys", "(0,0)", 3), accepted=False
        ),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "the stack at (0,0) is full",
        [("D1", "fully", False)],
    ),
    "on nothing": Hand(
        played(("D1", "Put a small orange block on the left of my middle layer."), move=Move("place", "os", "(0,0)", 1), accepted=False),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "the stack at (0,0) is 0 high: layer 1 has nothing to stand on",
        [("D1", "fully", False)],
    ),
    "where it stands already": Hand(
        played(CLEAR, board=RIGHT, move=YELLOW_CORNER, accepted=False),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "the stack at (0,0) is 1 high, and what is there looks right",
        [("D1", "fully", False)],
    ),
    "where something else stands": Hand(
        played(CLEAR, board={"(0,0)": ["rs"]}, move=YELLOW_CORNER, accepted=False),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "the stack at (0,0) is 1 high; place bl",
        [("D1", "fully", False)],
    ),
    "on another wall": Hand(
        played(("D1", "Place a small green block at (2,2), layer 0."), move=Move("place", "rs", "(2,2)", 0)),
        [("D1", "wrong_instruction", BLUE_DOMINO)],
        None,
        "(2,2) is not on D1's wall",
        [("D1", "differs", False)],
    ),
    "on another wall, and right": Hand(
        played(("D1", "Place a small orange block at (2,2), layer 0."), move=Move("place", "rs", "(2,2)", 0)),
        [("Builder", "misread", Move("place", "os", "(2,2)", 0))],
        "not_seen",
        "D1 asked for another colour",
        [("D1", "differs", True)],
    ),
    "a block to be replaced is played by no move": Hand(
        played(("D1", "Replace the red block at (0,0), layer 1 with a small orange block."), board=TALL, move=ELSEWHERE),
        (),
        "acted_alone",
        "no director asked for it",
        [("D1", "no", True)],
    ),
}


@pytest.mark.parametrize("hand", HANDS.values(), ids=HANDS)
def test_hand_worked_turns(hand: Hand) -> None:
    """What an agent could have kept is progress counted from the board that its best move would have led to."""
    lost, board = lost_in(hand.played), board_of(hand.played)
    found = attribute(logged(hand.played), {1: lost})
    named = [finding for finding in found.findings if finding.cost > 0 or finding.agent in {agent for agent, *_ in hand.causes}]
    gains = [0.0 if better is None else min(worth(moved(board, better)) - lost.after, lost.cost) for *_, better in hand.causes]
    kept = max(gains, default=0.0)
    expected: list[Any] = [
        (agent, link, pytest.approx(kept * gain / sum(gains) if gain else 0.0), pytest.approx(gain) if gain else None)
        for (agent, link, _), gain in zip(hand.causes, gains, strict=True)
    ]
    expected += [(None, hand.rest, pytest.approx(lost.cost - kept), None)] if hand.rest else []
    told: list[Any] = [(one.agent, one.link, one.cost, one.regained) for one in named]
    assert told == expected
    assert sum(one.cost for one in named) == pytest.approx(lost.cost)
    assert hand.told in named[0].evidence
    assert [(follow.agent, follow.how, follow.right) for follow in found.follows] == list(hand.follows)
    for one, (agent, _, better) in zip(named, hand.causes, strict=False):
        if better is not None:
            assert_ideal(one, agent, better)


def assert_ideal(found: Finding, agent: str, better: Move) -> None:
    """The move in the game's grammar: the builder does it, a director asks for it, and nobody else hears of it before."""
    assert found.ideal is not None
    if agent == "Builder":
        assert found.ideal.kind == "do"
        to = f"{better.span_to}:" if better.span_to else ""
        assert found.ideal.text.startswith(f"PLACE:{better.block}:{better.position}:{better.layer}:{to}CONFIRM:")
        assert found.ideal.kept == ("D1", "D2", "D3")
    else:
        assert (found.ideal.kind, found.ideal.text) == ("say", f"Please put {WORDS[better]}.")
        assert {*found.ideal.kept, agent} == {"D1", "D2", "D3"}


def free(*turns: Played) -> Attributed:
    """Of turns that cost nothing."""
    return attribute(logged(*turns), {number: Lost(0.5, 0.5, 0.0, 3) for number in range(1, len(turns) + 1)})


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (played(CLEAR, move=YELLOW_CORNER), []),
        (played(CLEAR, move=WRONG_RED), [("Builder", "misread")]),
        (played(CLEAR, move=ELSEWHERE), []),
        (played(CLEAR, question="Could not parse response: ???"), [("Builder", "format")]),
        (played(FOREIGN, CHAT, move=GREEN_CORNER), [("D3", "wrong_instruction"), ("D1", "not_said")]),
        (played(VAGUE, move=YELLOW_CORNER), [("D1", "said_unclear")]),
        (played(CLEAR, ("D1", "Put a small yellow block on my wall."), move=YELLOW_CORNER), []),
        (played(CHAT, board=TALL, question="What?"), [("D1", "not_said")]),
    ],
)
def test_what_was_wrong_in_a_turn_that_cost_nothing(told: Played, expected: list[tuple[str, str]]) -> None:
    found = free(told).findings
    assert [(one.agent, one.link) for one in found] == expected


@pytest.mark.parametrize(
    ("said", "links"),
    [
        (["Sounds great, thanks!", CLEAR[1]], []),
        (["Sounds great, thanks!", "Now the other one, same layer."], []),
        ([VAGUE[1], "It takes just the one cell."], []),
        (["Put a small green block on the left of my bottom layer.", "Sorry, the other colour."], []),
        (["What would help us most right now: small yellow, left of my wall, bottom."], []),
        (["Like last turn, please."], []),
        (["I stand by it."], []),
        (["+1 to D3."], []),
        (["Go ahead with my plan."], []),
        (["Sounds great, thanks!", "Take your time."], ["not_said"]),
        (["Put a small green block on the left of my bottom layer.", "Thanks!"], ["wrong_instruction"]),
    ],
)
def test_all_messages_of_a_director_in_a_turn_count_as_one(said: list[str], links: list[str]) -> None:
    """A greeting beside a request is no silence, and a message that was not understood may complete or correct the others."""
    found = free(played(*(("D1", text) for text in said), move=YELLOW_CORNER)).findings
    assert [one.link for one in found if one.agent == "D1"] == links
    assert {(one.cost, one.regained) for one in found} <= {(0.0, None)}


def test_what_was_asked_for_before_need_not_be_asked_for_again() -> None:
    """The next thing that the view asks for has not been said: so with one more request only that is left unsaid."""
    asked = [CLEAR, ("D1", "Put a large blue block across the middle and right of my bottom layer.")]
    for before, unsaid in ((0, "place ys at (0,0), layer 0"), (1, "place bl at (1,0) to (2,0), layer 0")):
        found = free(*(played(message, question="What?") for message in asked[:before]), played(CHAT, question="What?")).findings
        assert [one.evidence for one in found if one.link == "not_said"] == [f"asks for nothing, and its view asks for: {unsaid}"]
    assert free(*(played(message, question="What?") for message in asked), played(CHAT, question="What?")).findings == []


def test_a_turn_that_broke_off_is_nobodys() -> None:
    told = played(CLEAR, move=WRONG_RED)
    (found,) = attribute(logged(told, error="no connection"), {1: lost_in(told)}).findings
    assert (found.agent, found.link, found.evidence) == (None, "undecided", "the turn is incomplete: no connection")


def test_without_the_turns_left_nothing_tells_what_could_have_been_kept() -> None:
    """Nor in a turn that the log does not have."""
    told = played(CLEAR, move=WRONG_RED)
    lost = lost_in(told)._replace(left=None)
    found = attribute(logged(told), {1: lost, 2: lost}).findings
    assert [(one.turn, one.agent, one.link, one.cost) for one in found] == [
        (1, "Builder", "misread", 0.0),
        (1, None, "not_seen", lost.cost),
    ]
