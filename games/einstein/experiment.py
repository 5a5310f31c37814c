"""Einstein Puzzles in experiments: puzzles, and the switches of the table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import Field, model_validator

from games.einstein import seated
from games.einstein.engine.generator import generate
from games.einstein.engine.puzzle import OBJECT_COUNTS, parse_game_id
from games.einstein.engine.rules import STEP_LIMIT, RulesName
from games.einstein.forms import forms
from games.einstein.game import Game
from games.einstein.match_log import NO_VERIFIER, settings_of
from games.experiments.family import Match, Part, Task, job_of
from games.players.running import Job
from games.players.seats import Seats
from games.playing import DEFAULT_START

__all__ = ["KINDS", "Condition", "Tasks", "forms", "job", "one_game", "seats", "tasks"]


class Tasks(Part):
    """Puzzles by their ids, or generated ones."""

    ids: list[str] | None = Field(default=None, min_length=1)
    generate: int | None = Field(default=None, ge=1, le=100_000)
    seed: int = 3
    objects: list[int] = Field(default=list(OBJECT_COUNTS), min_length=1)
    """Numbers of objects of generated puzzles, taken in turn."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Tasks:
        if (self.ids is None) == (self.generate is None):
            raise ValueError("say either `ids` (of puzzles) or `generate` (how many), one of both")
        return self


class Condition(Part):
    """The switches of a game."""

    mode: str = "provide_seek"
    """Action space; two joined by + for a mixed pair."""
    reasoning: bool = True
    guidance: bool = False
    verifier: str = NO_VERIFIER
    samples: int = Field(default=4, ge=1)
    rules: RulesName = "sane"
    step_limit: int = Field(default=STEP_LIMIT, ge=1)


KINDS: Final = ("",)
"""Kinds of single games."""


def one_game(number: int, _: str = KINDS[0]) -> Tasks:
    """The task of a single game, for people who sit down at a table."""
    return Tasks(generate=1, seed=number)


def seats(_: Tasks) -> Seats:
    """Two players."""
    return Seats(seated.SEATS, seated.SCRIPTS)


def tasks(asked: Tasks, _: Path) -> Sequence[Task]:
    """The puzzles."""
    if asked.ids is None:
        found = list(generate(count=asked.generate or 0, seed=asked.seed, num_objects=asked.objects))
    else:
        found = [parse_game_id(name) for name in asked.ids]
    unique = {puzzle.game_id: puzzle for puzzle in found}
    return [Task(name, puzzle, place) for place, (name, puzzle) in enumerate(unique.items())]


def job(match: Match) -> Job:
    """A game of the puzzle."""
    asked: Condition = match.condition
    written: dict[str, Any] = {
        "modes": asked.mode.split("+") if "+" in asked.mode else [asked.mode] * 2,
        "reasoning": asked.reasoning,
        "guidance": asked.guidance,
        "verifier": asked.verifier,
        "samples_per_step": asked.samples,
        "rules": asked.rules,
        "step_limit": asked.step_limit,
    }
    settings = settings_of(written)
    Game(match.task.content, settings)  # contradictions of the switches are told before anything is played
    header = seated.seated_header(match.task.content, settings, match.taken, seed=match.seed, started_at=DEFAULT_START)
    return job_of(match, header, partial(seated.course_of, match.task.content, settings, DEFAULT_START))
