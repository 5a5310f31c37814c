"""Overcooked-AI: the five kitchens, one tick, macro actions and how useful they were, and what a cook is shown.

Source: formats description of LLM-Coordination, sections 4.1 to 4.3, without its wrong distances. asymmetric_advantages
is 11 wide, as in the published code.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

from games.coordination.players import PLAYERS
from games.reach import distances as reach_of
from schemas.common.errors import UsageError

_GRIDS: Final[Mapping[str, tuple[str, ...]]] = {
    "cramped_room": ("XXPXX", "O  2O", "X1  X", "XDXSX"),
    "asymmetric_advantages": ("XXXXXXXXXXX", "O XXSXOXX S", "X    P  1 X", "X2   P    X", "XXXXDXDXXXX"),
    "coordination_ring": ("XXXPX", "X 1 P", "D2X X", "O   X", "XOSXX"),
    "forced_coordination": ("XXXPX", "O X1P", "O2X X", "D X X", "XXXSX"),
    "counter_circuit_o_1order": ("XXXPPXXX", "X  2   X", "D XXXX S", "X  1   X", "XXXOOXXX"),
}
_SHARED: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "forced_coordination": ((2, 1), (2, 2), (2, 3)),
    "counter_circuit_o_1order": ((2, 2), (3, 2), (4, 2), (5, 2)),
}
_LETTERS: Final[Mapping[str, str]] = {"O": "o", "D": "p", "P": "c", "S": "d"}


class Spot(NamedTuple):
    """A tile."""

    x: int
    y: int
    """From the top."""


@dataclass(frozen=True)
class Layout:
    """A kitchen: `X` counter, `O` onions, `D` dishes, `P` pot, `S` delivery, blank floor."""

    name: str
    grid: tuple[str, ...]
    starts: tuple[Spot, Spot]
    """Of Alice and Bob."""
    shared: tuple[Spot, ...]
    """Counters that both sides reach, as listed in the game."""

    def tile(self, spot: tuple[int, int]) -> str:
        """Terrain letter."""
        return self.grid[spot[1]][spot[0]]

    @cached_property
    def names(self) -> Mapping[str, Spot]:
        """Place -> spot, numbered row by row: o onions, p plates, c cookers, d delivery, s shared counters, k other counters."""
        found: dict[str, list[Spot]] = {}
        for spot in self.spots:
            letter = _LETTERS.get(self.tile(spot)) or ("k" if self.tile(spot) == "X" and spot not in self.shared else None)
            if letter is not None:
                found.setdefault(letter, []).append(spot)
        found["s"] = list(self.shared)
        return {f"{letter}{number}": spot for letter, spots in found.items() for number, spot in enumerate(spots)}

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        """All tiles, row by row."""
        return tuple(Spot(x, y) for y, row in enumerate(self.grid) for x in range(len(row)))

    @cached_property
    def tiles(self) -> frozenset[Spot]:
        """All tiles, to look whether one is among them."""
        return frozenset(self.spots)

    @cached_property
    def floor(self) -> frozenset[Spot]:
        """Tiles on which a cook can stand."""
        return frozenset(spot for spot in self.spots if self.tile(spot) == " ")

    @cached_property
    def cookers(self) -> Mapping[str, Spot]:
        """The pots among the names, such as `c0`."""
        return {name: spot for name, spot in self.names.items() if name.startswith("c")}

    @cached_property
    def pots(self) -> int:
        """How many pots there are."""
        return sum(row.count("P") for row in self.grid)


def _layout(name: str, drawn: tuple[str, ...]) -> Layout:
    places = {tile: Spot(x, y) for y, row in enumerate(drawn) for x, tile in enumerate(row) if tile in "12"}
    grid = tuple(row.replace("1", " ").replace("2", " ") for row in drawn)
    return Layout(name, grid, (places["1"], places["2"]), tuple(Spot(*spot) for spot in _SHARED.get(name, ())))


LAYOUTS: Final[Mapping[str, Layout]] = {name: _layout(name, drawn) for name, drawn in _GRIDS.items()}


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

    Raises:
        UsageError: an action is not north, south, east, west, stay or interact.
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
            soup = objects[pot]
            cooking = soup.onions == ONIONS and soup.ticks < COOKING_TICKS
            objects[pot] = Item(soup.name, soup.onions, soup.ticks + 1) if cooking else soup
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


WAIT: Final = "wait."
MOVE_AWAY: Final = "move away."


_PLACE: Final = re.compile(r"\b([opcdsk]\d+)\b")
_USES: Final = {
    "onion": ("c", "place onion in {}."),
    "dish": ("c", "load soup on plate from {}."),
    "soup": ("d", "place soup for delivery in {}."),
}
"""Held object -> kind of place where it goes, and how that is worded."""

ITEM_NAMES: Final = {"onion": "onion", "dish": "plate", "soup": "cooked soup"}
"""Item -> as the texts call it; what a cook holds, `games.coordination.kitchen` calls otherwise."""


def place_of(macro: str) -> str | None:
    """The named place of a macro action, such as `c0`; None for waiting and stepping aside."""
    found = _PLACE.search(macro)
    return found[1] if found else None


def distances(layout: Layout, state: KitchenState, player: int, *, around_partner: bool) -> dict[Spot, int]:
    """Steps from a cook to each floor tile that it can reach."""
    free = layout.floor - {state.cooks[1 - player].spot} if around_partner else layout.floor
    return reach_of(state.cooks[player].spot, lambda spot: _adjacent(spot, free))


def listed(layout: Layout, state: KitchenState, player: int) -> tuple[str, ...]:
    """The listed macro actions: what hands and reach allow, useful or not; waiting and stepping aside last."""
    reach = distances(layout, state, player, around_partner=False)
    places = [name for name, spot in layout.names.items() if _adjacent(spot, reach)]
    held = state.cooks[player].held
    found = [text for name in places if (text := _text(layout, state, held, name))]
    counters = [text for text in found if place_of(text) in {name for name in places if name.startswith("k")} and text.startswith("place")]
    nearest = min(counters, key=lambda text: _nearest(layout.names[place_of(text) or ""], reach) or 0, default=None)
    return (*(text for text in found if text not in counters or text == nearest), WAIT, MOVE_AWAY)


def _adjacent(spot: Spot, reach: Container[Spot]) -> list[Spot]:
    return [other for direction in DIRECTIONS if (other := _ahead(spot, direction)) in reach]


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
    facing = next((direction for direction in DIRECTIONS if _ahead(cook.spot, direction) == target), None)
    if facing is not None:
        ready = not macro.startswith("load") or is_cooked(state.objects.get(target))
        if cook.facing != facing:
            return facing, False
        return ("interact" if ready else "stay"), True
    way = _first_step(layout, state, player, target)
    return (way, False) if way else ("stay", True)


def _first_step(layout: Layout, state: KitchenState, player: int, target: Spot) -> str | None:
    """Direction of a shortest way around the partner to a tile next to the target."""
    reach = distances(layout, state, player, around_partner=True)
    ends = _adjacent(target, reach)
    if not ends:
        return None
    spot = min(ends, key=lambda end: reach[end])
    while reach[spot] > 1:
        spot = next(other for other in _adjacent(spot, reach) if reach[other] == reach[spot] - 1)
    here = state.cooks[player].spot
    return next((direction for direction in DIRECTIONS if _ahead(here, direction) == spot), None)


def _aside(layout: Layout, state: KitchenState, player: int) -> str:
    """The step that leads farthest from the partner, not the one that was tried last."""
    here, other = state.cooks[player].spot, state.cooks[1 - player].spot

    def gap(direction: str) -> int:
        there = _ahead(here, direction)
        return abs(there.x - other.x) + abs(there.y - other.y)

    reach = distances(layout, state, player, around_partner=True)
    free = [direction for direction in DIRECTIONS if _ahead(here, direction) in reach]
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
    partner_line = f" {PLAYERS[1 - cook]} is holding {_held(other)}." if partner else ""
    return f"<Inventory>: I am holding {_held(own)}.{partner_line}"


def _held(item: Item | None) -> str:
    return HELD_NAMES[item.name] if item else "nothing"


def _distances(layout: Layout, state: KitchenState, cook: int) -> Iterator[str]:
    """How far each fixture is, in steps to a tile next to it."""
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
    return min((reach[other] for other in _adjacent(spot, reach)), default=None)


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
    # with something in the cook's hand the nearest empty counter is listed
    cooks = tuple(one._replace(held=Item("onion")) if number == cook else one for number, one in enumerate(state.cooks))
    options = listed(layout, KitchenState(cooks, state.objects), cook)
    empty = next((text for text in options if text.startswith("place onion on k")), None)
    if empty is not None:
        name = empty.removeprefix("place onion on ").rstrip(".")
        away = _nearest(layout.names[name], distances(layout, state, cook, around_partner=False))
        yield f"Closest empty kitchen counter {name} is {away} units away."
