"""The prompts of both agents (format description, sections 3 and 7), in our own words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from games.asympuzl.feedback import Feedback, FeedbackMode, feedback_lines
from games.asympuzl.puzzle import Agent, Entry, Puzzle, other

__all__ = ["Heard", "entry_lines", "solo_prompts", "system_prompt", "user_prompt"]


class Heard(NamedTuple):
    """A message of the conversation as an agent is shown it."""

    agent: Agent
    """Who said it."""

    turn: int
    text: str


_KNOWLEDGE: Final[dict[Agent, str]] = {
    "A": "the right shape of every position, but no color",
    "B": "all right (shape, color) pairs, but in a random order, so that their positions say nothing",
}

_ACTION_FORMAT: Final = (
    "An action overwrites one position of your own working hypothesis. Positions count from 1. Its form:\n"
    '{"replace": <position>, "by": {"shape": "<shape>", "color": "<color>"}}'
)

_ANSWER_FORMAT: Final = (
    "You may think in free text first, but your answer must end with one valid JSON object that has the keys `message` and `actions`.\n"
    "`message` is all that your partner gets. Your partner cannot see your actions, your working hypothesis or your clues.\n"
    "`actions` may be empty. Example:\n"
    '{"message": "Which color has the circle?", "actions": [{"replace": 2, "by": {"shape": "circle", "color": "green"}}]}'
)

_SOLO_FORMAT: Final = (
    "You have one attempt. You may think in free text first, but your answer must end with one valid JSON object:\n"
    '{"message": "", "actions": [{"replace": 2, "by": {"shape": "circle", "color": "green"}}]}'
)


def system_prompt(agent: Agent, size: int) -> str:
    """Role, goal, and who knows what."""
    partner = other(agent)
    return (
        f"You are Agent {agent}. Together with Agent {partner} you solve a symbolic puzzle with {size} positions. "
        "Every position needs its right (shape, color) pair.\n"
        f"You know {_KNOWLEDGE[agent]}.\n"
        f"Agent {partner} knows {_KNOWLEDGE[partner]}. "
        "Talk to each other and update your working hypothesis until both of you have solved the puzzle."
    )


def user_prompt(
    *,
    clues: Sequence[Entry],
    hypothesis: Sequence[Entry],
    told: Feedback | None,
    mode: FeedbackMode,
    conversation: Sequence[Heard],
) -> str:
    """State of the puzzle, feedback, conversation, and how to answer."""
    sections = [
        ("Your clues", entry_lines(clues)),
        ("Your working hypothesis", entry_lines(hypothesis)),
        *([("Feedback on the previous turn", feedback_lines(told, mode))] if told is not None else []),
        ("Recent conversation", [f"{heard.agent}: {heard.text}" for heard in conversation] or ["(there is no message yet)"]),
        ("Actions", [_ACTION_FORMAT]),
        ("Your answer", [_ANSWER_FORMAT]),
    ]
    return _written(sections)


def solo_prompts(puzzle: Puzzle) -> tuple[str, str]:
    """System and user prompt of the control experiment: one agent, all clues, one attempt."""
    system = (
        f"You solve a symbolic puzzle with {puzzle.size} positions. Every position needs its right (shape, color) pair.\n"
        f"You are given two sets of clues. The first has {_KNOWLEDGE['A']}. The second has {_KNOWLEDGE['B']}."
    )
    sections = [
        ("First clues", entry_lines(puzzle.clues_a)),
        ("Second clues", entry_lines(puzzle.clues_b)),
        ("Your working hypothesis", entry_lines(puzzle.clues_a)),
        ("Actions", [_ACTION_FORMAT]),
        ("Your answer", [_SOLO_FORMAT]),
    ]
    return system, _written(sections)


def entry_lines(entries: Sequence[Entry]) -> list[str]:
    """One line a position."""
    return [f"Position {place}: shape {entry.shape}, color {entry.color or 'unknown'}" for place, entry in enumerate(entries, start=1)]


def _written(sections: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "\n\n".join("\n".join([f"## {title}", *lines]) for title, lines in sections)
