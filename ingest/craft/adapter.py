"""Reads the game logs that the published CRAFT code writes: one JSON object a file, its games in a list.

Format: docs/formats/craft.md, section 3. The summaries beside a log (.md, .csv) hold nothing that the log has not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from pydantic import ValidationError

from games.craft.engine.board import Board
from games.craft.targets.start_boards import START_BOARDS, start_board
from games.craft.text.builder import is_complaint
from ingest.craft.consistency import game_contradictions
from ingest.craft.game import CraftGame, CraftOutcome, CraftTurn
from ingest.craft.records import ExperimentInfo, GameRecord, TurnRecord
from ingest.craft.replay import derive
from ingest.craft.rows import (
    LoggedGame,
    LoggedTurns,
    action_rows,
    agent_rows,
    agent_rows_without_target,
    episode_row,
    run_row,
    turn_row,
)
from ingest.craft.turn_consistency import turn_contradictions
from ingest.craft.utterances import utterances
from ingest.reading.adapter_types import Place, Reading, episode_id
from ingest.reading.json_text import loads
from ingest.reading.malformed import malformed, validated
from schemas.errors import BadInputError
from schemas.records import LogDisagreement
from schemas.text import excerpt

__all__ = ["FORMAT", "PATH_PARTS", "VERSION", "read", "sniff"]

FORMAT: Final = "craft"
VERSION: Final = 6
PATH_PARTS: Final = 0

_OF_OTHERS: Final = (b'"messages"', b'"history"', b'"trajectory"')
"""Keys that no log has, of programs that write an `experiment_info` too."""


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is a published CRAFT log."""
    if head.lstrip()[:1] != b"{":
        return False
    is_experiment = b'"experiment_info"' in head and not any(key in head for key in _OF_OTHERS)
    return is_experiment or (b'"games"' in head and b'"structure_id"' in head)


def read(data: bytes, place: Place) -> Reading:
    """Read a file.

    Raises:
        BadInputError: it is no JSON, or not laid out as a CRAFT log.
    """
    document = loads(data)
    if not isinstance(document, dict) or not isinstance(document.get("games"), list):
        beginning = excerpt(data[:200].decode(errors="replace"))
        raise BadInputError("no list `games`: this is no whole CRAFT log", locator="games", excerpt=beginning)
    info = validated(ExperimentInfo, document.get("experiment_info"), "experiment_info", "every game of the file is lost")
    found = Reading()
    games = document["games"]
    if not games:
        raise BadInputError("the list `games` is empty: the run broke off before its first game", locator="games")
    for index, game in enumerate(games):
        if game in games[:index]:
            found.rejects.append(BadInputError("the same game as one before it in this file: counted once", locator=f"games[{index}]"))
            continue
        try:
            found.add(_game(game, info, place, index))
        except BadInputError as error:
            found.rejects.append(error)
    return found


def _game(raw: Any, info: ExperimentInfo, place: Place, index: int) -> Reading:
    record = validated(GameRecord, raw, f"games[{index}]", "the game is lost")
    if record.target_structure is None and record.turns:
        raise BadInputError("the game has turns but no target_structure, so nothing can be measured", locator=f"games[{index}]")
    if record.target_structure is not None and "turns" not in record.model_fields_set and record.error is None:
        raise BadInputError("field turns is missing, so the game is lost: a game that broke says so in `error`", locator=f"games[{index}]")
    turns = _turns(record.turns, f"games[{index}]")
    episode = episode_id("craft", place.path, index)
    logged = LoggedGame(episode, record, info, turns)
    found = Reading(episodes=[episode], turns=len(turns.typed), rejects=[turns.reject] if turns.reject else [])
    found.places[episode] = f"games[{index}]"
    started = time.perf_counter()
    game = _craft_game(record, info, turns)
    derived = derive(game, episode) if game else None
    found.replay_s = time.perf_counter() - started
    run = run_row(info, place)
    found.rows["runs"].append(run)
    found.rows["episodes"].append(episode_row(logged, place, run, derived))
    if derived is not None:
        found.rows.update(derived.rows)
    found.rows["log_disagreements"] += _contradictions(logged, game)
    if game is None or derived is None:
        found.rows["agents"] += agent_rows_without_target(episode, info)
        return found
    found.rows["agents"] += agent_rows(logged, game.target)
    history: Sequence[str] = ()
    for turn, raw_turn, craft_turn, result in zip(turns.typed, turns.raw, game.turns, derived.turns, strict=True):
        found.rows["turns"].append(turn_row(episode, turn, craft_turn, result))
        found.rows["utterances"] += utterances(episode, turn, history)
        found.rows["actions"] += action_rows(episode, turn, raw_turn, result)
        history = turn.conversation_snapshot or ()
    return found


def _contradictions(game: LoggedGame, typed: CraftGame | None) -> Iterator[LogDisagreement]:
    for found in game_contradictions(game.record, game.info, game.turns.typed, typed.target if typed else None):
        yield LogDisagreement(game.episode, None, *found)
    for before, turn in pairwise((None, *game.turns.typed)):
        if turn is not None:
            yield from (LogDisagreement(game.episode, turn.turn_number, *found) for found in turn_contradictions(turn, before))


def _turns(raw: Sequence[Any], game: str) -> LoggedTurns:
    """The turns up to the first that cannot be read: what follows a hole cannot be replayed."""
    typed: list[TurnRecord] = []
    for index, entry in enumerate(raw):
        where = f"{game}.turns[{index}]"
        consequence = f"the game is kept up to the turn before, {len(raw) - index} of {len(raw)} turns are lost"
        try:
            turn = TurnRecord.model_validate(entry)
        except ValidationError as error:
            return LoggedTurns(typed, list(raw[:index]), malformed(error, where, consequence))
        if typed and turn.turn_number <= typed[-1].turn_number:
            reason = f"turn {turn.turn_number} follows turn {typed[-1].turn_number}; {consequence}"
            return LoggedTurns(
                typed, list(raw[:index]), BadInputError(reason, locator=f"{where}.turn_number", excerpt=str(turn.turn_number))
            )
        typed.append(turn)
    return LoggedTurns(typed, list(raw), None)


# -- typed facts for the replay -------------------------------------------------------------------


def _craft_game(record: GameRecord, info: ExperimentInfo, turns: LoggedTurns) -> CraftGame | None:
    if record.target_structure is None:
        return None
    target = Board.from_json(record.target_structure, record.target_spans)
    kind = record.start_board or info.partial_completion or "empty"
    use_oracle = info.use_oracle if info.use_oracle is not None else any(turn.oracle_moves for turn in turns.typed)
    return CraftGame(
        structure_id=record.structure_id,
        complexity=record.complexity or "",
        target=target,
        start=next((start_board(target, known) for known in START_BOARDS if known == kind), None),
        num_oracle=info.num_oracle if use_oracle else None,
        max_turns=info.max_turns,
        turns=tuple(map(_craft_turn, turns.typed)),
        outcome=None if turns.reject else _outcome(record),
    )


def _outcome(record: GameRecord) -> CraftOutcome:
    final = None if record.final_structure is None else Board.from_json(record.final_structure, record.final_spans or {})
    return CraftOutcome(
        completed=record.completed,
        progress=record.final_progress,
        turns_taken=record.turns_taken,
        board=final,
        spans_logged=record.final_spans is not None,
    )


def _craft_turn(turn: TurnRecord) -> CraftTurn:
    progress = turn.progress_data
    snapshot = progress.structure_snapshot if progress else None
    attempted = turn.move_attempted.move() if turn.move_attempted else None
    written = turn.builder_move_raw or turn.move_attempted
    silent = attempted is None  # on clarifications and broken turns the log has no candidates even where the builder was shown some
    return CraftTurn(
        turn=turn.turn_number,
        board_before=Board.from_json(turn.structure_before, turn.spans_before),
        board_after=None if snapshot is None else Board.from_json(snapshot, {}),
        spans_after_logged=False,
        written=written.move() if written else None,
        attempted=attempted,
        accepted=None if silent else turn.move_executed,
        error_text=progress.error if progress else None,
        listed=None if silent else tuple(move.move() for move in turn.oracle_moves or ()),
        followed=turn.builder_followed_oracle,
        flags=_flags(turn),
        metrics=progress.metrics if progress else {},
        goal_reached=turn.target_achieved,
        unreadable=turn.clarification if turn.clarification is not None and is_complaint(turn.clarification) else None,
    )


def _flags(turn: TurnRecord) -> dict[str, bool | None]:
    if not turn.move_executed:
        return {}
    return {
        "correct_structure_placement": turn.correct_structure_placement,
        "correct_side_placement": turn.correct_side_placement,
        "overall_structure_correctness": turn.overall_structure_correctness,
    }
