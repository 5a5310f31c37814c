"""The state of the kitchen, what one timestep does to it, and its picture in logs (formats/overcooked.md, sections 1, 2 and 8)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from games.overcooked.engine.layout import DELIVERY, DISH, DISH_DISPENSER, FIXTURES, INGREDIENT_DISPENSER, Cell, Layout, neighbour

Rules = Literal["sane", "published"]
"""``published`` has the engine defects that published logs show; ``sane`` has not. docs/dev/benchmark_rules.md lists them."""

_OPEN_KITCHEN: Final = "pot0"


class Move(NamedTuple):
    """What an agent does in one timestep."""

    direction: str | None = None
    """Walk or turn: one of ``STEPS``; None otherwise."""
    interact: bool = False
    item: str | None = None
    """What is wanted of the ingredient dispenser."""


class WorldChange(NamedTuple):
    """A change of the world that an agent made."""

    agent: int
    text: str
    """As the engine records it, with its blanks (section 2.1)."""


@dataclass(slots=True)
class Body:
    """An agent in the kitchen."""

    at: Cell
    facing: str = "north"
    held: str | None = None


@dataclass(slots=True)
class Pot:
    """What is in a utensil."""

    contents: tuple[str, ...] = ()
    product: str | None = None
    """What is made or ready; None before the operation starts."""
    timer: int = 0
    """Steps since the start, the starting one included; 0 before it."""


@dataclass(slots=True)
class World:
    """A kitchen in the middle of a game."""

    layout: Layout
    order: str
    rules: Rules
    bodies: tuple[Body, Body]
    utensils: dict[str, Pot] = field(default_factory=dict)
    """Utensils with something in them, in the order in which they were first filled."""
    counters: dict[Cell, str] = field(default_factory=dict)
    """Counters with something on them."""
    timestep: int = 0
    """Steps executed."""
    score: int = 0
    delivered: bool = False
    """The order has been delivered rightly."""
    spoiled: list[str] = field(default_factory=list)
    """Utensils whose contents made nothing in the last step."""

    @property
    def notices(self) -> list[str]:
        """What the last step tells both agents."""
        return [spoiled_notice(name, self.timestep) for name in self.spoiled]

    def step(self, moves: Sequence[Move]) -> list[WorldChange]:
        """Execute one timestep: the Chef's interaction before the Assistant's, then movement, then cooking."""
        self.spoiled = []
        started: set[str] = set()
        done = [found for agent, move in enumerate(moves) if move.interact and (found := self._interact(agent, move, started))]
        for body, move in zip(self.bodies, moves, strict=True):
            if move.direction is not None:
                body.facing = move.direction
                ahead = neighbour(body.at, move.direction)
                if ahead in self.layout.floor and all(other.at != ahead for other in self.bodies):
                    body.at = ahead
        # Advance what is running; as published, a start prevents utensils that were filled later from advancing in that step
        blocked = False
        for name, pot in self.utensils.items():
            if self.running(name) and not blocked and name not in started:
                pot.timer += 1
            blocked = blocked or (self.rules == "published" and name in started)
        self.timestep += 1
        return done

    def ready(self, utensil: str) -> bool:
        """Whether a utensil's product can be taken."""
        pot = self.utensils.get(utensil)
        return pot is not None and pot.timer >= self.layout.cook_time

    def running(self, utensil: str) -> bool:
        """Whether a utensil is processing."""
        pot = self.utensils.get(utensil)
        return pot is not None and 0 < pot.timer < self.layout.cook_time

    def stock(self) -> tuple[object, ...]:
        """What is in hands, on counters and in utensils: who could do what, wherever they stand."""
        pots = ((name, pot.contents, pot.product, self.running(name), self.ready(name)) for name, pot in self.utensils.items())
        return *(body.held for body in self.bodies), tuple(self.counters.items()), *pots

    def position(self) -> tuple[object, ...]:
        """All on which it depends what the next step does."""
        bodies = tuple([(body.at, body.facing, body.held) for body in self.bodies])
        pots = tuple([(name, pot.contents, pot.product, pot.timer) for name, pot in self.utensils.items()])
        return bodies, pots, tuple(self.counters.items())

    def copy(self) -> "World":
        """The same kitchen as if a game began with it: no steps executed, no points."""
        first, second = [Body(body.at, body.facing, body.held) for body in self.bodies]
        pots = {name: Pot(pot.contents, pot.product, pot.timer) for name, pot in self.utensils.items()}
        return World(self.layout, self.order, self.rules, (first, second), pots, dict(self.counters))

    def to_json(self) -> dict[str, Any]:
        """Give the state as it is stored: bodies, utensils, counters."""
        return {
            "agents": [{"at": list(body.at), "facing": body.facing, "held": body.held} for body in self.bodies],
            "utensils": {
                name: {"contents": list(pot.contents), "product": pot.product, "timer": pot.timer} for name, pot in self.utensils.items()
            },
            "counters": {f"({x},{y})": item for (x, y), item in sorted(self.counters.items())},
        }

    # -- interactions -----------------------------------------------------------------------------

    def _interact(self, agent: int, move: Move, started: set[str]) -> WorldChange | None:
        body = self.bodies[agent]
        target = neighbour(body.at, body.facing)
        if target in self.layout.counters:
            if body.held is None and target in self.counters:
                body.held = self.counters.pop(target)
                return WorldChange(agent, f"pickup({body.held}, counter)")
            if body.held is not None and target not in self.counters:
                self.counters[target], body.held = body.held, None
                return WorldChange(agent, "place_obj_on_counter()")
            return None
        fixture = self.layout.fixtures.get(target)
        if fixture is not None and fixture in self.layout.utensils:
            return self._at_utensil(agent, body, fixture, started)
        if fixture == DELIVERY:
            return self._deliver(agent, body)
        return self._at_dispenser(agent, body, fixture, move.item)

    def _at_dispenser(self, agent: int, body: Body, fixture: str | None, item: str | None) -> WorldChange | None:
        if body.held is not None or fixture not in (INGREDIENT_DISPENSER, DISH_DISPENSER):
            return None
        body.held = DISH if fixture == DISH_DISPENSER else item
        return WorldChange(agent, f"pickup({body.held}, {fixture})") if body.held else None

    def _deliver(self, agent: int, body: Body) -> WorldChange | None:
        if body.held is None:
            return None
        if body.held == self.order:
            self.score += self.layout.reward
            self.delivered = True
        body.held = None
        return WorldChange(agent, "deliver_soup()")

    def _at_utensil(self, agent: int, body: Body, name: str, started: set[str]) -> WorldChange | None:
        if body.held is None:
            return self._take(agent, body, name) if self.ready(name) else self._start(agent, name, started)
        return self._fill(agent, body, name) if body.held == DISH else self._put(agent, body, name)

    def _take(self, agent: int, body: Body, name: str) -> WorldChange:
        body.held = self.utensils.pop(name).product
        return WorldChange(agent, f"pickup({body.held}, {name})")

    def _start(self, agent: int, name: str, started: set[str]) -> WorldChange | None:
        pot = self.utensils.get(name)
        if pot is None or pot.timer:
            return None
        utensil = self.layout.utensils[name]
        pot.product = utensil.product(pot.contents)
        if pot.product is None:
            del self.utensils[name]
            self.spoiled.append(name)
        else:
            pot.timer = 1
            started.add(name)
        return WorldChange(agent, f"{utensil.operation}({name})")

    def _fill(self, agent: int, body: Body, name: str) -> WorldChange | None:
        """Fill a dish; as published, the oven records it as putting something in, once for every step of waiting too."""
        misnamed = self.rules == "published" and name != _OPEN_KITCHEN
        if self.ready(name):
            body.held = self.utensils.pop(name).product
            return WorldChange(agent, f"put_obj_in_utensil({name})" if misnamed else f"fill_dish_with_food({name})")
        return WorldChange(agent, f"put_obj_in_utensil({name})") if misnamed and self.running(name) else None

    def _put(self, agent: int, body: Body, name: str) -> WorldChange | None:
        pot = self.utensils.get(name) or Pot()
        if pot.timer or body.held is None:
            return None
        if len(pot.contents) < self.layout.utensil_capacity:
            self.utensils[name] = pot
            pot.contents = (*pot.contents, body.held)
            body.held = None
        return WorldChange(agent, f"put_obj_in_utensil({name})")


def spoiled_notice(utensil: str, timestep: int) -> str:
    """What both agents read when a utensil is started with contents that make nothing; steps count from 1."""
    return (
        f"TIMESTEP {timestep}: Due to the items in {utensil} not matching any recipe, an error occurred, "
        f"and the items in {utensil} has been automatically deleted."
    )


def start_world(layout: Layout, order: str, rules: Rules = "published") -> World:
    """Give a kitchen before the first step."""
    return World(layout, order, rules, (Body(layout.starts[0]), Body(layout.starts[1])))


WIDTH: Final = 8
_ARROWS: Final = {
    "north": "\N{UPWARDS ARROW}",
    "south": "\N{DOWNWARDS ARROW}",
    "east": "\N{RIGHTWARDS ARROW}",
    "west": "\N{LEFTWARDS ARROW}",
}
_LETTERS: Final = {name: symbol for symbol, name in FIXTURES.items()}
_POT: Final = "pot0"
_TWO: Final = 2


def map_text(world: World) -> str:
    """Draw the kitchen: rows with blank lines between, cells of eight characters."""
    layout, pots = world.layout, world.utensils
    placed = {at: f"X{item[:1]}" for at, item in world.counters.items()}
    filled = {at: _pot(layout, name, pots[name]) for at, name in layout.fixtures.items() if name in pots}
    standing = {body.at: f"{_ARROWS[body.facing]}{agent}{(body.held or '')[:1]}" for agent, body in enumerate(world.bodies)}
    return "".join((_bare(layout) | {at: text.ljust(WIDTH) for at, text in (placed | filled | standing).items()}).values())


@lru_cache(maxsize=64)
def _bare(layout: Layout) -> dict[Cell, str]:
    """The kitchen with nothing and no agent in it: what is drawn at each cell, row by row, and the end of a row behind its last."""
    drawn = {at: "P" if name == _POT else _letter(layout, name) for at, name in layout.fixtures.items()} | dict.fromkeys(
        layout.counters, "X"
    )
    cells: dict[Cell, str] = {}
    for y in range(layout.height):
        cells |= {(x, y): drawn.get((x, y), " ").ljust(WIDTH) for x in range(layout.width)}
        cells[layout.width, y] = "\n\n"
    return cells


def _letter(layout: Layout, name: str) -> str:
    utensil = layout.utensils.get(name)
    return utensil.symbol if utensil else _LETTERS[name]


def _pot(layout: Layout, name: str, pot: Pot) -> str:
    """A utensil with something in it."""
    mark = str(pot.timer) if pot.timer else "=" if len(pot.contents) == _TWO else "-"
    return ("o" if name == _POT else _letter(layout, name)) + mark
