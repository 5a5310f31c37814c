"""Validation and execution of CRAFT moves: every error by hand, ghost cells, flags."""

from __future__ import annotations

import pytest

from games.craft.engine.board import EMPTY_BOARD, Board
from games.craft.engine.rules import (
    DEFAULT_SAMPLE,
    ERROR_CODES,
    MESSAGES,
    ErrorCode,
    Flags,
    Move,
    accepts,
    category_of,
    code_of,
    execute,
    placement_flags,
    same_message,
)

ONE = Board.from_json({"(0,0)": ["gs"]})
FULL = Board.from_json({"(0,0)": ["gs", "bs", "rs"]})
DOMINO = Board.from_json({"(0,0)": ["bl"], "(0,1)": ["bl"]}, {"0": [["(0,1)", "(0,0)"]]})
UNRECORDED = Board.from_json({"(0,0)": ["bl"], "(0,1)": ["bl"]})
COVERED_HALF = Board.from_json({"(0,0)": ["bl"], "(0,1)": ["bl", "gs"]}, {"0": [["(0,0)", "(0,1)"]]})
STALE = Board.from_json({}, {"0": [["(0,1)", "(0,2)"]]})
ILLEGAL_SPAN = "Illegal span into invisible cell: (1,0)↔(1,1). Large blocks cannot include {'(1,1)', '(2,1)'}."


def place(block: str, position: str, layer: int, span_to: str | None = None) -> Move:
    """Make a placement."""
    return Move("place", block, position, layer, span_to)


def remove(position: str, layer: int, span_to: str | None = None) -> Move:
    """Make a removal as the builder writes it, without a block."""
    return Move("remove", None, position, layer, span_to)


REFUSALS: list[tuple[ErrorCode, Board, Move, str]] = [
    ("C1", EMPTY_BOARD, place("gs", "", 0), "Missing fields: action=place, position="),
    ("C2", EMPTY_BOARD, place("gs", "(0,1,2)", 0), "Bad coordinate format: ['0', '1', '2']"),
    ("C3", EMPTY_BOARD, place("gs", "corner", 0), "Invalid position format: corner"),
    ("C3", EMPTY_BOARD, place("gs", "(a,1)", 0), "Invalid position format: (a,1)"),
    ("C4", EMPTY_BOARD, place("gs", "(0, 3)", 0), "Coordinates out of bounds: (0,3)"),
    ("C5", EMPTY_BOARD, place("gs", "(0,1)4", 0), "Coordinate parsing failed: too many values to unpack (expected 2)"),
    ("A1", EMPTY_BOARD, Move("paint", "gs", "(0,0)", 0), "Unknown action: 'paint'"),
    ("P1", EMPTY_BOARD, place(" gs", "(0,0)", 0), "Block ' gs' not in available blocks"),
    ("P2", ONE, place("gs", "(0, 0)", 2), "Wrong layer at (0,0): got 2, expected 1 (stack has 1 blocks)"),
    ("P2", FULL, place("gs", "(0,0)", 0), "Wrong layer at (0,0): got 0, expected 3 (stack has 3 blocks)"),
    ("P3", FULL, place("gs", "(0,0)", 3), "Stack full at (0,0) (3 blocks already)"),
    ("L1", EMPTY_BOARD, place("gl", "(1,1)", 0, "(1,1)"), "span_to cannot be same as position: (1,1)"),
    ("L2", EMPTY_BOARD, place("gl", "(1,1)", 0), "Large block 'gl' needs span_to — specify which adjacent cell it extends into"),
    ("L3", EMPTY_BOARD, place("gl", "(1,0)", 0, "(1,1)"), ILLEGAL_SPAN),
    ("L4", EMPTY_BOARD, place("gl", "(0,0)", 0, "None"), "Invalid span_to format: None"),
    ("L5", EMPTY_BOARD, place("gl", "(0,0)", 0, "(0,2)"), "span_to (0,2) is not adjacent to (0,0) — valid neighbors: ['(0,1)', '(1,0)']"),
    (
        "L6",
        ONE,
        place("gl", "(0,1)", 0, "(0, 0)"),
        "span_to (0,0) has 1 blocks, (0,1) has 0 — both must be at same height to place on same layer",
    ),
    ("L8", STALE, place("gl", "(0,0)", 0, "(0,1)"), "(0,0) or (0,1) already occupied by another span at layer 0"),
    ("R1", ONE, remove("(2,2)", 0), "Cannot remove from (2,2) — stack is empty"),
    ("R2", FULL, remove("(0,0)", 0), "Cannot remove layer 0 at (0,0) — must remove top block first (layer 2)"),
    ("R3", UNRECORDED, remove("(0,0)", 0, "(0,1)"), "Large block at (0,0) layer 0 has no recorded span partner"),
    ("R4", DOMINO, remove("(0,0)", 0), "Cannot remove large block at (0,0) layer 0 alone — must also specify span_to=(0,1)"),
    (
        "R5",
        DOMINO,
        remove("(0,0)", 0, "(1, 0)"),
        "Incorrect span_to for large block removal at (0,0) layer 0: got (1,0), expected (0,1)",
    ),
    ("X1", COVERED_HALF, remove("(0,0)", 0, "(0,1)"), "Move execution failed"),
    ("X1", ONE, remove("(0, 0)", 0), "Move execution failed"),
]


@pytest.mark.parametrize(("code", "board", "move", "message"), REFUSALS, ids=[f"{row[0]}-{number}" for number, row in enumerate(REFUSALS)])
def test_refused_moves_name_the_first_rule_broken(code: ErrorCode, board: Board, move: Move, message: str) -> None:
    """Code and text of every check; the stacks stay as they were, and the text leads back to the code."""
    outcome = execute(board, move)

    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == (code, message)
    assert outcome.board.stacks == board.stacks
    assert not accepts(board, move)
    assert code_of(message) == code


def test_every_code_that_can_occur_has_a_case() -> None:
    """L7 is unreachable behind P3 and L6; X2 is an exception inside the released engine."""
    assert {row[0] for row in REFUSALS} == set(ERROR_CODES) - {"L7", "X2"}
    assert set(MESSAGES) == set(ERROR_CODES)


@pytest.mark.parametrize(
    ("code", "category"),
    [("P2", "layer"), ("L6", "layer"), ("L8", "layer"), ("R3", "layer"), ("R4", "layer"), ("L2", "span"), ("L5", "span"), ("P1", "other")],
)
def test_published_category_goes_by_substring(code: ErrorCode, category: str) -> None:
    """Span problems whose text mentions a layer are filed under layer."""
    assert category_of(MESSAGES[code]) == category


def test_texts_of_no_check_have_no_code() -> None:
    """A message that the engine never writes is not guessed at."""
    assert code_of("the builder fell asleep") is None


def test_hidden_cells_compare_equal_in_either_order() -> None:
    """The released engine prints a set, whose order changes between processes."""
    swapped = ILLEGAL_SPAN.replace("'(1,1)', '(2,1)'", "'(2,1)', '(1,1)'")
    assert same_message(ILLEGAL_SPAN, swapped)
    assert not same_message(ILLEGAL_SPAN, swapped.replace("(1,0)", "(2,0)"))


def test_a_large_block_stands_in_both_cells_with_a_span_record() -> None:
    """Placing pushes the code twice and records the cells in the order they were named."""
    board = execute(EMPTY_BOARD, place("rl", "(1,2)", 0, "(0,2)")).board

    assert (board.stack("(0,2)"), board.stack("(1,2)")) == (("rl",), ("rl",))
    assert board.layer_spans(0) == (("(1,2)", "(0,2)"),)
    assert board.partner("(0,2)", 0) == "(1,2)"


def test_removing_a_large_block_empties_both_cells_and_the_record() -> None:
    """Either end may be named; the emptied layer stays among the records."""
    outcome = execute(DOMINO, remove("(0,0)", 0, "(0,1)"))

    assert outcome.move.block == "bl"
    assert outcome.board == Board.from_json({}, {"0": []})


def test_small_blocks_may_fill_hidden_cells_and_name_a_second_cell() -> None:
    """The engine ignores span_to on small blocks and keeps it in the move."""
    outcome = execute(EMPTY_BOARD, place("gs", "(2,1)", 0, "(2,2)"))

    assert outcome.accepted
    assert outcome.move.span_to == "(2,2)"
    assert outcome.board == Board.from_json({"(2,1)": ["gs"]})


class TestGhostCells:
    """A blank inside a coordinate: checked as the real cell, changed under the odd name."""

    def test_a_small_block_lands_in_a_tenth_cell(self) -> None:
        """The real stack stays; the logged move shows the tidied cell."""
        outcome = execute(ONE, place("bs", "(0, 0)", 1))

        assert outcome.accepted
        assert outcome.move.position == "(0,0)"
        assert outcome.board == Board.from_json({"(0,0)": ["gs"], "(0, 0)": ["bs"]})

    def test_a_large_block_is_torn_between_a_real_and_a_ghost_cell(self) -> None:
        """The record keeps the odd name, so the real half can never be removed again."""
        torn = execute(EMPTY_BOARD, place("gl", "(0,0)", 0, "(0, 1)")).board

        assert torn == Board.from_json({"(0,0)": ["gl"], "(0, 1)": ["gl"]}, {"0": [["(0,0)", "(0, 1)"]]})
        error = execute(torn, remove("(0,0)", 0, "(0,1)")).error
        assert error is not None
        assert error.message.endswith("got (0,1), expected (0, 1)")

    def test_unequal_ghost_stacks_refuse_the_block_but_leave_the_name(self) -> None:
        """The engine makes the odd key before it gives up."""
        board = Board.from_json({"(0,0)": ["gs"], "(0,1)": ["gs"]})
        outcome = execute(board, place("gl", "(0, 0)", 1, "(0,1)"))

        assert outcome.error is not None
        assert outcome.error.code == "X1"
        assert outcome.board.structure_json(ghosts=True) == board.structure_json() | {"(0, 0)": []}

    def test_a_removal_can_hit_the_ghost(self) -> None:
        """Where the ghost stack is as high as the real one, the ghost's block goes."""
        board = Board.from_json({"(0,0)": ["gs"], "(0, 0)": ["bs"]})
        outcome = execute(board, remove("(0, 0)", 0))

        assert outcome.move.block == "bs"
        assert outcome.board.structure_json(ghosts=True) == ONE.structure_json() | {"(0, 0)": []}

    def test_flags_of_a_ghost_placement_are_false(self) -> None:
        """The target has no such cell."""
        target = Board.from_json({"(0,0)": ["gs", "bs"]})
        assert placement_flags(execute(ONE, place("bs", "(0, 0)", 1)), target) == Flags(
            correct_structure_placement=False, correct_side_placement=False, overall_structure_correctness=False
        )


TARGET = Board.from_json({"(0,0)": ["gs", "bs"], "(1,1)": ["rs"], "(1,0)": ["yl"], "(2,0)": ["yl"]}, {"0": [["(1,0)", "(2,0)"]]})


@pytest.mark.parametrize(
    ("start", "move", "flags"),
    [
        pytest.param({}, place("gs", "(0,0)", 0), (True, True, True), id="right block on a wall"),
        pytest.param({}, place("rs", "(1,1)", 0), (True, False, True), id="right block that nobody sees"),
        pytest.param({}, place("bs", "(0,0)", 0), (False, False, False), id="wrong block"),
        pytest.param({"(0,0)": ["rs"]}, place("bs", "(0,0)", 1), (True, True, False), id="right block on a wrong one"),
        pytest.param({"(0,1)": ["rs"]}, remove("(0,1)", 0), (True, True, True), id="superfluous block removed"),
        pytest.param({"(0,0)": ["gs"]}, remove("(0,0)", 0), (False, False, True), id="right block removed"),
        pytest.param({}, place("yl", "(1,0)", 0, "(0,0)"), (True, True, False), id="large block right only at its first cell"),
    ],
)
def test_flags_follow_the_target_at_the_named_cell(start: dict[str, list[str]], move: Move, flags: tuple[bool, bool, bool]) -> None:
    """Structure, side and overall correctness of hand-made moves."""
    outcome = execute(Board.from_json(start), move)
    found = placement_flags(outcome, TARGET)
    assert (found.correct_structure_placement, found.correct_side_placement, found.overall_structure_correctness) == flags


def test_a_large_block_without_a_second_cell_covers_one() -> None:
    """The rules refuse the move, and still ask what it covers."""
    assert Move("place", "bl", "(0,0)", 0).covered() == {"(0,0)"}


def test_five_candidates_are_listed_as_in_the_published_runs() -> None:
    """Unless a condition says otherwise."""
    assert DEFAULT_SAMPLE == 5
