"""What is known of a game as named scores: outcome, metrics, and each question of each judge, with all of its verdicts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from analytics.exports.games import GameOut, Row

__all__ = ["NamedScore", "scores_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedScore:
    """One score of a game."""

    name: str
    value: float | str
    """A number; the answer where a question has one unit and its answer no number."""
    answer: str | None = None
    explanation: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


def scores_of(game: GameOut) -> Iterator[NamedScore]:
    """Outcome first, then metrics, then judges."""
    if game.facts["success"] is not None:
        yield NamedScore(name="success", value="C" if game.facts["success"] else "I", details={"stop_reason": game.facts["stop_reason"]})
    if game.facts["score"] is not None:
        yield NamedScore(name="score", value=game.facts["score"])
    for row in game.metrics:
        yield NamedScore(name=row["metric"], value=row["value"])
    keys = ("rubric", "question", "judge", "variant")
    for (rubric, question, judge, variant), rows in itertools.groupby(game.verdicts, key=lambda row: tuple(row[key] for key in keys)):
        name = f"{rubric}.{question} ({judge}{f', {variant}' if variant else ''})"
        found = _judged(name, list(rows))
        if found is not None:
            yield found


def _judged(name: str, verdicts: Sequence[Row]) -> NamedScore | None:
    """The mean over the units that have a number, with every verdict; None where nothing was answered."""
    answered = [row for row in verdicts if row["status"] == "answered"]
    if not answered:
        return None
    numbers = [row["score"] for row in answered if row["score"] is not None]
    counts = Counter(row["status"] for row in verdicts) | {"not_applicable": len(answered) - len(numbers)}
    only = answered[0] if len(answered) == 1 else None
    below = [row for row in answered if row["score"] is not None and row["score"] < 1]
    value = sum(numbers) / len(numbers) if numbers else ", ".join(sorted({row["answer"] for row in answered}))
    kept = ("turn", "agent", "repeat", "status", "answer", "score", "reason", "unit_id", "unit_hash", "rubric_hash", "judge_run_id")
    return NamedScore(
        name=name,
        value=value,
        answer=only["answer"] if only else None,
        explanation=only["reason"] if only else "; ".join(map(_line, below)) or None,
        details={"units": dict(counts), "scored": len(numbers), "verdicts": [{key: row[key] for key in kept} for row in verdicts]},
    )


def _line(row: Row) -> str:
    where = " ".join(str(part) for part in ("turn", row["turn"], row["agent"]) if part is not None) if row["turn"] is not None else "game"
    return f"{where}: {row['answer']}"
