"""The kitchen as turns show it: cooks, objects and points as plain data, from logs and from games that are played."""

from __future__ import annotations

from typing import Any

from games.coordination.kitchen.layouts import Layout
from games.coordination.kitchen.rules import Item, KitchenState
from games.coordination.players import PLAYERS


def shown_state(state: KitchenState, score: int, layout: Layout) -> dict[str, Any]:
    """Layout, cooks (position, facing, what is held), objects in order of place, and the points so far."""
    cooks = {
        player: {"position": list(cook.spot), "facing": cook.facing, "held": _words(cook.held)}
        for player, cook in zip(PLAYERS, state.cooks, strict=True)
    }
    objects = [{"position": list(spot), "item": _words(item)} for spot, item in sorted(state.objects.items())]
    return {"layout": layout.name, "cooks": cooks, "objects": objects, "score": score}


def _words(item: Item | None) -> str | None:
    if item is None:
        return None
    return f"soup {item.onions}/{item.ticks}" if item.name == "soup" else item.name


def shown_kitchen(state: KitchenState) -> dict[str, Any]:
    """Cooks and objects as a line of the step log has them."""
    players = [
        {"name": player, "position": list(cook.spot), "orientation": cook.facing, "held": _item(cook.held)}
        for player, cook in zip(PLAYERS, state.cooks, strict=True)
    ]
    return {
        "players": players,
        "objects": [{"position": list(spot), **(_item(item) or {})} for spot, item in sorted(state.objects.items())],
    }


def _item(item: Item | None) -> dict[str, Any] | None:
    if item is None:
        return None
    return {"name": item.name} | ({"state": ["onion", item.onions, item.ticks]} if item.name == "soup" else {})
