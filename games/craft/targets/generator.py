"""Targets from a seed, with the distribution of the published generator.

The seven wall cells get height 3, the two hidden cells a height from 0, 1, 2. Every layer is tiled by
itself: in random cell order, with probability 0.5 a cell joins a random free neighbour in a large
block, otherwise it becomes a small one; colours are uniform.

The published generator iterates over a set of strings and so gives other targets in every process;
this one depends on the seed alone. Two of its properties are options here: large blocks over hidden
cells, which no engine accepts, and the rule against equal blocks on consecutive layers, which the paper
states and the published code does not apply.
"""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from games.craft.engine.blocks import CELLS, COLORS, HIDDEN_CELLS, MAX_HEIGHT, NEIGHBORS, Cell
from games.craft.engine.board import Board, Span
from games.craft.targets.structures import Complexity, Structure, complexity_of

_WALL_BLOCKS: Final = MAX_HEIGHT * (len(CELLS) - len(HIDDEN_CELLS))
_HIDDEN_HEIGHTS: Final = tuple(itertools.product(range(3), repeat=len(HIDDEN_CELLS)))
_DOMINO_CHANCE: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureRules:
    """What targets to generate. The defaults are the published distribution."""

    complexity: Complexity | None = None
    """Only this tier; None draws it with the heights of the hidden cells."""

    reachable: bool = False
    """Only large blocks that the engine accepts, so that the target can be completed."""

    distinct_layers: bool = False
    """No cell holds the same block code on two consecutive layers."""


def generate_structures(count: int, seed: int, rules: StructureRules = StructureRules()) -> Iterator[Structure]:
    """Give targets ``structure_001`` and so on. Each depends on seed, number and rules, not on ``count``."""
    for number in range(1, count + 1):
        yield generate_structure(f"structure_{number:03d}", random.Random(f"craft-structure:{seed}:{number}"), rules)


def generate_structure(structure_id: str, rng: random.Random, rules: StructureRules = StructureRules()) -> Structure:
    """Give one target drawn with ``rng``."""
    heights = _heights(rng, rules)
    stacks: dict[Cell, list[str]] = {cell: [] for cell in CELLS}
    spans: list[tuple[int, tuple[Span, ...]]] = []
    for layer in range(MAX_HEIGHT):
        tiles = _tiling([cell for cell in CELLS if heights[cell] > layer], rng, rules)
        for tile in tiles:
            _lay(tile, stacks, rng, rules)
        spans.append((layer, tuple((tile[0], tile[1]) for tile in tiles if len(tile) > 1)))
    target = Board(tuple(tuple(stacks[cell]) for cell in CELLS), tuple(spans))
    return Structure(structure_id, complexity_of(target.blocks_total()), target)


def _heights(rng: random.Random, rules: StructureRules) -> dict[Cell, int]:
    fitting = [heights for heights in _HIDDEN_HEIGHTS if rules.complexity in (None, complexity_of(_WALL_BLOCKS + sum(heights)))]
    return dict.fromkeys(CELLS, MAX_HEIGHT) | dict(zip(HIDDEN_CELLS, rng.choice(fitting), strict=True))


def _tiling(cells: list[Cell], rng: random.Random, rules: StructureRules) -> list[tuple[Cell, ...]]:
    free = dict.fromkeys(rng.sample(cells, len(cells)))
    tiles: list[tuple[Cell, ...]] = []
    while free:
        cell = next(iter(free))
        del free[cell]
        partners = [other for other in NEIGHBORS[cell] if other in free and _may_join(cell, other, rules)]
        if partners and rng.random() < _DOMINO_CHANCE:
            partner = rng.choice(partners)
            del free[partner]
            tiles.append((cell, partner))
        else:
            tiles.append((cell,))
    return tiles


def _may_join(cell: Cell, other: Cell, rules: StructureRules) -> bool:
    return not rules.reachable or (cell not in HIDDEN_CELLS and other not in HIDDEN_CELLS)


def _lay(tile: tuple[Cell, ...], stacks: dict[Cell, list[str]], rng: random.Random, rules: StructureRules) -> None:
    size = "l" if len(tile) > 1 else "s"
    below = {stacks[cell][-1] for cell in tile if stacks[cell]} if rules.distinct_layers else set()
    block = rng.choice([color + size for color in COLORS if color + size not in below])
    for cell in tile:
        stacks[cell].append(block)
