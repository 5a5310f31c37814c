"""Collab-Overcooked in experiments: orders, and the switches of kitchen and agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from games.experiments.family import Match, Task, job_of
from games.overcooked.agents import AGENT_RULES, Memory
from games.overcooked.engine.own_kitchen import asked_kitchen
from games.overcooked.engine.tasks import Task as KitchenTask
from games.overcooked.engine.tasks import recipe_text, task_of
from games.overcooked.forms import forms
from games.overcooked.play import PlayRequest, orders_of
from games.overcooked.seated import SCRIPTS, SEATS, SeatedGame, Switches, course_of, header_of
from games.overcooked.text.prompts import PromptKind
from games.players.running import Job
from games.players.seats import Seats
from games.playing import DEFAULT_START
from games.settings import Settings

__all__ = ["KINDS", "Condition", "Tasks", "forms", "job", "one_game", "seats", "tasks"]


class Tasks(Settings):
    """Orders by their names, or all of some levels."""

    orders: list[str] = Field(default_factory=list)
    levels: list[int] = Field(default=[1, 2, 3, 4, 5, 6], min_length=1)
    kitchen: str | dict[str, Any] | None = None
    """A kitchen of one's own, as a file or written out; None: the published one."""
    time_limit: int | None = Field(default=None, ge=1)
    """Steps in which each order must be delivered; None: as the kitchen says, else 1.5 times the time of a reference."""


class Condition(Settings):
    """The switches of a game; those of the agents are by default as the rules have them."""

    rules: Literal["published", "paper"] = "published"
    horizon: int | None = Field(default=None, ge=1)
    """Timesteps; None: the order's time limit."""
    corrections: int | None = Field(default=None, ge=0)
    rounds: int | None = Field(default=None, ge=0)
    memory: Memory | None = None
    reflection: bool | None = None
    recipe: str = "plain"
    prompt: PromptKind = "full"
    """Which form of the prompt is sent."""


KINDS: Final = ("",)
"""Kinds of single games."""


def one_game(number: int, _: str = KINDS[0]) -> Tasks:
    """The task of a single game, for people who sit down at a table."""
    return Tasks(orders=[sorted(known)[number % len(known)] for known in [orders_of(PlayRequest(out=Path(), levels=(1, 2)))]])


def seats(_: Tasks) -> Seats:
    """A chef and an assistant."""
    return Seats(SEATS, SCRIPTS)


def tasks(asked: Tasks, out: Path) -> Sequence[Task]:
    """The orders."""
    kitchen = out / asked.kitchen if isinstance(asked.kitchen, str) else asked.kitchen
    layout = asked_kitchen(kitchen, asked.time_limit)
    orders = orders_of(PlayRequest(out=out, orders=tuple(asked.orders), levels=tuple(asked.levels), layout=layout))
    known = [task_of(order, layout) for order in orders]
    return [Task(task.task_id, task, place) for place, task in enumerate(known)]


def job(match: Match) -> Job:
    """A game of the order."""
    asked: Condition = match.condition
    given = {name: value for name in ("corrections", "rounds", "memory", "reflection") if (value := getattr(asked, name)) is not None}
    task: KitchenTask = match.task.content
    recipe_text(task.order, task.layout, asked.recipe)  # an order without such a recipe is told before anything is played
    game = SeatedGame(
        order=task.order,
        taken=match.taken,
        rules="published" if asked.rules == "published" else "sane",
        horizon=asked.horizon or task.time_limit,
        switches=Switches(name=asked.rules, agents=replace(AGENT_RULES[asked.rules], **given), recipe=asked.recipe, prompt=asked.prompt),
        seed=match.seed,
        started_at=DEFAULT_START,
        layout=task.layout,
    )
    return job_of(match, header_of(game), partial(course_of, game))
