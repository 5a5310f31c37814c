"""LLM-Coordination in experiments: one of its four games, its layouts or scenarios, and the parts of the agent as switches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import Field

from games.coordination.forms import forms
from games.coordination.kitchen.rules import TICKS
from games.coordination.play import CoordinationGame, PlayRequest, checked, read_decks
from games.coordination.seated import SCRIPTS, SEATS, SeatedGame, course_of, header_of
from games.coordination.seats.agent import PUBLISHED, Harness, Switches
from games.experiments.family import Match, Task, job_of
from games.players.running import Job
from games.players.seats import Seats
from games.playing import DEFAULT_START
from games.settings import Settings
from schemas.errors import UsageError

__all__ = ["KINDS", "Condition", "Tasks", "forms", "job", "one_game", "seats", "tasks"]


class Tasks(Settings):
    """A game and its variants; what is drawn in it is drawn by the experiment's seeds."""

    game: CoordinationGame
    variants: list[str] = Field(default_factory=list)
    """Layouts or scenarios; empty: all, of the escape the published one. Hanabi has none."""
    decks: Path | None = None
    """Hanabi: a CSV with seed, deal_index and card."""


class Condition(Settings):
    """The switches of a game; those of the agent are by default as the released code has them, but for the harness."""

    ticks: int = Field(default=TICKS, ge=1)
    """Length of a kitchen game."""
    theory_of_mind: bool | None = None
    verification: bool | None = None
    verification_limit: int | None = Field(default=None, ge=0)
    memory: bool | None = None
    explanation: bool | None = None
    partner_information: bool | None = None
    conventions: bool | None = None
    harness: Harness | None = None
    """How replies are read, and what prompts leave out; None: strict."""


class _Place(NamedTuple):
    game: CoordinationGame
    variant: str
    decks: Mapping[int, Sequence[str]] | None


KINDS: Final[Sequence[CoordinationGame]] = ("collab_escape", "collab_capture", "hanabi", "overcooked")
"""Kinds of single games."""


def one_game(_: int, kind: CoordinationGame = KINDS[0]) -> Tasks:
    """The task of a single game, for people who sit down at a table."""
    return Tasks(game=kind)


def seats(asked: Tasks) -> Seats:
    """Alice and Bob."""
    return Seats(SEATS, {"player": SCRIPTS[asked.game]})


def tasks(asked: Tasks, home: Path) -> Sequence[Task]:
    """The layouts or scenarios; of Hanabi the game itself."""
    try:
        decks = None if asked.decks is None else read_decks(home / asked.decks)
    except OSError as error:
        raise UsageError(f"{home / asked.decks if asked.decks else home} cannot be read ({error.strerror}): give a CSV of decks") from error
    request = checked(PlayRequest(game=asked.game, out=home, variants=tuple(asked.variants)))
    variants = request.variants or ("",)
    return [Task(variant or asked.game, _Place(asked.game, variant, decks), place) for place, variant in enumerate(variants)]


def job(match: Match) -> Job:
    """A game of the variant."""
    asked: Condition = match.condition
    place: _Place = match.task.content
    given = {field.name: value for field in fields(Switches) if (value := getattr(asked, field.name)) is not None}
    game = SeatedGame(
        game=place.game,
        variant=place.variant,
        taken=match.taken,
        switches=replace(PUBLISHED[place.game], **given),
        seed=match.seed,
        ticks=asked.ticks,
        deck=(place.decks or {}).get(match.seed),
        started_at=DEFAULT_START,
    )
    return job_of(match, header_of(game), partial(course_of, game))
