"""What is left of an order, as far as it does not matter where the agents stand and for how long something has been cooking.

It stays the same while they walk, so that it is found out once for many steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import orjson

from games.overcooked.engine.actions import parse_call
from games.overcooked.engine.layout import DISH, Cell, Layout, kitchen
from games.overcooked.engine.workflow import WorkUnit
from games.overcooked.value.left import Left, State, left_of, on_counters
from games.overcooked.value.walks import Aim, duration, nearest, set_up, targets


class Action(NamedTuple):
    """What an action is aimed at."""

    aims: tuple[Aim, ...]
    """Where, if it can be done at once."""

    waits: tuple[str, ...] = ()
    """Units before whose end it cannot be done."""

    passed: str | None = None
    """The unit that puts on a counter what it picks up there."""

    utensil: str | None = None
    """From where it takes what is made there."""

    made: str | None = None
    """The unit that starts the utensil; None: that is done."""

    is_pickup: bool = False

    @property
    def is_open(self) -> bool:
        """It can be done at once, whatever else is left."""
        return not self.waits and self.passed is None and self.utensil is None


class Task(NamedTuple):
    """A unit of work that is left."""

    name: str
    agent: int
    needs: tuple[str, ...]
    """Units of the same agent that it has to do before."""

    actions: tuple[Action, ...]
    """Those that are left."""

    idle: bool
    """The agent has nothing else that it could do meanwhile."""

    first: str
    """The action with which it goes on."""

    work: int
    """Steps that it takes from there."""

    walk: int | None
    """The shortest walk to it from any other unit of the agent; None: there is no other."""

    tail: int
    """Steps from its end to the delivery."""


class Plan(NamedTuple):
    """What is left, each unit after those that it needs."""

    layout: Layout
    tasks: tuple[Task, ...]


class _Scene(NamedTuple):
    """A kitchen between two steps."""

    layout: Layout
    state: State


def plan_of(order: str, state: State, layout: Layout | None = None) -> Plan:
    """What is left of an order in a kitchen between two steps."""
    return _plan(order, orjson.dumps(_still(state)), layout)


def _still(state: State) -> State:
    """What a kitchen has in it: who stands where does not count, nor for how long something has been cooking."""
    return {
        "agents": [{"held": agent["held"]} for agent in state["agents"]],
        "utensils": {name: {**pot, "timer": min(1, pot["timer"])} for name, pot in state["utensils"].items()},
        "counters": state["counters"],
    }


@lru_cache(maxsize=1024)
def _plan(order: str, state_json: bytes, layout: Layout | None) -> Plan:
    scene = _Scene(layout or kitchen(), orjson.loads(state_json))
    left = left_of(order, scene.state, layout)
    before, tails = _before(left), _tails(scene.layout, left)
    tasks: list[Task] = []
    earlier = set[str]()
    own = [[name for name, found in left.items() if found.unit.agent == agent] for agent in (0, 1)]
    for name, found in left.items():
        others = [other for other in own[found.unit.agent] if other != name]
        idle = all(other in before[name] or name in before[other] for other in others)
        task = Task(
            name=name,
            agent=found.unit.agent,
            needs=tuple(need for need in found.needs if left[need].unit.agent == found.unit.agent),
            actions=_actions(scene, found, earlier),
            idle=idle,
            first=found.actions[0],
            work=duration(scene.layout, found.unit.agent, found.actions),
            walk=nearest(scene.layout, found.unit.agent, tuple([left[other].actions[-1] for other in others]), found.actions[0]),
            tail=tails[name],
        )
        tasks.append(task)
        earlier.add(name)
    return Plan(scene.layout, tuple(tasks))


def _actions(scene: _Scene, found: Left, earlier: Collection[str]) -> tuple[Action, ...]:
    unit = found.unit
    waited_for = tuple([need for need in unit.after if need in earlier])
    return _aimed(scene.layout, unit, found.actions, waited_for, tuple(_handed(scene.state, found.actions[0])))


def _handed(state: State, action: str) -> Iterable[Cell]:
    """The counters on which what an action picks up there stands: only a unit's first takes from a counter."""
    call = parse_call(action)
    return on_counters(state, call.arguments[0]) if call and call.name == "pickup" and "counter" in call.arguments else ()


@lru_cache(maxsize=4096)  # a unit's actions are aimed alike in most kitchens in which it is left
def _aimed(
    layout: Layout, unit: WorkUnit, actions: tuple[str, ...], waited_for: tuple[str, ...], handed: tuple[Cell, ...]
) -> tuple[Action, ...]:
    return tuple(_action(layout, unit, action, waited_for, handed) for action in actions)


def _action(layout: Layout, unit: WorkUnit, action: str, waited_for: Collection[str], handed: Collection[Cell]) -> Action:
    call, cells = parse_call(action), targets(layout, unit.agent, action)
    aims = tuple(map(Aim, cells))
    if call is None or call.name not in ("pickup", "fill_dish_with_food"):
        waits = [need for need in waited_for if not need.startswith("pass ")]
        return Action(aims, tuple(waits) if action == unit.actions[0] else ())
    place = call.arguments[-1]
    if "counter" in call.arguments and place != "counter":
        return Action(tuple([aim for aim in aims if aim.at in handed or aim.at not in layout.counters_of(unit.agent)]))
    if place == "counter":
        passed = f"pass {call.arguments[0]}"
        there = tuple(Aim(at) for at in handed if at in cells)
        return Action(there or aims, passed=passed if not there and passed in waited_for else None)
    made = next((need for need in waited_for if need.startswith("start ")), None)
    return Action(aims, utensil=place, made=made, is_pickup=call.name == "pickup")


def _before(left: Mapping[str, Left]) -> dict[str, frozenset[str]]:
    """For each unit all those that must be done before it."""
    found: dict[str, frozenset[str]] = {}
    for name, unit in left.items():
        found[name] = frozenset(unit.needs).union(*(found[need] for need in unit.needs))
    return found


def _tails(layout: Layout, left: Mapping[str, Left]) -> dict[str, int]:
    """For each unit the steps from its end to the delivery."""
    tails = dict.fromkeys(left, 0)
    for name in reversed(list(left)):
        found = left[name]
        for need in found.needs:
            tails[need] = max(tails[need], tails[name] + _from(layout, left[need].unit, found))
    return tails


def _from(layout: Layout, before: WorkUnit, found: Left) -> int:
    """Steps from the end of a unit to the end of one that needs it."""
    unit, actions = found.unit, found.actions
    walk = 0
    if before.agent == unit.agent:
        walk = set_up(layout, unit.agent, before.actions[-1], actions[0])
    if not before.name.startswith("start "):
        return walk + duration(layout, unit.agent, actions)
    taking = next(index for index, action in enumerate(actions) if DISH not in action)  # the dish can be fetched while it cooks
    return max(layout.cook_time - 1, walk) + duration(layout, unit.agent, actions[taking:])
