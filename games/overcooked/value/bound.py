"""The fewest steps to the delivery, from below.

Each unit of work starts after those it needs and after the walk to its place, and what cooks takes its time: that gives the step in which
it can begin (its head), and the steps from its end to the delivery (its tail). No order can be delivered before the longest such chain is
done. Nor can an agent do two units at once: if it could break off and take up work at will, always at the unit with the longest tail, it
would be done in time that no agent can beat (J. R. Jackson's preemptive schedule of one machine, 1955; J. Carlier, 1982).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import orjson

from games.overcooked.engine.layout import Cell, Layout, neighbour
from games.overcooked.value.left import State
from games.overcooked.value.plan import Action, Plan, Task, plan_of
from games.overcooked.value.walks import Aim, Ends, Stand, after, approach, first_of


class _Job(NamedTuple):
    """A unit as one agent's work."""

    head: int
    work: int
    tail: int


def steps_left(order: str, state: State, *, delivered: bool, layout: Layout | None = None) -> int:
    """Bound the steps to the delivery from below.

    Args:
        order: what is cooked.
        state: the kitchen between two steps.
        delivered: the order has been delivered.
        layout: the kitchen; None: the published one.
    """
    return 0 if delivered else steps_left_of_json(order, orjson.dumps(state).decode(), layout)


@lru_cache(maxsize=16384)  # games of an order begin alike, and who waits changes nothing
def steps_left_of_json(order: str, state_json: str, layout: Layout | None = None) -> int:
    """The same of a state as JSON, where the order has not been delivered."""
    state = orjson.loads(state_json)
    plan = plan_of(order, state, layout)
    standing = [_standing(state, agent) for agent in (0, 1)]
    ends = _ends(plan, state, standing)
    longest = max(ends[task.name].first + task.tail for task in plan.tasks)
    return max(longest, *(_one_after_the_other(_jobs(plan, ends, standing[agent], agent)) for agent in (0, 1)))


# -- chains -----------------------------------------------------------------------------------------


class _End(NamedTuple):
    """The end of a unit."""

    places: Ends
    """Where its agent can be then."""

    first: int
    """The earliest step at whose end it is done."""


def _ends(plan: Plan, state: State, standing: Sequence[Stand]) -> dict[str, _End]:
    """For each unit when it can be done at the earliest."""
    starts = [_End(((stand, 0),), 0) for stand in standing]
    ends: dict[str, _End] = {}
    for task in plan.tasks:
        last = starts[task.agent]
        for need in task.needs:
            last = ends[need] if ends[need].first > last.first else last
        places = last.places
        for action in task.actions:
            aims = action.aims if action.is_open else _aims(plan.layout, state, action, ends, idle=task.idle)
            places = after(plan.layout, places, task.agent, aims)
        ends[task.name] = _End(places, first_of(places))
    return ends


def _aims(layout: Layout, state: State, action: Action, ends: Mapping[str, _End], *, idle: bool) -> tuple[Aim, ...]:
    """What an action can be aimed at, and when.

    An agent that has nothing else to do sets out when the action opens: before, it would be refused. Any other may be there already.
    """
    if action.passed is not None:
        return tuple([Aim(at, time if idle else 0, time) for at, time in _put_down(ends[action.passed]).items()])
    if action.utensil is None:
        ready = max((ends[name].first for name in action.waits), default=0)
        return _opening(action, 0, ready)
    begun, ready = _ready(layout, state, action, ends)
    opens = ready if action.is_pickup else begun
    return _opening(action, opens if idle else 0, ready)


def _opening(action: Action, opens: int, ready: int) -> tuple[Aim, ...]:
    return tuple([Aim(aim.at, opens, ready) for aim in action.aims]) if ready else action.aims


def _put_down(end: _End) -> dict[Cell, int]:
    """The counters on which something can be put, and when."""
    put: dict[Cell, int] = {}
    for stand, time in end.places:
        at = neighbour(stand.at, stand.facing)
        put[at] = min(time, put.get(at, time))
    return put


def _ready(layout: Layout, state: State, action: Action, ends: Mapping[str, _End]) -> tuple[int, int]:
    """The steps after which a utensil is at work, and after which what it makes can be taken."""
    if action.made is not None:
        begun = ends[action.made].first
        return begun, begun + layout.cook_time - 1
    pot = state["utensils"].get(action.utensil)
    return 0, max(0, layout.cook_time - pot["timer"]) if pot and pot["timer"] else 0


# -- one agent's work ---------------------------------------------------------------------------------


def _jobs(plan: Plan, ends: Mapping[str, _End], standing: Stand, agent: int) -> list[_Job]:
    """An agent's units; to each belongs the shortest walk to it from any other of them or, for the first, from where the agent is."""
    return [_job(plan.layout, task, ends[task.name], standing) for task in plan.tasks if task.agent == agent]


def _job(layout: Layout, task: Task, end: _End, standing: Stand) -> _Job:
    coming = approach(layout, task.agent, standing, task.first)
    walk = coming if task.walk is None else min(coming, task.walk)
    return _Job(max(0, end.first - task.work - walk), task.work + walk, task.tail)


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
