"""The rows that replay gives: metrics, candidates, failure categories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache
from typing import Final

from games.craft.engine.errors import MoveError, code_of
from games.craft.engine.flags import Flags
from games.craft.engine.move import Move
from games.craft.measures.adherence import followed_action_position_layer, followed_full, followed_physical
from games.craft.measures.metrics import METRICS, Metrics
from games.craft.measures.taxonomy import published_category, repaired_category
from games.craft.replay import ReplayedTurn
from games.craft.targets.reachability import StructureFacts, structure_facts
from games.craft.targets.structures import Structure
from games.craft.text.builder import no_reply_came
from ingest.craft.game import BUILDER, CraftGame, CraftTurn
from ingest.reading.json_text import dumps
from schemas.records import EpisodeMetric, Failure, Json, OracleAction, TurnMetric

__all__ = ["arguments", "episode_metrics", "failures", "oracle_actions", "scores", "turn_facts"]

_NAMES: Final = tuple((name, f"craft.{name}") for name in METRICS)
_READINGS: Final = tuple(
    (followed, f"craft.{followed.__name__}") for followed in (followed_full, followed_physical, followed_action_position_layer)
)
_FLAGS: Final = tuple((flag.name, f"craft.{flag.name}") for flag in fields(Flags))
_FACTS: Final = tuple(
    (field.name, f"craft.structure.{field.name}") for field in fields(StructureFacts) if field.name not in {"structure_id", "complexity"}
)


@lru_cache(maxsize=65536)
def arguments(move: Move) -> Json:
    """JSON text of a move's arguments: block, position, layer, span_to."""
    return Json(dumps({"block": move.block, "position": move.position, "layer": move.layer, "span_to": move.span_to}))


def scores(episode: str, turn: int, metrics: Metrics) -> Iterator[TurnMetric]:
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
    yield Failure(episode, turn.turn, agent, "craft_published", published_category(listed, attempted, text), text)
    unread = turn.unreadable is not None and not no_reply_came(turn.unreadable)
    category = repaired_category(listed, attempted, _error(text, step), unreadable=unread)
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


def episode_metrics(episode: str, game: CraftGame, start: Metrics | None, end: Metrics | None) -> Iterator[EpisodeMetric]:
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
