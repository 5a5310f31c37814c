"""CRAFT in experiments: structures to build, and the switches of the table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import Field, model_validator

from games.craft.engine.oracle import DEFAULT_SAMPLE
from games.craft.forms import forms
from games.craft.game import GameSettings, Rules
from games.craft.seated import SCRIPTS, SEATS, SeatedGame, course_of, header_of
from games.craft.targets.generator import StructureRules, generate_structures
from games.craft.targets.start_boards import StartBoard
from games.craft.targets.structures import Complexity, Structure, load_structures
from games.craft.text.archetypes import archetypes
from games.experiments.family import Match, Part, Task, job_of
from games.players.running import Job
from games.players.seats import Seats
from games.playing import DEFAULT_START
from schemas.errors import UsageError

__all__ = ["KINDS", "Condition", "Tasks", "forms", "job", "one_game", "seats", "tasks"]


class Tasks(Part):
    """Structures out of a published file, or generated ones."""

    file: Path | None = None
    take: int | None = Field(default=None, ge=1)
    """The first so many of the file."""
    generate: int | None = Field(default=None, ge=1, le=100_000)
    seed: int = 3
    tier: Complexity | None = None
    reachable: bool = False
    """Only such as can be completed."""
    distinct_layers: bool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> Tasks:
        if (self.file is None) == (self.generate is None):
            raise ValueError("say either `file` (a published structures file) or `generate` (how many), one of both")
        only = {"take"} if self.file is None else {"seed", "tier", "reachable", "distinct_layers"}
        for name in sorted(only & self.model_fields_set):
            raise ValueError(f"{name} goes with {'file' if self.file is None else 'generate'}: delete it")
        return self


class Condition(Part):
    """The switches of a game."""

    oracle: bool = True
    num_oracle: int = Field(default=DEFAULT_SAMPLE, ge=1)
    turns: int = Field(default=20, ge=1)
    start: StartBoard = "empty"
    same_turn_messages: bool = False
    speakers: int = Field(default=3, ge=1, le=3)
    history_limit: int | None = Field(default=None, ge=0)
    simulations: int = Field(default=0, ge=0)
    provider_tool: bool = False
    rules: Rules = "sane"


KINDS: Final = ("",)
"""Kinds of single games."""


def one_game(number: int, _: str = KINDS[0]) -> Tasks:
    """The task of a single game, for people who sit down at a table."""
    return Tasks(generate=1, seed=number, reachable=True)


def seats(_: Tasks) -> Seats:
    """Three directors and a builder."""
    return Seats(SEATS, SCRIPTS)


def tasks(asked: Tasks, home: Path) -> Sequence[Task]:
    """The structures."""
    if asked.file is None:
        rules = StructureRules(complexity=asked.tier, reachable=asked.reachable, distinct_layers=asked.distinct_layers)
        found = tuple(generate_structures(asked.generate or 0, asked.seed, rules))
    else:
        found = _in_file(home / asked.file, asked.take)
    return [Task(structure.structure_id, structure, place) for place, structure in enumerate(found)]


def job(match: Match) -> Job:
    """A game of the structure."""
    asked: Condition = match.condition
    settings = GameSettings(
        start=asked.start,
        oracle=asked.oracle,
        num_oracle=asked.num_oracle,
        max_turns=asked.turns,
        same_turn_messages=asked.same_turn_messages,
        speakers=asked.speakers,
        history_limit=asked.history_limit,
        simulations=asked.simulations,
        provider_tool=asked.provider_tool,
        rules=asked.rules,
    )
    game = SeatedGame(
        structure=match.task.content,
        characters=archetypes(match.task.place, match.seed),
        settings=settings,
        seats=match.taken,
        seed=match.seed,
        started_at=DEFAULT_START,
    )
    return job_of(match, header_of(game), partial(course_of, game))


def _in_file(path: Path, take: int | None) -> tuple[Structure, ...]:
    try:
        found = load_structures(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give a published structures file, or `generate`") from error
    if take is not None and take > len(found):
        raise UsageError(f"{path} holds {len(found)} structures, not {take}: lower `take`")
    return found[:take]
