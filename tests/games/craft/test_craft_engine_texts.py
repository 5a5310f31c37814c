"""What agents write: the builder's line and the director's raw answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.craft.engine.board import BLOCKS, CELLS
from games.craft.engine.rules import Move
from games.craft.text.replies import (
    NO_MESSAGE,
    NO_THINKING,
    Clarification,
    DirectorAnswer,
    ParsedMove,
    builder_line,
    director_text,
    parse_answer,
    parse_director,
    parse_line,
)

MOVES = [
    ("PLACE:gs:(0,1):0:CONFIRM:ok", Move("place", "gs", "(0,1)", 0), "ok"),
    ("PLACE:gl:(0,0):0:(1,0):CONFIRM:why: because", Move("place", "gl", "(0,0)", 0, "(1,0)"), "why: because"),
    ("PLACE:gs:(0,1):0:CONFIRM:cut: here", Move("place", "gs", "(0,1)", 0), "cut"),
    ("PLACE:gl:(0,0):0:(1,0)", Move("place", "gl", "(0,0)", 0), "Placing gl at (0,0)"),
    ("PLACE:gs:(0,1):2", Move("place", "gs", "(0,1)", 2), "Placing gs at (0,1)"),
    ("  [PLACE:gs:(0,1):0:CONFIRM:ok]  ", Move("place", "gs", "(0,1)", 0), "ok"),
    ("PLACE: bs : (0, 1) : 1 :CONFIRM: yes", Move("place", " bs ", " (0, 1) ", 1), " yes"),
    ("PLACE:gs:(0,1):0:None:CONFIRM:ok", Move("place", "gs", "(0,1)", 0, "None"), "ok"),
    ("REMOVE:(0,1):0:CONFIRM:off: it goes", Move("remove", None, "(0,1)", 0), "off: it goes"),
    ("REMOVE:(0,0):1:(0,1):CONFIRM:both", Move("remove", None, "(0,0)", 1, "(0,1)"), "both"),
    ("REMOVE:bl:(0,0):1:(0,1):CONFIRM:both", Move("remove", None, "(0,0)", 1, "(0,1)"), "both"),
]


@pytest.mark.parametrize(("line", "move", "confirmation"), MOVES, ids=[row[0].strip() for row in MOVES])
def test_lines_that_are_moves(line: str, move: Move, confirmation: str) -> None:
    """All four forms of the grammar, and the forms outside it that the released parser lets pass."""
    assert parse_line(line) == ParsedMove(move, confirmation)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("CLARIFY: which: one?", " which: one?"),
        ("place:gs:(0,1):0:CONFIRM:ok", "Could not parse response: place:gs:(0,1):0:CONFIRM:ok"),
        ("PLACE:gs:(0,1)", "Could not parse response: PLACE:gs:(0,1)"),
        ("PLACE:gs:(0,1):top:CONFIRM:ok", "Parse error: invalid literal for int() with base 10: 'top'"),
        ("REMOVE:(0,1):0", "Could not parse response: REMOVE:(0,1):0"),
        ("REMOVE:bl:(0,1):0", "Could not parse response: REMOVE:(0,1):0"),
        ("REMOVE:(0,1):0:Confirm:ok", "Could not parse response: REMOVE:(0,1):0:Confirm:ok"),
        ("", "Could not parse response: "),
        ("I would place it left", "Could not parse response: I would place it left"),
    ],
)
def test_lines_that_become_clarifications(line: str, text: str) -> None:
    """Questions, and everything that cannot be read, with the released parser's words."""
    assert parse_line(line) == Clarification(text)


def test_only_the_first_line_of_an_answer_counts() -> None:
    """Explanations below the move are ignored, a code fence above it hides it."""
    assert parse_answer("\nREMOVE:(0,1):0:CONFIRM:ok\nbecause") == ParsedMove(Move("remove", None, "(0,1)", 0), "ok")
    assert parse_answer("```\nREMOVE:(0,1):0:CONFIRM:ok\n```") == Clarification("Could not parse response: ```")


@given(
    st.sampled_from(BLOCKS),
    st.sampled_from(CELLS),
    st.integers(0, 2),
    st.none() | st.sampled_from(CELLS),
    st.from_regex(r"[a-z ]+", fullmatch=True),
)
def test_written_moves_are_read_back(block: str, cell: str, layer: int, span_to: str | None, words: str) -> None:
    """builder_line and parse_line are inverse up to the block of a removal, which the grammar lacks."""
    words = words.strip() or "ok"
    placed, removed = Move("place", block, cell, layer, span_to), Move("remove", None, cell, layer, span_to)
    assert parse_line(builder_line(placed, words)) == ParsedMove(placed, words)
    assert parse_line(builder_line(removed, words)) == ParsedMove(removed, words)


@given(st.text(max_size=80))
def test_no_text_breaks_the_builder_parser(text: str) -> None:
    """Any answer is a move or a clarification."""
    assert isinstance(parse_answer(text), ParsedMove | Clarification)


ANSWERS = [
    pytest.param("<think>a</think><message>b</message>", ("a", "b"), id="well formed"),
    pytest.param("<THINK>\n a\n</Think> x <Message> b </MESSAGE>", ("a", "b"), id="any case, blanks around"),
    pytest.param("<think>a</think><message></message>", ("a", ""), id="empty message"),
    pytest.param("<think>a</think><message>b", ("a", "b"), id="message not closed"),
    pytest.param("<think>a</think>\nb", ("a", "b"), id="message without tags"),
    pytest.param("<message>b</message>", (NO_THINKING, "b</message>"), id="no reasoning"),
    pytest.param("<message>b", (NO_THINKING, "b"), id="no reasoning, message not closed"),
    pytest.param("<think>a <message>b", (NO_THINKING, "b"), id="reasoning not closed before the message"),
    pytest.param(
        "<think>one two three four five\nshort line",
        ("one two three four five\nshort line", "one two three four five"),
        id="reasoning only",
    ),
    pytest.param("<think>too short", ("too short", NO_MESSAGE), id="short reasoning only"),
    pytest.param("say [instruction] it\n\nagain\n\nagain", (NO_THINKING, "say  it\n\nagain"), id="plain text"),
    pytest.param("", (NO_THINKING, NO_MESSAGE), id="nothing"),
    pytest.param("[only an echo]", (NO_THINKING, NO_MESSAGE), id="nothing but a bracket"),
]


@pytest.mark.parametrize(("raw", "answer"), ANSWERS)
def test_director_answers_and_their_fall_backs(raw: str, answer: tuple[str, str]) -> None:
    """Reasoning and message as the released parser finds them."""
    assert parse_director(raw) == DirectorAnswer(*answer)


_PLAIN = st.from_regex(r"[A-Za-z0-9(),.'? \n]*", fullmatch=True)


@given(_PLAIN, _PLAIN)
def test_written_answers_are_read_back(thinking: str, message: str) -> None:
    """director_text and parse_director are inverse up to outer blanks."""
    assert parse_director(director_text(thinking, message)) == DirectorAnswer(thinking.strip(), message.strip())
