"""Writes scripted games as cotrace's own log."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from games.craft.engine.blocks import DIRECTORS, Director
from games.craft.engine.board import Board
from games.craft.engine.move import Move
from games.craft.engine.views import all_views, views_json
from games.craft.game import GameSettings, TurnRecord, kept
from games.craft.measures.adherence import followed_action_position_layer
from games.craft.measures.metrics import COMPLETION_THRESHOLD, progress
from games.craft.players.claims import planted_claims
from games.craft.players.facts import TurnFacts, Voice
from games.craft.players.match import Team, play_match
from games.craft.players.truth import planted_labels
from games.craft.targets.start_boards import start_board
from games.craft.targets.structures import Structure
from games.craft.text.director_output import NO_MESSAGE, DirectorAnswer
from games.craft.text.history import UNREADABLE
from schemas.game import ActionEntry, AgentEntry, End, Header, LogWriter, OracleEntry, Turn, UtteranceEntry

__all__ = ["header_of", "state_json", "turn_entry", "write_match"]

_BUILDER: Final = "Builder"
_EVERYBODY: Final = (*DIRECTORS, _BUILDER)
_TURN_TIME: Final = timedelta(seconds=30)
"""Pretended length of a turn: scripted games have no clock worth logging."""


def header_of(structure: Structure, settings: GameSettings, team: Team, *, seed: int, started_at: datetime) -> Header:
    """Give the first line of a game."""
    condition = {
        "provider_group": None,
        "use_oracle": settings.oracle,
        "num_oracle": settings.num_oracle,
        "builder_tool_use": False,
        "max_turns": settings.max_turns,
        "max_tokens": None,
        "start_board": settings.start,
        "run": seed,
    }
    oracle = f"oracle{settings.num_oracle}" if settings.oracle else "no_oracle"
    return Header(
        benchmark="craft",
        episode=f"{structure.structure_id}/{team.persona}_{team.builder}/{seed}",
        run={"name": f"{oracle}_no_tools_run{seed}/{team.persona}_{team.builder}", "condition": condition},
        task={
            "id": structure.structure_id,
            "level": structure.complexity,
            "goal": state_json(structure.target),
        },
        team={"director": team.persona, "builder": team.builder},
        agents=_agents(structure, team),
        model=team.persona,
        seed=seed,
        max_turns=settings.max_turns,
        started_at=started_at.isoformat(),
        details={"scripted": True, "same_turn_messages": settings.same_turn_messages},
    )


def write_match(path: Path, structure: Structure, settings: GameSettings, team: Team, header: Header) -> int:
    """Play a game into its file, a line a turn; give the number of turns.

    Raises:
        OSError: the file cannot be written.
    """
    started_at = datetime.fromisoformat(header.started_at)
    metrics, turns = progress(start_board(structure.target, settings.start), structure.target), 0
    with LogWriter(path, header) as log:
        for facts in play_match(structure, settings, team, header.seed or 0):
            turns, metrics = facts.record.turn, facts.record.metrics
            log.turn(_turn(facts, settings, started_at + turns * _TURN_TIME))
        success = metrics.overall_progress >= COMPLETION_THRESHOLD
        reason = "target_achieved" if success else "max_turns_reached"
        log.end(End(success=success, score=metrics.overall_progress, stop_reason=reason, turns_taken=turns))
    return turns


def _agents(structure: Structure, team: Team) -> tuple[AgentEntry, ...]:
    views = views_json(all_views(structure.target))
    directors = [_director(director, team.directors[director], views[director]) for director in DIRECTORS]
    return (*directors, AgentEntry(agent=_BUILDER, role="builder", model=team.builder, persona=team.builder))


def _director(director: Director, persona: str, view: Any) -> AgentEntry:
    return AgentEntry(agent=director, role="director", model=persona, persona=persona, private_view=view, view_kind="spans")


def state_json(board: Board) -> dict[str, Any]:
    """Give a board as logs hold it."""
    return {"stacks": board.structure_json(ghosts=True), "spans": board.spans_json()}


def _turn(facts: TurnFacts, settings: GameSettings, at: datetime) -> Turn:
    turn = turn_entry(facts.record, settings, at)
    return replace(turn, utterances=_with_claims(turn.utterances, facts), labels=list(planted_labels(facts)))


def _with_claims(entries: Sequence[UtteranceEntry], facts: TurnFacts) -> list[UtteranceEntry]:
    voices: dict[str, Voice] = {voice.director: voice for voice in facts.voices}
    return [
        replace(entry, claims=planted_claims(voices[entry.agent], entry.channel)) if entry.agent in voices else entry for entry in entries
    ]


def turn_entry(record: TurnRecord, settings: GameSettings, at: datetime) -> Turn:
    """Give a finished turn as a line of the log, without labels and calls."""
    attempted = record.outcome.move if record.outcome else None
    return Turn(
        turn=record.turn,
        at=at.isoformat(),
        state_before=state_json(record.board_before),
        utterances=_utterances(record, settings),
        oracle=[_candidate(move) for move in record.listed] if settings.oracle else None,
        oracle_followed=followed_action_position_layer(record.listed, attempted) if record.listed and attempted else None,
        actions=(_action(record),),
        state_after=state_json(record.board_after),
        goal_reached=record.metrics.overall_progress >= COMPLETION_THRESHOLD,
    )


def _utterances(record: TurnRecord, settings: GameSettings) -> list[UtteranceEntry]:
    received = kept(record.answers) if settings.rules == "published" else range(len(record.answers))
    entries = [
        entry
        for number, (director, answer) in enumerate(record.answers)
        for entry in _spoken(director, answer, superseded=number not in received)
    ]
    unread = record.unreadable if settings.rules == "published" else UNREADABLE
    text = unread if record.unreadable is not None else record.clarification or record.confirmation
    return [*entries, UtteranceEntry(agent=_BUILDER, channel="public", audience=_EVERYBODY, text=text or "")]


def _spoken(director: Director, answer: DirectorAnswer, *, superseded: bool) -> tuple[UtteranceEntry, UtteranceEntry]:
    """Thought and message. The builder is not shown what is superseded, nor the stand-in for a missing message."""
    thought = UtteranceEntry(agent=director, channel="private", audience=(director,), text=answer.thinking, superseded=superseded)
    audience = DIRECTORS if superseded or answer.message == NO_MESSAGE else _EVERYBODY
    return thought, UtteranceEntry(agent=director, channel="public", audience=audience, text=answer.message, superseded=superseded)


def _action(record: TurnRecord) -> ActionEntry:
    outcome = record.outcome
    if record.unreadable is not None:
        reason = {"reason": record.unreadable}
        return ActionEntry(agent=_BUILDER, verb="unreadable", arguments=reason, raw=record.builder_text, accepted=None)
    if outcome is None:
        question = {"question": record.clarification}
        return ActionEntry(agent=_BUILDER, verb="clarify", arguments=question, raw=record.builder_text, accepted=None)
    return ActionEntry(
        agent=_BUILDER,
        verb=outcome.move.action,
        arguments=_arguments(outcome.move),
        raw=record.builder_text,
        accepted=outcome.accepted,
        error_code=outcome.error.code if outcome.error else None,
        error_text=outcome.error.message if outcome.error else None,
        undoes=outcome.move.action == "remove",
    )


def _candidate(move: Move) -> OracleEntry:
    return OracleEntry(move.action, _arguments(move), undoes=move.action == "remove")


def _arguments(move: Move) -> dict[str, Any]:
    return {"block": move.block, "position": move.position, "layer": move.layer, "span_to": move.span_to}
