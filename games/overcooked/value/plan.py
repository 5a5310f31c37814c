"""What is left of an order, as far as it does not matter where the agents stand and for how long something has been cooking.

It stays the same while they walk, so that it is found out once for many steps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import orjson

from games.overcooked.engine.layout import DISH, Layout, kitchen
from games.overcooked.engine.workflow import WorkUnit
from games.overcooked.text.grammar import parse_call
from games.overcooked.value.left import Left, State, left_of, on_counters
from games.overcooked.value.walks import Aim, duration, set_up, targets

__all__ = ["Action", "Plan", "Task", "plan_of"]


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
    for name, found in left.items():
        others = [other for other, there in left.items() if there.unit.agent == found.unit.agent and other != name]
        idle = all(other in before[name] or name in before[other] for other in others)
        task = Task(
            name=name,
            agent=found.unit.agent,
            needs=tuple(need for need in found.needs if left[need].unit.agent == found.unit.agent),
            actions=_actions(scene, found, earlier={task.name for task in tasks}),
            idle=idle,
            first=found.actions[0],
            work=duration(scene.layout, found.unit.agent, found.actions),
            walk=_walk(scene.layout, found, [left[other] for other in others]),
            tail=tails[name],
        )
        tasks.append(task)
    return Plan(scene.layout, tuple(tasks))


def _walk(layout: Layout, found: Left, others: Sequence[Left]) -> int | None:
    return min((set_up(layout, found.unit.agent, other.actions[-1], found.actions[0]) for other in others), default=None)


def _actions(scene: _Scene, found: Left, earlier: Collection[str]) -> tuple[Action, ...]:
    return tuple(_action(scene, found.unit, action, earlier) for action in found.actions)


def _action(scene: _Scene, unit: WorkUnit, action: str, earlier: Collection[str]) -> Action:
    call, cells = parse_call(action), targets(scene.layout, unit.agent, action)
    aims = tuple(map(Aim, cells))
    if call is None or call.name not in ("pickup", "fill_dish_with_food"):
        waits = [need for need in unit.after if need in earlier and not need.startswith("pass ")]
        return Action(aims, tuple(waits) if action == unit.actions[0] else ())
    place = call.arguments[-1]
    if place == "counter":
        passed = f"pass {call.arguments[0]}"
        there = tuple(Aim(at) for at in on_counters(scene.state, call.arguments[0]) if at in cells)
        return Action(there or aims, passed=passed if not there and passed in earlier else None)
    made = next((need for need in unit.after if need in earlier and need.startswith("start ")), None)
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
        unit, begun, needs = left[name]
        for need in needs:
            tails[need] = max(tails[need], tails[name] + _from(layout, left[need].unit, unit, begun))
    return tails


def _from(layout: Layout, before: WorkUnit, unit: WorkUnit, begun: int) -> int:
    """Steps from the end of a unit to the end of one that needs it."""
    actions = unit.actions[begun:]
    walk = 0
    if before.agent == unit.agent:
        walk = set_up(layout, unit.agent, before.actions[-1], actions[0])
    if not before.name.startswith("start "):
        return walk + duration(layout, unit.agent, actions)
    taking = next(index for index, action in enumerate(actions) if DISH not in action)  # the dish can be fetched while it cooks
    return max(layout.cook_time - 1, walk) + duration(layout, unit.agent, actions[taking:])
