"""Whether a macro action may start: the engine's checks, their messages and codes (formats/overcooked.md, section 6.2).

The messages are ours; each holds the fragment by which `code_of` finds its code.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from games.overcooked.engine.actions import WrittenAction, parse_call, wait_steps
from games.overcooked.engine.layout import AGENTS, DELIVER, DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, PLACE, Layout
from games.overcooked.engine.world import World
from schemas.common.packages import packaged_yaml

_FORMAT: Final = "please check your plan: write actions in one line, separated by ';', and nothing else."
_COUNTER: Final = "counter"
_TWO: Final = 2


def refusal(world: World, agent: int, action: str) -> str | None:
    """Give the message with which an action of the Chef (0) or the Assistant (1) is refused before it starts; None if it may.

    ``place_obj_on_counter()`` and ``deliver_soup()`` must be written exactly so.
    """
    call = parse_call(action)
    if call is None:
        return _FORMAT
    check = _CHECKS.get(call.name)
    if check is None and action == PLACE:
        check = _place
    elif check is None and action == DELIVER:
        check = _deliver
    elif check is None and call.name in world.layout.operations and len(call.arguments) == 1:
        check = _operate
    return _FORMAT if check is None else next(check(world, agent, call), None)


# Each check yields why an action may not start; the first reason counts, and what comes behind it is not looked at.


def _pickup(world: World, agent: int, call: WrittenAction) -> Iterator[str]:
    if len(call.arguments) != _TWO:
        yield "Wrong pickup() params. It should have 2 params: object and place."
        return
    item, place = call.arguments
    for wrong in _wrong_pickup(world.layout, item, place):
        yield f"Wrong pickup() params {item},{place}. {wrong}"
    yield from _unreachable(world, agent, item, place)
    held = world.bodies[agent].held
    if place in world.layout.utensils:
        if world.running(place):
            yield f"{place} is cooking, and you should wait until it is done."
        if not world.ready(place) or world.utensils[place].product != item:
            yield f"There is no {item} in {place}, please check the item your want to pickup."
        if item == world.order and world.layout.needs_dish[world.order]:
            yield f"{item} need a dish."
    if held is not None and held != item:
        yield f"There is {held} in the hand of {AGENTS[agent].lower()}, so can not pick other thing."


def _wrong_pickup(layout: Layout, item: str, place: str) -> Iterator[str]:
    if item != DISH and item not in layout.items:
        yield "It does not belong to any recipe ingredients or dish."
    if "dispenser" in place:
        if item != DISH and item not in layout.ingredients:
            yield "You can only get raw ingredients and dish from dispenser."
        if item == DISH and place == INGREDIENT_DISPENSER:
            yield "You can only get dish from dish_dispenser."
        if item != DISH and place == DISH_DISPENSER:
            yield "You can only get ingredient from ingredient_dispenser."
    elif place not in layout.utensils and place != _COUNTER:
        yield "The place does not belong to any utensils, dispenser or counter."


def _unreachable(world: World, agent: int, item: str, place: str) -> Iterator[str]:
    role, layout = AGENTS[agent].lower(), world.layout
    if place == _COUNTER:
        if all(world.counters.get(at) != item for at in layout.counters_of[agent]):
            yield f"There is no {item} on counter that {role} can visit."
    elif place not in layout.reaches[agent]:
        if agent == 0 and "dispenser" in place:
            yield "Chef can not directly access dispenser. The assistant can bring ingredients."
        yield f"{role} can not reach the {place if place in layout.utensils else 'destination'}. Please check if it is in your space."


def _put(world: World, agent: int, call: WrittenAction) -> Iterator[str]:
    role, held = AGENTS[agent].lower(), world.bodies[agent].held
    if not 1 <= len(call.arguments) <= _TWO:
        yield "Wrong put_obj_in_utensil() params. It should have 1 param: utensil."
    utensil = call.arguments[-1]
    if utensil not in world.layout.utensils:
        yield f"Wrong put_obj_in_utensil() parmas: {utensil} is no utensil."
    if utensil not in world.layout.reaches[agent]:
        yield f"{role} can not reach the {utensil}. Please check if you can interact with it."
    if held is None:
        yield f"There is no object in {role}'s hand, so can not put it on {utensil}."
    if held == DISH:
        yield "You can not put dish into any utensil."
    if world.running(utensil):
        yield f"{utensil} is cooking, and you should wait until it is done."
    if world.ready(utensil):
        yield f"{utensil} is ready, and you should pick up what is in it."


def _fill(world: World, agent: int, call: WrittenAction) -> Iterator[str]:
    if len(call.arguments) != 1:
        yield "Wrong fill_dish_with_food() params. It should have 1 param: utensil."
    utensil = call.arguments[0]
    if utensil not in world.layout.utensils:
        yield f"Wrong fill_dish_with_food() parmas: {utensil} is no utensil."
    if world.bodies[agent].held != DISH:
        yield "There is no dish in hand."
    if not world.layout.needs_dish[world.order]:
        yield f"{world.order} does not need dish."
    if not world.running(utensil) and not world.ready(utensil):
        yield f"{utensil} is not ready or cooking for filled."


def _wait(world: World, _agent: int, call: WrittenAction) -> Iterator[str]:
    if wait_steps(call) > world.layout.wait_limit:
        yield f"Too long wait time. It should be at most {world.layout.wait_limit}."


def _place(world: World, agent: int, _: WrittenAction) -> Iterator[str]:
    if world.bodies[agent].held is None:
        yield f"There is no object in {AGENTS[agent].lower()}'s hand, so can not place object on counter."
    if not world.layout.counters - set(world.counters):
        yield "There is no empty counter."


def _deliver(world: World, agent: int, _: WrittenAction) -> Iterator[str]:
    held = world.bodies[agent].held
    if held is None:
        yield "Your hand is empty. Take the finished food first, with a dish if the order needs one."
    elif not any(name in held for name in world.layout.needs_dish):
        yield "Item in your hand is not finished food."


def _operate(world: World, agent: int, call: WrittenAction) -> Iterator[str]:
    role, utensil = AGENTS[agent].lower(), call.arguments[0]
    known = world.layout.utensils.get(utensil)
    if known is None or known.operation != call.name:
        yield f"Wrong {call.name}() parmas: {utensil}"
    if utensil not in world.layout.reaches[agent]:
        yield f"{role} can not reach the {utensil}. Please check if the utensil is in your space."
    if utensil not in world.utensils:
        yield f"Ingredients in {utensil} are not enough to begin the operation."
    if world.running(utensil) or world.ready(utensil):
        yield f"{utensil} is busy. You can not operate it."
    if world.bodies[agent].held is not None:
        yield f"There is something in {role}'s hand, so can not interact with utensil."


_CHECKS: Final[Mapping[str, Callable[[World, int, WrittenAction], Iterator[str]]]] = {
    "pickup": _pickup,
    "put_obj_in_utensil": _put,
    "fill_dish_with_food": _fill,
    "wait": _wait,
}


VALIDATOR_CODES: Final[Sequence[tuple[str, str]]] = [(code, fragment) for code, fragment in packaged_yaml(__package__, "refusals.yaml")]
"""Code and the fragment that identifies it, in the order in which they are tried; ``{object}`` matches any name."""

OTHER: Final = "V_OTHER"
"""A refusal whose message is not known."""

_PATTERNS: Final = [
    (code, re.compile(re.escape(fragment).replace(re.escape("{object}"), r"\S+"), re.IGNORECASE)) for code, fragment in VALIDATOR_CODES
]


@lru_cache(maxsize=4096)
def code_of(message: str) -> str:
    """Give the code of a refusal; ``OTHER`` if its message has no known fragment."""
    return next((code for code, pattern in _PATTERNS if pattern.search(message)), OTHER)
