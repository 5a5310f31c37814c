"""AsymPuzl in experiments: puzzles by seed, and the switches of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import Field

from games.asympuzl.feedback import FeedbackMode
from games.asympuzl.forms import forms
from games.asympuzl.game import GameSettings
from games.asympuzl.play import PAPER_SEEDS
from games.asympuzl.puzzle import MAX_SIZE
from games.asympuzl.seated import SCRIPTS, SEATS, SOLO_SEATS, SeatedGame, course_of, header_of
from games.asympuzl.tokens import DEFAULT_TOKENIZER, tokenizer
from games.experiments.family import Match, Task, job_of
from games.players.running import Job
from games.players.seats import Seats
from games.playing import DEFAULT_START
from games.settings import Settings

__all__ = ["KINDS", "Condition", "Tasks", "forms", "job", "one_game", "seats", "tasks"]


class Tasks(Settings):
    """Puzzles, by the seeds that they are drawn from in every size."""

    generate: int = Field(default=len(PAPER_SEEDS), ge=1, le=100_000)
    """How many: puzzles 0, 1, ..."""
    first: int = Field(default=0, ge=0)
    """The number of the first."""
    solo: bool = False
    """The control experiment: one agent with the clues of both."""


class Condition(Settings):
    """The switches of a game."""

    size: int = Field(default=5, ge=1, le=MAX_SIZE)
    feedback: FeedbackMode = "both"
    history: int = Field(default=1, ge=1)
    turns: int | None = Field(default=None, ge=1)
    """None: twice the number of positions."""
    tokenizer: str = DEFAULT_TOKENIZER


KINDS: Final = ("",)
"""Kinds of single games."""


def one_game(number: int, _: str = KINDS[0]) -> Tasks:
    """The task of a single game, for people who sit down at a table."""
    return Tasks(generate=1, first=number)


def seats(asked: Tasks) -> Seats:
    """Two players, or one."""
    return Seats(SOLO_SEATS if asked.solo else SEATS, SCRIPTS)


def tasks(asked: Tasks, _: Path) -> Sequence[Task]:
    """The puzzles."""
    return [Task(f"puzzle_{number}", number, place) for place, number in enumerate(range(asked.first, asked.first + asked.generate))]


def job(match: Match) -> Job:
    """A game of the puzzle; the experiment's seed tells repetitions apart."""
    asked: Condition = match.condition
    tokenizer(asked.tokenizer)("")  # one without its tables fails here, before anything is played
    game = SeatedGame(
        settings=GameSettings(mode=asked.feedback, history_length=asked.history, max_turns=asked.turns),
        taken=match.taken,
        size=asked.size,
        seed=match.task.content,
        tokenizer=asked.tokenizer,
        solo=set(match.taken) == set(SOLO_SEATS),
        started_at=DEFAULT_START,
    )
    header = header_of(game)
    return job_of(match, replace(header, details={**header.details, "repetition": match.seed}), partial(course_of, game))
