"""Boards, views, start boards, scores and candidates on small hand-worked positions."""

from __future__ import annotations

from typing import Any

import pytest

from games.craft.engine.board import (
    EMPTY_BOARD,
    HIDDEN_CELLS,
    NEIGHBORS,
    SEEN_BY,
    Board,
    View,
    ViewKind,
    all_views,
    director_view,
    is_mirrored,
    large_seen_as_small,
    views_json,
    wall_cells,
)
from games.craft.engine.rules import Move, candidates, execute, sample
from games.craft.measures import progress
from games.craft.targets import StartBoard, start_board

TARGET = Board.from_json(
    {"(0,0)": ["gl", "bs"], "(0,1)": ["gl"], "(0,2)": ["rl"], "(1,2)": ["rl", "ys"], "(1,1)": ["os"]},
    {"0": [["(0,1)", "(0,0)"], ["(0,2)", "(1,2)"]]},
)


def test_walls_share_their_corners_and_hide_two_cells() -> None:
    """Which cells are seen by whom follows from the three walls."""
    assert tuple(cell for cell, directors in SEEN_BY.items() if len(directors) > 1) == ("(0,0)", "(0,2)")
    assert tuple(cell for cell, directors in SEEN_BY.items() if not directors) == HIDDEN_CELLS
    assert NEIGHBORS["(1,1)"] == ("(1,2)", "(2,1)", "(1,0)", "(0,1)")


def test_boards_survive_json_with_ghosts_and_empty_layers() -> None:
    """What a log holds comes back unchanged; without ghosts it has the nine cells in order."""
    structure: dict[str, list[str]] = {f"({i},{j})": [] for i in range(3) for j in range(3)} | {"(0,1)": ["gl"], "(0, 0)": ["gl"]}
    spans: dict[str, list[list[str]]] = {"1": [], "0": [["(0, 0)", "(0,1)"]]}
    board = Board.from_json(structure, spans)

    assert board.structure_json(ghosts=True) == structure
    assert board.spans_json() == spans
    assert len(board.structure_json()) == 9
    assert (board.stack("(0, 0)"), board.height("(0,0)"), board.blocks_total()) == (("gl",), 0, 1)


def test_boards_are_values() -> None:
    """Equal boards are equal keys, and changing one makes another."""
    first, second = (Board.from_json({"(0,0)": ["gs"]}) for _ in range(2))
    assert {first: 1}[second] == 1
    assert first.with_stack("(0,0)", ()) == EMPTY_BOARD != first


@pytest.mark.parametrize(
    ("structure", "spans", "match"),
    [
        ({}, {"bottom": []}, "invalid literal"),
        ({}, {"0": [["(0,0)"]]}, "is no span"),
        ({}, {"0": ["ab"]}, "is no span"),
        ({"(0,0)": "gs"}, {}, "'gs' is no stack"),
        ({"(0, 0)": [1]}, {}, "is no stack"),
        ({"(0,0)": None}, {}, "None is no stack"),
    ],
)
def test_malformed_boards_are_errors(structure: dict[str, Any], spans: dict[str, Any], match: str) -> None:
    """A stack is a list of texts; a span record has a layer number and two cells."""
    with pytest.raises(ValueError, match=match):
        Board.from_json(structure, spans)


@pytest.mark.parametrize("change", [{"layer": "0"}, {"layer": None}, {"position": ["(0,0)"]}, {"block": 3}, {"span_to": 1}])
def test_malformed_moves_are_errors(change: dict[str, Any]) -> None:
    """Types that no log writes are refused with the whole move in the message."""
    with pytest.raises(TypeError, match="is no move"):
        Move.from_log({"action": "place", "block": "gs", "position": "(0,0)", "layer": 0, "span_to": None} | change)


def test_moves_survive_their_log_form() -> None:
    """A removal without a block stays without the key."""
    for move in (Move("place", "gl", "(0,0)", 0, "(0, 1)"), Move("remove", None, "(2,2)", 1)):
        assert Move.from_log(move.to_log()) == move
    assert "block" not in Move("remove", None, "(2,2)", 1).to_log()


def _codes(view: View) -> list[str]:
    return [" ".join(f"{block.color[0]}{block.size}" for block in row) for row in view]


@pytest.mark.parametrize(
    ("director", "kind", "rows"),
    [
        ("D1", "spans", ["g1 n1 n1", "b1 n1 n1", "n1 n1 n1"]),
        ("D2", "spans", ["g2 g2 r1", "b1 n1 n1", "n1 n1 n1"]),
        ("D3", "spans", ["r2 r2 n1", "n1 y1 n1", "n1 n1 n1"]),
        ("D2", "flat", ["g1 g1 r1", "b1 n1 n1", "n1 n1 n1"]),
        ("D2", "spans_mirrored", ["r1 g2 g2", "n1 n1 b1", "n1 n1 n1"]),
        ("D3", "flat_mirrored", ["n1 r1 r1", "n1 y1 n1", "n1 n1 n1"]),
        ("D1", "flat_mirrored", ["g1 n1 n1", "b1 n1 n1", "n1 n1 n1"]),
    ],
)
def test_views_show_a_wall_by_layers(director: str, kind: ViewKind, rows: list[str]) -> None:
    """Colour initial and apparent size, left to right; large only where both halves lie on the wall."""
    assert _codes(director_view(TARGET, director, kind)) == rows


def test_views_as_logs_have_them() -> None:
    """Each director's rows by layer, the bottom one first, a block as its colour and size."""
    views = views_json(all_views(TARGET))
    assert list(views) == ["D1", "D2", "D3"]
    assert views["D2"] == {
        "row_0": [{"color": "green", "size": 2}, {"color": "green", "size": 2}, {"color": "red", "size": 1}],
        "row_1": [{"color": "blue", "size": 1}, {"color": "none", "size": 1}, {"color": "none", "size": 1}],
        "row_2": [{"color": "none", "size": 1}] * 3,
    }


def test_mirrored_walls_name_the_cells_the_rows_stand_for() -> None:
    """The first entry of D2's mirrored view is the right corner; D1's view is never mirrored."""
    assert wall_cells("D2", "spans_mirrored") == ("(0,2)", "(0,1)", "(0,0)")
    assert [is_mirrored(director, "flat_mirrored") for director in ("D1", "D2", "D3")] == [False, True, True]


def test_halves_on_another_wall_look_small() -> None:
    """Of TARGET's wall entries, D1's green half and D2's red half look small."""
    assert large_seen_as_small(TARGET) == 2


@pytest.mark.parametrize(
    ("kind", "heights"),
    [
        ("empty", [0, 0, 0, 0, 0, 0]),
        ("firstLayer", [1, 1, 1, 0, 1, 1]),
        ("firstTwoLayers", [2, 1, 1, 0, 1, 2]),
        ("D1Wall", [2, 0, 0, 0, 0, 0]),
        ("D2Wall", [2, 1, 1, 0, 0, 0]),
        ("D3Wall", [0, 0, 1, 0, 0, 2]),
    ],
)
def test_start_boards_copy_layers_or_walls_without_spans(kind: StartBoard, heights: list[int]) -> None:
    """Heights of the first six cells; the last three are empty in the target."""
    board = start_board(TARGET, kind)
    assert [len(stack) for stack in board.stacks] == [*heights, 0, 0, 0]
    assert board.spans == ()


@pytest.mark.parametrize(
    ("structure", "scores"),
    [
        # 7 entries in the target, no code twice in a cell; four cells are empty on both sides
        pytest.param({}, (0, 0, 4 / 9, 0), id="empty"),
        pytest.param({"(1,1)": ["os"]}, (1 / 7, 1 / 7, 5 / 9, 2 / 8), id="one right block"),
        pytest.param({"(0,0)": ["bs", "gl"]}, (0, 2 / 7, 5 / 9, 4 / 9), id="order is lost in all but completion"),
        pytest.param({"(2,2)": ["gs", "gs"]}, (0, 0, 3 / 9, 0), id="superfluous blocks"),
    ],
)
def test_scores_by_hand(structure: dict[str, list[str]], scores: tuple[float, float, float, float]) -> None:
    """Completion, IoU, position accuracy and distance against TARGET; progress is the mean of the first three."""
    found = progress(Board.from_json(structure), TARGET)
    assert (found.completion_percentage, found.iou_score, found.position_accuracy, found.distance_score) == pytest.approx(scores)
    assert found.overall_progress == pytest.approx(sum(scores[:3]) / 3)


def test_two_empty_sides_score_as_the_released_code_has_it() -> None:
    """IoU and completion are 0 without blocks, distance and position accuracy 1."""
    found = progress(EMPTY_BOARD, EMPTY_BOARD)
    assert (found.iou_score, found.completion_percentage, found.position_accuracy, found.distance_score) == (0, 0, 1, 1)


def test_candidates_of_the_empty_board_stand_in_cell_order() -> None:
    """Each large block once, from the cell that comes first."""
    assert candidates(EMPTY_BOARD, TARGET) == (
        Move("place", "gl", "(0,0)", 0, "(0,1)"),
        Move("place", "rl", "(0,2)", 0, "(1,2)"),
        Move("place", "os", "(1,1)", 0),
    )


def test_large_blocks_over_hidden_cells_are_never_candidates() -> None:
    """The engine would refuse them, and so nothing above them comes up either."""
    target = Board.from_json({"(1,0)": ["gl", "bs"], "(1,1)": ["gl"]}, {"0": [["(1,0)", "(1,1)"]]})
    assert candidates(EMPTY_BOARD, target) == ()


def test_a_buried_wrong_block_makes_the_oracle_loop() -> None:
    """It asks for the right top to be removed, and then to be put back."""
    target = Board.from_json({"(0,0)": ["gs", "bs"]})
    board = Board.from_json({"(0,0)": ["rs", "bs"]})
    off = candidates(board, target)
    back = candidates(execute(board, off[0]).board, target)

    assert off == (Move("remove", "bs", "(0,0)", 1),)
    assert back == (Move("place", "bs", "(0,0)", 1),)


def test_superfluous_large_blocks_are_removed_with_their_partner_once() -> None:
    """Without a span record there is nothing to propose."""
    structure = {"(2,1)": [], "(2,2)": ["gl"], "(1,2)": ["gl"]}
    recorded = Board.from_json(structure, {"0": [["(2,2)", "(1,2)"]]})

    assert candidates(recorded, EMPTY_BOARD) == (Move("remove", "gl", "(1,2)", 0, "(2,2)"),)
    assert candidates(Board.from_json(structure), EMPTY_BOARD) == ()


def test_sampling_keeps_short_lists_and_is_fixed_by_the_turn() -> None:
    """Up to n candidates keep their order; more are drawn, the same ones for the same seed."""
    moves = [Move("place", "gs", f"({i},{j})", 0) for i in range(3) for j in range(3)]
    assert sample(moves[:5], 5, 1) == tuple(moves[:5])
    assert sample(moves, 5, 7) == sample(moves, 5, 7, structure_idx=0)
    assert sample(moves, 5, 1007) == sample(moves, 5, 7, structure_idx=1)
    assert len(set(sample(moves, 5, 7))) == 5
