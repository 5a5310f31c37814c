"""What an order takes: the units of work that its recipe and the kitchen's reach leave to each agent."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from games.overcooked.engine.layout import DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, Layout, kitchen
from games.overcooked.engine.vocabulary import DELIVER, PLACE


class WorkUnit(NamedTuple):
    """Work that is done in one go, with something in the hand between its actions."""

    name: str
    agent: int
    actions: tuple[str, ...]
    """Without blanks; all but the last leave the agent's hand full, except single actions."""

    after: tuple[str, ...]
    """Names of the units that must be done before."""

    occupies: str | None = None
    """A utensil that is this unit's product's from here on; nothing else may be put in before it is freed."""

    frees: str | None = None
    """The utensil that is empty again afterwards."""

    product: str | None = None
    """What the occupied utensil is to make."""

    counters: int = 0
    """Shared counters that it fills (1) or empties (-1)."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """All units of an order, by name, inputs before what is made of them."""

    order: str
    units: dict[str, WorkUnit]
    layout: Layout

    def of(self, agent: int) -> tuple[WorkUnit, ...]:
        """The units of one agent."""
        return tuple(unit for unit in self.units.values() if unit.agent == agent)


@cache
def workflow(order: str, layout: Layout | None = None) -> Workflow:
    """Work out who has to do what for an order in a kitchen; None: the benchmark's."""
    if layout is kitchen():
        return workflow(order)
    return _Planner(layout or kitchen(), order).plan()


class _Planner:
    """Walks a recipe from the order down to raw ingredients."""

    def __init__(self, layout: Layout, order: str) -> None:
        self._layout = layout
        self._order = order
        self._made_in = {product: utensil for utensil in layout.utensils.values() for product in utensil.makes}
        self._owner = {name: agent for agent in (1, 0) for name in layout.reach(agent)}

    def plan(self) -> Workflow:
        utensil = self._made_in[self._order]
        units = [*self._made(self._order)]
        start = f"start {self._order}"
        if self._layout.needs_dish[self._order]:
            units.append(WorkUnit(f"pass {DISH}", 1, (f"pickup({DISH},{DISH_DISPENSER})", PLACE), (), counters=1))
            last = (f"pickup({DISH},counter)", f"fill_dish_with_food({utensil.name})", DELIVER)
            units.append(WorkUnit("deliver", 0, last, (start, f"pass {DISH}"), frees=utensil.name, counters=-1))
        else:
            units.append(WorkUnit("deliver", 0, (f"pickup({self._order},{utensil.name})", DELIVER), (start,), frees=utensil.name))
        return Workflow(self._order, {unit.name: unit for unit in units}, self._layout)

    def _made(self, product: str) -> Iterator[WorkUnit]:
        """The units that end with the utensil started that makes the product."""
        utensil = self._made_in[product]
        inserts: list[str] = []
        for item in utensil.makes[product]:
            for unit in self._brought(item, utensil.name, product):
                inserts.append(unit.name)
                yield unit
        works = tuple(name for name in inserts if name.startswith(f"put {utensil.name}"))
        yield WorkUnit(f"start {product}", self._owner[utensil.name], (f"{utensil.operation}({utensil.name})",), works)

    def _brought(self, item: str, utensil: str, product: str) -> Iterator[WorkUnit]:
        """The units that end with an item in a utensil."""
        before: tuple[str, ...] = ()
        freed: str | None = None
        source, maker = INGREDIENT_DISPENSER, self._owner[INGREDIENT_DISPENSER]
        if item in self._made_in:
            yield from self._made(item)
            source = freed = self._made_in[item].name
            before, maker = (f"start {item}",), self._owner[source]
        agent = self._owner[utensil]
        put = f"put_obj_in_utensil({utensil})"
        name = f"put {utensil} {item}"
        if maker == agent:
            yield WorkUnit(name, agent, (f"pickup({item},{source})", put), before, utensil, freed, product)
            return
        yield WorkUnit(f"pass {item}", maker, (f"pickup({item},{source})", PLACE), before, frees=freed, counters=1)
        yield WorkUnit(name, agent, (f"pickup({item},counter)", put), (f"pass {item}",), utensil, None, product, -1)
