"""One tick of the kitchen. Source: formats description of LLM-Coordination, section 4.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from games.coordination.kitchen.layouts import Layout, Spot
from schemas.errors import UsageError

TICKS: Final = 400
ONIONS: Final = 3
"""In a soup."""

COOKING_TICKS: Final = 20
DELIVERY: Final = 20
"""Points for a soup."""

DIRECTIONS: Final[Mapping[str, tuple[int, int]]] = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
_MOTIONS: Final = (*DIRECTIONS, "stay", "interact")


class Item(NamedTuple):
    """An object: onion, dish or soup."""

    name: str
    onions: int = 0
    """In a soup, 0 to 3."""

    ticks: int = 0
    """A soup has cooked, 0 to 20."""


class Cook(NamedTuple):
    """A player in the kitchen."""

    spot: Spot
    facing: str
    held: Item | None

    @property
    def front(self) -> Spot:
        """The tile faced."""
        return _ahead(self.spot, self.facing)


@lru_cache(maxsize=1024)
def _ahead(spot: Spot, facing: str) -> Spot:
    dx, dy = DIRECTIONS[facing]
    return Spot(spot.x + dx, spot.y + dy)


@dataclass(frozen=True, slots=True)
class KitchenState:
    """Both cooks and everything that lies somewhere."""

    cooks: tuple[Cook, ...]
    objects: Mapping[Spot, Item]


class Ticked(NamedTuple):
    """What a tick did."""

    state: KitchenState
    reward: int
    """Points of the tick."""


def is_cooked(item: Item | None) -> bool:
    """A soup that can be taken."""
    return item is not None and item.name == "soup" and item.ticks >= COOKING_TICKS


def start(layout: Layout) -> KitchenState:
    """Both cooks at their places, facing north, and nothing lying about."""
    return KitchenState(tuple(Cook(spot, "north", None) for spot in layout.starts), {})


def step(layout: Layout, state: KitchenState, actions: Sequence[str]) -> Ticked:
    """Carry out a tick: interactions in the order of the players, then movement, then cooking.

    Args:
        layout: the kitchen.
        state: before the tick.
        actions: of each cook, one of north, south, east, west, stay, interact.

    Raises:
        UsageError: an action is none of them.
    """
    unknown = [action for action in actions if action not in _MOTIONS]
    if unknown:
        raise UsageError(f"overcooked: no cook can {unknown[0]!r}; there are {', '.join(_MOTIONS)}")
    cooks, objects, reward = list(state.cooks), dict(state.objects), 0
    for number, action in enumerate(actions):
        if action == "interact":
            cooks[number], points = _interact(layout, cooks[number], objects)
            reward += points
    cooks = _moved(layout, cooks, actions)
    for pot in layout.cookers.values():
        if pot in objects:
            objects[pot] = _one_tick_more(objects[pot])
    return Ticked(KitchenState(tuple(cooks), objects), reward)


def _interact(layout: Layout, cook: Cook, objects: dict[Spot, Item]) -> tuple[Cook, int]:
    """The cook after it, and points; changes the objects."""
    front, held = cook.front, cook.held
    tile, there = layout.tile(front), objects.get(front)
    if tile == "X" and held is not None and there is None:
        objects[front] = held
        return cook._replace(held=None), 0
    if tile == "X" and held is None and there is not None:
        return cook._replace(held=objects.pop(front)), 0
    if tile in "OD" and held is None:
        return cook._replace(held=Item("onion" if tile == "O" else "dish")), 0
    if tile == "P":
        return _at_pot(cook, front, objects), 0
    if tile == "S" and held is not None and held.name == "soup":
        return cook._replace(held=None), DELIVERY
    return cook, 0


def _at_pot(cook: Cook, pot: Spot, objects: dict[Spot, Item]) -> Cook:
    soup = objects.get(pot)
    held = cook.held.name if cook.held else None
    if held == "onion" and (soup is None or soup.onions < ONIONS):
        objects[pot] = Item("soup", 1 if soup is None else soup.onions + 1)
        return cook._replace(held=None)
    if held == "dish" and is_cooked(soup):
        return cook._replace(held=objects.pop(pot))
    return cook


def _moved(layout: Layout, cooks: Sequence[Cook], actions: Sequence[str]) -> list[Cook]:
    """Everybody turns; who would meet or pass through the other stays."""
    turned = [Cook(cook.spot, action, cook.held) if action in DIRECTIONS else cook for cook, action in zip(cooks, actions, strict=True)]
    first, second = (_wanted(layout, cook, action) for cook, action in zip(turned, actions, strict=True))
    swapped = first == turned[1].spot and second == turned[0].spot
    if first == second or swapped:
        return turned
    return [cook if cook.spot is spot else Cook(spot, cook.facing, cook.held) for cook, spot in zip(turned, (first, second), strict=True)]


def _wanted(layout: Layout, cook: Cook, action: str) -> Spot:
    """Where a cook that has turned would be."""
    return front if action in DIRECTIONS and (front := cook.front) in layout.floor else cook.spot


def _one_tick_more(soup: Item) -> Item:
    cooking = soup.onions == ONIONS and soup.ticks < COOKING_TICKS
    return Item(soup.name, soup.onions, soup.ticks + 1) if cooking else soup
