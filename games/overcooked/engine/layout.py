"""The kitchen as data: grid, reach, utensils with their tables (formats/overcooked.md, section 1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import yaml

from schemas.errors import BadInputError

__all__ = [
    "AGENTS",
    "DELIVERY",
    "DISH",
    "DISH_DISPENSER",
    "INGREDIENT_DISPENSER",
    "STEPS",
    "Cell",
    "Layout",
    "Utensil",
    "kitchen",
    "load_layout",
    "neighbour",
    "neighbours",
]

Cell = tuple[int, int]
"""(x, y) from the north-west corner, x to the east, y to the south."""

AGENTS: Final = ("Chef", "Assistant")
"""Index in logs -> role. The paper calls them Bob and Alice."""

DISH: Final = "dish"
INGREDIENT_DISPENSER: Final = "ingredient_dispenser"
DISH_DISPENSER: Final = "dish_dispenser"
DELIVERY: Final = "delivery"

STEPS: Final[Mapping[str, Cell]] = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}

_FIXTURES: Final = {"I": INGREDIENT_DISPENSER, "D": DISH_DISPENSER, "S": DELIVERY}
_WALKABLE: Final = ".01"


@dataclass(frozen=True, slots=True)
class Utensil:
    """A place that makes products out of items."""

    name: str
    operation: str
    """The verb that starts it."""

    makes: Mapping[str, tuple[str, ...]]
    """Product -> the items it is made of."""

    def product(self, contents: tuple[str, ...]) -> str | None:
        """Give what the contents make, in whatever order they were put in; None if nothing."""
        return next((made for made, items in self.makes.items() if sorted(items) == sorted(contents)), None)


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout:
    """A kitchen for two."""

    width: int
    height: int
    floor: frozenset[Cell]
    starts: tuple[Cell, Cell]
    """Of Chef and Assistant."""

    fixtures: Mapping[Cell, str]
    """Where utensils, dispensers and the delivery place stand."""

    counters: frozenset[Cell]
    utensils: Mapping[str, Utensil]
    ingredients: tuple[str, ...]
    needs_dish: Mapping[str, bool]
    """Order -> it is delivered on a dish."""

    utensil_capacity: int
    cook_time: int
    """Steps from start to ready, the starting one included."""

    reward: int
    wait_limit: int

    def region(self, agent: int) -> frozenset[Cell]:
        """Give the floor cells that an agent can walk to."""
        return self._regions[agent]

    def reach(self, agent: int) -> frozenset[str]:
        """Give the fixtures that an agent can use."""
        return self._reaches[agent]

    def counters_of(self, agent: int) -> frozenset[Cell]:
        """Give the counters that an agent can use."""
        return self._counters[agent]

    @cached_property
    def shared_counters(self) -> frozenset[Cell]:
        """Counters that both can use: the only way from one half to the other."""
        return self.counters_of(0) & self.counters_of(1)

    @cached_property
    def _regions(self) -> tuple[frozenset[Cell], ...]:
        return tuple(_connected(start, self.floor) for start in self.starts)

    @cached_property
    def _reaches(self) -> tuple[frozenset[str], ...]:
        return tuple(
            frozenset(name for at, name in self.fixtures.items() if not cells.isdisjoint(neighbours(at))) for cells in self._regions
        )

    @cached_property
    def _counters(self) -> tuple[frozenset[Cell], ...]:
        return tuple(frozenset(at for at in self.counters if not cells.isdisjoint(neighbours(at))) for cells in self._regions)

    def place_of(self, fixture: str) -> Cell:
        """Give where a fixture stands.

        Raises:
            KeyError: there is none of that name.
        """
        return {name: at for at, name in self.fixtures.items()}[fixture]

    @cached_property
    def products(self) -> tuple[str, ...]:
        """Everything that any utensil makes, in the order of the tables."""
        return tuple(product for utensil in self.utensils.values() for product in utensil.makes)

    @cached_property
    def items(self) -> tuple[str, ...]:
        """Raw ingredients and products: all that can be held but a dish."""
        return (*self.ingredients, *self.products)


def neighbour(at: Cell, direction: str) -> Cell:
    """Give the cell next to another in a direction of ``STEPS``."""
    dx, dy = STEPS[direction]
    return at[0] + dx, at[1] + dy


def neighbours(at: Cell) -> tuple[Cell, ...]:
    """Give the four cells around one, those outside the grid included."""
    return tuple(neighbour(at, direction) for direction in STEPS)


@cache
def kitchen() -> Layout:
    """Give the benchmark's only kitchen."""
    return _layout(yaml.safe_load(files(__package__).joinpath("kitchen.yaml").read_text(encoding="utf-8")))


def load_layout(path: Path) -> Layout:
    """Read a kitchen of one's own; the file has the keys of ``kitchen.yaml``.

    Raises:
        OSError: the file cannot be read.
        BadInputError: it is no kitchen.
    """
    try:
        return _layout(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError, AttributeError, yaml.YAMLError) as error:
        raise BadInputError(
            f"{path.name} is no kitchen ({type(error).__name__}: {error}): see games/overcooked/engine/kitchen.yaml"
        ) from error


def _layout(data: Mapping[str, Any]) -> Layout:
    rows = data["grid"]
    cells = {(x, y): symbol for y, row in enumerate(rows) for x, symbol in enumerate(row)}
    names = {entry["symbol"]: name for name, entry in data["utensils"].items()} | _FIXTURES
    start = {symbol: at for at, symbol in cells.items() if symbol in "01"}
    return Layout(
        width=len(rows[0]),
        height=len(rows),
        floor=frozenset(at for at, symbol in cells.items() if symbol in _WALKABLE),
        starts=(start["0"], start["1"]),
        fixtures={at: names[symbol] for at, symbol in cells.items() if symbol in names},
        counters=frozenset(at for at, symbol in cells.items() if symbol == "X"),
        utensils={name: _utensil(name, entry) for name, entry in data["utensils"].items()},
        ingredients=tuple(data["ingredients"]),
        needs_dish=dict(data["needs_dish"]),
        utensil_capacity=data["utensil_capacity"],
        cook_time=data["cook_time"],
        reward=data["reward"],
        wait_limit=data["wait_limit"],
    )


def _utensil(name: str, entry: Mapping[str, Any]) -> Utensil:
    return Utensil(name, entry["operation"], {product: tuple(items) for product, items in entry["makes"].items()})


def _connected(start: Cell, floor: frozenset[Cell]) -> frozenset[Cell]:
    found = {start}
    unvisited = [start]
    while unvisited:
        for at in neighbours(unvisited.pop()):
            if at in floor and at not in found:
                found.add(at)
                unvisited.append(at)
    return frozenset(found)
