"""Reads the game logs that the published CRAFT code writes: one JSON object a file, its games in a list.

Format: docs/formats/craft.md, section 3. The summaries beside a log (.md, .csv) hold nothing that the log has not.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any, Final

from pydantic import ValidationError

from games.craft.blocks import DIRECTORS
from games.craft.board import Board
from games.craft.start_boards import START_BOARDS, start_board
from ingest.craft_game import BUILDER, CraftGame, CraftOutcome, CraftTurn
from ingest.craft_measures import arguments
from ingest.craft_records import TURN_FIELDS, ExperimentInfo, GameRecord, TurnRecord, board
from ingest.craft_replay import DerivedTurn, derive
from ingest.craft_utterances import utterances
from ingest.craft_views import shown_in_prompt, shown_views
from ingest.json_text import dumps, loads
from ingest.malformed import malformed
from ingest.reading import Place, Reading, episode_id, run_id
from schemas.errors import BadInputError
from schemas.records import Action, Agent, Episode, Json, Run, Turn
from schemas.text import excerpt

__all__ = ["FORMAT", "VERSION", "read", "sniff"]

FORMAT: Final = "craft"
VERSION: Final = 1

_CONDITION_FOLDER: Final = re.compile(r"(?:oracle\d+|no_oracle)_(?:tools|no_tools)_run\d+")
_PROVIDER_GROUPS: Final = ("api", "local")


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is a published CRAFT log."""
    return head.lstrip()[:1] == b"{" and (b'"experiment_info"' in head or (b'"games"' in head and b'"structure_id"' in head))


def read(data: bytes, place: Place) -> Reading:
    """Read a file.

    Raises:
        BadInputError: it is no JSON, or not laid out as a CRAFT log.
    """
    document = loads(data)
    if not isinstance(document, dict) or not isinstance(document.get("games"), list):
        beginning = excerpt(data[:200].decode(errors="replace"))
        raise BadInputError("no list `games`: this is no whole CRAFT log", locator="games", excerpt=beginning)
    info = _info(document)
    found = Reading()
    for index, game in enumerate(document["games"]):
        try:
            found.add(_game(game, info, place, index))
        except BadInputError as error:
            found.rejects.append(error)
    return found


def _info(document: Mapping[str, Any]) -> ExperimentInfo:
    try:
        return ExperimentInfo.model_validate(document.get("experiment_info"))
    except ValidationError as error:
        raise malformed(error, "experiment_info", "every game of the file is lost") from error


@dataclass(frozen=True, slots=True)
class _Turns:
    """The turns of a game that could be read, typed and raw."""

    typed: list[TurnRecord]
    raw: list[dict[str, Any]]
    reject: BadInputError | None
    """Why the rest could not be read."""


@dataclass(frozen=True, slots=True)
class _Game:
    """A game as logged."""

    episode: str
    record: GameRecord
    info: ExperimentInfo
    turns: _Turns


def _game(raw: Any, info: ExperimentInfo, place: Place, index: int) -> Reading:
    try:
        record = GameRecord.model_validate(raw)
    except ValidationError as error:
        raise malformed(error, f"games[{index}]", "the game is lost") from error
    if record.target_structure is None and record.turns:
        raise BadInputError("the game has turns but no target_structure, so nothing can be measured", locator=f"games[{index}]")
    turns = _turns(record.turns, f"games[{index}]")
    episode = episode_id("craft", place.path, index)
    logged = _Game(episode, record, info, turns)
    found = Reading(episodes=[episode], turns=len(turns.typed), rejects=[turns.reject] if turns.reject else [])
    started = time.perf_counter()
    game = _craft_game(record, info, turns)
    derived = derive(game, episode) if game else None
    found.replay_s = time.perf_counter() - started
    run = _run(info, place)
    found.rows["runs"].append(run)
    found.rows["episodes"].append(_episode(logged, place, run, derived.score if derived else None))
    if game is None or derived is None:
        found.rows["agents"] += _agents_without_target(episode, info)
        return found
    found.rows.update(derived.rows)
    found.rows["agents"] += _agents(logged, game.target)
    history: Sequence[str] = ()
    for turn, raw_turn, craft_turn, result in zip(turns.typed, turns.raw, game.turns, derived.turns, strict=True):
        found.rows["turns"].append(_turn(episode, turn, craft_turn, result))
        found.rows["utterances"] += utterances(episode, turn, history)
        found.rows["actions"] += _actions(episode, turn, raw_turn, result)
        history = turn.conversation_snapshot or ()
    return found


def _turns(raw: Sequence[Any], game: str) -> _Turns:
    """The turns up to the first that cannot be read: what follows a hole cannot be told from a new game."""
    typed: list[TurnRecord] = []
    for index, entry in enumerate(raw):
        where = f"{game}.turns[{index}]"
        consequence = f"the game is kept up to the turn before, {len(raw) - index} of {len(raw)} turns are lost"
        try:
            turn = TurnRecord.model_validate(entry)
        except ValidationError as error:
            return _Turns(typed, list(raw[:index]), malformed(error, where, consequence))
        if typed and turn.turn_number <= typed[-1].turn_number:
            reason = f"turn {turn.turn_number} follows turn {typed[-1].turn_number}; {consequence}"
            return _Turns(typed, list(raw[:index]), BadInputError(reason, locator=f"{where}.turn_number", excerpt=str(turn.turn_number)))
        typed.append(turn)
    return _Turns(typed, list(raw), None)


# -- typed facts for the replay -------------------------------------------------------------------


def _craft_game(record: GameRecord, info: ExperimentInfo, turns: _Turns) -> CraftGame | None:
    if record.target_structure is None:
        return None
    target = board(record.target_structure, record.target_spans)
    kind = record.start_board or info.partial_completion or "empty"
    use_oracle = info.use_oracle if info.use_oracle is not None else any(turn.oracle_moves for turn in turns.typed)
    return CraftGame(
        structure_id=record.structure_id,
        complexity=record.complexity or "",
        target=target,
        start=next((start_board(target, known) for known in START_BOARDS if known == kind), None),
        num_oracle=info.num_oracle if use_oracle else None,
        turns=tuple(map(_craft_turn, turns.typed)),
        outcome=None if turns.reject else _outcome(record),
    )


def _outcome(record: GameRecord) -> CraftOutcome:
    final = None if record.final_structure is None else board(record.final_structure, record.final_spans or {})
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
        board_before=board(turn.structure_before, turn.spans_before),
        board_after=None if snapshot is None else board(snapshot, {}),
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
    )


def _flags(turn: TurnRecord) -> dict[str, bool | None]:
    if not turn.move_executed:
        return {}
    return {
        "correct_structure_placement": turn.correct_structure_placement,
        "correct_side_placement": turn.correct_side_placement,
        "overall_structure_correctness": turn.overall_structure_correctness,
    }


# -- rows -----------------------------------------------------------------------------------------


def _run(info: ExperimentInfo, place: Place) -> Run:
    team = info.models.model_dump()
    group, folder = _folders(place)
    folder = folder or _condition_name(info)
    condition = {
        "provider_group": group,
        "use_oracle": info.use_oracle,
        "num_oracle": info.num_oracle,
        "builder_tool_use": info.builder_tool_use,
        "max_turns": info.max_turns,
        "max_tokens": info.max_tokens,
        "start_board": info.partial_completion,
        "run": info.run,
    }
    name = "/".join(filter(None, (group, folder, f"{team['director']}_{team['builder']}")))
    return Run(run_id("craft", name, team, condition), "craft", name, Json(dumps(condition)), _time(info.timestamp))


def _folders(place: Place) -> tuple[str | None, str | None]:
    """Provider group and condition as the published folders name them: only the folder says whether a model ran locally."""
    *_, group, folder, _, _ = ("", "", "", "", *PurePath(place.path).parts)
    if not _CONDITION_FOLDER.fullmatch(folder):
        return None, None
    return group if group in _PROVIDER_GROUPS else None, folder


def _condition_name(info: ExperimentInfo) -> str:
    oracle = f"oracle{info.num_oracle if info.num_oracle is not None else ''}" if info.use_oracle else "no_oracle"
    tools = "tools" if info.builder_tool_use else "no_tools"
    return f"{oracle}_{tools}" + (f"_run{info.run}" if info.run is not None else "")


def _episode(game: _Game, place: Place, run: Run, score: float | None) -> Episode:
    record, info, turns = game.record, game.info, game.turns
    played = record.target_structure is not None
    goal = dumps({"stacks": record.target_structure, "spans": record.target_spans}) if played else None
    return Episode(
        episode_id=game.episode,
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark="craft",
        task_id=record.structure_id,
        level=record.complexity,
        model=info.models.director,
        team=Json(dumps(info.models.model_dump())),
        seed=info.run,
        max_turns=info.max_turns,
        turns_taken=len(turns.typed),
        success=record.completed if played else None,
        score=score,
        stop_reason=record.stopping_reason,
        error=record.error or next((turn.error for turn in turns.typed if turn.error), None),
        goal=Json(goal) if goal else None,
        details=Json(dumps(_details(record, info, turns))),
        file=place.file,
        started_at=_time(info.timestamp),
    )


def _details(record: GameRecord, info: ExperimentInfo, turns: _Turns) -> dict[str, object]:
    """What else the log says of a game; ``turns_lost`` and ``unknown_turn_fields`` only where there are any."""
    unknown = Counter(name for turn in turns.raw for name in turn if name not in TURN_FIELDS)
    details: dict[str, object] = {
        "structure_index": info.structure_index,
        "dataset_path": info.dataset_path,
        "run": info.run,
        "completed": record.completed,
        "final_progress": record.final_progress,
        "turns_taken": record.turns_taken,
        "start_board": record.start_board,
        **(info.model_extra or {}),
        **(record.model_extra or {}),
    }
    if turns.reject:
        details["turns_lost"] = len(record.turns) - len(turns.typed)
    if unknown:
        details["unknown_turn_fields"] = dict(unknown)
    return details


def _agents(game: _Game, target: Board) -> Iterator[Agent]:
    record, info = game.record, game.info
    views = shown_views(target, _prompted_views(game.turns), record.target_director_views)
    personas = (record.d1_archetype, record.d2_archetype, record.d3_archetype)
    for director, persona in zip(DIRECTORS, personas, strict=True):
        view, kind, source = views[director]
        yield Agent(game.episode, director, "director", info.models.director, persona, Json(dumps(view)), kind, source)
    yield _builder(game.episode, info)


def _agents_without_target(episode: str, info: ExperimentInfo) -> Iterator[Agent]:
    for director in DIRECTORS:
        yield Agent(episode, director, "director", info.models.director, None, None, None, None)
    yield _builder(episode, info)


def _builder(episode: str, info: ExperimentInfo) -> Agent:
    return Agent(episode, BUILDER, "builder", info.models.builder, None, None, None, None)


def _prompted_views(turns: _Turns) -> dict[str, object]:
    """The target view in each director's first prompt that has one."""
    found: dict[str, object] = {}
    for turn in turns.raw:
        for director in DIRECTORS:
            prompt = turn.get(f"director_prompt_{director}")
            if director not in found and isinstance(prompt, str):
                view = shown_in_prompt(prompt)
                if view is not None:
                    found[director] = view
        if len(found) == len(DIRECTORS):
            break
    return found


def _turn(episode: str, turn: TurnRecord, craft_turn: CraftTurn, result: DerivedTurn) -> Turn:
    before = dumps({"stacks": turn.structure_before, "spans": turn.spans_before})
    return Turn(
        episode_id=episode,
        turn=turn.turn_number,
        state_before=Json(before),
        state_after=Json(_state(result.board_after) if craft_turn.accepted else before),
        oracle_available=None if craft_turn.listed is None else bool(craft_turn.listed),
        oracle_followed=turn.builder_followed_oracle,
        progress=result.metrics.overall_progress,
        goal_reached=turn.target_achieved,
        error=turn.error,
        at=_time(turn.timestamp),
    )


def _state(after: Board) -> str:
    return dumps({"stacks": after.structure_json(ghosts=True), "spans": after.spans_json()})


def _actions(episode: str, turn: TurnRecord, raw_turn: Mapping[str, Any], result: DerivedTurn) -> Iterator[Action]:
    if turn.clarification is not None:
        question = Json(dumps({"question": turn.clarification}))
        yield Action(episode, turn.turn_number, 1, BUILDER, "clarify", question, None, None, undoes=False, error_code=None, error_text=None)
    if turn.move_attempted is None:
        return
    written = raw_turn.get("builder_move_raw")
    yield Action(
        episode_id=episode,
        turn=turn.turn_number,
        seq=1 if turn.clarification is None else 2,
        agent=BUILDER,
        verb=turn.move_attempted.action,
        arguments=arguments(turn.move_attempted.move()),
        raw=None if written is None else dumps(written),
        accepted=turn.move_executed,
        undoes=turn.move_attempted.action == "remove",
        error_code=result.error_code,
        error_text=turn.progress_data.error if turn.progress_data else None,
    )


def _time(text: str | None) -> datetime | None:
    """A logged time stamp; ``YYYYMMDD_HHMMSS`` in the file's head, ISO in turns. None if it cannot be read."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text.replace("_", "T")).replace(tzinfo=None)
    except ValueError:
        return None
