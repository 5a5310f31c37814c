"""The control experiment with one agent: all clues of both sides, one attempt, no feedback, no partner (format description, section 7)."""

from __future__ import annotations

from games.asympuzl.game import AgentTurn, answer_turn
from games.asympuzl.prompts import solo_prompts
from games.asympuzl.puzzle import Puzzle

__all__ = ["attempt", "solo_prompts"]


def attempt(puzzle: Puzzle, answer: str) -> AgentTurn:
    """What the one answer does to the clues of A; it succeeds if ``ok_after``. Its message is ignored."""
    return answer_turn(puzzle, turn=1, agent="A", before=puzzle.clues_a, raw=answer)
