"""Messages in the styles in which language models write: what is concluded from them is right, and the rest is left open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from games.craft.claims import Request
from games.craft.engine.board import CELLS
from judges.claims.reading import Open, TextClaims
from judges.craft.language.typed import read_text
from tests.judges.craft.test_craft_checks import decide, game, turn

FILE = Path(__file__).with_name("craft_messages_natural.yaml")
MESSAGES: Mapping[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def asked(text: str, speaker: str, board: Mapping[str, Any]) -> tuple[Request, ...] | Open:
    """All that a message asks for; open where a clause was not understood."""
    return TextClaims(read_text(text, speaker, {cell: board.get(cell, ()) for cell in CELLS})).whole(Request)


def is_same(request: Request, written: str) -> bool:
    """Whether a request is the one written as ``verb block cells layer``; what follows from the board may be left out."""
    verb, block, cells, layer = written.split()
    known = (request.verb, sorted(request.cells)) == (verb, sorted(f"({cell[0]},{cell[1]})" for cell in cells.split("+")))
    block_known = request.block == block if verb == "place" else request.color in (None, block[0])
    return known and block_known and (request.layer is None or layer in ("-", str(request.layer)))


def outcomes() -> Iterator[tuple[str, str]]:
    for name, speaker, board, text, expected in MESSAGES["messages"]:
        got = asked(text, speaker, MESSAGES["boards"][board])
        if isinstance(got, Open):
            yield name, "open" if expected == "open" else "abstained"
        else:
            right = expected != "open" and len(got) == len(expected) and all(any(is_same(one, told) for one in got) for told in expected)
            yield name, "right" if right else "wrong"


def test_what_is_understood_is_right_and_the_rest_is_open() -> None:
    """Before, 11 of 31 messages that counted as understood were not: conditions, retractions, references, mere remarks."""
    found = dict(outcomes())
    assert [name for name, outcome in found.items() if outcome == "wrong"] == []
    counts = Counter(found.values())
    assert counts["open"] == sum(expected == "open" for *_, expected in MESSAGES["messages"])
    assert counts["right"] >= 19


RED_LEFT: Mapping[str, Any] = {"(0,0)": ["rs"], "(1,0)": ["os"]}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Take the other.", id="another block"),
        pytest.param("Take my word for it.", id="a word of taking in talk"),
        pytest.param("Small green in the same layer, at my right end.", id="layer of another block"),
        pytest.param("Put a small green to the left of it, on the orange.", id="place by a pronoun"),
        pytest.param("A large green covers both of them.", id="place by two blocks"),
        pytest.param("D2 and I share the corner on the left: small green there, bottom layer.", id="another player's frame"),
        pytest.param("If D2 agrees, put a small green at my right end, bottom layer.", id="condition"),
        pytest.param("Put a small green at my right end, bottom layer. Scratch that.", id="retraction"),
        pytest.param("Put a small green or a small yellow at my right end, bottom layer.", id="alternatives"),
        pytest.param("I see a small green at my right end, bottom layer.", id="remark or request"),
        pytest.param("One tiny green and my right end is perfect.", id="praise of what is not there"),
        pytest.param("What D3 said.", id="joins in"),
        pytest.param("Not entirely sure about the red on the left, D2 may know better.", id="doubt"),
        pytest.param("Only this keeps my wall from being done: the small green at my right end.", id="a block kept that is not there"),
    ],
)
def test_a_clause_that_leaves_something_open_is_not_understood(text: str) -> None:
    assert isinstance(asked(text, "D1", RED_LEFT), Open)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm missing a green block. Small. Bottom layer, right end.", "place gs 20 0"),
        ("Ok, small green on my right end please, bottom layer.", "place gs 20 0"),
        ("We need a small green at my right end, bottom layer. Please place it.", "place gs 20 0"),
        ("From here the view is fine right now. Put a small green at the right of my bottom layer.", "place gs 20 0"),
        ("At my right end I see a small green, bottom layer. Put that there.", "place gs 20 0"),
        ("Put a small yellow on top of the red block at the left of my wall.", "place ys 00 1"),
    ],
)
def test_what_several_sentences_say_together_is_one_request(text: str, expected: str) -> None:
    got = asked(text, "D1", RED_LEFT)
    assert not isinstance(got, Open)
    assert [is_same(request, expected) for request in got] == [True]


@pytest.mark.parametrize(
    ("question", "thought", "message"),
    [
        pytest.param(
            "SG3", "Place a small yellow block at (2,0), layer 2. No wait, the other one comes first.", "Go on.", id="second step"
        ),
        pytest.param("MM4", "Place a small green block at (2,0).", "Place a small green block at (2,0), layer 1.", id="layer added"),
        pytest.param("MM5", "Go on.", "Place a small green block at (0,0), layer 1. The same at my middle.", id="mixed cells"),
        pytest.param("MM6", "Go on.", "Place a green block at (2,0), layer 0. A small one, like the other.", id="size in another sentence"),
    ],
)
def test_no_answer_rests_on_a_part_of_a_text(question: str, thought: str, message: str) -> None:
    """Each of them was answered from one clause, without the others."""
    played = game(turn(board=RED_LEFT, thoughts={"D1": thought}, messages=[("D1", message)]))
    assert decide(question, played, "D1").answer is None


PLAIN = "Place a green block at my right end, layer 0."
GIVEN = {
    "a single stud": "Place a green block one stud wide at my right end, layer 0.",
    "measure in front": "Place a one unit wide green block at my right end, layer 0.",
    "number of cells": "Green block, covers 1 cell, right end, bottom layer.",
    "in brackets": "Place a green block (1 cell) at my right end, layer 0.",
    "size of": "Place a green block with a size of 1 at my right end, layer 0.",
    "takes up": "Green on my right end, layer 0; it takes up just one cell.",
    "covers": "Green on my right end, layer 0 - covers only one place.",
    "label": "Green, size: 1, at the right end, bottom layer.",
}
"""Messages that give the size in words."""

OPEN = [
    "**Colour:** green - **Footprint:** 1 cell - **Where:** my right end - **Layer:** 0",
    "I need a green cube at the right end of my bottom layer.",
    "Place a green block at my right end, layer 0. It is the ordinary kind.",
    "Place a green block at my right end, layer 0. It covers only one cell.",
    "Green on my right end, bottom layer, same size as the red on the left.",
    "One green, one cell, right end, bottom layer.",
    "Only a half-length green fits at my right end, bottom layer.",
    "Place a full-length green at my right end, layer 0.",
    "Place a red block at the left and middle of layer 2.",
    "Put a small matching piece at my right end, layer 0.",
    "Put a small block in the usual colour at my right end, layer 0.",
    "A small lime block at my right end, layer 0.",
    "Place a small green block where the gap is.",
    "Place a small green block. You know the spot.",
]
"""Messages whose words may give what the request seems to lack."""


@pytest.mark.parametrize("text", GIVEN.values(), ids=GIVEN.keys())
def test_a_size_in_words_is_a_size(text: str) -> None:
    got = asked(text, "D1", RED_LEFT)
    assert not isinstance(got, Open)
    assert [is_same(request, "place gs 20 0") for request in got] == [True]


@pytest.mark.parametrize("text", OPEN)
def test_nothing_is_called_missing_that_a_word_may_give(text: str) -> None:
    assert decide("MM6", game(turn(board=RED_LEFT, messages=[("D1", text)])), "D1").answer is None


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (PLAIN, "a size"),
        ("Thanks, team! " + PLAIN, "a size"),
        ("We need a green block at my right end, bottom layer.", "a size"),
        ("Put a small block at the right end of my bottom layer.", "a colour"),
        ("Please place a small green block on the bottom layer.", "a place"),
    ],
)
def test_what_a_simple_message_lacks_is_found(text: str, missing: str) -> None:
    decision = decide("MM6", game(turn(board=RED_LEFT, messages=[("D1", text)])), "D1")
    assert (decision.answer, missing in decision.reason) == ("no", True)


@pytest.mark.parametrize(
    "text",
    [
        "Left end, bottom is done. Next up there: a small green one layer higher.",
        "A small green at my right, second from the bottom.",
        "Small green goes to (2,0) on level 2 of 3.",
    ],
)
def test_a_layer_that_is_counted_otherwise_is_open(text: str) -> None:
    assert isinstance(asked(text, "D1", RED_LEFT), Open)


def test_a_remark_of_other_things_denies_no_request() -> None:
    got = asked("Small green on my right end, bottom layer. No discussion needed.", "D1", RED_LEFT)
    assert not isinstance(got, Open)
    assert [is_same(request, "place gs 20 0") for request in got] == [True]


@pytest.mark.parametrize(
    ("thought", "answer"),
    [
        ("That would be (1,2)? No, that is D3's. Place a small green block at (2,0), layer 0.", None),
        ("The wall of D3 begins at (0,2). Place a small green block at (2,0), layer 0.", None),
        ("Place a small green block at (1,2), layer 0.", "no"),
    ],
)
def test_a_cell_named_to_set_it_apart_is_no_step_outside_the_wall(thought: str, answer: str | None) -> None:
    assert decide("SG7", game(turn(board=RED_LEFT, thoughts={"D1": thought}, messages=[("D1", "Go on.")])), "D1").answer == answer
