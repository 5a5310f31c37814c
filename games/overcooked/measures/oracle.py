"""Which next actions are verified to bring an order on: those that a reference has next, and that the kitchen as it stands allows.

That a reference has them next makes progress rise (`games.overcooked.engine.references`). But the references know only what was
recorded, not what
went wrong meanwhile: so the validator must accept the action now, and what is put, placed, operated or filled must belong to the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from games.overcooked.engine.actions import WrittenAction, parse_call
from games.overcooked.engine.validator import refusal
from games.overcooked.engine.vocabulary import PLACE
from games.overcooked.engine.workflow import workflow
from games.overcooked.engine.world import World

_FILL: Final = "fill_dish_with_food"
_PUT: Final = "put_obj_in_utensil"


def verified_actions(world: World, agent: int, following: Sequence[str]) -> tuple[str, ...]:
    """Give those among the references' next actions of an agent that can be done now and serve the order."""
    return tuple(action for action in following if _serves(world, agent, action) and refusal(world, agent, action) is None)


def _serves(world: World, agent: int, action: str) -> bool:
    held = world.bodies[agent].held
    if action == PLACE:
        free = world.layout.shared_counters - set(world.counters)
        return bool(free) and f"pass {held}" in workflow(world.order, world.layout).units
    call = parse_call(action)
    if call is None or len(call.arguments) != 1 or call.arguments[0] not in world.layout.utensils:
        return True  # pickups and the delivery: what they need is all that the validator asks for
    return _serves_utensil(world, held, call)


def _serves_utensil(world: World, held: str | None, call: WrittenAction) -> bool:
    name = call.arguments[0]
    pot = world.utensils.get(name)
    if call.name == _FILL:
        return pot is not None and pot.product == world.order
    units = workflow(world.order, world.layout).units
    wanted = [Counter(items) for product, items in world.layout.utensils[name].makes.items() if f"start {product}" in units]
    contents = Counter(pot.contents if pot is not None else ())
    if call.name == _PUT:
        return held is not None and any(contents + Counter([held]) <= items for items in wanted)
    return contents in wanted
