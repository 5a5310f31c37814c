"""Reads the game logs that the published CRAFT code writes: one JSON object a file, its games in a list.

Format: docs/formats/craft.md, section 3. The summaries next to a log (.md, .csv) hold nothing that the log has not.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final

from pydantic import ValidationError

from games.craft.engine.board import DIRECTORS, Board
from games.craft.targets import START_BOARDS, start_board
from games.craft.text.prompts import trimmed
from games.craft.text.replies import NO_MESSAGE, is_complaint, no_reply_came
from ingest.craft import replay
from ingest.craft.consistency import TURN_FIELDS, ExperimentInfo, GameRecord, TurnRecord, game_contradictions, turn_contradictions
from ingest.reading.adapter_types import FileKind, Place, Reading, episode_id, malformed, run_id, validated
from ingest.reading.text import dumps, loads, read_time
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt
from schemas.records import Action, Agent, Episode, Json, LogDisagreement, Run, Turn, Utterance
from schemas.replies import Read

KINDS: Final = (
    FileKind("a file of CRAFT target structures", (b'"structure"', b'"complexity"', b'"spans"')),
    FileKind("a file of CRAFT target structures", (b'"id"', b'"complexity"', b'"structure"')),
    FileKind("messages for `cotrace claims`", (b'"id"', b'"speaker"', b'"utterance"', b'"board_before"')),
    FileKind("readings of messages by a model", (rb'\A\s*\{"user"\s*:', rb'"reading"\s*:\s*\{"claims"')),
    FileKind("claims as `cotrace claims` writes them", (rb'\A\s*\[?\s*\{\s*"(?:id|claims)"\s*:', b'"id"', b'"claims"')),
)


_CONDITION_FOLDER: Final = re.compile(r"(?:oracle\d+|no_oracle)_(?:tools|no_tools)_run\d+")
_TALK: Final = "CONVERSATION SO FAR"
"""The heading in a director's prompt below which the messages stand."""
_PROVIDER_GROUPS: Final = ("api", "local")


@dataclass(frozen=True, slots=True)
class LoggedTurns:
    """The turns of a game that could be read, typed and raw."""

    typed: list[TurnRecord]
    raw: list[dict[str, Any]]
    reject: BadInputError | None
    """Why the rest could not be read."""


@dataclass(frozen=True, slots=True)
class LoggedGame:
    """A game, typed."""

    episode: str
    record: GameRecord
    info: ExperimentInfo
    turns: LoggedTurns


def run_row(info: ExperimentInfo, place: Place) -> Run:
    """The experiment: named by the published folders where the file lies in such, else by its conditions."""
    team = info.models.model_dump()
    *_, above, folder, _, _ = ("", "", "", "", *PurePath(place.path).parts)
    is_published = _CONDITION_FOLDER.fullmatch(folder) is not None
    group = above if is_published and above in _PROVIDER_GROUPS else None  # only the folder shows whether a model ran locally
    folder = folder if is_published else _condition_name(info)
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
    return Run(run_id("craft", name, team, condition), "craft", name, Json(dumps(condition)), read_time(info.timestamp))


def _condition_name(info: ExperimentInfo) -> str:
    oracle = f"oracle{info.num_oracle if info.num_oracle is not None else ''}" if info.use_oracle else "no_oracle"
    tools = "tools" if info.builder_tool_use else "no_tools"
    return f"{oracle}_{tools}" + (f"_run{info.run}" if info.run is not None else "")


def episode_row(game: LoggedGame, place: Place, run: Run, derived: replay.DerivedGame | None) -> Episode:
    """The game; without replay it could not be set up."""
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
        success=derived.success if derived else None,
        score=derived.score if derived else None,
        stop_reason=record.stopping_reason,
        error=record.error or next((turn.error for turn in turns.typed if turn.error), None),
        goal=Json(goal) if goal else None,
        details=Json(dumps(_details(record, info, turns))),
        file=place.file,
        started_at=read_time(info.timestamp),
    )


def _details(record: GameRecord, info: ExperimentInfo, turns: LoggedTurns) -> dict[str, object]:
    """What else the log states of a game; ``turns_lost`` and ``unknown_turn_fields`` only where there are any."""
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
    heard = _heard_each_other(turns)
    if heard is not None:
        details["same_turn_messages"] = heard
    if turns.reject:
        details["turns_lost"] = len(record.turns) - len(turns.typed)
    if unknown:
        details["unknown_turn_fields"] = dict(unknown)
    return details


def _heard_each_other(turns: LoggedTurns) -> bool | None:
    """Whether a director's prompt holds a message that another director made in the same turn; None without whole prompts that could."""
    found: bool | None = None
    known: Sequence[str] = ()
    for turn, raw in zip(turns.typed, turns.raw, strict=True):
        lines = {
            name: f"{name}: {response.public_message}"
            for name, response in turn.director_responses.items()
            if response.public_message.strip()
        }
        for director in turn.director_responses:
            _, heading, talk = str(raw.get(f"director_prompt_{director}") or "").partition(_TALK)
            others = [line for name, line in lines.items() if name != director]
            if heading and others:
                before = "\n".join(known)
                found = bool(found) or any(talk.count(line) > before.count(line) for line in others)
        known = turn.conversation_snapshot or ()
    return found


def agent_rows(game: LoggedGame, target: Board) -> Iterator[Agent]:
    """The directors with the target views they were shown, and the builder."""
    record, info = game.record, game.info
    views = replay.shown_views(target, _prompted_views(game.turns), record.target_director_views)
    personas = (record.d1_archetype, record.d2_archetype, record.d3_archetype)
    for director, persona in zip(DIRECTORS, personas, strict=True):
        view, kind, source = views[director]
        yield Agent(game.episode, director, "director", info.models.director, persona, Json(dumps(view)), kind, source)
    yield Agent(game.episode, replay.BUILDER, "builder", info.models.builder)


def agent_rows_without_target(episode: str, info: ExperimentInfo) -> Iterator[Agent]:
    """The agents of a game that could not be set up."""
    for director in DIRECTORS:
        yield Agent(episode, director, "director", info.models.director)
    yield Agent(episode, replay.BUILDER, "builder", info.models.builder)


def _prompted_views(turns: LoggedTurns) -> dict[str, object]:
    """The target view in each director's first prompt that has one."""
    found: dict[str, object] = {}
    for turn in turns.raw:
        for director in DIRECTORS:
            prompt = turn.get(f"director_prompt_{director}")
            if director not in found and isinstance(prompt, str):
                view = replay.shown_in_prompt(prompt)
                if view is not None:
                    found[director] = view
        if len(found) == len(DIRECTORS):
            break
    return found


def turn_row(episode: str, turn: TurnRecord, craft_turn: replay.CraftTurn, result: replay.DerivedTurn) -> Turn:
    """The turn; the state after it is the snapshot with the span records that replay gives, which the log does not have."""
    before, after = dumps({"stacks": turn.structure_before, "spans": turn.spans_before}), result.board_after
    return Turn(
        episode_id=episode,
        turn=turn.turn_number,
        state_before=Json(before),
        state_after=Json(
            dumps({"stacks": after.structure_json(ghosts=True), "spans": after.spans_json()}) if craft_turn.accepted else before
        ),
        oracle_available=None if craft_turn.listed is None else bool(craft_turn.listed),
        oracle_followed=turn.builder_followed_oracle,
        progress=result.metrics.overall_progress,
        goal_reached=turn.target_achieved,
        error=turn.error,
        at=read_time(turn.timestamp),
    )


def action_rows(episode: str, turn: TurnRecord, raw_turn: Mapping[str, Any], result: replay.DerivedTurn) -> Iterator[Action]:
    """The builder's move or question; none on a truncated turn."""
    if turn.clarification is not None:
        question = Json(dumps({"question": turn.clarification}))  # the log's own field, whatever it holds
        unread = is_complaint(turn.clarification) and not no_reply_came(turn.clarification)
        read: Read | None = "unreadable" if unread else None
        yield Action(episode, turn.turn_number, 1, replay.BUILDER, "clarify", question, read=read)
    if turn.move_attempted is None:
        return
    written = raw_turn.get("builder_move_raw")
    yield Action(
        episode_id=episode,
        turn=turn.turn_number,
        seq=1 if turn.clarification is None else 2,
        agent=replay.BUILDER,
        verb=turn.move_attempted.action,
        arguments=replay.arguments(turn.move_attempted.move()),
        raw=None if written is None else dumps(written),
        accepted=turn.move_executed,
        undoes=turn.move_attempted.action == "remove",
        error_code=result.error_code,
        error_text=turn.progress_data.error if turn.progress_data else None,
    )


_EVERYBODY: Final[list[str]] = [*DIRECTORS, replay.BUILDER]
_DIRECTORS: Final[list[str]] = list(DIRECTORS)


def utterances(episode: str, turn: TurnRecord, history: Sequence[str]) -> Iterator[Utterance]:
    """The utterances of a turn.

    Args:
        episode: id of the game.
        turn: the turn.
        history: the history after the turn before, as logged; empty before the first turn.
    """
    for seq, (agent, channel, audience, text, superseded) in enumerate(_utterances_of(turn, history), start=1):
        yield Utterance(episode, turn.turn_number, seq, agent, channel, audience, text, None, superseded)


def _utterances_of(turn: TurnRecord, history: Sequence[str]) -> Iterator[tuple[str, str, list[str], str, bool]]:
    spoken = _director_lines(turn, history)
    for index, (director, message) in enumerate(spoken):
        superseded = any(later == director for later, _ in spoken[index + 1 :])
        if not superseded:
            yield director, "private", [director], turn.director_responses[director].internal_thinking, False
        hidden = superseded or message == NO_MESSAGE
        yield director, "public", _DIRECTORS if hidden else _EVERYBODY, message, superseded
    for text in (turn.clarification, turn.builder_confirmation):
        if text is not None:
            yield replay.BUILDER, "public", _EVERYBODY, text, False


def _director_lines(turn: TurnRecord, history: Sequence[str]) -> list[tuple[str, str]]:
    """Messages in the order in which they were made; where the history does not fit the answers, the answers alone."""
    answers = {director: answer.public_message for director, answer in turn.director_responses.items()}
    lines = (line.partition(": ") for line in _new_lines(turn.conversation_snapshot, history))
    found = [(director, text) for director, separator, text in lines if separator and director in answers]
    return found if dict(found) == answers else list(answers.items())


def _new_lines(snapshot: Sequence[str] | None, history: Sequence[str]) -> Sequence[str]:
    known = trimmed(history)
    if snapshot is None or tuple(snapshot[: len(known)]) != known:
        return ()
    return snapshot[len(known) :]


FORMAT: Final = "craft"
VERSION: Final = 6

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
        BadInputError: it is not JSON, or not laid out as a CRAFT log.
    """
    document = loads(data)
    if not isinstance(document, dict) or not isinstance(document.get("games"), list):
        beginning = excerpt(data[:200].decode(errors="replace"))
        raise BadInputError("no list `games`: this is not a whole CRAFT log", locator="games", excerpt=beginning)
    info = validated(ExperimentInfo, document.get("experiment_info"), "experiment_info", "every game of the file is lost")
    found = Reading()
    games = document["games"]
    if not games:
        raise BadInputError("the list `games` is empty: the run crashed before its first game", locator="games")
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
        raise BadInputError("field turns is missing, so the game is lost: a game that crashed has `error`", locator=f"games[{index}]")
    turns = _turns(record.turns, f"games[{index}]")
    episode = episode_id("craft", place.path, index)
    logged = LoggedGame(episode, record, info, turns)
    found = Reading(episodes=[episode], turns=len(turns.typed), rejects=[turns.reject] if turns.reject else [])
    found.places[episode] = f"games[{index}]"
    started = time.perf_counter()
    game = _craft_game(record, info, turns)
    derived = replay.derive(game, episode) if game else None
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


def _contradictions(game: LoggedGame, typed: replay.CraftGame | None) -> Iterator[LogDisagreement]:
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
        consequence = f"the game is stored up to the turn before, {len(raw) - index} of {len(raw)} turns are lost"
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


def _craft_game(record: GameRecord, info: ExperimentInfo, turns: LoggedTurns) -> replay.CraftGame | None:
    if record.target_structure is None:
        return None
    target = Board.from_json(record.target_structure, record.target_spans)
    kind = record.start_board or info.partial_completion or "empty"
    use_oracle = info.use_oracle if info.use_oracle is not None else any(turn.oracle_moves for turn in turns.typed)
    return replay.CraftGame(
        structure_id=record.structure_id,
        complexity=record.complexity or "",
        target=target,
        start=next((start_board(target, known) for known in START_BOARDS if known == kind), None),
        num_oracle=info.num_oracle if use_oracle else None,
        max_turns=info.max_turns,
        turns=tuple(map(_craft_turn, turns.typed)),
        outcome=None if turns.reject else _outcome(record),
    )


def _outcome(record: GameRecord) -> replay.CraftOutcome:
    final = None if record.final_structure is None else Board.from_json(record.final_structure, record.final_spans or {})
    return replay.CraftOutcome(
        completed=record.completed,
        progress=record.final_progress,
        turns_taken=record.turns_taken,
        board=final,
        spans_logged=record.final_spans is not None,
    )


def _craft_turn(turn: TurnRecord) -> replay.CraftTurn:
    progress = turn.progress_data
    snapshot = progress.structure_snapshot if progress else None
    attempted = turn.move_attempted.move() if turn.move_attempted else None
    written = turn.builder_move_raw or turn.move_attempted
    silent = attempted is None  # on clarifications and broken turns the log has no candidates even where the builder was shown some
    return replay.CraftTurn(
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
