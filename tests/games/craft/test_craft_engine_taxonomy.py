"""Did the builder follow, and if not, what went wrong: published and repaired readings side by side."""

from __future__ import annotations

import pytest

from games.craft.engine.board import EMPTY_BOARD, Board
from games.craft.engine.rules import ERROR_CODES, MESSAGES, ErrorCode, Move, MoveError
from games.craft.game import replay
from games.craft.measures import (
    ERROR_KINDS,
    PublishedCategory,
    RepairedCategory,
    followed_action_position_layer,
    followed_full,
    followed_physical,
    published_category,
    repaired_category,
)

SMALL = Move("place", "gs", "(0,0)", 1)
LARGE = Move("place", "bl", "(0,1)", 0, "(0,2)")
LISTED = (SMALL, LARGE)

ACCEPTED: list[tuple[str, Move, PublishedCategory, RepairedCategory, tuple[bool, bool, bool]]] = [
    ("candidate", SMALL, "correct", "correct", (True, True, True)),
    ("large block from its other end", Move("place", "bl", "(0,2)", 0, "(0,1)"), "wrong_position", "correct", (False, False, True)),
    ("superfluous second cell", Move("place", "gs", "(0,0)", 1, "(0,1)"), "wrong_span", "correct", (True, False, False)),
    ("other colour", Move("place", "rs", "(0,0)", 1), "wrong_block_color", "wrong_color", (True, False, False)),
    ("other size", Move("place", "bs", "(0,1)", 0), "wrong_block_color", "wrong_size", (True, False, False)),
    ("small at the far half", Move("place", "bs", "(0,2)", 0), "wrong_position", "wrong_size", (False, False, False)),
    ("other colour and size", Move("place", "rs", "(0,1)", 0), "wrong_block_color", "wrong_color_and_size", (True, False, False)),
    ("other second cell", Move("place", "bl", "(0,1)", 0, "(0,0)"), "wrong_span", "wrong_span", (True, False, False)),
    ("other place", Move("place", "gs", "(2,2)", 1), "wrong_position", "wrong_position", (False, False, False)),
    ("other action", Move("remove", "gs", "(0,0)", 1), "wrong_position", "wrong_position", (False, False, False)),
]


@pytest.mark.parametrize(("move", "published", "repaired", "followed"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_accepted_moves(move: Move, published: PublishedCategory, repaired: RepairedCategory, followed: tuple[bool, bool, bool]) -> None:
    """Both taxonomies and the three readings of adherence on moves the engine accepted."""
    assert published_category(LISTED, move, None) == published
    assert repaired_category(LISTED, move, None) == repaired
    assert (followed_action_position_layer(LISTED, move), followed_full(LISTED, move), followed_physical(LISTED, move)) == followed


def test_the_nearest_candidate_decides() -> None:
    """A move that touches two candidates is filed by the one it misses least."""
    listed = (Move("place", "gs", "(0,0)", 0), Move("place", "rs", "(0,1)", 0))
    assert repaired_category(listed, Move("place", "rl", "(0,0)", 0, "(0,1)"), None) == "wrong_size"


@pytest.mark.parametrize(
    ("code", "published", "repaired"),
    [
        ("P2", "engine_layer_error", "engine_layer_error"),
        ("R2", "engine_layer_error", "engine_layer_error"),
        ("L2", "engine_span_error", "engine_span_error"),
        ("L6", "engine_layer_error", "engine_span_error"),
        ("R3", "engine_layer_error", "engine_span_error"),
        ("R4", "engine_layer_error", "engine_span_error"),
        ("R5", "engine_layer_error", "engine_span_error"),
        ("P1", "engine_other_error", "engine_block_error"),
        ("P3", "engine_other_error", "engine_full_stack_error"),
        ("R1", "engine_other_error", "engine_empty_cell_error"),
        ("C4", "engine_other_error", "engine_coordinate_error"),
        ("X1", "engine_other_error", "engine_execution_error"),
    ],
)
def test_refused_moves(code: ErrorCode, published: PublishedCategory, repaired: RepairedCategory) -> None:
    """The repaired taxonomy files span problems under span although their text mentions a layer."""
    error = MoveError(code, MESSAGES[code])
    assert published_category(LISTED, SMALL, error.message) == published
    assert repaired_category(LISTED, SMALL, error) == repaired


@pytest.mark.parametrize(("listed", "move"), [((), SMALL), (LISTED, None)], ids=["no candidates", "no move"])
def test_turns_outside_the_denominator(listed: tuple[Move, ...], move: Move | None) -> None:
    """Without candidates or without a move there is nothing to classify."""
    assert published_category(listed, move, None) == "no_oracle_or_attempt"
    assert repaired_category(listed, move, None) == "no_oracle_or_attempt"


def test_tables_cover_their_closed_sets() -> None:
    """Every error code has a kind."""
    assert set(ERROR_KINDS) == set(ERROR_CODES)


def test_replay_tells_a_game_turn_by_turn() -> None:
    """A refused move, its repetition, a question, the right move: boards, errors, scores and candidates."""
    target = Board.from_json({"(0,0)": ["gs"]})
    wrong, right = Move("place", "gs", "(0,0)", 1), Move("place", "gs", "(0,0)", 0)
    turns = list(replay(EMPTY_BOARD, target, [wrong, wrong, None, right]))

    assert [turn.error and turn.error.code for turn in turns] == ["P2", "P2", None, None]
    assert [turn.board_after.stacks for turn in turns] == [EMPTY_BOARD.stacks] * 3 + [target.stacks]
    assert [turn.metrics.completion_percentage for turn in turns] == [0, 0, 0, 1]
    assert [turn.target_achieved for turn in turns] == [False, False, False, True]
    assert [turn.candidates for turn in turns] == [(right,)] * 4
