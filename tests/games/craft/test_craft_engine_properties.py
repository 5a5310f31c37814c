"""Properties of the CRAFT engine on boards reached by random legal play."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from games.craft.engine.board import BLOCKS, CELLS, EMPTY_BOARD, MAX_HEIGHT, NEIGHBORS, Board, is_large
from games.craft.engine.rules import Move, accepts, candidates, execute, placement_flags
from games.craft.measures import METRICS, progress
from games.craft.targets import generate_structure

seeds = st.integers(0, 2**32 - 1)


def _moves(rng: random.Random, count: int) -> list[Move]:
    return [_random_move(rng) for _ in range(count)]


def _random_move(rng: random.Random) -> Move:
    cell = rng.choice(CELLS)
    span_to = rng.choice([None, *NEIGHBORS[cell]])
    action = rng.choice(["place", "place", "place", "remove"])
    return Move(action, rng.choice(BLOCKS) if action == "place" else None, cell, rng.randrange(MAX_HEIGHT), span_to)


def _boards(seed: int) -> list[Board]:
    board, boards = EMPTY_BOARD, [EMPTY_BOARD]
    for move in _moves(random.Random(seed), 60):
        board = execute(board, move).board
        boards.append(board)
    return boards


@given(seeds)
@settings(max_examples=60)
def test_boards_keep_their_physics(seed: int) -> None:
    """No stack above three; every large half has exactly one partner of the same code at its layer."""
    for board in _boards(seed):
        assert max(map(len, board.stacks)) <= MAX_HEIGHT
        for cell, stack in zip(CELLS, board.stacks, strict=True):
            for layer, block in enumerate(stack):
                partner = board.partner(cell, layer)
                assert is_large(block) == (partner is not None)
                if partner is not None:
                    assert board.stack(partner)[layer] == block


@given(seeds)
@settings(max_examples=60)
def test_placing_and_removing_gives_the_stacks_back(seed: int) -> None:
    """Whatever was placed can be taken off again, and nothing else has changed."""
    rng = random.Random(seed)
    board = _boards(seed)[-1]
    for move in _moves(rng, 40):
        placed = execute(board, move)
        if move.action != "place" or not placed.accepted:
            continue
        span_to = move.span_to if is_large(move.block or "") else None
        removed = execute(placed.board, Move("remove", None, move.position, move.layer, span_to))
        assert removed.accepted
        assert removed.move.block == move.block
        assert removed.board.stacks == board.stacks
        assert [spans for _, spans in removed.board.spans if spans] == [spans for _, spans in board.spans if spans]


@given(seeds)
@settings(max_examples=60)
def test_the_two_ways_to_ask_the_engine_agree(seed: int) -> None:
    """Asking accepts is like execute without the board; a refused move changes nothing."""
    rng = random.Random(seed)
    board = _boards(seed)[-1]
    for move in _moves(rng, 40):
        outcome = execute(board, move)
        assert accepts(board, move) == outcome.accepted
        assert outcome.accepted == (outcome.board != board)


@given(seeds, seeds)
@settings(max_examples=60)
def test_candidates_are_accepted_agree_with_the_target_and_do_not_repeat(seed: int, target_seed: int) -> None:
    """Every candidate can be played; a placement is always right at its cell; no large block comes twice."""
    target = generate_structure("any", random.Random(target_seed)).target
    for board in _boards(seed)[::6]:
        found = candidates(board, target)
        assert len({(move.action, move.layer, move.covered()) for move in found}) == len(found)
        for move in found:
            outcome = execute(board, move)
            assert outcome.accepted
            assert move.action == "remove" or placement_flags(outcome, target).correct_structure_placement


@given(seeds, seeds)
@settings(max_examples=60)
def test_scores_stay_in_bounds_and_distance_says_what_iou_says(seed: int, target_seed: int) -> None:
    """All five scores lie in 0..1; distance = 2 iou / (1 + iou); a board is perfect against itself."""
    target = generate_structure("any", random.Random(target_seed)).target
    for board in _boards(seed)[::6]:
        found = progress(board, target)
        assert all(0 <= getattr(found, name) <= 1 for name in METRICS)
        assert abs(found.distance_score - 2 * found.iou_score / (1 + found.iou_score)) < 1e-12
    assert all(getattr(progress(target, target), name) == 1 for name in METRICS)


@given(seeds)
@settings(max_examples=60)
def test_boards_go_through_json_unchanged(seed: int) -> None:
    """Writing and reading a board gives an equal board with an equal hash."""
    for board in _boards(seed)[::6]:
        again = Board.from_json(board.structure_json(ghosts=True), board.spans_json())
        assert again == board
        assert hash(again) == hash(board)
