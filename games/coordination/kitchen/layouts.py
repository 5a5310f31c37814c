"""The five kitchens; asymmetric_advantages is 11 wide, as in the published code.

Source: formats description of LLM-Coordination, section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

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
