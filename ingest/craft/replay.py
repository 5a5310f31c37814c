"""What cotrace works out for a logged CRAFT game: replay next to the log, and where the two differ.

Every number is about the board as logged. The replay starts again from the logged board where the two part, so that one difference is
reported once and not on every later turn.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from games.craft import measures
from games.craft.engine.board import DIRECTORS, VIEW_KINDS, Board, Director, all_views, views_json
from games.craft.engine.rules import ErrorCode, Flags, Move, MoveError, code_of, same_message, sample
from games.craft.game import ReplayedTurn, replay
from games.craft.measures import progress
from games.craft.targets import Structure, StructureFacts, structure_facts
from games.craft.text.replies import no_reply_came
from ingest.reading.adapter_types import Difference
from ingest.reading.text import dumps
from schemas.common.text import replace_lone_surrogates
from schemas.records import EpisodeMetric, Failure, Json, LogDisagreement, OracleAction, TurnMetric, TurnValue

BUILDER = "Builder"
"""The builder's name as an agent."""


class CraftTurn(Struct, frozen=True, kw_only=True):
    """One turn, as logged. None means that the log does not say."""

    turn: int
    """From 1."""
    board_before: Board
    board_after: Board | None
    """The snapshot of an accepted move; formats that log it for every turn give it for every turn."""
    spans_after_logged: bool
    """Whether ``board_after`` holds the log's span records, or only stacks."""
    written: Move | None
    """The move as the builder wrote it (blanks inside coordinates make ghost cells); None without a move."""
    attempted: Move | None
    """The move as the engine logged it."""
    accepted: bool | None
    error_text: str | None
    """The engine's refusal."""
    listed: tuple[Move, ...] | None
    """The candidates the builder was shown, empty if there were none; None on clarifications and broken turns."""
    followed: bool | None
    flags: Mapping[str, bool | None]
    """Logged placement flags of an accepted move."""
    metrics: Mapping[str, float]
    """Logged metrics after an accepted move, counts included."""
    goal_reached: bool | None
    unreadable: str | None
    """Why the builder's reply could not be read; None if it could, or none came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CraftOutcome:
    """The end of a game, as logged. None means that the log does not say."""

    completed: bool | None
    progress: float | None
    turns_taken: int | None
    board: Board | None
    spans_logged: bool
    """Whether ``board`` holds the log's span records, or only stacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CraftGame:
    """One game, as logged."""

    structure_id: str
    complexity: str
    target: Board
    start: Board | None
    """The start board that the conditions promise; None if they name none that the engine knows."""
    num_oracle: int | None
    """Most candidates listed a turn; None for a game without oracle."""
    max_turns: int | None
    """Turn limit; None if the log does not say."""
    turns: tuple[CraftTurn, ...]
    outcome: CraftOutcome | None
    """None for a game that was cut or still runs."""


_NAMES: Final = tuple((name, f"craft.{name}") for name in measures.METRICS)
_READINGS: Final = tuple(
    (followed, f"craft.{followed.__name__}")
    for followed in (measures.followed_full, measures.followed_physical, measures.followed_action_position_layer)
)
_FLAGS: Final = tuple((flag.name, f"craft.{flag.name}") for flag in fields(Flags))
_FACTS: Final = tuple(
    (field.name, f"craft.structure.{field.name}") for field in fields(StructureFacts) if field.name not in {"structure_id", "complexity"}
)


@lru_cache(maxsize=65536)
def arguments(move: Move) -> Json:
    """JSON text of a move's arguments: block, position, layer, span_to."""
    return Json(dumps({"block": move.block, "position": move.position, "layer": move.layer, "span_to": move.span_to}))


def scores(episode: str, turn: int, metrics: measures.Metrics) -> Iterator[TurnMetric]:
    """The five scores of a board; turn 0 is the board before the first turn."""
    return (TurnMetric(episode, turn, metric, getattr(metrics, name)) for name, metric in _NAMES)


def turn_facts(episode: str, turn: CraftTurn, step: ReplayedTurn) -> Iterator[TurnMetric]:
    """Three readings of following, where candidates were listed; flags of an accepted move, by replay where not logged."""
    if turn.listed and turn.attempted is not None:
        for followed, metric in _READINGS:
            yield TurnMetric(episode, turn.turn, metric, float(followed(turn.listed, turn.attempted)))
    if not turn.accepted:
        return
    for name, metric in _FLAGS:
        flag = turn.flags.get(name)
        if flag is None and step.flags is not None:
            flag = getattr(step.flags, name)
        if flag is not None:
            yield TurnMetric(episode, turn.turn, metric, float(flag))


def failures(episode: str, turn: CraftTurn, step: ReplayedTurn) -> Iterator[Failure]:
    """The turn's category in the published taxonomy and in the repaired one, both from what was logged."""
    listed, attempted, text = turn.listed or (), turn.attempted, turn.error_text
    agent = BUILDER if listed and attempted is not None else None
    yield Failure(episode, turn.turn, agent, "craft_published", measures.published_category(listed, attempted, text), text)
    unread = turn.unreadable is not None and not no_reply_came(turn.unreadable)
    category = measures.repaired_category(listed, attempted, _error(text, step), unreadable=unread)
    yield Failure(episode, turn.turn, BUILDER if unread else agent, "craft_repaired", category, turn.unreadable if unread else text)


def _error(text: str | None, step: ReplayedTurn) -> MoveError | None:
    if text is None:
        return None
    if step.error is not None and step.error.message == text:
        return step.error
    return MoveError(code_of(text) or (step.error.code if step.error else "X2"), text)


def oracle_actions(episode: str, turn: CraftTurn, step: ReplayedTurn) -> Iterator[OracleAction]:
    """Candidates: the listed ones in their order, then those that only replay knows in cell order."""
    listed = turn.listed or ()
    known, verified = frozenset(listed), frozenset(step.candidates)
    for rank, move in enumerate(listed, start=1):
        yield OracleAction(episode, turn.turn, rank, move.action, arguments(move), move.action == "remove", True, move in verified)  # noqa: FBT003
    others = (move for move in step.candidates if move not in known)
    for rank, move in enumerate(others, start=len(listed) + 1):
        yield OracleAction(episode, turn.turn, rank, move.action, arguments(move), move.action == "remove", False, True)  # noqa: FBT003


def episode_metrics(episode: str, game: CraftGame, start: measures.Metrics | None, end: measures.Metrics | None) -> Iterator[EpisodeMetric]:
    """Scores before the first and after the last turn, the facts of the structure, and progress as a share of the ceiling."""
    facts = _facts(Structure(game.structure_id, game.complexity, game.target))
    for name, metric in _FACTS:
        yield EpisodeMetric(episode, metric, float(getattr(facts, name)))
    if start is None or end is None:
        return
    for name, metric in _NAMES:
        yield EpisodeMetric(episode, metric, getattr(end, name))
    yield EpisodeMetric(episode, "craft.overall_progress_t0", start.overall_progress)
    if facts.ceiling_overall_progress > 0:
        yield EpisodeMetric(episode, "craft.progress_share_of_ceiling", end.overall_progress / facts.ceiling_overall_progress)


@lru_cache(maxsize=1024)
def _facts(structure: Structure) -> StructureFacts:
    return structure_facts(structure)


_UNIT = "progress"


def turn_values(episode: str, game: CraftGame, boards_after: Sequence[Board]) -> Iterator[TurnValue]:
    """Value the turns of a game with a turn limit; without one nothing states how much could still be reached.

    Args:
        episode: its id.
        game: the game as logged.
        boards_after: the board after each of its turns.
    """
    if game.max_turns is None or not game.turns:
        return
    from games.craft.value.search import (
        BoardTurn,
        turn_values,  # compiled code takes a second to load
    )

    steps = [
        BoardTurn(turn.board_before, after, max(0, game.max_turns - turn.turn + 1))
        for turn, after in zip(game.turns, boards_after, strict=True)
    ]
    for turn, worth in zip(game.turns, turn_values(steps, game.target), strict=True):
        certain = (worth.before, worth.after) == (worth.before_most, worth.after_most)
        kind = "exact" if certain else "bound"
        cost, harm = worth.before - worth.after, max(0.0, worth.stay - worth.after)
        yield TurnValue(episode, turn.turn, "craft.reachable", worth.before, worth.after, cost, _UNIT, kind)
        yield TurnValue(episode, turn.turn, "craft.harm", worth.stay, worth.after, harm, _UNIT, kind)
        if worth.half_domino:
            most = worth.before_most, worth.after_most, worth.before_most - worth.after_most
            yield TurnValue(episode, turn.turn, "craft.reachable_most", *most, _UNIT, kind)


_ROUNDING: Final = 1e-6


def same_board(first: Board, second: Board) -> bool:
    """Tell whether two boards hold the same blocks, ghost cells included, with the same span records."""
    return first == second or (_stacks(first) == _stacks(second) and _spans(first) == _spans(second))


def _stacks(board: Board) -> object:
    return board.stacks, {name: stack for name, stack in board.ghosts if stack}


def _spans(board: Board) -> object:
    return {(layer, frozenset(span)) for layer, spans in board.spans for span in spans}


def turn_differences(game: CraftGame, turn: CraftTurn, step: ReplayedTurn, expected: Board | None) -> Iterator[Difference]:
    """What the log states of a turn against what replay gives.

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
        for name, stated in turn.metrics.items():
            number = getattr(step.metrics, name, None)
            if number is not None and not close(stated, number):
                yield Difference(name, _text(stated), _text(number))
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
    followed = measures.followed_action_position_layer(turn.listed, turn.attempted) if turn.listed and turn.attempted is not None else None
    if turn.followed != followed:
        yield Difference("builder_followed_oracle", _text(turn.followed), _text(followed))


def _flags(turn: CraftTurn, step: ReplayedTurn) -> Iterator[Difference]:
    if step.flags is None:
        return
    for name, flag in turn.flags.items():
        recomputed = getattr(step.flags, name)
        if flag != recomputed:
            yield Difference(name, _text(flag), _text(recomputed))


def game_differences(game: CraftGame, end: Board, metrics: measures.Metrics) -> Iterator[Difference]:
    """What the log states of the end of a game against the board and the scores after its last turn."""
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
    if logged.completed is not None and logged.completed != (reached >= measures.COMPLETION_THRESHOLD):
        yield Difference("completed", _text(logged.completed), _text(reached >= measures.COMPLETION_THRESHOLD))


def close(first: float, second: float) -> bool:
    """Tell whether two numbers differ by no more than rounding."""
    return math.isclose(first, second, rel_tol=0, abs_tol=_ROUNDING)


def _move_text(move: Move | None) -> str | None:
    return None if move is None else dumps(move.to_log())


def _moves_text(moves: Sequence[Move]) -> str:
    return dumps([move.to_log() for move in moves])


def _text(value: object) -> str | None:
    return None if value is None else dumps(value)


class DerivedTurn(Struct, frozen=True, kw_only=True):
    """What replay adds to a turn's own rows."""

    metrics: measures.Metrics
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
    """The target was completed: as the log states or, where it does not, as the rules ended the game. None: the end is not known."""

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
        after = _board_after(turn, step)
        metrics = step.metrics if after.stacks == step.board_after.stacks else progress(after, game.target)
        result = DerivedTurn(metrics=metrics, board_after=after, error_code=_error_code(turn, step))
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


OTHER_VIEW: Final = "other"
"""A view that does not fit the target."""

_HEADING: Final = re.compile(r"^[ \t]*#+[ \t]*YOUR TARGET VIEW\b[^\n]*\n\s*(?=\{)", re.MULTILINE)


class ShownView(NamedTuple):
    """A director's target view."""

    view: object
    """Rows of colours and sizes, as found."""
    kind: str
    """One of ``games.craft.engine.board.VIEW_KINDS`` or ``OTHER_VIEW``."""
    source: str
    """``prompt``, ``log`` or ``derived``."""


def shown_in_prompt(prompt: str) -> object | None:
    """The target view that a director's prompt holds; None if the prompt was shortened or has none."""
    heading = _HEADING.search(prompt)
    if heading is None:
        return None
    try:
        view, _ = json.JSONDecoder().raw_decode(prompt, heading.end())
    except ValueError:  # the prompt was cut inside the view
        return None
    return replace_lone_surrogates(view) if isinstance(view, dict) else None


def shown_views(target: Board, prompts: Mapping[str, object], logged: Mapping[str, object]) -> dict[Director, ShownView]:
    """What each director was shown.

    Args:
        target: the target.
        prompts: views found in prompts, by director.
        logged: views that the log states, by director.

    A view can fit several kinds (D1 is never mirrored; a wall without whole large blocks looks the same with and without spans). The
    kind that fits most directors wins, in the engine's order.
    """
    variants = {kind: views_json(all_views(target, kind)) for kind in VIEW_KINDS}
    found = {director: _found(director, prompts, logged, variants["spans"]) for director in DIRECTORS}
    order = sorted(VIEW_KINDS, key=lambda kind: -sum(view == variants[kind][director] for director, (view, _) in found.items()))
    return {
        director: ShownView(view, next((kind for kind in order if variants[kind][director] == view), OTHER_VIEW), source)
        for director, (view, source) in found.items()
    }


def _found(
    director: Director,
    prompts: Mapping[str, object],
    logged: Mapping[str, object],
    spans: Mapping[str, dict[str, list[dict[str, str | int]]]],
) -> tuple[object, str]:
    if director in prompts:
        return prompts[director], "prompt"
    if director in logged:
        return logged[director], "log"
    return spans[director], "derived"
