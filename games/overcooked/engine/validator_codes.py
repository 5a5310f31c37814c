"""Codes of the engine's refusals, told from their messages (formats/overcooked.md, section 6.2)."""

import re
from functools import lru_cache
from typing import Final

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
"""Code and the fragment that tells it, in the order in which they are tried; ``{object}`` stands for any name."""

OTHER: Final = "V_OTHER"
"""A refusal whose message is not known."""

_PATTERNS: Final = [
    (code, re.compile(re.escape(fragment).replace(re.escape("{object}"), r"\S+"), re.IGNORECASE)) for code, fragment in VALIDATOR_CODES
]


@lru_cache(maxsize=4096)
def code_of(message: str) -> str:
    """Give the code of a refusal; ``OTHER`` if no known fragment stands in its message."""
    return next((code for code, pattern in _PATTERNS if pattern.search(message)), OTHER)
