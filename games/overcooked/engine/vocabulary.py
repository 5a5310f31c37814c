"""The closed sets of actions that the published evaluation knows (formats/overcooked.md, section 7.2)."""

from functools import cache
from typing import Final

from games.overcooked.engine.layout import DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, Layout, kitchen

PLACE: Final = "place_obj_on_counter()"
DELIVER: Final = "deliver_soup()"
NONE: Final = "[NONE]"
"""The single action of an agent that has recorded none."""


@cache
def known_actions(agent: int, layout: Layout | None = None) -> frozenset[str]:
    """Give the actions of an agent (0 Chef, 1 Assistant) that count in trajectories, without blanks; all others are dropped."""
    layout = layout or kitchen()
    own = sorted(name for name in layout.reach(agent) if name in layout.utensils)
    works = {f"{layout.utensils[name].operation}({name})" for name in own} | {f"put_obj_in_utensil({name})" for name in own}
    return frozenset(_CHEF_ONLY if agent == 0 else _ASSISTANT_ONLY) | works | _pickups(layout, agent, own) | _fillings(layout, agent)


@cache
def known_to_anyone(layout: Layout | None = None) -> frozenset[str]:
    """Give the actions that count in logged histories: those of both agents."""
    return known_actions(0, layout) | known_actions(1, layout)


_COMMON: Final = (PLACE, f"pickup({DISH},counter)", NONE)
_CHEF_ONLY: Final = (*_COMMON, "check_recipe()", "fill_dish_with_food()", DELIVER)
_ASSISTANT_ONLY: Final = (*_COMMON, f"pickup({DISH},{DISH_DISPENSER})")


def _pickups(layout: Layout, agent: int, own: list[str]) -> set[str]:
    dispensers = [] if agent == 0 else [INGREDIENT_DISPENSER, DISH_DISPENSER]
    return {f"pickup({item},{place})" for item in layout.items for place in ("counter", *own, *dispensers)}


def _fillings(layout: Layout, agent: int) -> set[str]:
    return {f"fill_dish_with_food({name})" for name in layout.utensils} if agent == 0 else set()
