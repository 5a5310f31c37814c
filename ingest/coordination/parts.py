"""What the readers of the four LLM-Coordination games hand on: a game and its turns, free of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, NamedTuple

from games.coordination.players import HARNESS_READS, KINDS, PLANTED_QUESTIONS, READS, Player, Read
from ingest.reading.difference import Difference
from ingest.reading.json_text import dumps
from schemas.records import Json
from schemas.replies import Read as ReadKind
from schemas.text import excerpt

__all__ = [
    "BENCHMARK",
    "PRINTED_ON_FAILURE",
    "Act",
    "Category",
    "GameParts",
    "PlantedTruth",
    "PrivateReply",
    "TurnParts",
    "Valued",
    "act",
    "own_moves",
    "planted",
    "reading",
    "state_text",
]


BENCHMARK: Final = "coordination"

_READ: Final = "coordination_read"

PRINTED_ON_FAILURE: Final = 35
"""Turns that the published console of the capture prints for a game without one."""

_NAME: Final = itemgetter(0)


class PrivateReply(NamedTuple):
    """A reply of a player's model. Players never exchange messages, so it is private."""

    agent: Player
    text: str
    superseded: bool = False


class Act(NamedTuple):
    """An action and what became of it: a row of `actions` without its game and place, and how it reads in a fingerprint."""

    agent: Player
    verb: str
    arguments: Json
    raw: str | None
    """What was meant, as far as the log says."""

    accepted: bool | None
    """None where the log does not say."""

    undoes: bool
    error_code: str | None
    """Where it came to nothing or did harm, as the words."""

    error_text: str | None
    told: str
    """What was done, without its wording, which differs between logs of one game."""


def act(doing: tuple[Player, str], arguments: Mapping[str, Any], raw: str | None, fault: tuple[str, str] | None = None) -> Act:
    """An action.

    Args:
        doing: who does what.
        arguments: few values that come again and again: plain ones, or tuples of them.
        raw: what was meant.
        fault: code and words where it came to nothing or did harm; without one it was carried out.
    """
    pairs = tuple(arguments.items())
    code, text = fault or (None, None)
    return Act(
        *doing, _written(pairs), raw, accepted=fault is None, undoes=False, error_code=code, error_text=text, told=_told(*doing, pairs)
    )


@lru_cache(maxsize=4096)
def _told(agent: Player, verb: str, arguments: tuple[tuple[str, object], ...]) -> str:
    return repr((agent, verb, sorted(((name, _listed(value)) for name, value in arguments if name != "text"), key=_NAME)))


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


@lru_cache(maxsize=4096)
def _written(arguments: tuple[tuple[str, object], ...]) -> Json:
    return Json(dumps(dict(arguments)))


def state_text(state: object) -> Json:
    """A state, in which every number is finite, as turns hold it."""
    return Json(dumps(state, finite=True))


class Category(NamedTuple):
    """A category that a rule gives: a row of `failures` without its game and turn."""

    agent: Player
    taxonomy: str
    category: str
    evidence: str | None = None


def reading(agent: Player, read: Read | None, reply: str | None, slips: Sequence[str] = ()) -> list[Category]:
    """How a reply became an action, as a category of `coordination_read`; none where the log does not let it be known."""
    if read is None:
        return []
    shown = () if read == "exact" else slips or (reply or "",)
    replies = "; ".join(f"{excerpt(text[-_REPLY:])!r}" for text in shown)
    return [Category(agent, _READ, read, f"{READS[read]}: {replies}" if shown else None)]


def own_moves(categories: Sequence[Category]) -> list[Category]:
    """Categories of a turn without those that call a move of the harness good or bad, as if it were the player's.

    Where the log says that the player meant the action all the same, the move is its own.
    """
    meant = {found.agent for found in categories if (found.taxonomy, found.category) == ("coordination_grounding", "as_intended")}
    chosen = {found.agent for found in categories if found.taxonomy == _READ and found.category in HARNESS_READS}
    not_own = chosen - meant
    return [found for found in categories if found.agent not in not_own or found.taxonomy.startswith("coordination_")]


_REPLY: Final = 160
"""Characters of a reply's end that evidence holds: the action stands last."""


class Valued(NamedTuple):
    """What the turn cost, by one measure: a row of `turn_values` without its game and turn."""

    measure: str
    before: float
    after: float
    cost: float | None
    unit: str
    kind: str = "exact"


class PlantedTruth(NamedTuple):
    """A truth about a scripted decision."""

    rubric: str
    question: str
    agent: Player
    answer: str


@dataclass(slots=True, kw_only=True)
class TurnParts:
    """A turn or tick."""

    before: Json
    after: Json
    progress: float | None
    """0..1; None where the log does not let it be computed, as `goal_reached`."""

    goal_reached: bool | None
    said: Sequence[PrivateReply] = ()
    acts: Sequence[Act] = ()
    categories: Sequence[Category] = ()
    injected: Mapping[Player, Sequence[str]] = field(default_factory=dict)
    """Player who decided in this turn -> what its script did wrong on purpose."""

    differences: Sequence[Difference] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    values: Sequence[Valued] = ()

    def read_of(self, agent: Player) -> ReadKind | None:
        """How the agent's reply was read; None where it gave none, or the log does not let it be known."""
        found = (rule.category for rule in self.categories if rule.taxonomy == _READ and rule.agent == agent)
        return next((kind for read, kind in KINDS.items() if read in found), None)


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


def planted(injected: Sequence[str], agent: Player) -> list[PlantedTruth]:
    """The answers that follow from what a script did wrong on purpose."""
    return [PlantedTruth(*PLANTED_QUESTIONS[fault], agent, "no") for fault in injected if fault in PLANTED_QUESTIONS]
