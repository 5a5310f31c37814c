"""Can a target be completed, and how far do verified moves lead?

The engine refuses every large block over a hidden cell, the published generator places them there
all the same: 14 of the 20 published targets cannot be completed. Progress of 1 is then not the right
upper bound; the ceiling is what playing verified candidates until none is left reaches.
"""

from dataclasses import dataclass

from games.craft.engine.blocks import HIDDEN_CELLS, is_large
from games.craft.engine.board import EMPTY_BOARD, Board, Span
from games.craft.engine.oracle import candidates
from games.craft.engine.rules import execute
from games.craft.engine.views import large_seen_as_small
from games.craft.measures.metrics import Metrics, progress
from games.craft.targets.structures import Structure


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Where verified candidates lead from an empty board."""

    board: Board
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


def forbidden_dominoes(target: Board) -> tuple[tuple[int, Span], ...]:
    """Give the target's large blocks over hidden cells: layer and cells."""
    return tuple((layer, span) for layer, spans in target.spans for span in spans if not set(span).isdisjoint(HIDDEN_CELLS))


def ceiling(target: Board) -> Ceiling:
    """Play candidates from an empty board until none is left. The end does not depend on their order.

    From an empty board candidates only place right blocks, so this ends after at most one move a block. A damaged target, whose spans
    contradict its stacks, would also have placed blocks removed, for ever: removals are left out.
    """
    board, moves = EMPTY_BOARD, 0
    while found := [move for move in candidates(board, target) if move.action == "place"]:
        board, moves = execute(board, found[0]).board, moves + 1
    return Ceiling(board, moves, progress(board, target))


def structure_facts(structure: Structure) -> StructureFacts:
    """Work out all facts about a target."""
    target = structure.target
    top, empty = ceiling(target), progress(EMPTY_BOARD, target)
    halves = sum(is_large(block) for stack in target.stacks for block in stack)
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
        wall_cells_large_seen_as_small=large_seen_as_small(target),
        initial_oracle_moves=len(candidates(EMPTY_BOARD, target)),
        oracle_only_moves=top.moves,
        progress_empty=empty.overall_progress,
        distance_empty=empty.distance_score,
        ceiling_overall_progress=top.metrics.overall_progress,
        ceiling_completion=top.metrics.completion_percentage,
        ceiling_iou=top.metrics.iou_score,
        ceiling_position_accuracy=top.metrics.position_accuracy,
        ceiling_distance=top.metrics.distance_score,
    )
