"""The kitchen as data: grid, reach, utensils with their tables, and the actions that it allows (formats/overcooked.md, 1 and 7.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final

from games.reach import distances
from schemas.common.packages import packaged_yaml

Cell = tuple[int, int]
"""(x, y) from the north-west corner, x to the east, y to the south."""

AGENTS: Final = ("Chef", "Assistant")
"""Index in logs -> role. The paper calls them Bob and Alice."""

DISH: Final = "dish"
INGREDIENT_DISPENSER: Final = "ingredient_dispenser"
DISH_DISPENSER: Final = "dish_dispenser"
DELIVERY: Final = "delivery"

STEPS: Final[Mapping[str, Cell]] = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}

FIXTURES: Final[dict[str, str]] = {"I": INGREDIENT_DISPENSER, "D": DISH_DISPENSER, "S": DELIVERY}
"""Symbol in the grid -> what is there, besides utensils."""

_WALKABLE: Final = ".01"


@dataclass(frozen=True, slots=True)
class Utensil:
    """A place that makes products out of items."""

    name: str
    operation: str
    """The verb that starts it."""
    makes: Mapping[str, tuple[str, ...]]
    """Product -> the items it is made of."""
    symbol: str
    """Its letter in the grid."""

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
    name: str | None = None
    """Of a kitchen of one's own; None: the published one."""
    source: Mapping[str, Any] | None = None
    """What a kitchen of one's own is made of, as logs hold it (`games.overcooked.engine.own_kitchen`); None: the published one."""
    time_limits: Mapping[str, int] = field(default_factory=dict)
    """Order -> steps in which it must be delivered, where that is not 1.5 times the time of a reference."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """Order -> level, of orders of one's own that have one."""

    @cached_property
    def shared_counters(self) -> frozenset[Cell]:
        """Counters that both can use: the only way from one half to the other."""
        return self.counters_of[0] & self.counters_of[1]

    @cached_property
    def regions(self) -> tuple[frozenset[Cell], ...]:
        """Per agent the floor cells that it can walk to."""
        return tuple(frozenset(self.distances(start)) for start in self.starts)

    def distances(self, start: Cell) -> dict[Cell, int]:
        """Steps from a cell to each that can be walked to, the nearest first."""
        return distances(start, lambda at: [other for other in neighbours(at) if other in self.floor])

    @cached_property
    def reaches(self) -> tuple[frozenset[str], ...]:
        """Per agent the fixtures that it can use."""
        return tuple(
            frozenset(name for at, name in self.fixtures.items() if not cells.isdisjoint(neighbours(at))) for cells in self.regions
        )

    @cached_property
    def counters_of(self) -> tuple[frozenset[Cell], ...]:
        """Per agent the counters that it can use."""
        return tuple(frozenset(at for at in self.counters if not cells.isdisjoint(neighbours(at))) for cells in self.regions)

    def place_of(self, fixture: str) -> Cell:
        """Give where a fixture is.

        Raises:
            KeyError: there is none of that name.
        """
        return {name: at for at, name in self.fixtures.items()}[fixture]

    @cached_property
    def operations(self) -> frozenset[str]:
        """The verbs that start utensils."""
        return frozenset(utensil.operation for utensil in self.utensils.values())

    def utensils_of(self, agent: int) -> tuple[Utensil, ...]:
        """Give the utensils that an agent can use, in reading order of the grid."""
        standing = sorted(self.fixtures, key=lambda at: (at[1], at[0]))
        reach = self.reaches[agent]
        return tuple(self.utensils[name] for at in standing if (name := self.fixtures[at]) in self.utensils and name in reach)

    def is_operation(self, action: str) -> bool:
        """Tell whether an action, without blanks, starts a utensil."""
        return action.partition("(")[0] in self.operations

    def maker(self, item: str) -> Utensil | None:
        """The utensil that makes an item; None for raw ingredients and dishes."""
        return next((utensil for utensil in self.utensils.values() if item in utensil.makes), None)

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
    return layout_of(published())


@cache
def published() -> Mapping[str, Any]:
    """Give the benchmark's kitchen as data: the keys of ``kitchen.yaml``."""
    found: dict[str, Any] = packaged_yaml(__package__, "kitchen.yaml")
    return found


def layout_of(data: Mapping[str, Any], **own: Any) -> Layout:
    """Make a kitchen of data with the keys of ``kitchen.yaml``, which must be sound; ``own``: what else a kitchen of one's own has."""
    rows = data["grid"]
    cells = {(x, y): symbol for y, row in enumerate(rows) for x, symbol in enumerate(row)}
    names = {entry["symbol"]: name for name, entry in data["utensils"].items()} | FIXTURES
    start = {symbol: at for at, symbol in cells.items() if symbol in "01"}
    return Layout(
        width=len(rows[0]),
        height=len(rows),
        floor=frozenset(at for at, symbol in cells.items() if symbol in _WALKABLE),
        starts=(start["0"], start["1"]),
        fixtures={at: names[symbol] for at, symbol in cells.items() if symbol in names},
        counters=frozenset(at for at, symbol in cells.items() if symbol == "X"),
        utensils={
            name: Utensil(name, entry["operation"], {made: tuple(items) for made, items in entry["makes"].items()}, entry["symbol"])
            for name, entry in data["utensils"].items()
        },
        ingredients=tuple(data["ingredients"]),
        needs_dish=dict(data["needs_dish"]),
        utensil_capacity=data["utensil_capacity"],
        cook_time=data["cook_time"],
        reward=data["reward"],
        wait_limit=data["wait_limit"],
        **own,
    )


PLACE: Final = "place_obj_on_counter()"
DELIVER: Final = "deliver_soup()"
NONE: Final = "[NONE]"
"""The single action of an agent that has recorded none."""


@cache
def known_actions(agent: int, layout: Layout | None = None) -> frozenset[str]:
    """Give the actions of an agent (0 Chef, 1 Assistant) that count in trajectories, without blanks; all others are dropped."""
    layout = layout or kitchen()
    own = sorted(name for name in layout.reaches[agent] if name in layout.utensils)
    works = {f"{layout.utensils[name].operation}({name})" for name in own} | {f"put_obj_in_utensil({name})" for name in own}
    places = ("counter", *own) if agent == 0 else ("counter", *own, INGREDIENT_DISPENSER, DISH_DISPENSER)
    pickups = {f"pickup({item},{place})" for item in layout.items for place in places}
    fillings = {f"fill_dish_with_food({name})" for name in layout.utensils} if agent == 0 else set()
    return frozenset(_CHEF_ONLY if agent == 0 else _ASSISTANT_ONLY) | works | pickups | fillings


@cache
def known_to_anyone(layout: Layout | None = None) -> frozenset[str]:
    """Give the actions that count in logged histories: those of both agents."""
    return known_actions(0, layout) | known_actions(1, layout)


_COMMON: Final = (PLACE, f"pickup({DISH},counter)", NONE)
_CHEF_ONLY: Final = (*_COMMON, "check_recipe()", "fill_dish_with_food()", DELIVER)
_ASSISTANT_ONLY: Final = (*_COMMON, f"pickup({DISH},{DISH_DISPENSER})")
