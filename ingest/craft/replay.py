"""What cotrace works out for a logged CRAFT game: replay beside the log, and where the two differ.

Every number is about the board as logged. The replay starts again from the logged board where the two part, so that one difference is
reported once and not on every later turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from msgspec import Struct

from games.craft.engine.board import Board
from games.craft.engine.errors import ErrorCode, code_of
from games.craft.measures.metrics import Metrics, progress
from games.craft.replay import ReplayedTurn, replay
from ingest.craft.differences import game_differences, same_board, turn_differences
from ingest.craft.game import CraftGame, CraftTurn
from ingest.craft.measures import episode_metrics, failures, oracle_actions, scores, turn_facts
from ingest.craft.values import turn_values
from schemas.records import LogDisagreement

__all__ = ["DerivedGame", "DerivedTurn", "derive"]


class DerivedTurn(Struct, frozen=True, kw_only=True):
    """What replay adds to a turn's own rows."""

    metrics: Metrics
    """Scores of ``board_after``."""

    board_after: Board
    """As logged or, where the log has none, by replay."""

    error_code: ErrorCode | None
    """Code of the refusal: of the logged message or, where no message of the engine reads like it, by replay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedGame:
    """What replay adds to a game."""

    turns: tuple[DerivedTurn, ...]
    rows: Mapping[str, list[tuple[object, ...]]]
    """Table name -> records."""

    success: bool | None
    """The target was completed: as the log says or, where it does not, as the rules ended the game. None: the end is not known."""

    @property
    def score(self) -> float | None:
        """Overall progress at the end; None if no turn was played or the end is not known."""
        return self.turns[-1].metrics.overall_progress if self.turns and self.success is not None else None


def derive(game: CraftGame, episode: str) -> DerivedGame:
    """Replay a game and measure it."""
    start = progress(game.turns[0].board_before, game.target) if game.turns else None
    turn_rows: list[tuple[object, ...]] = list(scores(episode, 0, start)) if start else []
    failure_rows: list[tuple[object, ...]] = []
    oracle_rows: list[tuple[object, ...]] = []
    differing: list[tuple[object, ...]] = []
    derived: list[DerivedTurn] = []
    success = game.outcome.completed if game.outcome else None
    for turn, step, expected in _replayed(game):
        result = _derived(turn, step, game.target)
        derived.append(result)
        turn_rows += scores(episode, turn.turn, result.metrics)
        turn_rows += turn_facts(episode, turn, step)
        failure_rows += failures(episode, turn, step)
        oracle_rows += oracle_actions(episode, turn, step)
        differing += [LogDisagreement(episode, turn.turn, *found) for found in turn_differences(game, turn, step, expected)]
        if turn is game.turns[-1] and success is None:
            success = _success_by_rules(game, turn, step)
    if derived:
        last = derived[-1]
        differing += [LogDisagreement(episode, None, *found) for found in game_differences(game, last.board_after, last.metrics)]
    end = derived[-1].metrics if derived and success is not None else None
    return DerivedGame(
        turns=tuple(derived),
        success=success,
        rows={
            "turn_metrics": turn_rows,
            "episode_metrics": list(episode_metrics(episode, game, start, end)),
            "failures": failure_rows,
            "oracle_actions": oracle_rows,
            "log_disagreements": differing,
            "turn_values": list(turn_values(episode, game, [turn.board_after for turn in derived])),
        },
    )


def _success_by_rules(game: CraftGame, last: CraftTurn, step: ReplayedTurn) -> bool | None:
    """A game ends when the target is completed, or with the last turn that its limit allows."""
    if step.target_achieved if last.goal_reached is None else last.goal_reached:
        return True
    return False if game.max_turns is not None and last.turn >= game.max_turns else None


def _replayed(game: CraftGame) -> Iterator[tuple[CraftTurn, ReplayedTurn, Board | None]]:
    """Each turn, its replay from the logged board, and the board that replay of the turn before had led to."""
    steps: Iterator[ReplayedTurn] | None = None
    expected = game.start
    for index, turn in enumerate(game.turns):
        if steps is None or expected is None or not same_board(turn.board_before, expected):
            moves = (later.written for later in game.turns[index:])
            steps = replay(turn.board_before, game.target, moves)
        step = next(steps)
        yield turn, step, expected
        expected = step.board_after


def _derived(turn: CraftTurn, step: ReplayedTurn, target: Board) -> DerivedTurn:
    after = _board_after(turn, step)
    metrics = step.metrics if after.stacks == step.board_after.stacks else progress(after, target)
    return DerivedTurn(metrics=metrics, board_after=after, error_code=_error_code(turn, step))


def _board_after(turn: CraftTurn, step: ReplayedTurn) -> Board:
    logged = turn.board_after
    if logged is None:
        return step.board_after if turn.accepted else turn.board_before
    if turn.spans_after_logged:
        return logged
    return Board(logged.stacks, step.board_after.spans, logged.ghosts)


def _error_code(turn: CraftTurn, step: ReplayedTurn) -> ErrorCode | None:
    if turn.error_text is None:
        return None
    if step.error is not None and step.error.message == turn.error_text:
        return step.error.code
    return code_of(turn.error_text) or (step.error.code if step.error else None)
