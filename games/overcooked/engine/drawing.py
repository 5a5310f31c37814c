"""The picture of the kitchen that published logs carry (formats/overcooked.md, section 8, `map`)."""

from typing import Final

from games.overcooked.engine.layout import FIXTURES, Cell
from games.overcooked.engine.world import Pot, World

__all__ = ["WIDTH", "map_text"]

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
    size = range(world.layout.height), range(world.layout.width)
    return "".join("".join(_cell(world, (x, y)).ljust(WIDTH) for x in size[1]) + "\n\n" for y in size[0])


def _cell(world: World, at: Cell) -> str:
    for agent, body in enumerate(world.bodies):
        if body.at == at:
            return f"{_ARROWS[body.facing]}{agent}{(body.held or '')[:1]}"
    if at in world.layout.counters:
        return "X" + world.counters.get(at, "")[:1]
    name = world.layout.fixtures.get(at)
    if name is None:
        return " "
    pot = world.utensils.get(name)
    if name == _POT:
        return f"o{_mark(pot)}" if pot else "P"
    utensil = world.layout.utensils.get(name)
    return (utensil.symbol if utensil else _LETTERS[name]) + (_mark(pot) if pot else "")


def _mark(pot: Pot) -> str:
    if pot.timer:
        return str(pot.timer)
    return "=" if len(pot.contents) == _TWO else "-"
