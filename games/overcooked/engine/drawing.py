"""The picture of the kitchen that published logs carry (formats/overcooked.md, section 8, `map`)."""

from functools import lru_cache
from typing import Final

from games.overcooked.engine.layout import FIXTURES, Cell, Layout
from games.overcooked.engine.world import Pot, World

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
    placed = {at: _padded(f"X{item[:1]}") for at, item in world.counters.items()}
    filled = {at: _padded(_pot(layout, name, pots[name])) for at, name in layout.fixtures.items() if name in pots}
    standing = {body.at: _padded(f"{_ARROWS[body.facing]}{agent}{(body.held or '')[:1]}") for agent, body in enumerate(world.bodies)}
    return "".join((_bare(layout) | placed | filled | standing).values())


@lru_cache(maxsize=64)
def _bare(layout: Layout) -> dict[Cell, str]:
    """The kitchen with nothing in it and nobody about: what is drawn at each cell, row by row, and the end of a row behind its last."""
    cells: dict[Cell, str] = {}
    for y in range(layout.height):
        cells |= {(x, y): _padded(_fixture(layout, (x, y))) for x in range(layout.width)}
        cells[layout.width, y] = "\n\n"
    return cells


def _padded(text: str) -> str:
    return text.ljust(WIDTH)


def _fixture(layout: Layout, at: Cell) -> str:
    if at in layout.counters:
        return "X"
    name = layout.fixtures.get(at)
    if name is None:
        return " "
    return "P" if name == _POT else _letter(layout, name)


def _letter(layout: Layout, name: str) -> str:
    utensil = layout.utensils.get(name)
    return utensil.symbol if utensil else _LETTERS[name]


def _pot(layout: Layout, name: str, pot: Pot) -> str:
    """A utensil with something in it."""
    return ("o" if name == _POT else _letter(layout, name)) + _mark(pot)


def _mark(pot: Pot) -> str:
    if pot.timer:
        return str(pot.timer)
    return "=" if len(pot.contents) == _TWO else "-"
