"""Target structures: reading published files, drawing them from a seed, the board before turn 1, and whether one can be completed.

Start boards: pre-filled large blocks get no span record, as in the released engine: they look small in every view and cannot be removed
(error R3). One fault is not copied: the released engine lets a pre-filled wall share its stacks with the target, so that a block removed
there leaves the target as well.

Generated targets have the distribution of the published generator. The seven wall cells get height 3, the two hidden cells a height from 0,
1, 2. Every layer is tiled by itself: in random cell order, with probability 0.5 a cell joins a random free neighbour in a large block,
otherwise it becomes a small one; colours are uniform. The published generator iterates over a set of strings and so gives other targets in
every process; this one depends on the seed alone. Two of its properties are options: large blocks over hidden cells, which no engine
accepts, and the rule against equal blocks on consecutive layers, which the paper states and the published code does not apply.

The engine refuses every large block over a hidden cell, yet 14 of the 20 published targets have one: they cannot be completed. Progress of
1 is then not the right upper bound; the ceiling is what playing verified candidates until none is left reaches.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from games.craft.engine import board as boards
from games.craft.engine.rules import candidates, execute
from games.craft.measures import Metrics, progress
from schemas.common.errors import BadInputError

Complexity = Literal["simple", "medium", "complex"]
COMPLEXITIES: Final[tuple[Complexity, ...]] = get_args(Complexity)

_SIMPLE_MOST: Final = 22
_MEDIUM_MOST: Final = 24


@dataclass(frozen=True, slots=True)
class Structure:
    """One target."""

    structure_id: str
    complexity: str
    """Tier; one of ``COMPLEXITIES`` in published files."""
    target: boards.Board
    """Goal stacks, with a span record for every large block."""

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Structure:
        """Read one entry of a structure file.

        Stored director views are ignored: the 20-structure file computed them without spans.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: the entry is not a structure.
        """
        return cls(str(entry["id"]), str(entry["complexity"]), boards.Board.from_json(entry["structure"], entry["spans"]))

    def to_json(self) -> dict[str, Any]:
        """Give the entry of a structure file, without views and metadata."""
        return {
            "id": self.structure_id,
            "complexity": self.complexity,
            "structure": self.target.structure_json(),
            "spans": self.target.spans_json(),
        }


def complexity_of(blocks_total: int) -> Complexity:
    """Give the tier of a target by its cell entries (a large block counts twice): up to 22, up to 24, more."""
    if blocks_total <= _SIMPLE_MOST:
        return "simple"
    return "medium" if blocks_total <= _MEDIUM_MOST else "complex"


def load_structures(path: Path) -> tuple[Structure, ...]:
    """Read a structure file: a JSON list of entries.

    Raises:
        OSError: the file cannot be read.
        BadInputError: the file is not such a list, or an entry is not a structure.
    """
    try:
        entries = json.loads(path.read_bytes())
    except ValueError as error:
        raise BadInputError(f"{path} is not JSON ({error}); give a CRAFT structure file", locator=str(path)) from error
    if not isinstance(entries, list):
        raise BadInputError(f"{path} holds no list of structures; give a CRAFT structure file", locator=str(path))
    found = []
    for index, entry in enumerate(entries):
        try:
            found.append(Structure.from_json(entry))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            where = f"{path}[{index}]"
            reason = f"{where} is not a structure ({type(error).__name__}: {error}); it needs id, complexity, structure and spans"
            raise BadInputError(reason, locator=where, excerpt=repr(entry)[:200]) from error
    return tuple(found)


StartBoard = Literal["empty", "firstLayer", "firstTwoLayers", "D1Wall", "D2Wall", "D3Wall"]
START_BOARDS: Final[tuple[StartBoard, ...]] = get_args(StartBoard)

_LAYERS: Final[dict[StartBoard, int]] = {"firstLayer": 1, "firstTwoLayers": 2}
_WALL_OF: Final[dict[StartBoard, boards.Director]] = {"D1Wall": "D1", "D2Wall": "D2", "D3Wall": "D3"}


def start_board(target: boards.Board, kind: StartBoard) -> boards.Board:
    """Give the start board of a kind: lowest layers, or the whole stacks of one wall."""
    if kind == "empty":
        return boards.EMPTY_BOARD
    if kind in _LAYERS:
        return boards.Board(tuple(stack[: _LAYERS[kind]] for stack in target.stacks))
    wall: tuple[boards.Cell, ...] = boards.WALLS[_WALL_OF[kind]]
    return boards.Board(tuple(stack if cell in wall else () for cell, stack in zip(boards.CELLS, target.stacks, strict=True)))


_WALL_BLOCKS: Final = boards.MAX_HEIGHT * (len(boards.CELLS) - len(boards.HIDDEN_CELLS))
_HIDDEN_HEIGHTS: Final = tuple(itertools.product(range(3), repeat=len(boards.HIDDEN_CELLS)))
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
    fitting = [drawn for drawn in _HIDDEN_HEIGHTS if rules.complexity in (None, complexity_of(_WALL_BLOCKS + sum(drawn)))]
    heights = dict.fromkeys(boards.CELLS, boards.MAX_HEIGHT) | dict(zip(boards.HIDDEN_CELLS, rng.choice(fitting), strict=True))
    stacks: dict[boards.Cell, list[str]] = {cell: [] for cell in boards.CELLS}
    spans: list[tuple[int, tuple[boards.Span, ...]]] = []
    for layer in range(boards.MAX_HEIGHT):
        tiles = _tiling([cell for cell in boards.CELLS if heights[cell] > layer], rng, rules)
        for tile in tiles:
            below = {stacks[cell][-1] for cell in tile if stacks[cell]} if rules.distinct_layers else set()
            codes = [color + ("l" if len(tile) > 1 else "s") for color in boards.COLORS]
            block = rng.choice([code for code in codes if code not in below])
            for cell in tile:
                stacks[cell].append(block)
        spans.append((layer, tuple((tile[0], tile[1]) for tile in tiles if len(tile) > 1)))
    target = boards.Board(tuple(tuple(stacks[cell]) for cell in boards.CELLS), tuple(spans))
    return Structure(structure_id, complexity_of(target.blocks_total()), target)


def _tiling(cells: list[boards.Cell], rng: random.Random, rules: StructureRules) -> list[tuple[boards.Cell, ...]]:
    free = dict.fromkeys(rng.sample(cells, len(cells)))
    tiles: list[tuple[boards.Cell, ...]] = []
    while free:
        cell = next(iter(free))
        del free[cell]
        partners = [
            other for other in boards.NEIGHBORS[cell] if other in free and not (rules.reachable and {cell, other} & {*boards.HIDDEN_CELLS})
        ]
        if partners and rng.random() < _DOMINO_CHANCE:
            partner = rng.choice(partners)
            del free[partner]
            tiles.append((cell, partner))
        else:
            tiles.append((cell,))
    return tiles


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Where verified candidates lead from an empty board."""

    board: boards.Board
    moves: int
    """Number of moves until no candidate was left."""
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class StructureFacts:
    """What is fixed about a target before anybody plays. One row is one structure."""

    structure_id: str
    complexity: str
    blocks_total: int
    """Cell entries; a large block counts twice."""
    height_1_1: int
    height_2_1: int
    n_dominoes: int
    n_physical_blocks: int
    n_forbidden_dominoes: int
    """Large blocks that the engine never accepts, because they cover a hidden cell."""
    completable: bool
    wall_cells_large_seen_as_small: int
    """Wall entries, over the three views, where half of a large block looks like a small block."""
    initial_oracle_moves: int
    """Candidates on the empty board, before sampling."""
    oracle_only_moves: int
    progress_empty: float
    distance_empty: float
    ceiling_overall_progress: float
    ceiling_completion: float
    ceiling_iou: float
    ceiling_position_accuracy: float
    ceiling_distance: float


def forbidden_dominoes(target: boards.Board) -> tuple[tuple[int, boards.Span], ...]:
    """Give the target's large blocks over hidden cells: layer and cells."""
    return tuple((layer, span) for layer, spans in target.spans for span in spans if not set(span).isdisjoint(boards.HIDDEN_CELLS))


def ceiling(target: boards.Board) -> Ceiling:
    """Play candidates from an empty board until none is left. The end does not depend on their order.

    From an empty board candidates only place right blocks, so this ends after at most one move a block. A damaged target, whose spans
    contradict its stacks, would also have placed blocks removed, for ever: removals are left out.
    """
    board, moves = boards.EMPTY_BOARD, 0
    while found := [move for move in candidates(board, target) if move.action == "place"]:
        board, moves = execute(board, found[0]).board, moves + 1
    return Ceiling(board, moves, progress(board, target))


def structure_facts(structure: Structure) -> StructureFacts:
    """Work out all facts about a target."""
    target = structure.target
    top, empty = ceiling(target), progress(boards.EMPTY_BOARD, target)
    halves = sum(boards.is_large(block) for stack in target.stacks for block in stack)
    return StructureFacts(
        structure_id=structure.structure_id,
        complexity=structure.complexity,
        blocks_total=target.blocks_total(),
        height_1_1=target.height("(1,1)"),
        height_2_1=target.height("(2,1)"),
        n_dominoes=halves // 2,
        n_physical_blocks=target.blocks_total() - halves // 2,
        n_forbidden_dominoes=len(forbidden_dominoes(target)),
        completable=top.board.stacks == target.stacks,
        wall_cells_large_seen_as_small=boards.large_seen_as_small(target),
        initial_oracle_moves=len(candidates(boards.EMPTY_BOARD, target)),
        oracle_only_moves=top.moves,
        progress_empty=empty.overall_progress,
        distance_empty=empty.distance_score,
        ceiling_overall_progress=top.metrics.overall_progress,
        ceiling_completion=top.metrics.completion_percentage,
        ceiling_iou=top.metrics.iou_score,
        ceiling_position_accuracy=top.metrics.position_accuracy,
        ceiling_distance=top.metrics.distance_score,
    )
