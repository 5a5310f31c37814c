"""Where a CRAFT log and its replay differ.

Not differences: the order of span records and of a span's two cells, layers without a span, ghost cells without a block, the order in
which the invisible-cell message prints its set, and rounding below 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from games.craft.engine.board import Board
from games.craft.engine.errors import same_message
from games.craft.engine.move import Move
from games.craft.engine.oracle import sample
from games.craft.measures.adherence import followed_action_position_layer
from games.craft.measures.metrics import COMPLETION_THRESHOLD, Metrics
from games.craft.replay import ReplayedTurn
from ingest.craft.game import CraftGame, CraftTurn
from ingest.reading.difference import Difference
from ingest.reading.json_text import dumps

__all__ = ["close", "game_differences", "same_board", "turn_differences"]

_ROUNDING: Final = 1e-6


def same_board(first: Board, second: Board) -> bool:
    """Tell whether two boards hold the same blocks, ghost cells included, with the same span records."""
    return first == second or (_stacks(first) == _stacks(second) and _spans(first) == _spans(second))


def _stacks(board: Board) -> object:
    return board.stacks, {name: stack for name, stack in board.ghosts if stack}


def _spans(board: Board) -> object:
    return {(layer, frozenset(span)) for layer, spans in board.spans for span in spans}


def turn_differences(game: CraftGame, turn: CraftTurn, step: ReplayedTurn, expected: Board | None) -> Iterator[Difference]:
    """What the log says of a turn against what replay gives.

    Args:
        game: the game.
        turn: the turn as logged.
        step: its replay from the board that was logged before it.
        expected: the board before it by replay of the turn before; None if nothing is known about that.
    """
    if expected is not None:
        yield from _boards("structure_before", "spans_before", turn.board_before, expected)
    yield from _move(turn, step)
    yield from _candidates(game, turn, step)
    if turn.board_after is not None:
        spans = "spans_after" if turn.spans_after_logged else None
        yield from _boards("structure_after", spans, turn.board_after, step.board_after)
    if turn.accepted and step.accepted:
        yield from _numbers(turn.metrics, step.metrics)
        yield from _flags(turn, step)
    if turn.goal_reached is not None and turn.goal_reached != step.target_achieved:
        yield Difference("goal_reached", _text(turn.goal_reached), _text(step.target_achieved))


def _boards(structure: str, spans: str | None, logged: Board, replayed: Board) -> Iterator[Difference]:
    if logged == replayed:
        return
    if _stacks(logged) != _stacks(replayed):
        yield Difference(structure, dumps(logged.structure_json(ghosts=True)), dumps(replayed.structure_json(ghosts=True)))
    if spans is not None and _spans(logged) != _spans(replayed):
        yield Difference(spans, dumps(logged.spans_json()), dumps(replayed.spans_json()))


def _move(turn: CraftTurn, step: ReplayedTurn) -> Iterator[Difference]:
    if turn.attempted != step.attempted:
        yield Difference("move_attempted", _move_text(turn.attempted), _move_text(step.attempted))
    if turn.attempted is None:
        return
    if turn.accepted is not None and turn.accepted != step.accepted:
        yield Difference("move_executed", _text(turn.accepted), _text(step.accepted))
    logged, replayed = turn.error_text, step.error.message if step.error else None
    if logged == replayed or (logged is not None and replayed is not None and same_message(logged, replayed)):
        return
    yield Difference("error", logged, replayed)


def _candidates(game: CraftGame, turn: CraftTurn, step: ReplayedTurn) -> Iterator[Difference]:
    if turn.listed is None:
        return
    listed = () if game.num_oracle is None else sample(step.candidates, game.num_oracle, turn.turn)
    if turn.listed != listed:
        yield Difference("oracle_moves", _moves_text(turn.listed), _moves_text(listed))
    followed = followed_action_position_layer(turn.listed, turn.attempted) if turn.listed and turn.attempted is not None else None
    if turn.followed != followed:
        yield Difference("builder_followed_oracle", _text(turn.followed), _text(followed))


def _numbers(logged: Mapping[str, float], replayed: Metrics) -> Iterator[Difference]:
    for name, said in logged.items():
        number = getattr(replayed, name, None)
        if number is not None and not close(said, number):
            yield Difference(name, _text(said), _text(number))


def _flags(turn: CraftTurn, step: ReplayedTurn) -> Iterator[Difference]:
    if step.flags is None:
        return
    for name, flag in turn.flags.items():
        recomputed = getattr(step.flags, name)
        if flag != recomputed:
            yield Difference(name, _text(flag), _text(recomputed))


def game_differences(game: CraftGame, end: Board, metrics: Metrics) -> Iterator[Difference]:
    """What the log says of the end of a game against the board and the scores after its last turn."""
    logged = game.outcome
    if logged is None:
        return
    if logged.board is not None:
        yield from _boards("final_structure", "final_spans" if logged.spans_logged else None, logged.board, end)
    if logged.turns_taken is not None and logged.turns_taken != len(game.turns):
        yield Difference("turns_taken", _text(logged.turns_taken), _text(len(game.turns)))
    moved = any(turn.accepted for turn in game.turns)
    reached = metrics.overall_progress if moved else 0.0  # the released code scores accepted moves, not the start board
    if logged.progress is not None and not close(logged.progress, reached) and not close(logged.progress, metrics.overall_progress):
        yield Difference("final_progress", _text(logged.progress), _text(reached))
    if logged.completed is not None and logged.completed != (reached >= COMPLETION_THRESHOLD):
        yield Difference("completed", _text(logged.completed), _text(reached >= COMPLETION_THRESHOLD))


def close(first: float, second: float) -> bool:
    """Tell whether two numbers differ by no more than rounding."""
    return math.isclose(first, second, rel_tol=0, abs_tol=_ROUNDING)


def _move_text(move: Move | None) -> str | None:
    return None if move is None else dumps(move.to_log())


def _moves_text(moves: Sequence[Move]) -> str:
    return dumps([move.to_log() for move in moves])


def _text(value: object) -> str | None:
    return None if value is None else dumps(value)
