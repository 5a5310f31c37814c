"""Which units of work of an order are left: those whose result is nowhere in the kitchen.

What stands in the way (wrong contents, full counters, a hand full of something else) does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from games.overcooked.engine.actions import parse_call
from games.overcooked.engine.layout import DISH, Cell, Layout
from games.overcooked.engine.workflow import WorkUnit, workflow

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
    """What of it is left; a pickup names each place from which it can be made: `pickup(egg,counter,ingredient_dispenser)`."""


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
        found[name] = Left(unit, begun, needs, _from_where_it_lies(unit, begun, state, work.layout))

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


def _from_where_it_lies(unit: WorkUnit, begun: int, state: State, layout: Layout) -> tuple[str, ...]:
    """What is left of a unit, with its pickup also from a counter on which somebody has put down what it takes."""
    order = unit.after[0].removeprefix("start ") if unit.name == "deliver" else None
    if order is not None and begun < len(unit.actions) - 1 and _is_at_hand(order, unit.agent, state, layout):
        return f"pickup({order},counter)", unit.actions[-1]
    call = None if begun else parse_call(unit.actions[0])
    if call is None or call.name != "pickup" or not _is_at_hand(call.arguments[0], unit.agent, state, layout):
        return unit.actions[begun:]
    item, place = call.arguments
    pot = state["utensils"].get(place)
    has_it = pot["product"] == item if pot else place not in (*layout.utensils, "counter")
    return f"pickup({item},counter,{place})" if has_it else f"pickup({item},counter)", *unit.actions[1:]


def _is_at_hand(item: str, agent: int, state: State, layout: Layout) -> bool:
    """Whether an agent can take something from a counter, at once or when its partner has put it down."""
    return state["agents"][1 - agent]["held"] == item or any(at in layout.counters_of(agent) for at in on_counters(state, item))


def _is_missing(before: WorkUnit, unit: WorkUnit, begun: int, state: State, layout: Layout) -> bool:
    """Whether a unit that another one needs is still to be done."""
    kind, _, thing = before.name.partition(" ")
    if unit.name == "deliver" and _is_at_hand(unit.after[0].removeprefix("start "), unit.agent, state, layout):
        return False
    if kind == "pass":
        return not begun and not any(at in layout.counters_of(unit.agent) for at in on_counters(state, thing))
    if kind == "put":
        utensil, _, item = thing.partition(" ")
        pot = state["utensils"].get(utensil)
        return pot is None or pot["timer"] > 0 or item not in pot["contents"]
    if any(pot["product"] == thing for pot in state["utensils"].values()) or _is_at_hand(thing, unit.agent, state, layout):
        return False
    return begun < len(unit.actions) - 1 if unit.name == "deliver" else not begun
