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


def recipe_text(order: str, layout: Layout | None = None, variant: str = "plain") -> str:
    """Write the recipe that only the Chef is given, made from the kitchen's tables.

    Args:
        order: what is cooked.
        layout: the kitchen; None: the published one.
        variant: ``plain``; ``steps``: a cut at the beginning action by action (the paper's experiment B); ``steps:3``: those actions
            begin with the third one (experiment C).

    Raises:
        UsageError: there is no such variant, or the order begins with no cut.
    """
    layout = layout or kitchen()
    steps = [*_varied(order, layout, variant), f"Serve it{' on a dish' if layout.needs_dish.get(order) else ''}."]
    raw = _leaves(order, layout)
    lines = [f"NAME: {_plain(order)}", "INGREDIENTS: " + ", ".join(f"{item} (1)" for item in raw), "STEPS:"]
    return "\n".join([*lines, *(f"{number}. {text}" for number, text in enumerate(steps, start=1))])


def _varied(order: str, layout: Layout, variant: str) -> list[str]:
    steps = _steps(order, layout)
    if variant == "plain":
        return steps
    name, _, first = variant.partition(":")
    item = _leaves(order, layout)[0]
    board = next(utensil for utensil in layout.utensils.values() if utensil.operation == "cut")
    product = board.product((item,))
    whole = [
        f"Pick up {_plain(item)} from the ingredient_dispenser.",
        f"Put {_plain(item)} into the {board.name}.",
        f"Cut {_plain(item)} for {layout.cook_time} timesteps.",
        f"Pick up {_plain(product or '')} from the {board.name}.",
        f"Place {_plain(product or '')} on the counter.",
    ]
    if name != "steps" or (first and first not in map(str, range(1, len(whole) + 1))):
        raise UsageError(f"there is no recipe variant {variant!r}: there are plain, steps, and steps:1 to steps:{len(whole)}")
    if f" into the {board.name} " not in steps[0]:
        raise UsageError(f"the recipe of {order} begins with no cut: variant {variant} is for levels 2 to 6")
    turn = int(first or 1) - 1
    return [*whole[turn:], *whole[:turn], *steps[1:]]


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
