"""The state text that an agent is shown, and that logs keep as `observation` (formats/overcooked.md, section 4)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from games.overcooked.agents import Memory
from games.overcooked.engine.layout import AGENTS, DISH_DISPENSER, INGREDIENT_DISPENSER, Layout
from games.overcooked.engine.world import World
from games.overcooked.lessons import SHOWN, Lesson

_SHOWN_WHOLE: Final = 5
_SHOWN_LAST: Final = 4
_STATIC_FOOD: Final = "chopped_onion"
"""What the published text says is cooking, whatever is."""


class Remembered(NamedTuple):
    """What an agent knows of its own past."""

    recorded: Sequence[dict[str, object]]
    """Its recorded actions, ``timestamp`` and ``action``."""

    memory: Memory = "last"
    lessons: Sequence[Lesson] = ()

    @property
    def shown(self) -> list[dict[str, object]]:
        """The actions that its memory holds."""
        if self.memory == "none":
            return []
        whole = self.memory == "all" or len(self.recorded) <= _SHOWN_WHOLE
        return list(self.recorded) if whole else list(self.recorded[-_SHOWN_LAST:])

    @property
    def lines(self) -> list[str]:
        """Its last lessons, numbered; as published an empty list in brackets where there are none."""
        last = self.lessons[-SHOWN:]
        return [f"{number}. {lesson.text}" for number, lesson in enumerate(last, start=1)] or ["[]"]


def observation(world: World, agent: int, known: Remembered, plans: Sequence[Sequence[str]]) -> str:
    """Write what an agent sees.

    Args:
        world: the kitchen.
        agent: who looks.
        known: what it remembers.
        plans: per agent the planned actions that are still to be done.
    """
    order = (agent, 1 - agent)
    holding = " ".join(
        f"<{AGENTS[who]}> holds {_hand(world, who)} The planned sequence of actions (yet to be performed) for {AGENTS[who]} is "
        f"[{', '.join(plans[who])}]"
        for who in order
    )
    utensils = " ".join(f"<{name}> {_utensil(world, name)};" for name in _named(world.layout))
    counters = len(world.layout.shared_counters)
    scene = (
        f"Scene {world.timestep}: {holding} Kitchen states: {utensils} {counters} counters can be visited by <{AGENTS[agent]}>. "
        f"Their states are as follows: {_counters(world)}"
    )
    lines = [
        f"Successful Action History: {known.shown}",
        "Lessons from Past Failures",
        *known.lines,
        f"Chef space:{'  '.join([*_utensils_of(world.layout, 0), 'counter'])} ",
        f"Assistant space:{'  '.join([*_utensils_of(world.layout, 1), DISH_DISPENSER, INGREDIENT_DISPENSER])}",
        f"Order:{world.order}",
        scene,
        *world.notices,
    ]
    return "\n".join(lines) + "\n"


def _named(layout: Layout) -> list[str]:
    return [layout.fixtures[at] for at in sorted(layout.fixtures, key=lambda at: (at[1], at[0])) if layout.fixtures[at] in layout.utensils]


def _utensils_of(layout: Layout, agent: int) -> list[str]:
    return [utensil.name for utensil in layout.utensils_of(agent)]


def _hand(world: World, agent: int) -> str:
    held = world.bodies[agent].held
    if held is None:
        return "nothing."
    if held == world.order and world.layout.needs_dish[held]:
        return f"a dish with {held} and needs to deliver it."
    return f"one {held}."


def _utensil(world: World, name: str) -> str:
    pot = world.utensils.get(name)
    if pot is None:
        return "is empty"
    if world.ready(name):
        return f"has {pot.product}"
    if pot.timer:
        left = world.layout.cook_time - pot.timer
        food = _STATIC_FOOD if world.rules == "published" else pot.product
        return f"starts processing {food},it will be ready after {left} timesteps"
    return _raw(world, name, pot.contents)


def _raw(world: World, name: str, contents: tuple[str, ...]) -> str:
    """What unprocessed items could become; the published text compares lists, so that only the table's own order is a complete set."""
    items = " ".join(contents)
    for product, inputs in world.layout.utensils[name].makes.items():
        complete = inputs == contents if world.rules == "published" else sorted(inputs) == sorted(contents)
        if complete:
            return f"has {items}, which are all the ingredients you need to make {product}"
    for product, inputs in world.layout.utensils[name].makes.items():
        if set(contents) < set(inputs) and len(set(contents)) == len(contents):
            return f"has {items}, which is part of {product}"
    return f"has {items},which seems do not belong to any recipe"


def _counters(world: World) -> str:
    held = Counter(world.counters.get(at) for at in sorted(world.layout.shared_counters))
    if len(held) == 1 and (world.rules == "published" or None in held):
        return "counters have nothing."
    return " ".join(f"{count} counters have {item} which you can pick it up." for item, count in held.items() if item is not None)
