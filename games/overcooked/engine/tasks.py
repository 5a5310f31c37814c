"""The thirty orders in six levels, and how long their references take (formats/overcooked.md, section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from games.overcooked.engine.actions import is_over, next_move
from games.overcooked.engine.layout import Layout, kitchen
from games.overcooked.engine.references import ReferencePair, published_references
from games.overcooked.engine.validator import refusal
from games.overcooked.engine.world import Move, start_world
from schemas.common.errors import BadInputError, UsageError
from schemas.common.packages import packaged_yaml
from schemas.common.text import near

LONGEST: Final = 200
"""Steps after which a reference is given up: it waits for itself."""

_STAY: Final = Move()


def time_of(order: str, pair: ReferencePair, within: int = LONGEST, layout: Layout | None = None) -> int | None:
    """Give the index of the step that delivers the order when both follow a pair, each starting its next action as soon as it is allowed.

    None if it is larger than `within`, or never comes. Source: formats/overcooked.md, section 3, how the published constants came about.
    """
    world = start_world(layout or kitchen(), order)
    behind = [0, 0]
    current: list[str | None] = [None, None]
    while world.timestep <= within:
        moves = []
        for agent, own in enumerate(pair):
            action = current[agent]
            if action is not None and is_over(world, agent, action, 0):
                action, behind[agent] = None, behind[agent] + 1
            if action is None and behind[agent] < len(own) and refusal(world, agent, own[behind[agent]]) is None:
                action = own[behind[agent]]
            current[agent] = action
            moves.append(_STAY if action is None else next_move(world, agent, action))
        world.step(moves)
        if world.delivered:
            return world.timestep - 1
    return None


LIMIT_FACTOR: Final = 1.5
"""Time limit over the level's optimal time: the paper's gamma."""

_CUT_ACTIONS: Final = 5
"""Of a cut spelt out action by action."""


@dataclass(frozen=True, slots=True)
class Task:
    """An order that two agents cook."""

    order: str
    level: int | None
    """From 1 to 6; of a user's order what its kitchen states, or None."""
    time_optimal: int
    """The published constant T, in steps: the time of the first published trajectory, not the shortest possible one.

    In a kitchen of one's own the time of the first reference that can be carried out."""
    time_shortest: int
    """Index of the last step, from 0, when both follow the fastest reference and act as soon as they may.

    In a kitchen of one's own the fastest of those made by the rule of the published ones."""
    layout: Layout = field(default_factory=kitchen)

    @property
    def time_limit(self) -> int:
        """Steps in which the order must be delivered: the whole part of 1.5 T, or the kitchen's limit."""
        return self.layout.time_limits.get(self.order, int(LIMIT_FACTOR * self.time_optimal))

    @property
    def task_id(self) -> str:
        """As logs and the store have it: the order, and in a kitchen of one's own which."""
        return self.order if self.layout.name is None else f"{self.order}@{self.layout.name}"

    @property
    def goal(self) -> dict[str, Any]:
        """As logs and the store have it: the order and, if it is not the published one, the kitchen."""
        return {"order": self.order} if self.layout.source is None else {"order": self.order, "kitchen": self.layout.source}


@cache
def tasks() -> Mapping[str, Task]:
    """Give all orders by name, level by level."""
    levels = packaged_yaml(__package__, "tasks.yaml")["levels"]
    return {
        order: Task(order, level, entry["time_optimal"], shortest)
        for level, entry in levels.items()
        for order, shortest in entry["time_shortest"].items()
    }


def orders_of(layout: Layout | None = None) -> tuple[str, ...]:
    """Give the orders of a kitchen; None: the thirty of the published one."""
    return tuple(tasks()) if layout is None or layout.source is None else tuple(layout.needs_dish)


def task_of(order: str, layout: Layout | None = None) -> Task:
    """Give the task of an order in a kitchen; None: the published one.

    Raises:
        UsageError: there is none; names a similar one.
        BadInputError: it cannot be delivered there.
    """
    orders = orders_of(layout)
    if order in orders:
        return tasks()[order] if layout is None or layout.source is None else _own_task(order, layout)
    raise UsageError(f"there is no overcooked order {order!r}{near(order, orders)}")


@cache
def _own_task(order: str, layout: Layout) -> Task:
    """Measure an order in a kitchen of one's own, as the published ones were."""
    times = [time for pair in published_references(order, layout) if (time := time_of(order, pair, layout=layout)) is not None]
    if not times:
        raise BadInputError(f"order {order} takes more than {LONGEST} steps in this kitchen: no reference delivers it in time")
    return Task(order, layout.levels.get(order), times[0], min(times), layout)


def recipe_text(order: str, layout: Layout | None = None, variant: str = "plain") -> str:
    """Write the recipe that only the Chef is given, made from the kitchen's tables.

    Args:
        order: what is cooked.
        layout: the kitchen; None: the published one.
        variant: ``plain``; ``steps``: a cut at the beginning action by action (the paper's experiment B); ``steps:3``: those actions
            begin with the third one (experiment C).

    Raises:
        UsageError: no such variant, or the order does not begin with a cut.
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
    if name != "steps" or (first and first not in map(str, range(1, _CUT_ACTIONS + 1))):
        raise UsageError(f"there is no recipe variant {variant!r}: there are plain, steps, and steps:1 to steps:{_CUT_ACTIONS}")
    item = _leaves(order, layout)[0]
    board = next((utensil for utensil in layout.utensils.values() if utensil.operation == "cut"), None)
    product = board.product((item,)) if board else None
    if board is None or product is None or f" into the {board.name} " not in steps[0]:
        where = "levels 2 to 6" if layout.source is None else "orders that begin with one"
        raise UsageError(f"the recipe of {order} begins with no cut: variant {variant} is for {where}")
    whole = [
        f"Pick up {_plain(item)} from the ingredient_dispenser.",
        f"Put {_plain(item)} into the {board.name}.",
        f"Cut {_plain(item)} for {layout.cook_time} timesteps.",
        f"Pick up {_plain(product)} from the {board.name}.",
        f"Place {_plain(product)} on the counter.",
    ]
    turn = int(first or 1) - 1
    return [*whole[turn:], *whole[:turn], *steps[1:]]


def _steps(item: str, layout: Layout) -> list[str]:
    utensil = layout.maker(item)
    if utensil is None:
        return []
    before = [step for part in utensil.makes[item] for step in _steps(part, layout)]
    named = " and ".join(map(_plain, utensil.makes[item]))
    made = f": that makes {item}" if layout.source is not None else ""  # the published names tell it, those of others need not
    return [*before, f"Put {named} into the {utensil.name} and {utensil.operation} for {layout.cook_time} timesteps{made}."]


def _leaves(item: str, layout: Layout) -> list[str]:
    utensil = layout.maker(item)
    return [item] if utensil is None else [leaf for part in utensil.makes[item] for leaf in _leaves(part, layout)]


def _plain(item: str) -> str:
    return item.replace("_", " ")
