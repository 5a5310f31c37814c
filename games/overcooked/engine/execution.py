"""How a macro action is carried out: where to stand, the way there, and when it is over (formats/overcooked.md, section 2)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from games.overcooked.engine.layout import DELIVERY, STEPS, Cell, neighbour
from games.overcooked.engine.world import Move, World
from games.overcooked.text.grammar import WrittenAction, parse_call

__all__ = ["is_over", "next_move", "wait_steps"]

_STAY: Final = Move()


class _Stand(NamedTuple):
    """A place from which a target can be used."""

    cost: int
    """Steps until the interaction, which is not counted."""

    at: Cell
    facing: str


def next_move(world: World, agent: int, action: str) -> Move:
    """Give the low-level move of this step: towards the target, or the interaction with it; a stay if there is nothing to reach."""
    call = parse_call(action)
    if call is None:
        return _STAY
    stand = _cheapest(world, agent, _targets(world, agent, call))
    if stand is None:
        return _STAY
    body = world.bodies[agent]
    if body.at != stand.at:
        return Move(_towards(world, agent, stand.at))
    if body.facing != stand.facing:
        return Move(stand.facing)
    return Move(interact=True, item=call.arguments[0] if call.name == "pickup" and call.arguments else None)


def is_over(world: World, agent: int, action: str, waited: int) -> bool:
    """Tell whether a macro action has reached its end (section 2, end conditions).

    Args:
        world: after a step.
        agent: who acts.
        action: the macro action in force.
        waited: steps it has been in force.
    """
    call = parse_call(action)
    if call is None:
        return True
    held = world.bodies[agent].held
    if call.name == "pickup":
        return held == call.arguments[0]
    if call.name in world.layout.operations:
        return bool(world.notices) or world.running(call.arguments[0]) or world.ready(call.arguments[0])
    if call.name in ("place_obj_on_counter", "put_obj_in_utensil", "deliver_soup"):
        return held is None
    if call.name == "fill_dish_with_food":
        return held is not None and world.order in held
    return waited >= wait_steps(call)


def wait_steps(call: WrittenAction) -> int:
    """Give how long a wait lasts, in steps; a number that cannot be read counts as 1."""
    number = call.arguments[0] if call.arguments else ""
    return int(number) if number.isdecimal() and number.isascii() else 1


def _targets(world: World, agent: int, call: WrittenAction) -> list[Cell]:
    """The cells that an action may be aimed at."""
    layout, held = world.layout, world.bodies[agent].held
    if call.name == "pickup":
        if held is not None:
            return []
        item, place = call.arguments[:2] if len(call.arguments) > 1 else ("", "")
        return _with_item(world, agent, item) if place == "counter" else _fixture(world, place)
    if call.name == "place_obj_on_counter":
        free = [at for at in sorted(layout.counters, key=_row_major) if at not in world.counters]
        shared = [at for at in free if at in layout.shared_counters]
        return shared or free
    if call.name in (*layout.operations, "put_obj_in_utensil", "fill_dish_with_food"):
        return _fixture(world, call.arguments[-1] if call.arguments else "")
    return _fixture(world, DELIVERY) if call.name == "deliver_soup" else []


def _with_item(world: World, agent: int, item: str) -> list[Cell]:
    """Counters with an item; if one is out of the partner's reach, only such ones."""
    having = [at for at in sorted(world.layout.counters, key=_row_major) if world.counters.get(at) == item]
    partner = world.layout.counters_of(1 - agent)
    private = [at for at in having if at in world.layout.counters_of(agent) and at not in partner]
    return private or having


def _fixture(world: World, name: str) -> list[Cell]:
    return [at for at, known in world.layout.fixtures.items() if known == name]


def _row_major(at: Cell) -> tuple[int, int]:
    return at[1], at[0]


def _cheapest(world: World, agent: int, targets: list[Cell]) -> _Stand | None:
    stands = [stand for target in targets for stand in _stands(world, agent, target)]
    return min(stands, key=lambda stand: stand.cost) if stands else None


def _stands(world: World, agent: int, target: Cell) -> list[_Stand]:
    return [_Stand(_cost(world, agent, at, facing), at, facing) for at, facing in _beside(world.layout.region(agent), target)]


@lru_cache(maxsize=1024)
def _beside(region: frozenset[Cell], target: Cell) -> list[tuple[Cell, str]]:
    """The cells of a region from which a target can be faced, and the direction."""
    around = [((target[0] - dx, target[1] - dy), facing) for facing, (dx, dy) in STEPS.items()]
    return [(at, facing) for at, facing in around if at in region]


def _cost(world: World, agent: int, at: Cell, facing: str) -> int:
    body = world.bodies[agent]
    way = _way(world, agent, at)
    arrived = way[-1] if way else body.facing
    return len(way) + (arrived != facing)


def _towards(world: World, agent: int, at: Cell) -> str:
    return _way(world, agent, at)[0]


def _way(world: World, agent: int, goal: Cell) -> tuple[str, ...]:
    return _ways(world.layout.floor, world.bodies[agent].at)[goal]


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
