"""Macro actions: how they are written, and how they are carried out (formats/overcooked.md, sections 2, 5 and 7.2)."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from games.overcooked.engine.layout import DELIVERY, STEPS, Cell, Layout, neighbour
from games.overcooked.engine.world import Move, World

Trajectory = Sequence[str]
"""Actions of one agent in order, without blanks."""

_CALL: Final = re.compile(r"(\w+)\s*\(([^()]*)\)")
_PARAMETERS: Final = {"pickup": ("object", "place"), "wait": ("steps",)}


class WrittenAction(NamedTuple):
    """An action as written: name and arguments without blanks around them."""

    name: str
    arguments: tuple[str, ...]

    @property
    def text(self) -> str:
        """The action without blanks, as trajectories are compared."""
        return f"{self.name}({','.join(self.arguments)})"


def normalised(action: str) -> str:
    """Give an action without any blank: the only normalisation of the published evaluation (section 7.2)."""
    return action.replace(" ", "")


@lru_cache(maxsize=16384)
def parse_call(text: str) -> WrittenAction | None:
    """Read the first action in a text, whatever is around it (logs have `1. wait(4)`); None if there is none."""
    found = _CALL.search(text)
    if found is None:
        return None
    arguments = tuple(part.strip() for part in found[2].split(",")) if found[2].strip() else ()
    return WrittenAction(found[1], arguments)


def verb_of(text: str) -> tuple[str, dict[str, Any]]:
    """Give an action as verb and named arguments; anything else is ``unreadable``."""
    call = parse_call(text)
    if call is None:
        return "unreadable", {"text": text.strip()}
    names = _PARAMETERS.get(call.name, ("utensil",))
    extra = call.arguments[len(names) :]
    return call.name.lower(), {**dict(zip(names, call.arguments, strict=False)), **({"more": list(extra)} if extra else {})}


_STAY: Final = Move()


def next_move(world: World, agent: int, action: str) -> Move:
    """Give the low-level move of this step: towards the target, or the interaction with it; a stay if there is nothing to reach."""
    call = parse_call(action)
    if call is None:
        return _STAY
    body = world.bodies[agent]
    move = _towards(world.layout, agent, body.at, body.facing, _targets(world, agent, call))
    return Move(interact=True, item=call.arguments[0] if call.name == "pickup" and call.arguments else None) if move.interact else move


def is_over(world: World, agent: int, action: str, waited: int) -> bool:
    """Tell whether a macro action, in force for `waited` steps, has reached its end after a step (section 2, end conditions)."""
    call = parse_call(action)
    if call is None:
        return True
    held = world.bodies[agent].held
    if call.name == "pickup":
        return held == call.arguments[0]
    if call.name in world.layout.operations:
        return bool(world.spoiled) or world.running(call.arguments[0]) or world.ready(call.arguments[0])
    if call.name in ("place_obj_on_counter", "put_obj_in_utensil", "deliver_soup"):
        return held is None
    if call.name == "fill_dish_with_food":
        return held is not None and world.order in held
    return waited >= wait_steps(call)


_DIGITS: Final = 18
"""Those of a number that is longer than any game; Python reads no number of thousands."""


def wait_steps(call: WrittenAction) -> int:
    """Give how long a wait lasts, in steps; a number that cannot be read counts as 1."""
    number = call.arguments[0] if call.arguments else ""
    if not (number.isdecimal() and number.isascii()):
        return 1
    return int(number.lstrip("0")[:_DIGITS] or "0")


def _targets(world: World, agent: int, call: WrittenAction) -> tuple[Cell, ...]:
    """The cells that an action may be aimed at."""
    layout, held = world.layout, world.bodies[agent].held
    if call.name == "pickup":
        if held is not None:
            return ()
        item, place = call.arguments[:2] if len(call.arguments) > 1 else ("", "")
        return _with_item(world, agent, item) if place == "counter" else _fixture(layout, place)
    if call.name == "place_obj_on_counter":
        free = tuple(at for at in _by_rows(layout) if at not in world.counters)
        shared = tuple(at for at in free if at in layout.shared_counters)
        return shared or free
    if call.name in layout.operations or call.name in ("put_obj_in_utensil", "fill_dish_with_food"):
        return _fixture(layout, call.arguments[-1] if call.arguments else "")
    return _fixture(layout, DELIVERY) if call.name == "deliver_soup" else ()


def _with_item(world: World, agent: int, item: str) -> tuple[Cell, ...]:
    """Counters with an item; if one is out of the partner's reach, only such ones."""
    having = tuple(at for at in _by_rows(world.layout) if world.counters.get(at) == item)
    partner = world.layout.counters_of[1 - agent]
    private = tuple(at for at in having if at in world.layout.counters_of[agent] and at not in partner)
    return private or having


@lru_cache(maxsize=1024)
def _fixture(layout: Layout, name: str) -> tuple[Cell, ...]:
    return tuple(at for at, known in layout.fixtures.items() if known == name)


@lru_cache(maxsize=64)
def _by_rows(layout: Layout) -> tuple[Cell, ...]:
    return tuple(sorted(layout.counters, key=lambda at: (at[1], at[0])))


@lru_cache(maxsize=16384)
def _towards(layout: Layout, agent: int, at: Cell, facing: str, targets: tuple[Cell, ...]) -> Move:
    """A step to where a target can be faced at the lowest cost, a turn there, or the interaction; a stay where none can be."""
    ways = _ways(layout.floor, at)
    spots = [spot for target in targets for spot in _adjacent(layout.regions[agent], target)]
    if not spots:
        return _STAY
    # steps until the interaction, which is not counted: the walk, and a turn where it does not end with the right look
    place, look = min(spots, key=lambda spot: len(ways[spot[0]]) + ((ways[spot[0]] or (facing,))[-1] != spot[1]))
    if at != place:
        return Move(ways[place][0])
    return Move(look) if facing != look else Move(interact=True)


@lru_cache(maxsize=1024)
def _adjacent(region: frozenset[Cell], target: Cell) -> list[tuple[Cell, str]]:
    """The cells of a region from which a target can be faced, and the direction."""
    around = [((target[0] - dx, target[1] - dy), facing) for facing, (dx, dy) in STEPS.items()]
    return [(at, facing) for at, facing in around if at in region]


@lru_cache(maxsize=1024)
def _ways(floor: frozenset[Cell], start: Cell) -> Mapping[Cell, tuple[str, ...]]:
    """The shortest way to each cell, breadth first."""
    ways: dict[Cell, tuple[str, ...]] = {start: ()}
    unvisited = [start]
    for at in unvisited:
        for direction in STEPS:
            ahead = neighbour(at, direction)
            if ahead in floor and ahead not in ways:
                ways[ahead] = (*ways[at], direction)
                unvisited.append(ahead)
    return ways
