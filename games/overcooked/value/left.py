"""Which units of work of an order are left: those whose result is nowhere in the kitchen.

What stands in the way (wrong contents, full counters, a hand full of something else) does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from games.overcooked.engine.layout import DISH, Cell, Layout
from games.overcooked.engine.workflow import WorkUnit, workflow

__all__ = ["Left", "State", "left_of", "on_counters"]

State = Mapping[str, Any]
"""A kitchen as `games.overcooked.engine.world.World.to_json` gives it."""


class Left(NamedTuple):
    """A unit that is not finished."""

    unit: WorkUnit
    begun: int
    """How many of its actions are done."""

    needs: tuple[str, ...]
    """Names of the units left that must be done before."""

    actions: tuple[str, ...]
    """What of it is left."""


def left_of(order: str, state: State, layout: Layout | None = None) -> dict[str, Left]:
    """The units left by name, each after those that it needs; the delivery is the last."""
    work = workflow(order, layout)
    units = work.units
    found: dict[str, Left] = {}

    def look(name: str) -> None:
        if name in found:
            return
        unit = units[name]
        begun = _begun(unit, state)
        needs = tuple(need for need in unit.after if _is_missing(units[need], unit, begun, state, work.layout))
        for need in needs:
            look(need)
        found[name] = Left(unit, begun, needs, unit.actions[begun:])

    look("deliver")
    return found


def on_counters(state: State, item: str) -> Iterator[Cell]:
    """The counters on which an item stands."""
    for name, there in state["counters"].items():
        if there == item:
            x, y = name.strip("()").split(",")
            yield int(x), int(y)


def _begun(unit: WorkUnit, state: State) -> int:
    """As many actions as explain what the unit's agent holds."""
    held = state["agents"][unit.agent]["held"]
    if unit.name == "deliver":
        order = unit.after[0].removeprefix("start ")
        return len(unit.actions) - 1 if held == order else int(held == DISH and DISH in unit.actions[0])
    return int(len(unit.actions) > 1 and held is not None and unit.actions[0].startswith(f"pickup({held},"))


def _is_missing(before: WorkUnit, unit: WorkUnit, begun: int, state: State, layout: Layout) -> bool:
    """Whether a unit that another one needs is still to be done."""
    kind, _, thing = before.name.partition(" ")
    if kind == "pass":
        return not begun and not any(at in layout.counters_of(unit.agent) for at in on_counters(state, thing))
    if kind == "put":
        utensil, _, item = thing.partition(" ")
        pot = state["utensils"].get(utensil)
        return pot is None or pot["timer"] > 0 or item not in pot["contents"]
    if any(pot["product"] == thing for pot in state["utensils"].values()):
        return False
    return begun < len(unit.actions) - 1 if unit.name == "deliver" else not begun
