"""The thirty orders in six levels (formats/overcooked.md, section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import yaml

from games.overcooked.engine.layout import Layout, kitchen
from schemas.errors import UsageError

__all__ = ["LIMIT_FACTOR", "Task", "recipe_text", "task_of", "tasks"]

LIMIT_FACTOR: Final = 1.5
"""Time limit over the level's optimal time: the paper's gamma."""


@dataclass(frozen=True, slots=True)
class Task:
    """An order that two agents cook."""

    order: str
    level: int
    """From 1 to 6."""

    time_optimal: int
    """The published constant T, in steps: the time of the first published trajectory, not the shortest possible one."""

    time_shortest: int
    """Index of the last step, from 0, when both follow the fastest reference and act as soon as they may."""

    @property
    def time_limit(self) -> int:
        """Steps in which the order must be delivered: the whole part of 1.5 T."""
        return int(LIMIT_FACTOR * self.time_optimal)


@cache
def tasks() -> Mapping[str, Task]:
    """Give all orders by name, level by level."""
    levels = yaml.safe_load(files(__package__).joinpath("tasks.yaml").read_text(encoding="utf-8"))["levels"]
    return {
        order: Task(order, level, entry["time_optimal"], shortest)
        for level, entry in levels.items()
        for order, shortest in entry["time_shortest"].items()
    }


def task_of(order: str) -> Task:
    """Give the task of an order.

    Raises:
        UsageError: there is none; names a similar one.
    """
    import difflib

    if order in tasks():
        return tasks()[order]
    near = difflib.get_close_matches(order, tasks(), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(tasks())}"
    raise UsageError(f"there is no overcooked order {order!r}: {hint}")


def recipe_text(order: str, layout: Layout | None = None) -> str:
    """Write the recipe that only the Chef is given, made from the kitchen's tables."""
    layout = layout or kitchen()
    steps = [*_steps(order, layout), f"Serve it{' on a dish' if layout.needs_dish.get(order) else ''}."]
    raw = _leaves(order, layout)
    lines = [f"NAME: {_plain(order)}", "INGREDIENTS: " + ", ".join(f"{item} (1)" for item in raw), "STEPS:"]
    return "\n".join([*lines, *(f"{number}. {text}" for number, text in enumerate(steps, start=1))])


def _steps(item: str, layout: Layout) -> list[str]:
    for utensil in layout.utensils.values():
        if item in utensil.makes:
            inputs = utensil.makes[item]
            before = [step for part in inputs for step in _steps(part, layout)]
            named = " and ".join(map(_plain, inputs))
            return [*before, f"Put {named} into the {utensil.name} and {utensil.operation} for {layout.cook_time} timesteps."]
    return []


def _leaves(item: str, layout: Layout) -> list[str]:
    made_of = next((utensil.makes[item] for utensil in layout.utensils.values() if item in utensil.makes), None)
    return [item] if made_of is None else [leaf for part in made_of for leaf in _leaves(part, layout)]


def _plain(item: str) -> str:
    return item.replace("_", " ")
