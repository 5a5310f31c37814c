"""What a cook is told. Source: formats description of LLM-Coordination, section 4.3, without its wrong distances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from games.coordination.kitchen.layouts import Layout, Spot
from games.coordination.kitchen.macros import ITEM_NAMES, cookers, distances, listed
from games.coordination.kitchen.rules import DIRECTIONS, Item, KitchenState, is_cooked
from games.coordination.players import PLAYERS

HELD_NAMES: Final = {"onion": "onion", "dish": "plate", "soup": "soup in plate"}
"""Item -> as the texts call it in a cook's hands."""


def state_text(layout: Layout, state: KitchenState, cook: int, *, partner: bool) -> str:
    """The kitchen as a cook sees it; ``partner``: with what the other holds and how far it has to go."""
    other = PLAYERS[1 - cook]
    lines = [inventory(state, cook, partner=partner), "<My location information:>", *_distances(layout, state, cook)]
    if partner:
        lines += [f"<{other}'s location information>:", *_distances(layout, state, 1 - cook)]
    return "\n".join([*lines, "<Environment Details>:", *_environment(layout, state, cook)])


def inventory(state: KitchenState, cook: int, *, partner: bool = True) -> str:
    """What is held."""
    own, other = (state.cooks[number].held for number in (cook, 1 - cook))
    told = f" {PLAYERS[1 - cook]} is holding {_held(other)}." if partner else ""
    return f"<Inventory>: I am holding {_held(own)}.{told}"


def _held(item: Item | None) -> str:
    return HELD_NAMES[item.name] if item else "nothing"


def _distances(layout: Layout, state: KitchenState, cook: int) -> Iterator[str]:
    """How far each fixture is, in steps to a tile beside it."""
    anyway = distances(layout, state, cook, around_partner=False)
    free = distances(layout, state, cook, around_partner=True)
    for name, spot in layout.names.items():
        if name.startswith("k"):
            continue
        reach, now = _nearest(spot, anyway), _nearest(spot, free)
        if reach is None:
            yield f"{name} is inaccessible."
        elif now is None:
            yield f"{name} is {reach} units away, but blocked by {PLAYERS[1 - cook]}."
        else:
            yield f"{name} is {now} units away."


def _nearest(spot: Spot, reach: dict[Spot, int]) -> int | None:
    beside = [Spot(spot.x + dx, spot.y + dy) for dx, dy in DIRECTIONS.values()]
    return min((reach[other] for other in beside if other in reach), default=None)


def _environment(layout: Layout, state: KitchenState, cook: int) -> Iterator[str]:
    for name, soup in cookers(layout, state).items():
        onions = soup.onions if soup else 0
        full = soup is not None and soup.ticks > 0
        cooking = "cooked" if is_cooked(soup) else "still cooking" if full else "not cooking"
        power = "on" if cooking == "still cooking" else "off"
        yield f"{name} contains {onions} out of 3 onions. {name} is {power}. soup in {name} is {cooking}."
    for name, spot in layout.names.items():
        item = state.objects.get(spot)
        if name.startswith("s"):
            yield f"{name} contains {ITEM_NAMES[item.name]}." if item else f"{name} is empty."
        elif name.startswith("k") and item:
            yield f"{name} contains {ITEM_NAMES[item.name]}."
    empty = next((text for text in listed(layout, _with_onion(state, cook), cook) if text.startswith("place onion on k")), None)
    if empty is not None:
        name = empty.removeprefix("place onion on ").rstrip(".")
        away = _nearest(layout.names[name], distances(layout, state, cook, around_partner=False))
        yield f"Closest empty kitchen counter {name} is {away} units away."


def _with_onion(state: KitchenState, cook: int) -> KitchenState:
    """The same kitchen with something in the cook's hand, so that the nearest empty counter is listed."""
    cooks = tuple(one._replace(held=Item("onion")) if number == cook else one for number, one in enumerate(state.cooks))
    return KitchenState(cooks, state.objects)
