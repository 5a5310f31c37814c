"""Whether a macro action may start: the engine's checks, their messages and codes (formats/overcooked.md, section 6.2).

The messages are ours; each holds the fragment by which `code_of` finds its code.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from games.overcooked.engine.actions import WrittenAction, parse_call, wait_steps
from games.overcooked.engine.layout import AGENTS, DELIVER, DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, PLACE
from games.overcooked.engine.world import World

_FORMAT: Final = "please check your plan: write actions in one line, separated by ';', and nothing else."
_COUNTER: Final = "counter"
_TWO: Final = 2


def refusal(world: World, agent: int, action: str) -> str | None:
    """Give the message with which an action is refused before it starts; None if it may.

    Args:
        world: as it is when the action would start.
        agent: 0 Chef, 1 Assistant.
        action: as written; ``place_obj_on_counter()`` and ``deliver_soup()`` must be written exactly so.
    """
    call = parse_call(action)
    if call is None:
        return _FORMAT
    check = _CHECKS.get(call.name)
    if check is not None:
        return check(world, agent, call)
    if action == PLACE:
        if world.bodies[agent].held is None:
            return f"There is no object in {AGENTS[agent].lower()}'s hand, so can not place object on counter."
        return None if world.layout.counters - set(world.counters) else "There is no empty counter."
    if action == DELIVER:
        return _deliver(world, agent)
    return _operate(world, agent, call) if call.name in world.layout.operations and len(call.arguments) == 1 else _FORMAT


# -- pickup ---------------------------------------------------------------------------------------


def _pickup(world: World, agent: int, call: WrittenAction) -> str | None:
    if len(call.arguments) != _TWO:
        return "Wrong pickup() params. It should have 2 params: object and place."
    item, place = call.arguments
    wrong = _wrong_pickup(world, item, place)
    if wrong is not None:
        return f"Wrong pickup() params {item},{place}. {wrong}"
    return _unreachable(world, agent, item, place) or _not_there(world, agent, item, place)


def _wrong_pickup(world: World, item: str, place: str) -> str | None:
    layout = world.layout
    if item != DISH and item not in layout.items:
        return "It does not belong to any recipe ingredients or dish."
    if "dispenser" in place:
        return _wrong_dispenser(world, item, place)
    if place not in layout.utensils and place != _COUNTER:
        return "The place does not belong to any utensils, dispenser or counter."
    return None


def _wrong_dispenser(world: World, item: str, place: str) -> str | None:
    if item != DISH and item not in world.layout.ingredients:
        return "You can only get raw ingredients and dish from dispenser."
    if item == DISH and place == INGREDIENT_DISPENSER:
        return "You can only get dish from dish_dispenser."
    if item != DISH and place == DISH_DISPENSER:
        return "You can only get ingredient from ingredient_dispenser."
    return None


def _unreachable(world: World, agent: int, item: str, place: str) -> str | None:
    role = AGENTS[agent].lower()
    if place == _COUNTER:
        counters = world.layout.counters_of(agent)
        if any(world.counters.get(at) == item for at in counters):
            return None
        return f"There is no {item} on counter that {role} can visit."
    if place in world.layout.reach(agent):
        return None
    if agent == 0 and "dispenser" in place:
        return "Chef can not directly access dispenser. The assistant can bring ingredients."
    return f"{role} can not reach the {place if place in world.layout.utensils else 'destination'}. Please check if it is in your space."


def _not_there(world: World, agent: int, item: str, place: str) -> str | None:
    held = world.bodies[agent].held
    if place in world.layout.utensils:
        if world.running(place):
            return f"{place} is cooking, and you should wait until it is done."
        if not world.ready(place) or world.utensils[place].product != item:
            return f"There is no {item} in {place}, please check the item your want to pickup."
        if item == world.order and world.layout.needs_dish[world.order]:
            return f"{item} need a dish."
    if held is not None and held != item:
        return f"There is {held} in the hand of {AGENTS[agent].lower()}, so can not pick other thing."
    return None


# -- the rest -------------------------------------------------------------------------------------


def _put(world: World, agent: int, call: WrittenAction) -> str | None:
    role, held = AGENTS[agent].lower(), world.bodies[agent].held
    if not 1 <= len(call.arguments) <= _TWO:
        return "Wrong put_obj_in_utensil() params. It should have 1 param: utensil."
    utensil = call.arguments[-1]
    if utensil not in world.layout.utensils:
        return f"Wrong put_obj_in_utensil() parmas: {utensil} is no utensil."
    if utensil not in world.layout.reach(agent):
        return f"{role} can not reach the {utensil}. Please check if you can interact with it."
    if held is None:
        return f"There is no object in {role}'s hand, so can not put it on {utensil}."
    return _cannot_hold(world, utensil, held)


def _cannot_hold(world: World, utensil: str, held: str) -> str | None:
    if held == DISH:
        return "You can not put dish into any utensil."
    if world.running(utensil):
        return f"{utensil} is cooking, and you should wait until it is done."
    return f"{utensil} is ready, and you should pick up what is in it." if world.ready(utensil) else None


def _fill(world: World, agent: int, call: WrittenAction) -> str | None:
    if len(call.arguments) != 1:
        return "Wrong fill_dish_with_food() params. It should have 1 param: utensil."
    utensil = call.arguments[0]
    if utensil not in world.layout.utensils:
        return f"Wrong fill_dish_with_food() parmas: {utensil} is no utensil."
    if world.bodies[agent].held != DISH:
        return "There is no dish in hand."
    if not world.layout.needs_dish[world.order]:
        return f"{world.order} does not need dish."
    if not world.running(utensil) and not world.ready(utensil):
        return f"{utensil} is not ready or cooking for filled."
    return None


def _wait(world: World, _agent: int, call: WrittenAction) -> str | None:
    too_long = wait_steps(call) > world.layout.wait_limit
    return f"Too long wait time. It should be at most {world.layout.wait_limit}." if too_long else None


def _deliver(world: World, agent: int) -> str | None:
    held = world.bodies[agent].held
    if held is None:
        return "Your hand is empty. Take the finished food first, with a dish if the order needs one."
    if not any(name in held for name in world.layout.needs_dish):
        return "Item in your hand is not finished food."
    return None


def _operate(world: World, agent: int, call: WrittenAction) -> str | None:
    role, utensil = AGENTS[agent].lower(), call.arguments[0]
    known = world.layout.utensils.get(utensil)
    if known is None or known.operation != call.name:
        return f"Wrong {call.name}() parmas: {utensil}"
    if utensil not in world.layout.reach(agent):
        return f"{role} can not reach the {utensil}. Please check if the utensil is in your space."
    if utensil not in world.utensils:
        return f"Ingredients in {utensil} are not enough to begin the operation."
    if world.running(utensil) or world.ready(utensil):
        return f"{utensil} is busy. You can not operate it."
    if world.bodies[agent].held is not None:
        return f"There is something in {AGENTS[agent].lower()}'s hand, so can not interact with utensil."
    return None


_CHECKS: Final[Mapping[str, Callable[[World, int, WrittenAction], str | None]]] = {
    "pickup": _pickup,
    "put_obj_in_utensil": _put,
    "fill_dish_with_food": _fill,
    "wait": _wait,
}


VALIDATOR_CODES: Final[tuple[tuple[str, str], ...]] = (
    ("P_FORMAT", "please check your plan"),
    ("P_PICKUP_ARITY", "Wrong pickup() params. It should have 2"),
    ("P_PICKUP_OBJ", "does not belong to any recipe ingredients or dish"),
    ("P_PICKUP_PLACE", "does not belong to any utensils, dispenser or counter"),
    ("P_DISP_COOKED", "only get raw ingredients and dish from dispenser"),
    ("P_DISH_SRC", "only get dish from dish_dispenser"),
    ("P_INGR_SRC", "only get ingredient from ingredient_dispenser"),
    ("P_PUT", "Wrong put_obj_in_utensil() par"),
    ("P_FILL", "Wrong fill_dish_with_food() par"),
    ("P_OP_UTENSIL", "Wrong cook() parmas:"),
    ("P_OP_UTENSIL", "Wrong cut() parmas:"),
    ("P_OP_UTENSIL", "Wrong bake() parmas:"),
    ("P_OP_UTENSIL", "Wrong stir() parmas:"),
    ("P_WAIT", "Too long wait time"),
    ("V_COOKING", "is cooking, and you should wait"),
    ("V_READY_PUT", "is ready, and you should pick up"),
    ("V_NEED_DISH", " need a dish."),
    ("V_CHEF_DISP", "Chef can not directly access dispenser"),
    ("V_NO_COUNTER_ITEM", "There is no {object} on counter"),
    ("V_REACH", "can not reach the"),
    ("V_HAND_FULL", "so can not pick other thing"),
    ("V_NOT_IN_UTENSIL", "please check the item your want to pickup"),
    ("V_PUT_EMPTY", "so can not put it on"),
    ("V_PUT_DISH", "can not put dish into any utensil"),
    ("V_PLACE_EMPTY", "so can not place object on counter"),
    ("V_COUNTER_FULL", "There is no empty counter"),
    ("V_FILL_NO_DISH", "There is no dish in hand"),
    ("V_FILL_NOT_NEEDED", "does not need dish"),
    ("V_FILL_NOT_READY", "is not ready or cooking for filled"),
    ("V_DELIVER_ITEM", "Item in your hand is not finished food"),
    ("V_DELIVER_EMPTY", "Your hand is empty"),
    ("V_OP_EMPTY", "are not enough to begin the operation"),
    ("V_OP_BUSY", "is busy. You can not operate it"),
    ("V_OP_HAND", "so can not interact with utensil"),
)
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
