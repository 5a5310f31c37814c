"""The fewest steps in which an order can still be delivered: a bound from below.

The definition is cotrace's own, in the manner of formats/values.md.

- Work left (`left_of`): the units whose result is nowhere in the kitchen. What is in the way (wrong contents, full counters, a hand full of
  something else) does not count.
- Walks: the way to a place takes the steps of the shortest walk over the agent's own floor, and one more where no such walk ends with the
  right look, since a longer walk is longer by two at least.
- Plan: what does not depend on where the agents are and how long something has been cooking. It is computed once for many steps.
- Bound (`steps_left`): each unit starts after those it needs and after the walk to its place, and cooking takes its time. That gives the
  step in which a unit can begin (its head), and the steps from its end to the delivery (its tail). No order can be delivered before the
  longest such chain is done. Nor can an agent do two units at once. An agent that could interrupt work at will, always at the unit with
  the longest tail, would need a time that no agent can beat (J. R. Jackson's preemptive schedule of one machine, 1955; J. Carlier, 1982).
"""

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import orjson

from games.overcooked.engine.actions import parse_call
from games.overcooked.engine.layout import DELIVER, DELIVERY, DISH, PLACE, STEPS, Cell, Layout, kitchen, neighbour
from games.overcooked.engine.references import WorkUnit, workflow

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
    """The counters that hold an item."""
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
    return state["agents"][1 - agent]["held"] == item or any(at in layout.counters_of[agent] for at in on_counters(state, item))


def _is_missing(before: WorkUnit, unit: WorkUnit, begun: int, state: State, layout: Layout) -> bool:
    """Whether a unit that another one needs is still to be done."""
    kind, _, thing = before.name.partition(" ")
    if unit.name == "deliver" and _is_at_hand(unit.after[0].removeprefix("start "), unit.agent, state, layout):
        return False
    if kind == "pass":
        return not begun and not any(at in layout.counters_of[unit.agent] for at in on_counters(state, thing))
    if kind == "put":
        utensil, _, item = thing.partition(" ")
        pot = state["utensils"].get(utensil)
        return pot is None or pot["timer"] > 0 or item not in pot["contents"]
    if any(pot["product"] == thing for pot in state["utensils"].values()) or _is_at_hand(thing, unit.agent, state, layout):
        return False
    return begun < len(unit.actions) - 1 if unit.name == "deliver" else not begun


class Stand(NamedTuple):
    """An agent's position and direction."""

    at: Cell
    facing: str


class Aim(NamedTuple):
    """What an action can be aimed at."""

    at: Cell
    opens: int = 0
    """The step after which the action may begin: no agent sets out for what is not yet there."""
    ready: int = 0
    """The step after which it can be done."""


Ends = tuple[tuple[Stand, int], ...]
"""Where an agent can be, and at the end of which step."""


@lru_cache(maxsize=4096)
def after(layout: Layout, ends: Ends, agent: int, aims: tuple[Aim, ...]) -> Ends:
    """The step at whose end an action can be done, for each place to do it from; `ends`: where the agent can be before, and when."""
    found = {
        there: 1 + max(aim.ready, min([max(time, aim.opens) + walks[here] for here, time in ends]))
        for aim in aims
        for there, walks in _ways_to(layout, agent, aim.at)
    }
    return tuple(found.items())


def first_of(ends: Ends) -> int:
    """The earliest of these steps."""
    return min([time for _, time in ends])


@cache
def _ways_to(layout: Layout, agent: int, target: Cell) -> tuple[tuple[Stand, Mapping[Stand, int]], ...]:
    """The places from which an agent can use something, and how far each is from wherever it is."""
    everywhere = [Stand(at, facing) for at in layout.regions[agent] for facing in STEPS]
    return tuple((there, {here: _walk(layout, here, there) for here in everywhere}) for there in spots_at(layout, agent, target))


@cache
def approach(layout: Layout, agent: int, stand: Stand, action: str) -> int:
    """Steps from an agent's position to where it can do an action."""
    return first_of(after(layout, ((stand, 0),), agent, tuple(map(Aim, targets(layout, agent, action))))) - 1


@cache
def targets(layout: Layout, agent: int, action: str) -> tuple[Cell, ...]:
    """What an action can be aimed at, as far as both agents profit."""
    call = parse_call(action)
    if action == DELIVER:
        return (layout.place_of(DELIVERY),)
    if action == PLACE:
        return tuple(layout.shared_counters)
    places = (call.arguments[1:] or call.arguments) if call else ()
    return tuple([at for place in places for at in (layout.counters_of[agent] if place == "counter" else (layout.place_of(place),))])


@cache
def duration(layout: Layout, agent: int, actions: tuple[str, ...]) -> int:
    """Interactions and the walks between them, from the first interaction on."""
    ends = tuple((stand, 1) for stand in _all_spots(layout, agent, targets(layout, agent, actions[0])))
    for action in actions[1:]:
        ends = after(layout, ends, agent, tuple(map(Aim, targets(layout, agent, action))))
    return first_of(ends)


@cache
def set_up(layout: Layout, agent: int, last: str, first: str) -> int:
    """Steps at least between one action and another, both left out."""
    ends, begins = (_all_spots(layout, agent, targets(layout, agent, action)) for action in (last, first))
    return min(_walk(layout, here, there) for here in ends for there in begins)


@lru_cache(maxsize=4096)
def nearest(layout: Layout, agent: int, last: tuple[str, ...], first: str) -> int | None:
    """The least of the steps between any of some actions and another; None where there are none."""
    return min((set_up(layout, agent, action, first) for action in last), default=None)


@cache
def spots_at(layout: Layout, agent: int, target: Cell) -> tuple[Stand, ...]:
    """The places from which an agent can use something."""
    x, y = target
    found = (Stand((x - dx, y - dy), facing) for facing, (dx, dy) in STEPS.items())
    return tuple(stand for stand in found if stand.at in layout.regions[agent])


def _all_spots(layout: Layout, agent: int, cells: Iterable[Cell]) -> list[Stand]:
    return [stand for cell in cells for stand in spots_at(layout, agent, cell)]


_distances = cache(Layout.distances)


@cache
def _walk(layout: Layout, here: Stand, there: Stand) -> int:
    steps = _distances(layout, here.at)
    away = steps[there.at]
    if not away:
        return int(here.facing != there.facing)
    dx, dy = STEPS[there.facing]
    straight = steps.get((there.at[0] - dx, there.at[1] - dy)) == away - 1
    return away + (not straight)


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
    """The shortest walk to it from any other unit of the agent; None: it is the only one."""
    tail: int
    """Steps from its end to the delivery."""


class Plan(NamedTuple):
    """What is left, each unit after those that it needs."""

    layout: Layout
    tasks: tuple[Task, ...]


def plan_of(order: str, state: State, layout: Layout | None = None) -> Plan:
    """What is left of an order in a kitchen between two steps.

    Positions of agents do not count, nor for how long something has been cooking.
    """
    still = {
        "agents": [{"held": agent["held"]} for agent in state["agents"]],
        "utensils": {name: {**pot, "timer": min(1, pot["timer"])} for name, pot in state["utensils"].items()},
        "counters": state["counters"],
    }
    return _plan(order, orjson.dumps(still), layout or kitchen())


@lru_cache(maxsize=1024)
def _plan(order: str, state_json: bytes, layout: Layout) -> Plan:
    state = orjson.loads(state_json)
    left = left_of(order, state, layout)
    before, tails = _before(left), _tails(layout, left)
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
            actions=_actions(layout, state, found, earlier),
            idle=idle,
            first=found.actions[0],
            work=duration(layout, found.unit.agent, found.actions),
            walk=nearest(layout, found.unit.agent, tuple([left[other].actions[-1] for other in others]), found.actions[0]),
            tail=tails[name],
        )
        tasks.append(task)
        earlier.add(name)
    return Plan(layout, tuple(tasks))


def _actions(layout: Layout, state: State, found: Left, earlier: Collection[str]) -> tuple[Action, ...]:
    waited_for = tuple([need for need in found.unit.after if need in earlier])
    call = parse_call(found.actions[0])  # only a unit's first action takes from a counter
    takes = call is not None and call.name == "pickup" and "counter" in call.arguments
    handed = tuple(on_counters(state, call.arguments[0])) if takes and call else ()
    return _aimed(layout, found.unit, found.actions, waited_for, handed)


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
        return Action(tuple([aim for aim in aims if aim.at in handed or aim.at not in layout.counters_of[unit.agent]]))
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


class _Job(NamedTuple):
    """A unit as one agent's work."""

    head: int
    work: int
    tail: int


def steps_left(order: str, state: State, *, delivered: bool, layout: Layout | None = None) -> int:
    """Bound the steps to the delivery from below, in the kitchen between two steps."""
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


def _jobs(plan: Plan, ends: Mapping[str, _End], standing: Stand, agent: int) -> Iterator[_Job]:
    """An agent's units; to each belongs the shortest walk to it from any other of them or, for the first, from where the agent is."""
    for task in plan.tasks:
        if task.agent == agent:
            coming = approach(plan.layout, agent, standing, task.first)
            walk = coming if task.walk is None else min(coming, task.walk)
            yield _Job(max(0, ends[task.name].first - task.work - walk), task.work + walk, task.tail)


def _one_after_the_other(jobs: Iterable[_Job]) -> int:
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
