"""The prompts of both agents (format description, sections 3 and 7); their texts, in our own words, are in prompts.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from games.asympuzl.answer import FAULTS, Answer
from games.asympuzl.puzzle import Agent, Entry, Puzzle, other
from games.players.texts import texts_of


class Heard(NamedTuple):
    """A message of the conversation as an agent is shown it."""

    agent: Agent
    """Who said it."""

    turn: int
    text: str


def system_prompt(agent: Agent, size: int) -> str:
    """Role, goal, and who knows what."""
    texts, partner = texts_of(__package__), other(agent)
    knowledge = texts["knowledge"]
    slots = {"agent": agent, "partner": partner, "size": size, "own": knowledge[agent], "other": knowledge[partner]}
    return str(texts["system"].format(**slots)).strip()


def user_prompt(
    *,
    clues: Sequence[Entry],
    hypothesis: Sequence[Entry],
    feedback: Sequence[str],
    conversation: Sequence[Heard],
    faults: Sequence[str] = (),
) -> str:
    """State of the puzzle, feedback, conversation, what was wrong with the form of the agent's last answer, and how to answer."""
    sections = [
        ("Your clues", entry_lines(clues)),
        ("Your working hypothesis", entry_lines(hypothesis)),
        *([("Feedback on the previous turn", feedback)] if feedback else []),
        ("Recent conversation", [f"{heard.agent}: {heard.text}" for heard in conversation] or ["(there is no message yet)"]),
        *([("Your last answer", faults)] if faults else []),
        *_formats("pair"),
    ]
    return _written(sections)


def form_faults(answer: Answer) -> list[str]:
    """What was wrong with the form of an answer, in words: an agent that is not told cannot know that nothing came of it."""
    texts = texts_of(__package__)["form"]
    if not answer.parse_ok:
        return [str(texts["unread"]).strip()]
    skipped = [
        f"Action {number} was skipped: {FAULTS[request.fault]}." for number, request in enumerate(answer.requests, start=1) if request.fault
    ]
    message = [] if answer.message_ok else [str(texts["message"]).strip()]
    return [*message, *([] if answer.actions_ok else [str(texts["actions"]).strip()]), *skipped]


def solo_prompts(puzzle: Puzzle) -> tuple[str, str]:
    """System and user prompt of the control experiment: one agent, all clues, one attempt."""
    texts = texts_of(__package__)
    knowledge = texts["knowledge"]
    system = str(texts["solo"].format(size=puzzle.size, first=knowledge["A"], second=knowledge["B"])).strip()
    sections = [
        ("First clues", entry_lines(puzzle.clues_a)),
        ("Second clues", entry_lines(puzzle.clues_b)),
        ("Your working hypothesis", entry_lines(puzzle.clues_a)),
        *_formats("solo"),
    ]
    return system, _written(sections)


def _formats(game: str) -> list[tuple[str, list[str]]]:
    texts = texts_of(__package__)
    return [("Actions", [texts["action"].strip()]), ("Your answer", [texts["answer"][game].strip()])]


def entry_lines(entries: Sequence[Entry]) -> list[str]:
    """One line a position."""
    return [f"Position {place}: shape {entry.shape}, color {entry.color or 'unknown'}" for place, entry in enumerate(entries, start=1)]


def _written(sections: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "\n\n".join("\n".join([f"## {title}", *lines]) for title, lines in sections)
