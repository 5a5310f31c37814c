"""What a CRAFT board is worth, against trying every move, and against itself one move later."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import pytest

from games.craft.engine.board import BLOCKS, CELLS, EMPTY_BOARD, NEIGHBORS, Board, is_large
from games.craft.engine.rules import Move, execute
from games.craft.measures import progress
from games.craft.targets import generate_structures, start_board
from games.craft.value import search
from games.craft.value.search import BoardTurn, best_progress, turn_values

CLOSE = 1e-9


@cache
def target(seed: int) -> Board:
    return next(generate_structures(1, seed)).target


def moves(board: Board) -> Iterator[Move]:
    """Every move the engine knows, refused ones among them."""
    for cell in CELLS:
        height = board.height(cell)
        for block in BLOCKS:
            for span_to in NEIGHBORS[cell] if is_large(block) else (None,):
                yield Move("place", block, cell, height, span_to)
        if height:
            yield Move("remove", None, cell, height - 1, board.partner(cell, height - 1))


def after_each_move(board: Board) -> set[Board]:
    return {outcome.board for outcome in (execute(board, move) for move in moves(board)) if outcome.accepted}


def played(goal: Board, seed: int, length: int) -> Board:
    """A board some moves from the empty one: half of them right, the others anything."""
    rng, board = random.Random(seed), EMPTY_BOARD
    for _ in range(length):
        options = sorted(after_each_move(board), key=repr)
        better = [option for option in options if progress(option, goal).overall_progress > progress(board, goal).overall_progress]
        board = rng.choice(better if better and rng.random() < 0.5 else options)
    return board


@pytest.mark.parametrize(("seed", "length"), [(1, 0), (2, 3), (3, 6), (4, 9), (5, 14)])
def test_one_and_two_moves_by_trying_all(seed: int, length: int) -> None:
    """V(board, 1) and V(board, 2) are the best of all boards that the engine lets one and two moves reach."""
    goal = target(seed)
    board = played(goal, seed, length)
    reached = after_each_move(board) | {board}
    assert best_progress(board, goal, 0) == pytest.approx(progress(board, goal).overall_progress, abs=CLOSE)
    assert best_progress(board, goal, 1) == pytest.approx(max(progress(b, goal).overall_progress for b in reached), abs=CLOSE)
    further = {later for b in reached for later in after_each_move(b)} | reached
    assert best_progress(board, goal, 2) == pytest.approx(max(progress(b, goal).overall_progress for b in further), abs=CLOSE)


@pytest.mark.parametrize(("seed", "length", "left"), [(6, 0, 20), (7, 4, 12), (8, 8, 7), (9, 12, 18), (10, 16, 4), (11, 20, 9)])
def test_a_value_is_the_best_value_one_move_later(seed: int, length: int, left: int) -> None:
    """V(board, k) is the highest V(after a move, k - 1), and no move gains anything."""
    goal = target(seed)
    board = played(goal, seed, length)
    later = [best_progress(option, goal, left - 1) for option in after_each_move(board) | {board}]
    assert max(later) == pytest.approx(best_progress(board, goal, left), abs=CLOSE)


def test_playing_the_best_move_each_turn_loses_nothing() -> None:
    """Twenty best moves from the empty board end at the value of the start, whatever the target allows."""
    goal = target(12)
    board, steps = EMPTY_BOARD, []
    for left in range(20, 0, -1):
        best = max(sorted(after_each_move(board) | {board}, key=repr), key=lambda option: best_progress(option, goal, left - 1))
        steps.append(BoardTurn(board, best, left))
        board = best
    values = list(turn_values(steps, goal))
    assert [worth.before - worth.after for worth in values] == pytest.approx([0.0] * 20, abs=CLOSE)
    assert progress(board, goal).overall_progress == pytest.approx(values[0].before, abs=CLOSE)


def test_costs_sum_to_what_was_lost() -> None:
    """Random play: the costs of all turns and what is left at the end make up the value of the start."""
    goal, rng, board, steps = target(13), random.Random(13), EMPTY_BOARD, []
    for left in range(15, 0, -1):
        after = rng.choice([board, *sorted(after_each_move(board), key=repr)])
        steps.append(BoardTurn(board, after, left))
        board = after
    values = list(turn_values(steps, goal))
    costs = [worth.before - worth.after for worth in values]
    assert min(costs) >= 0
    assert sum(costs) == pytest.approx(values[0].before - progress(board, goal).overall_progress, abs=CLOSE)
    assert all(max(0, worth.stay - worth.after) <= cost + CLOSE for worth, cost in zip(values, costs, strict=True))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(20, 28))
def test_a_games_values_are_those_of_each_board_alone(seed: int) -> None:
    """What a search takes over from the boards before changes nothing: random play, moves back, boards that no move leads to."""
    goal, rng = target(seed), random.Random(seed)
    board, before, steps = played(goal, seed, seed % 5), EMPTY_BOARD, []
    for left in range(18, 0, -1):
        options = sorted(after_each_move(board), key=repr)
        others = [played(goal, left, 9), start_board(goal, "firstTwoLayers"), start_board(target(left), "firstTwoLayers")]
        after = rng.choice([*rng.sample(options, min(6, len(options))), board, before, *others])
        steps.append(BoardTurn(board, after, left))
        before, board = board, after
    for step, worth in zip(steps, turn_values(steps, goal), strict=True):
        search._reach.cache_clear()
        alone = [best_progress(step.before, goal, step.turns_left), best_progress(step.after, goal, step.turns_left - 1)]
        assert [worth.before, worth.after] == pytest.approx(alone, abs=CLOSE)
        assert worth.stay == pytest.approx(best_progress(step.before, goal, step.turns_left - 1), abs=CLOSE)


def test_a_cell_pays_for_many_dominoes_ahead() -> None:
    """Three wrong dominoes make way for three right ones on the same two cells: six moves, and five leave one undone."""
    cells, pair = ("(0,0)", "(0,1)"), (("(0,0)", "(0,1)"),)
    wrong, right = (Board(spans=tuple((layer, pair) for layer in range(3))) for _ in range(2))
    for cell in cells:
        wrong, right = wrong.with_stack(cell, ("bl", "rl", "bl")), right.with_stack(cell, ("gl", "yl", "ol"))
    assert best_progress(wrong, right, 6) == pytest.approx(1.0)
    assert best_progress(wrong, right, 5) < 1.0


def test_blocks_without_record_stay_for_ever() -> None:
    """Pre-filled dominoes have no record of their cells: no plan takes them away."""
    goal, other = target(14), target(15)
    walled = start_board(other, "firstTwoLayers")
    free = Board(walled.stacks, tuple((layer, spans) for layer, spans in other.spans if layer < 2))
    assert best_progress(walled, goal, 40) < best_progress(free, goal, 40)
    later = [best_progress(option, goal, 5) for option in after_each_move(walled) | {walled}]
    assert max(later) == pytest.approx(best_progress(walled, goal, 6), abs=CLOSE)


def test_half_a_domino_gives_two_readings() -> None:
    """A domino whose second cell was written with a blank is a half: it stays for ever, or one move takes it away."""
    goal = target(16)
    block = next(block for block in BLOCKS if is_large(block) and block not in goal.stack("(0,1)"))
    half = execute(EMPTY_BOARD, Move("place", block, "(0,1)", 0, "(0, 2)")).board
    (worth,) = turn_values([BoardTurn(EMPTY_BOARD, half, 20)], goal)
    assert worth.half_domino
    assert worth.after < worth.after_most <= worth.before == worth.before_most


def test_more_plans_than_expected_are_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a state has more plans than there is room for, the search starts again with more room: same result."""
    goal = target(17)
    boards = [played(goal, seed, 12) for seed in range(4)]
    roomy = [best_progress(board, goal, 15) for board in boards]
    monkeypatch.setattr(search, "_WIDTH", 1)
    search._reach.cache_clear()
    assert [best_progress(board, goal, 15) for board in boards] == roomy


def test_an_empty_target_and_a_long_game() -> None:
    """Nothing wanted: the best is to clear the board; more turns than blocks change nothing."""
    board = played(target(18), 18, 6)
    assert best_progress(EMPTY_BOARD, EMPTY_BOARD, 3) == pytest.approx(1 / 3)
    assert best_progress(board, EMPTY_BOARD, 30) == pytest.approx(1 / 3)
    assert best_progress(board, target(18), 54) == best_progress(board, target(18), 1000)
