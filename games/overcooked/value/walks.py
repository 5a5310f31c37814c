"""How long an agent takes from one action to the next.

An agent's floor is one straight column: the way to a place is as many steps as rows, and one more where it then looks elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from games.overcooked.engine.layout import DELIVERY, STEPS, Cell, kitchen
from games.overcooked.engine.vocabulary import DELIVER, PLACE
from games.overcooked.text.grammar import parse_call

__all__ = ["Aim", "Stand", "after", "duration", "set_up", "stands_at", "targets"]


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


def after(stands: Mapping[Stand, int], agent: int, aims: Iterable[Aim]) -> dict[Stand, int]:
    """The step at whose end an action can be done, for each place to do it from.

    Args:
        stands: where the agent can be, and at the end of which step.
        agent: who acts.
        aims: what the action can be aimed at.
    """
    return {
        there: 1 + max(aim.ready, min(max(time, aim.opens) + _walk(here, there) for here, time in stands.items()))
        for aim in aims
        for there in stands_at(agent, aim.at)
    }


def targets(agent: int, action: str) -> tuple[Cell, ...]:
    """What an action can be aimed at, as far as both agents profit."""
    layout, call = kitchen(), parse_call(action)
    if action == DELIVER:
        return (layout.place_of(DELIVERY),)
    if action == PLACE:
        return tuple(layout.shared_counters)
    where = call.arguments[-1] if call and call.arguments else ""
    return tuple(layout.counters_of(agent)) if where == "counter" else (layout.place_of(where),)


@cache
def duration(agent: int, actions: tuple[str, ...]) -> int:
    """Interactions and the walks between them, from the first interaction on."""
    stands = dict.fromkeys(_all_stands(agent, targets(agent, actions[0])), 1)
    for action in actions[1:]:
        stands = after(stands, agent, map(Aim, targets(agent, action)))
    return min(stands.values())


@cache
def set_up(agent: int, last: str, first: str) -> int:
    """Steps at least between one action and another, both left out."""
    ends, begins = (_all_stands(agent, targets(agent, action)) for action in (last, first))
    return min(_walk(here, there) for here in ends for there in begins)


@cache
def stands_at(agent: int, target: Cell) -> tuple[Stand, ...]:
    """The places from which an agent can use something."""
    x, y = target
    found = (Stand((x - dx, y - dy), facing) for facing, (dx, dy) in STEPS.items())
    return tuple(stand for stand in found if stand.at in kitchen().region(agent))


def _all_stands(agent: int, cells: Iterable[Cell]) -> list[Stand]:
    return [stand for cell in cells for stand in stands_at(agent, cell)]


@cache
def _walk(here: Stand, there: Stand) -> int:
    down = there.at[1] - here.at[1]
    facing = here.facing if not down else "south" if down > 0 else "north"
    return abs(down) + (facing != there.facing)
