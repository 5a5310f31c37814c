"""CRAFT's games: structures to build, and the switches of the game."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import Field, model_validator

from games.craft.forms import forms
from games.craft.game import GameSettings as Condition
from games.craft.players.team import CASTS
from games.craft.setup import ROLES, SCRIPTS, GameSetup, course_of, header_of, scripted_course
from games.craft.targets import Complexity, Structure, StructureRules, generate_structures, load_structures
from games.craft.text.prompts import archetypes
from games.experiments.family import Match, ShortForm, Task, job_of
from games.players.running import Job
from games.players.setup import PlayerSetup
from games.settings import Settings
from schemas.errors import UsageError

__all__ = ["KINDS", "SHORT", "Condition", "Tasks", "forms", "job", "one_game", "seats", "tasks"]


class Tasks(Settings):
    """Structures out of a published file, or generated ones."""

    file: Path | None = Field(default=None, description="Published structures file, in place of generated targets.")
    take: int | None = Field(default=None, ge=1, description="The first so many of the file.")
    generate: int | None = Field(default=None, ge=1, le=1_000_000, description="How many to generate.")
    seed: int = Field(default=3, description="Fixes the targets.")
    tier: Complexity | None = Field(default=None, description="Generate only targets of this tier.")
    reachable: bool = Field(default=False, description="Generate only targets that can be completed.")
    distinct_layers: bool = Field(default=False, description="Generate no equal blocks on consecutive layers of a cell.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Tasks:
        if (self.file is None) == (self.generate is None):
            raise ValueError("say either `file` (a published structures file) or `generate` (how many), one of both")
        only = {"take"} if self.file is None else {"seed", "tier", "reachable", "distinct_layers"}
        for name in sorted(only & self.model_fields_set):
            raise ValueError(f"{name} goes with {'file' if self.file is None else 'generate'}: delete it")
        return self


def _drawn(games: int | None, seed: int, given: dict[str, Any]) -> tuple[dict[str, Any], Sequence[int]]:
    if "file" in given:
        return given | ({} if games is None else {"take": games}), (seed,)
    return given | {"generate": SHORT.games if games is None else games, "seed": seed}, (seed,)


SHORT: Final = ShortForm(
    games=20,
    counted="targets to generate, or to take from --file",
    seeds=(3,),
    team=lambda _: ("directors=script:clear", "builder=script:oracle_follower"),
    drawn=_drawn,
    examples=(
        "craft --player directors=script:clear --player builder=script:literal --games 5 --out logs/",
        "craft --player directors=openai/gpt-4o --player builder=openai/gpt-4o-mini --games 2 --max-cost 1 --out logs/",
        "craft --planted 100 --out logs/planted",
    ),
    renamed={"--structures": "--games|--file", "--history": "--history-limit"},
    scripts={"--persona": ("directors", "directors"), "--builder": ("builder", "builder")},
)

KINDS: Final = ("",)
"""Kinds of single games."""


def one_game(number: int, _: str = KINDS[0]) -> Tasks:
    """The task of a single game that people play."""
    return Tasks(generate=1, seed=number, reachable=True)


def seats(_: Tasks) -> PlayerSetup:
    """Three directors and a builder."""
    return PlayerSetup(ROLES, SCRIPTS, CASTS)


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
    settings: Condition = match.condition
    game = GameSetup(
        structure=match.task.content,
        characters=archetypes(match.task.place, match.seed),
        settings=settings.model_copy(update={"same_turn_messages": True}) if match.cast else settings,
        taken=match.players,
        seed=match.seed,
        cast=match.cast,
    )
    return job_of(match, header_of(game), partial(scripted_course if match.cast else course_of, game))


def _in_file(path: Path, take: int | None) -> tuple[Structure, ...]:
    try:
        found = load_structures(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give a published structures file, or how many to generate") from error
    if take is not None and take > len(found):
        raise UsageError(f"{path} holds {len(found)} structures, not {take}: take fewer")
    return found[:take]
