"""The control experiment with one agent: all clues of both sides, one attempt, no feedback, no partner (format description, section 7)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from games.asympuzl.game import AgentTurn, answer_turn
from games.asympuzl.prompts import solo_prompts
from games.asympuzl.puzzle import Entry, Puzzle

__all__ = ["SoloObservation", "attempt", "observe", "solo_prompts", "solver"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SoloObservation:
    """All that the one agent sees."""

    clues_a: tuple[Entry, ...]
    clues_b: tuple[Entry, ...]
    system: str
    user: str
    """The two messages for a language model."""


def observe(puzzle: Puzzle) -> SoloObservation:
    """Give what the one agent may see."""
    system, user = solo_prompts(puzzle)
    return SoloObservation(clues_a=puzzle.clues_a, clues_b=puzzle.clues_b, system=system, user=user)


def attempt(puzzle: Puzzle, answer: str) -> AgentTurn:
    """What the one answer does to the clues of A; it succeeds if ``ok_after``. Its message is ignored."""
    return answer_turn(puzzle, turn=1, agent="A", before=puzzle.clues_a, raw=answer)


def solver(seen: SoloObservation) -> str:
    """A script that puts both sides together."""
    pairs = {entry.shape: entry for entry in seen.clues_b}
    actions = [{"replace": place, "by": pairs[entry.shape]._asdict()} for place, entry in enumerate(seen.clues_a, start=1)]
    return json.dumps({"message": "", "actions": actions})
