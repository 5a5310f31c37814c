"""Macro actions: which are listed, where they lead, one tick of carrying them out, and whether they were of use.

Source: formats description of LLM-Coordination, section 4.3.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from games.coordination.kitchen.layouts import Layout, Spot
from games.coordination.kitchen.rules import DIRECTIONS, ONIONS, Item, KitchenState, is_cooked

WAIT: Final = "wait."
MOVE_AWAY: Final = "move away."
MACRO_CATEGORIES: Final = {
    "useful": "nothing speaks against it",
    "idle": "waits although a soup could be moved on",
    "wait": "waits, and nothing could be done at once",
    "aside": "moves away from the partner",
    "full_cooker": "carries an onion to a cooker that has three",
    "too_early": "wants soup from a cooker that is not ready",
    "surplus_onion": "takes an onion although every cooker has three",
}
"""Category -> meaning."""

_PLACE: Final = re.compile(r"\b([opcdsk]\d+)\b")
_USES: Final = {
    "onion": ("c", "place onion in {}."),
    "dish": ("c", "load soup on plate from {}."),
    "soup": ("d", "place soup for delivery in {}."),
}
"""Held object -> kind of place where it goes, and how that is worded."""

ITEM_NAMES: Final = {"onion": "onion", "dish": "plate", "soup": "cooked soup"}
"""Item -> as the texts call it; what a cook holds, `games.coordination.kitchen.wording` calls otherwise."""


def place_of(macro: str) -> str | None:
    """The named place of a macro action, such as `c0`; None for waiting and stepping aside."""
    found = _PLACE.search(macro)
    return found[1] if found else None


def distances(layout: Layout, state: KitchenState, player: int, *, around_partner: bool) -> dict[Spot, int]:
    """Steps from a cook to each floor tile that it can reach."""
    blocked = state.cooks[1 - player].spot if around_partner else None
    here = state.cooks[player].spot
    found = {here: 0}
    waiting = deque([here])
    while waiting:
        spot = waiting.popleft()
        for dx, dy in DIRECTIONS.values():
            other = Spot(spot.x + dx, spot.y + dy)
            if other not in found and layout.tile(other) == " " and other != blocked:
                found[other] = found[spot] + 1
                waiting.append(other)
    return found


def listed(layout: Layout, state: KitchenState, player: int) -> tuple[str, ...]:
    """The listed macro actions: what hands and reach allow, useful or not; waiting and stepping aside last."""
    reach = distances(layout, state, player, around_partner=False)
    places = [name for name, spot in layout.names.items() if _beside(spot, reach)]
    held = state.cooks[player].held
    found = [text for name in places if (text := _text(layout, state, held, name))]
    counters = [text for text in found if place_of(text) in {name for name in places if name.startswith("k")} and text.startswith("place")]
    nearest = min(counters, key=lambda text: _steps(layout, reach, text), default=None)
    return (*(text for text in found if text not in counters or text == nearest), WAIT, MOVE_AWAY)


def _beside(spot: Spot, reach: dict[Spot, int]) -> list[Spot]:
    return [Spot(spot.x + dx, spot.y + dy) for dx, dy in DIRECTIONS.values() if Spot(spot.x + dx, spot.y + dy) in reach]


def _steps(layout: Layout, reach: dict[Spot, int], text: str) -> int:
    name = place_of(text)
    return min(reach[spot] for spot in _beside(layout.names[name or ""], reach))


def _text(layout: Layout, state: KitchenState, held: Item | None, name: str) -> str | None:
    kind = name[0]
    there = state.objects.get(layout.names[name])
    if held is None:
        if kind in "op":
            return f"pick up {'onion' if kind == 'o' else 'plate'} from {name}."
        if kind not in "sk" or there is None:
            return None
        return f"pick up {'a ' if kind == 's' and there.name == 'dish' else ''}{ITEM_NAMES[there.name]} from {name}."
    if kind in "sk":
        return f"place {ITEM_NAMES[held.name]} {'in' if kind == 's' else 'on'} {name}." if there is None else None
    fitting, text = _USES[held.name]
    return text.format(name) if kind == fitting else None


def low_level(layout: Layout, state: KitchenState, player: int, macro: str) -> tuple[str, bool]:
    """What a cook does this tick to carry out a macro action, and whether that ends it.

    A way that the partner blocks, and waiting, end it after one tick, so that the player is asked again.
    """
    cook = state.cooks[player]
    name = place_of(macro)
    if name is None:
        return (_aside(layout, state, player) if macro == MOVE_AWAY else "stay"), True
    target = layout.names[name]
    facing = next((d for d, (dx, dy) in DIRECTIONS.items() if Spot(cook.spot.x + dx, cook.spot.y + dy) == target), None)
    if facing is not None:
        ready = not macro.startswith("load") or is_cooked(state.objects.get(target))
        if cook.facing != facing:
            return facing, False
        return ("interact" if ready else "stay"), True
    way = _first_step(layout, state, player, target)
    return (way, False) if way else ("stay", True)


def _first_step(layout: Layout, state: KitchenState, player: int, target: Spot) -> str | None:
    """Direction of a shortest way around the partner to a tile beside the target."""
    reach = distances(layout, state, player, around_partner=True)
    ends = _beside(target, reach)
    if not ends:
        return None
    spot = min(ends, key=lambda end: reach[end])
    while reach[spot] > 1:
        spot = next(other for other in _beside(spot, reach) if reach[other] == reach[spot] - 1)
    here = state.cooks[player].spot
    return next((d for d, (dx, dy) in DIRECTIONS.items() if Spot(here.x + dx, here.y + dy) == spot), None)


def _aside(layout: Layout, state: KitchenState, player: int) -> str:
    """The step that leads farthest from the partner, not the one that was tried last."""
    here, other = state.cooks[player].spot, state.cooks[1 - player].spot

    def gap(direction: str) -> int:
        dx, dy = DIRECTIONS[direction]
        return abs(here.x + dx - other.x) + abs(here.y + dy - other.y)

    reach = distances(layout, state, player, around_partner=True)
    free = [d for d, (dx, dy) in DIRECTIONS.items() if Spot(here.x + dx, here.y + dy) in reach]
    facing = state.cooks[player].facing
    return max(free, key=lambda direction: (direction != facing, gap(direction)), default="stay")


def cookers(layout: Layout, state: KitchenState) -> dict[str, Item | None]:
    """What is in each cooker, such as `c0`; None if nothing."""
    return {pot: state.objects.get(spot) for pot, spot in layout.cookers.items()}


def macro_category(pots: Mapping[str, Item | None], macro: str) -> tuple[str, str | None]:
    """Whether a chosen macro action was of use with such contents of the cookers, and what the rule saw."""
    return _macro_category(tuple(pots.items()), macro)


@lru_cache(maxsize=65536)  # cookers fill alike in every game
def _macro_category(cooking: tuple[tuple[str, Item | None], ...], macro: str) -> tuple[str, str | None]:
    pots = dict(cooking)
    name = place_of(macro)
    full = [pot for pot, soup in pots.items() if soup is not None and soup.onions == ONIONS]
    cooked = [pot for pot, soup in pots.items() if is_cooked(soup)]
    if macro.startswith("move away"):
        return "aside", None
    if name is None:
        seen = f"cooked: {', '.join(cooked) or 'none'}; not full: {', '.join(pot for pot in pots if pot not in full) or 'none'}"
        return ("idle" if cooked or len(full) < len(pots) else "wait"), seen
    if macro.startswith("place onion in c") and name in full:
        return "full_cooker", f"{name} has three onions"
    if macro.startswith("load") and name in pots and name not in cooked:
        return "too_early", f"the soup in {name} is not cooked"
    if macro.startswith("pick up onion") and len(full) == len(pots):
        return "surplus_onion", "every cooker has three onions"
    return "useful", None
