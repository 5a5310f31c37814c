"""Games that no rules of cotrace can replay: their logs are taken as written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ingest.cotrace_log.derivation import BadTurnError, Derived
from ingest.reading.json_text import dumps
from schemas.errors import BadInputError
from schemas.game import End, Header, Turn
from schemas.records import EpisodeMetric, Failure, Json, OracleAction, TurnMetric

__all__ = ["derive"]


def derive(header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
    """Give what the log itself says; what it leaves out is not known.

    Raises:
        BadTurnError: a turn's progress is not between 0 and 1, or one of its numbers is none.
    """
    for index, turn in enumerate(turns):
        _check(turn, index)
    rows: dict[str, list[tuple[object, ...]]] = {
        "failures": [row for turn in turns for row in _failures(episode, turn)],
        "oracle_actions": [row for turn in turns for row in _oracle(episode, turn)],
        "turn_metrics": [
            TurnMetric(episode, turn.turn, f"{header.benchmark}.{name}", value) for turn in turns for name, value in turn.metrics.items()
        ],
        "episode_metrics": [
            EpisodeMetric(episode, f"{header.benchmark}.{name}", value) for name, value in (end.metrics if end else {}).items()
        ],
    }
    reached = any(turn.goal_reached for turn in turns)
    success = end.success if end else (True if reached else None)
    score = end.score if end else None
    if score is None and success is not None:  # a game whose only number is whether it was won
        score = float(success)
    return Derived(progress=[turn.progress for turn in turns], success=success, score=score, rows=rows)


def _check(turn: Turn, index: int) -> None:
    numbers: Mapping[str, float] = turn.metrics if turn.progress is None else {"progress": turn.progress, **turn.metrics}
    for name, value in numbers.items():
        if not math.isfinite(value):
            raise BadTurnError(BadInputError(f"{name} is {value}: give a finite number, or leave it out", locator=f".{name}"), index)
    if turn.progress is not None and not 0 <= turn.progress <= 1:
        raise BadTurnError(BadInputError(f"progress is {turn.progress}: give a share from 0 to 1", locator=".progress"), index)


def _failures(episode: str, turn: Turn) -> Iterator[Failure]:
    for found in dict.fromkeys((entry.agent, entry.taxonomy, entry.category) for entry in turn.failures):
        agent, taxonomy, category = found
        same = (entry.evidence for entry in turn.failures if (entry.agent, entry.taxonomy, entry.category) == found)
        yield Failure(episode, turn.turn, agent, taxonomy, category, "; ".join(text for text in same if text) or None)


def _oracle(episode: str, turn: Turn) -> Iterator[OracleAction]:
    for rank, entry in enumerate(turn.oracle or (), start=1):
        yield OracleAction(
            episode, turn.turn, rank, entry.verb, Json(dumps(entry.arguments)), undoes=entry.undoes, listed=True, verified=True
        )
