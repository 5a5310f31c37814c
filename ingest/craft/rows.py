"""The rows of a published CRAFT game that come straight from its log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from games.craft.engine.blocks import DIRECTORS
from games.craft.engine.board import Board
from games.craft.text.builder import is_complaint, no_reply_came
from ingest.craft.game import BUILDER, CraftTurn
from ingest.craft.measures import arguments
from ingest.craft.records import TURN_FIELDS, ExperimentInfo, GameRecord, TurnRecord
from ingest.craft.replay import DerivedGame, DerivedTurn
from ingest.craft.views import shown_in_prompt, shown_views
from ingest.reading.adapter_types import Place, run_id
from ingest.reading.json_text import dumps
from ingest.reading.times import read_time
from schemas.errors import BadInputError
from schemas.records import Action, Agent, Episode, Json, Run, Turn
from schemas.replies import Read

__all__ = [
    "LoggedGame",
    "LoggedTurns",
    "action_rows",
    "agent_rows",
    "agent_rows_without_target",
    "episode_row",
    "run_row",
    "turn_row",
]

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
    return Run(run_id("craft", name, team, condition), "craft", name, Json(dumps(condition)), read_time(info.timestamp))


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


def episode_row(game: LoggedGame, place: Place, run: Run, derived: DerivedGame | None) -> Episode:
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
        lines = {name: f"{name}: {said.public_message}" for name, said in turn.director_responses.items() if said.public_message.strip()}
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
    views = shown_views(target, _prompted_views(game.turns), record.target_director_views)
    personas = (record.d1_archetype, record.d2_archetype, record.d3_archetype)
    for director, persona in zip(DIRECTORS, personas, strict=True):
        view, kind, source = views[director]
        yield Agent(game.episode, director, "director", info.models.director, persona, Json(dumps(view)), kind, source)
    yield _builder(game.episode, info)


def agent_rows_without_target(episode: str, info: ExperimentInfo) -> Iterator[Agent]:
    """The agents of a game that could not be set up."""
    for director in DIRECTORS:
        yield Agent(episode, director, "director", info.models.director, None, None, None, None)
    yield _builder(episode, info)


def _builder(episode: str, info: ExperimentInfo) -> Agent:
    return Agent(episode, BUILDER, "builder", info.models.builder, None, None, None, None)


def _prompted_views(turns: LoggedTurns) -> dict[str, object]:
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


def turn_row(episode: str, turn: TurnRecord, craft_turn: CraftTurn, result: DerivedTurn) -> Turn:
    """The turn; the state after it is the snapshot with the span records that replay gives, which the log does not have."""
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
        at=read_time(turn.timestamp),
    )


def _state(after: Board) -> str:
    return dumps({"stacks": after.structure_json(ghosts=True), "spans": after.spans_json()})


def action_rows(episode: str, turn: TurnRecord, raw_turn: Mapping[str, Any], result: DerivedTurn) -> Iterator[Action]:
    """The builder's move or question; none on a turn that broke off."""
    if turn.clarification is not None:
        question = Json(dumps({"question": turn.clarification}))  # the log's own field, whatever stands in it
        unread = is_complaint(turn.clarification) and not no_reply_came(turn.clarification)
        read: Read | None = "unreadable" if unread else None
        yield Action(
            episode,
            turn.turn_number,
            1,
            BUILDER,
            "clarify",
            question,
            None,
            None,
            undoes=False,
            error_code=None,
            error_text=None,
            read=read,
        )
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
