"""How long an agent takes from one action to the next.

The way to a place is as many steps as the shortest walk over the agent's own floor, and one more where no such walk ends with the right
look: a longer walk is longer by two at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from games.overcooked.engine.actions import parse_call
from games.overcooked.engine.layout import DELIVERY, STEPS, Cell, Layout, neighbour
from games.overcooked.engine.vocabulary import DELIVER, PLACE


class Stand(NamedTuple):
    """Where an agent stands and looks."""

    at: Cell
    facing: str


class Aim(NamedTuple):
    """What an action can be aimed at."""

    at: Cell
    opens: int = 0
    """The step after which the action may begin: nobody sets out for what is not yet there."""

    ready: int = 0
    """The step after which it can be done."""


Ends = tuple[tuple[Stand, int], ...]
"""Where an agent can be, and at the end of which step."""


@lru_cache(maxsize=4096)
def after(layout: Layout, ends: Ends, agent: int, aims: tuple[Aim, ...]) -> Ends:
    """The step at whose end an action can be done, for each place to do it from.

    Args:
        layout: the kitchen.
        ends: where the agent can be before, and when.
        agent: who acts.
        aims: what the action can be aimed at.
    """
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
    """The places from which an agent can use something, and how far each is from wherever it stands."""
    everywhere = [Stand(at, facing) for at in layout.region(agent) for facing in STEPS]
    return tuple((there, {here: _walk(layout, here, there) for here in everywhere}) for there in stands_at(layout, agent, target))


@cache
def approach(layout: Layout, agent: int, stand: Stand, action: str) -> int:
    """Steps from where an agent stands to where it can do an action."""
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
    return tuple([at for place in places for at in (layout.counters_of(agent) if place == "counter" else (layout.place_of(place),))])


@cache
def duration(layout: Layout, agent: int, actions: tuple[str, ...]) -> int:
    """Interactions and the walks between them, from the first interaction on."""
    ends = tuple((stand, 1) for stand in _all_stands(layout, agent, targets(layout, agent, actions[0])))
    for action in actions[1:]:
        ends = after(layout, ends, agent, tuple(map(Aim, targets(layout, agent, action))))
    return first_of(ends)


@cache
def set_up(layout: Layout, agent: int, last: str, first: str) -> int:
    """Steps at least between one action and another, both left out."""
    ends, begins = (_all_stands(layout, agent, targets(layout, agent, action)) for action in (last, first))
    return min(_walk(layout, here, there) for here in ends for there in begins)


@lru_cache(maxsize=4096)
def nearest(layout: Layout, agent: int, last: tuple[str, ...], first: str) -> int | None:
    """The least of the steps between any of some actions and another; None where there are none."""
    return min((set_up(layout, agent, action, first) for action in last), default=None)


@cache
def stands_at(layout: Layout, agent: int, target: Cell) -> tuple[Stand, ...]:
    """The places from which an agent can use something."""
    x, y = target
    found = (Stand((x - dx, y - dy), facing) for facing, (dx, dy) in STEPS.items())
    return tuple(stand for stand in found if stand.at in layout.region(agent))


def _all_stands(layout: Layout, agent: int, cells: Iterable[Cell]) -> list[Stand]:
    return [stand for cell in cells for stand in stands_at(layout, agent, cell)]


@cache
def _walk(layout: Layout, here: Stand, there: Stand) -> int:
    steps = _distances(layout, here.at)
    away = steps[there.at]
    if not away:
        return int(here.facing != there.facing)
    dx, dy = STEPS[there.facing]
    straight = steps.get((there.at[0] - dx, there.at[1] - dy)) == away - 1
    return away + (not straight)


@cache
def _distances(layout: Layout, start: Cell) -> Mapping[Cell, int]:
    """Steps from a cell to each that can be walked to, breadth first."""
    steps = {start: 0}
    unvisited = [start]
    for at in unvisited:
        for direction in STEPS:
            ahead = neighbour(at, direction)
            if ahead in layout.floor and ahead not in steps:
                steps[ahead] = steps[at] + 1
                unvisited.append(ahead)
    return steps
