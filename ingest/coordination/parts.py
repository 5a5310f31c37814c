"""What the readers of the four LLM-Coordination games hand on: a game and its turns, free of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from games.coordination.players import Player

__all__ = [
    "PRINTED_ON_FAILURE",
    "Act",
    "Category",
    "GameParts",
    "PlantedTruth",
    "PrivateReply",
    "ReplayDifference",
    "TurnParts",
    "Valued",
    "planted",
]


PRINTED_ON_FAILURE: Final = 35
"""Turns that the published console of the capture prints for a game without one."""


class PrivateReply(NamedTuple):
    """A reply of a player's model. Players never exchange messages, so it is private."""

    agent: Player
    text: str
    superseded: bool = False


class Act(NamedTuple):
    """An action and what became of it."""

    agent: Player
    verb: str
    arguments: Mapping[str, Any]
    """Of few values that come again and again: plain ones, or tuples of them."""

    raw: str | None
    """What was meant, as far as the log says."""

    fault: tuple[str, str] | None = None
    """Code and words where it came to nothing or did harm."""

    undoes: bool = False
    accepted: bool | None = True
    """Without a fault it was carried out; None where the log does not say."""


class Category(NamedTuple):
    """A category that a rule gives."""

    taxonomy: str
    agent: Player
    category: str
    evidence: str | None = None


class Valued(NamedTuple):
    """What the turn cost, by one measure: a row of `turn_values` without its game and turn."""

    measure: str
    before: float
    after: float
    cost: float | None
    unit: str
    kind: str = "exact"


class ReplayDifference(NamedTuple):
    """Where log and replay differ."""

    field: str
    logged: str
    recomputed: str


class PlantedTruth(NamedTuple):
    """A truth about a scripted decision."""

    rubric: str
    question: str
    agent: Player
    answer: str


@dataclass(slots=True, kw_only=True)
class TurnParts:
    """A turn or tick."""

    before: Any
    after: Any
    progress: float | None
    """0..1; None where the log does not let it be computed, as `goal_reached`."""

    goal_reached: bool | None
    said: Sequence[PrivateReply] = ()
    acts: Sequence[Act] = ()
    categories: Sequence[Category] = ()
    injected: Mapping[Player, Sequence[str]] = field(default_factory=dict)
    """Player who decided in this turn -> what its script did wrong on purpose."""

    differences: Sequence[ReplayDifference] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    values: Sequence[Valued] = ()


@dataclass(slots=True, kw_only=True)
class GameParts:
    """A game."""

    game: str
    """hanabi, overcooked, collab_capture or collab_escape."""

    task_id: str
    condition: Mapping[str, Any]
    policies: Mapping[Player, str | None]
    """None where the log does not say who played."""

    styles: Mapping[Player, str | None]
    seed: int | None
    max_turns: int | None
    success: bool | None
    """None where the log does not say, as `score`."""

    score: float | None
    stop_reason: str | None
    metrics: Mapping[str, float]
    turns: Sequence[TurnParts]
    goal: Mapping[str, Any]
    started_at: datetime | None = None
    """As logged."""


_QUESTIONS: Mapping[str, tuple[str, str]] = {
    "misgrounded_card": ("coordination_environment", "EC1"),
    "misgrounded_state": ("coordination_environment", "EC1"),
    "misgrounded_location": ("coordination_environment", "EC1"),
    "redundant_clue": ("coordination_theory_of_mind", "TOM1"),
    "unsafe_play": ("coordination_joint_planning", "JP1"),
    "idle": ("coordination_joint_planning", "JP3"),
}
"""What a script does wrong on purpose -> the rubric's question that must be answered with no."""


def planted(injected: Sequence[str], agent: Player) -> list[PlantedTruth]:
    """The answers that follow from what a script did wrong on purpose."""
    return [PlantedTruth(*_QUESTIONS[fault], agent, "no") for fault in injected if fault in _QUESTIONS]
