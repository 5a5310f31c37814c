"""Constructions of director language: each says its claim, its mirror image the mirrored one; denied or asked it says nothing of it."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.craft.claims import Request
from judges.craft.language import Claim, read
from judges.craft.language.typed import read_text

EMPTY: dict[str, list[str]] = {f"({row},{column})": [] for row in range(3) for column in range(3)}
WALLS = {"D1": ("(0,0)", "(1,0)", "(2,0)"), "D2": ("(0,0)", "(0,1)", "(0,2)"), "D3": ("(0,2)", "(1,2)", "(2,2)")}
LAYERS = ("bottom", "middle", "top")
COLORS = {"green": "g", "blue": "b", "red": "r", "yellow": "y", "orange": "o"}


class Construction(NamedTuple):
    """One way to say where blocks go, and the same words denied and asked."""

    said: str
    """``{a}``, ``{b}``, ``{c}`` are colours, ``{layer}`` a layer's name."""

    places: tuple[tuple[str, int], ...]
    """Colour letter and index of the cell (0 left), for every block that is asked for."""

    denied: str
    asked: str
    layered: bool = True


OUTER = (("a", 0), ("b", 2))
LEFT = (("a", 0),)

CONSTRUCTIONS = {
    "second place before its block": Construction(
        "For the {layer} layer I want a small {a} at the left, and at the right a small {b}.", OUTER,
        "For the {layer} layer I do not want a small {a} at the left, and at the right a small {b}.",
        "Who wants for the {layer} layer a small {a} at the left, and at the right a small {b}?",
    ),
    "one size told for all": Construction(
        "My {layer} layer needs {a} on the left and {b} on the right, both small.", OUTER,
        "My {layer} layer needs no {a} on the left and no {b} on the right, both small.",
        "Does my {layer} layer need {a} on the left and {b} on the right, both small?",
    ),
    "table": Construction(
        "cell | layer | colour | size\nleft | {layer} | {a} | small", LEFT,
        "Do not execute: cell left | {layer} layer | {a} | small",
        "Did you execute: cell left | {layer} layer | {a} | small?",
    ),
    "labelled fields": Construction(
        "cell=left; layer={layer}; colour={a}; size=S", LEFT,
        "do not act on: cell=left; layer={layer}; colour={a}; size=S",
        "Who asked for cell=left; layer={layer}; colour={a}; size=S?",
    ),
    "step aside": Construction(
        "Look at the middle stack of my wall. One cell to the left of that stack, on the {layer} layer, I need a small {a} block.", LEFT,
        "Look at the middle stack of my wall. One cell to the left of that stack, on the {layer} layer, I need no small {a} block.",
        "Look at the middle stack of my wall. Did anyone ask, one cell to the left of that stack, for a small {a} block?",
    ),
    "telegram": Construction(
        "{a}. small. left. {layer} layer. go.", LEFT,
        "not {a}. not small. not left. not {layer} layer.",
        "{a}? small? left? {layer} layer?",
    ),
    "completed by a later sentence": Construction(
        "My wall still lacks a small {a} block. It lives in the left cell, on the {layer} layer.", LEFT,
        "My wall does not lack a small {a} block. It lives in the left cell, on the {layer} layer.",
        "Does my wall lack a small {a} block? Is it in the left cell, on the {layer} layer?",
    ),
    "slip mended": Construction(
        "Place a small {a} block on the right, no wait, on the left of my {layer} layer.", LEFT,
        "Do not place a small {a} block on the right, no wait, on the left of my {layer} layer.",
        "Did you place a small {a} block on the right, no wait, on the left of my {layer} layer?",
    ),
    "hedged": Construction(
        "I could be wrong, but the left cell of my {layer} layer should, I think, really be a small {a} block, perhaps.", LEFT,
        "I could be wrong, but the left cell of my {layer} layer should, I think, really not be a small {a} block, perhaps.",
        "Was the left cell of my {layer} layer, you think, really a small {a} block?",
    ),
    "place as host": Construction(
        "The left cell of my {layer} layer takes a small {a} block.", LEFT,
        "The left cell of my {layer} layer takes no small {a} block.",
        "What does the left cell of my {layer} layer take?",
    ),
    "set aside": Construction(
        "Skip the right; the left cell of my {layer} layer gets a small {a} block.", LEFT,
        "Skip the left cell of my {layer} layer; it gets no small {a} block.",
        "Who said the left cell of my {layer} layer gets a small {a} block?",
    ),
    "withdrawn": Construction(
        "Ignore what D2 said. Put a small {a} block on the left of my {layer} layer.", LEFT,
        "Put a small {a} block on the left of my {layer} layer. No, please do not act on that.",
        "Why put a small {a} block on the left of my {layer} layer?",
    ),
    "imagined": Construction(
        "If you could put a small {a} block on the left of my {layer} layer, I would be happy.", LEFT,
        "If the left were empty, I would ask for a small {a} block on the left of my {layer} layer.",
        "Did I ask for a small {a} block on the left of my {layer} layer?",
    ),
    "reported": Construction(
        "You put the last one well. Now put a small {a} block on the left of my {layer} layer.", LEFT,
        "You put a small {a} block on the left of my {layer} layer.",
        "Who put a small {a} block on the left of my {layer} layer?",
    ),
    "quoted": Construction(
        'D2 is right. "Put a small {a} block on the left of my {layer} layer."', LEFT,
        'D2 said: "Put a small {a} block on the left of my {layer} layer."',
        'Did D2 say "put a small {a} block on the left of my {layer} layer"?',
    ),
}  # fmt: skip


def found(text: str, speaker: str) -> list[tuple[str, str | None, tuple[str, ...] | None, int | None]]:
    """Verb, colour, cells and layer of every instruction; blocks and places in the order of the text."""
    return [_key(claim) for claim in read(text, speaker, EMPTY).claims if claim.is_instruction]


def _key(claim: Claim) -> tuple[str, str | None, tuple[str, ...] | None, int | None]:
    return claim.verb, claim.color, claim.cells, claim.layer


def mirrored(text: str) -> str:
    """Swap left and right; a row told from left to right is left to right in the mirror, too, so its order words stay."""
    parts = re.split(r"(left to right|left and right|on the left and one on the right)", text, flags=re.IGNORECASE)
    swap = {"left": "right", "right": "left"}
    return "".join(
        part if number % 2 else re.sub(r"\b(left|right)\b(?! the last)", lambda match: swap[match.group()], part)
        for number, part in enumerate(parts)
    )


@pytest.mark.parametrize("name", CONSTRUCTIONS)
@settings(max_examples=12, deadline=None)
@given(speaker=st.sampled_from(sorted(WALLS)), layer=st.sampled_from((0, 1, 2)), colors=st.permutations(sorted(COLORS)))
def test_construction_says_its_claim_and_its_variants_do_not(name: str, speaker: str, layer: int, colors: list[str]) -> None:
    """The claim comes out in full; mirrored words give mirrored cells; denied and asked words never give the claim."""
    way = CONSTRUCTIONS[name]
    words = {"layer": LAYERS[layer], "a": colors[0], "b": colors[1], "c": colors[2]}
    wall = WALLS[speaker]
    expected = [("place", COLORS[words[letter]], (wall[place],), layer) for letter, place in way.places]
    assert found(way.said.format(**words), speaker) == expected
    for variant in (way.denied, way.asked):
        assert not set(found(variant.format(**words), speaker)) & set(expected), variant
    if len(expected) == 1:
        across = [("place", expected[0][1], (wall[2 - way.places[0][1]],), layer)]
        assert found(mirrored(way.said.format(**words)), speaker) == across


COUNTED = [
    ("Level 3 is for later. Level 1, right cell: small red.", (2, 0)),
    ("Numbered from 1: layer 2, left cell needs a small red block.", (0, 1)),
    ("Counting from 0: layer 2, left cell needs a small red block.", (0, 2)),
    ("Small red on layer 0 (the bottom), right cell.", (2, 0)),
    ("b3: small red", (1, 2)),
    ("Small red at c1.", (2, 0)),
    ("Ground floor is done. First floor, left: small red.", (0, 1)),
    ("Small red in the layer in between, left cell.", (0, 1)),
]


@pytest.mark.parametrize(("text", "place"), COUNTED, ids=[text[:40] for text, _ in COUNTED])
@pytest.mark.parametrize("speaker", sorted(WALLS))
def test_numbers_count_from_where_the_text_counts(text: str, place: tuple[int, int], speaker: str) -> None:
    """Layers by number and by ordinal, squares; (cell from the left, layer from the bottom), both from 0."""
    assert ("place", "r", (WALLS[speaker][place[0]],), place[1]) in found(text, speaker)


@pytest.mark.parametrize(
    "text", ["Small red in column 2, top layer.", "Small red in slot 1 of the top layer.", "Small red at b2 on layer 1."]
)
def test_a_number_without_a_first_number_is_left_open(text: str) -> None:
    """Column 1 may be the left or the middle one: no cell is given."""
    assert not [cells for _, _, cells, _ in found(text, "D1") if cells]


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("Put a small red block in the corner that only I can see, top layer.", {"D1": 2, "D3": 2}),
    ],
)
def test_who_sees_a_corner_tells_which_it_is(text: str, cells: dict[str, int]) -> None:
    """The end of a wall can be named by who shares it."""
    for speaker, place in cells.items():
        assert found(text, speaker) == [("place", "r", (WALLS[speaker][place],), 2)]


def test_replaced_block_comes_from_an_arrow_and_from_labels() -> None:
    """``green -> blue`` and ``old: ... new: ...`` are replacements with the old block kept."""
    board = {**EMPTY, "(2,0)": ["gs"]}
    for text in ("right, bottom layer: green -> blue", "REPLACE | right | layer 0 | old: green | new: blue"):
        claims = [claim for claim in read(text, "D1", board).claims if claim.is_instruction]
        assert [_key(claim) for claim in claims] == [("replace", "b", ("(2,0)",), 0)], text
        assert claims[0].old is not None
        assert claims[0].old.color == "g"


def test_lone_block_asks_for_nothing() -> None:
    """A block without a place in the next words is no request."""
    assert found("Small red. D2 is right about everything.", "D1") == []


RED_ON_TOP_LEFT = "a small red block at the left of my top layer"

NOT_ASKED_FOR = [
    "I no longer need {it}.",
    "Nobody needs {it}.",
    "It makes no sense to put {it}.",
    "Anything but {it}!",
    "I'd wait with {it}.",
    "Stop asking for {it}.",
    "By no means place {it}.",
    "You needn't put {it}.",
    "Please avoid {it}.",
    "Let's not put {it}.",
    "I doubt that {it} belongs there.",
    "I wonder whether {it} is right.",
    "I was going to ask for {it}, but D2 comes first.",
    "If D2 were done, we could use {it}.",
    "Thanks for placing {it}.",
    "The builder put {it}.",
    "Is there {it}?",
    "Who put {it}?",
    "Has somebody placed {it}?",
    "My target has {it}, but don't place it yet.",
    "My target has {it}. It is already there.",
    "I need {it}. Forget it.",
    "I want {it}. No, please do not act on that.",
    'D3 said "I need {it}".',
    "Cancel my request for {it}.",
    "Skip {it}.",
]


@pytest.mark.parametrize("frame", NOT_ASKED_FOR)
@pytest.mark.parametrize("speaker", sorted(WALLS))
def test_what_is_denied_doubted_reported_or_withdrawn_is_not_asked_for(frame: str, speaker: str) -> None:
    """No request comes out of words that ask for nothing."""
    assert found(frame.format(it=RED_ON_TOP_LEFT), speaker) == []


ASKED_FOR = [
    "I need {it}.",
    "Let me have {it}.",
    "Would {it} be possible?",
    "I wonder if we could put {it}.",
    "If you could place {it}, I would be grateful.",
    "I'd appreciate it if you added {it}.",
    "Thanks for the last one, now put {it}.",
    "I was wrong before: put {it}.",
    "Forget the rest; put {it}.",
    "Not sure about the right, but I need {it}.",
]


@pytest.mark.parametrize("frame", ASKED_FOR)
@pytest.mark.parametrize("speaker", sorted(WALLS))
def test_polite_and_roundabout_requests_are_requests(frame: str, speaker: str) -> None:
    """The same words in a frame that asks give the full request."""
    assert found(frame.format(it=RED_ON_TOP_LEFT), speaker) == [("place", "r", (WALLS[speaker][0],), 2)]


@pytest.mark.parametrize("verb", ["remove", "swap", "keep", "take away"])
def test_row_of_blocks_to_be_removed_is_not_placed(verb: str) -> None:
    """Blocks of a layer that are listed behind another action are no row to be built."""
    claims = found(f"On my top layer, {verb} the small red, the small blue and the small green.", "D1")
    assert not [claim for claim in claims if claim[0] == "place" and claim[2] is not None]


BARE_BOARD: dict[str, list[str]] = {cell: [] for wall in WALLS.values() for cell in wall}
MENTIONS = {
    "The drawing says small red block at (0,0), layer 0, not installed yet.": "place",
    "The plan promised a small red block for layer 0 of (0,0), and none was found there.": "place",
    "What should be at (0,0) on layer 0? A small red block. What is there? Nothing.": "place",
    "Cell: (0,0), layer: 0, target: small red, board: none.": "place",
    "I do not think the small red block at (0,0), layer 0, should be there; better take it off.": "remove",
    "The small red block at (0,0), layer 0, is a defect, remove it.": "remove",
    "What should be at (0,0) on layer 0? A small red block. Is it needed? No.": None,
    "The target has a small red block at (0,0), layer 0, but do not place it yet.": None,
    "On layer 0 of (0,0) I see a small red block.": None,
}


@pytest.mark.parametrize(("text", "verb"), MENTIONS.items())
def test_a_block_with_its_place_and_layer_is_wanted_or_not_whatever_the_verb(text: str, verb: str | None) -> None:
    """Words of need, lack and fault and the board tell what a whole mention asks for; where they do not, nothing is claimed for certain."""
    certain = [claim for claim in read(text, "D1", BARE_BOARD).claims if claim.certain]
    asked = [(claim.verb, claim.color, claim.size, claim.cells, claim.layer) for claim in certain if claim.is_instruction]
    assert asked == ([] if verb is None else [(verb, "r", "s", ("(0,0)",), 0)])


def test_a_block_that_stands_is_not_asked_for_by_a_word_of_lack_alone() -> None:
    """Beside the same words a block that is there already stays undecided."""
    board = BARE_BOARD | {"(0,0)": ["rs"]}
    claims = read("The drawing says small red block at (0,0), layer 0, not installed yet.", "D1", board).claims
    assert not any(claim.certain and claim.is_instruction for claim in claims)


@pytest.mark.parametrize(
    ("more", "understood"), [("Removing it comes first.", True), ("Take it off first.", True), ("Put it there.", False)]
)
def test_a_removal_said_again_leaves_nothing_open(more: str, understood: bool) -> None:  # noqa: FBT001 - a table of cases
    """A pronoun that is to go is the block that was to go; one that is to be put somewhere is not known."""
    reading = read(f"The small red block on layer 0 of (0,0) should come off. {more}", "D1", BARE_BOARD | {"(0,0)": ["rs"]})
    assert (not reading.unread) == understood


@pytest.mark.parametrize(
    "text",
    [
        "My bottom layer from left to right: small red, small blue, small green.",
        "Left to right, the top row should be red, blue, green, all small blocks.",
        "Top row: small red, small blue, small green.",
        "From bottom to top, my left stack should be red, blue, green.",
        "Right column: red at the bottom, green in the middle, blue on top.",
        "Place a small red and a small blue block in the left and right cells of my top layer, respectively.",
        "Two small red blocks are needed on my top layer, one on the left and one on the right.",
        "Level 3, slot 1: small red.",
        "Numbered from 1: layer 2, column 1 needs a small red block.",
        "Small red on layer 1 (the bottom), right cell.",
        "Second layer from the top, left cell: small red.",
        "First layer from the top, left cell: small red.",
        "Small red on the second lowest layer, right cell.",
        "One level above the ground, on the left, a small red block.",
        "North-west corner of my wall: small red.",
        "Put a small red block where my wall meets D2's, top layer.",
        "Put a small red block in the corner that D2 and I share, top layer.",
        "Isn't there supposed to be a small red block on the left, bottom layer?",
        "Couldn't you place a small red block on the left, bottom layer?",
        "Slide a small red block into the near corner, top layer.",
        "The small green block on the right should actually be on the left, bottom layer.",
        "Once the small orange block is removed from the left, place a small blue one there.",
    ],
)
def test_what_is_not_read_is_not_understood_either(text: str) -> None:
    """Lists by rank, heights counted from elsewhere, roundabout words: no certain request, and their silence proves nothing."""
    read = read_text(text, "D1", {**EMPTY, "(0,0)": ["os"], "(2,0)": ["gs"]})
    assert [told.claim for told in read.claims if told.certain and isinstance(told.claim, Request) and told.claim.cells] == []
    assert any(Request in clause.may_hold for clause in read.unread)


@pytest.mark.parametrize("stands", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "Per drawing, layer 0 of (0,0) is not to carry the small green component that is fitted there.",
        "The small green block at (0,0), layer 0, is nowhere in my plan.",
        "The small green block at (0,0) on layer 0 contradicts my plan.",
        "The small green block at (0,0) on layer 0 fails inspection.",
        "The small green block at (0,0), layer 0, deviates from the drawing.",
        "My plan excludes the small green block at (0,0), layer 0.",
        "My plan rules out a small green block at (0,0), layer 0.",
        "I deny the need for small green at (0,0), layer 0.",
    ],
)
def test_words_of_fault_and_exclusion_ask_for_no_block(text: str, *, stands: bool) -> None:
    """Also where no such block stands: its absence does not turn a complaint into a request."""
    read = read_text(text, "D1", {**EMPTY, "(0,0)": ["gs"] if stands else []})
    assert [told.claim for told in read.claims if told.certain and isinstance(told.claim, Request) and told.claim.verb == "place"] == []


def test_a_verb_of_change_without_a_new_block_is_no_certain_replacement() -> None:
    """``Change order: fit ...`` exchanges nothing; what is to be put there is not said."""
    read = read_text("Change order: fit a small blue block at the left of my bottom layer.", "D1", {**EMPTY, "(0,0)": ["gs"]})
    assert [told.claim for told in read.claims if told.certain and isinstance(told.claim, Request)] == []
