"""The fewest steps to the delivery, from below.

Each unit of work starts after those it needs and after the walk to its place, and what cooks takes its time: that gives the step in which
it can begin (its head), and the steps from its end to the delivery (its tail). No order can be delivered before the longest such chain is
done. Nor can an agent do two units at once: if it could break off and take up work at will, always at the unit with the longest tail, it
would be done in time that no agent can beat (J. R. Jackson's preemptive schedule of one machine, 1955; J. Carlier, 1982).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import orjson

from games.overcooked.engine.layout import DISH, Cell, Layout, kitchen, neighbour
from games.overcooked.engine.workflow import WorkUnit
from games.overcooked.text.grammar import parse_call
from games.overcooked.value.left import Left, State, left_of, on_counters
from games.overcooked.value.walks import Aim, Stand, after, approach, duration, set_up, targets

__all__ = ["steps_left"]


class _Job(NamedTuple):
    """A unit as one agent's work."""

    head: int
    work: int
    tail: int


class _Scene(NamedTuple):
    """A kitchen between two steps."""

    layout: Layout
    state: State


def steps_left(order: str, state: State, *, delivered: bool, layout: Layout | None = None) -> int:
    """Bound the steps to the delivery from below.

    Args:
        order: what is cooked.
        state: the kitchen between two steps.
        delivered: the order has been delivered.
        layout: the kitchen; None: the published one.
    """
    if delivered:
        return 0
    return _left(order, orjson.dumps(state), layout)


@lru_cache(maxsize=16384)  # games of an order begin alike, and who waits changes nothing
def _left(order: str, state_json: bytes, layout: Layout | None) -> int:
    state = orjson.loads(state_json)
    scene = _Scene(layout or kitchen(), state)
    left = left_of(order, state, layout)
    ends = _ends(scene, left)
    tails = _tails(scene.layout, left)
    longest = max(min(ends[name].values()) + tails[name] for name in left)
    return max(longest, *(_one_after_the_other(_jobs(scene, left, ends, tails, agent)) for agent in (0, 1)))


# -- chains -----------------------------------------------------------------------------------------

_Ends = dict[Stand, int]
"""Where the agent of a unit can be at its end, and the step at whose end it is done there."""


def _ends(scene: _Scene, left: Mapping[str, Left]) -> dict[str, _Ends]:
    """For each unit when it can be done at the earliest."""
    ends: dict[str, _Ends] = {}
    before = _before(left)
    for name, (unit, begun, needs) in left.items():
        others = [other for other, found in left.items() if found.unit.agent == unit.agent and other != name]
        idle = all(other in before[name] or name in before[other] for other in others)
        stands = {_standing(scene.state, unit.agent): 0}
        for need in needs:
            if left[need].unit.agent == unit.agent:
                stands = _later(stands, ends[need])
        for action in unit.actions[begun:]:
            stands = after(scene.layout, stands, unit.agent, _aims(scene, unit, action, ends, idle=idle))
        ends[name] = stands
    return ends


def _later(stands: _Ends, ends: _Ends) -> _Ends:
    """Of two conditions on where an agent is when, the one that holds it up longer."""
    return ends if min(ends.values()) > min(stands.values()) else stands


def _before(left: Mapping[str, Left]) -> dict[str, frozenset[str]]:
    """For each unit all those that must be done before it."""
    found: dict[str, frozenset[str]] = {}
    for name, unit in left.items():
        found[name] = frozenset(unit.needs).union(*(found[need] for need in unit.needs))
    return found


def _aims(scene: _Scene, unit: WorkUnit, action: str, ends: Mapping[str, _Ends], *, idle: bool) -> list[Aim]:
    """What an action can be aimed at, and when.

    An agent that has nothing else to do sets out when the action opens: before, it would be refused. Any other may be there already.
    """
    call = parse_call(action)
    aims = targets(scene.layout, unit.agent, action)
    if call is None or call.name not in ("pickup", "fill_dish_with_food"):
        needed = [min(ends[need].values()) for need in unit.after if need in ends and not need.startswith("pass ")]
        return [Aim(at, 0, max(needed, default=0) if action == unit.actions[0] else 0) for at in aims]
    if call.arguments[-1] == "counter":
        return [Aim(at, time if idle else 0, time) for at, time in _on_counters(call.arguments[0], ends, scene.state, aims).items()]
    begun, ready = _ready(scene, unit, call.arguments[-1], ends)
    opens = ready if call.name == "pickup" else begun
    return [Aim(at, opens if idle else 0, ready) for at in aims]


def _on_counters(item: str, ends: Mapping[str, _Ends], state: State, aims: tuple[Cell, ...]) -> dict[Cell, int]:
    """The counters on which an item stands, or can be put, and when."""
    there = {at: 0 for at in on_counters(state, item) if at in aims}
    if there:
        return there
    put: dict[Cell, int] = {}
    for stand, time in ends.get(f"pass {item}", {}).items():
        at = neighbour(stand.at, stand.facing)
        put[at] = min(time, put.get(at, time))
    return put or dict.fromkeys(aims, 0)


def _ready(scene: _Scene, unit: WorkUnit, utensil: str, ends: Mapping[str, _Ends]) -> tuple[int, int]:
    """The steps after which a utensil is at work, and after which what it makes can be taken."""
    cook_time = scene.layout.cook_time
    made = next((need for need in unit.after if need in ends and need.startswith("start ")), None)
    if made is not None:
        begun = min(ends[made].values())
        return begun, begun + cook_time - 1
    pot = scene.state["utensils"].get(utensil)
    return 0, max(0, cook_time - pot["timer"]) if pot and pot["timer"] else 0


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


# -- one agent's work ---------------------------------------------------------------------------------


def _jobs(scene: _Scene, left: Mapping[str, Left], ends: Mapping[str, _Ends], tails: Mapping[str, int], agent: int) -> list[_Job]:
    """An agent's units; to each belongs the shortest walk to it from any other of them or, for the first, from where the agent is."""
    own = [found for found in left.values() if found.unit.agent == agent]
    jobs = []
    for found in own:
        work = duration(scene.layout, agent, found.actions)
        walks = [set_up(scene.layout, agent, other.actions[-1], found.actions[0]) for other in own if other is not found]
        walk = min([*walks, approach(scene.layout, agent, _standing(scene.state, agent), found.actions[0])])
        name = found.unit.name
        jobs.append(_Job(max(0, min(ends[name].values()) - work - walk), work + walk, tails[name]))
    return jobs


def _one_after_the_other(jobs: list[_Job]) -> int:
    """The end of Jackson's preemptive schedule, tails included."""
    coming = sorted(jobs)
    open_jobs: list[list[int]] = []
    time = end = 0
    while coming or open_jobs:
        if not open_jobs:
            time = max(time, coming[0].head)
        while coming and coming[0].head <= time:
            job = coming.pop(0)
            heapq.heappush(open_jobs, [-job.tail, job.work])
        tail, work = open_jobs[0]
        until = min(time + work, coming[0].head) if coming else time + work
        open_jobs[0][1] -= until - time
        time = until
        if not open_jobs[0][1]:
            heapq.heappop(open_jobs)
            end = max(end, time - tail)
    return end


def _standing(state: State, agent: int) -> Stand:
    x, y = state["agents"][agent]["at"]
    return Stand((x, y), state["agents"][agent]["facing"])
