"""Five scores of a board against a target, all from 0 to 1, and the block counts of the logs.

Definitions as in the released code. ``A`` and ``B`` are the *sets* of block codes in a cell on the
board and in the target (equal blocks in a stack count once, their order is lost); only the nine
canonical cells count.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from games.craft.engine.board import Board, Stack

COMPLETION_THRESHOLD: Final = 0.95
"""Overall progress at which a game counts as completed and stops."""

METRICS: Final = (
    "overall_progress",
    "completion_percentage",
    "iou_score",
    "position_accuracy",
    "distance_score",
)


@dataclass(frozen=True, slots=True)
class Metrics:
    """Scores of one board against one target."""

    overall_progress: float
    """Mean of IoU, completion and position accuracy; the published main score."""

    completion_percentage: float
    """Cell entries with the right block at the right cell and layer / entries of the target.

    0 for an empty target."""

    iou_score: float
    """Sum over cells of \\|A and B\\| / sum of \\|A or B\\|; 0 if both sides are empty."""

    position_accuracy: float
    """Cells with A = B / 9; an empty cell that should be empty counts."""

    distance_score: float
    """1 - sum \\|A xor B\\| / sum (\\|A\\| + \\|B\\|), 1 if both sides are empty.

    Sørensen-Dice, so 2 IoU / (1 + IoU); higher is better in spite of the name."""

    blocks_placed_correctly: int
    """Numerator of completion."""

    blocks_total_target: int
    """Cell entries of the target; a large block counts twice."""

    blocks_total_current: int
    """Cell entries of the board."""


def progress(board: Board, target: Board) -> Metrics:
    """Score a board against a target."""
    shared, either, right, matching = map(sum, zip(*map(_cell_counts, board.stacks, target.stacks), strict=True))
    sizes = shared + either
    total = target.blocks_total()
    iou = shared / either if either else 0.0
    completion = right / total if total else 0.0
    position = matching / len(board.stacks)
    return Metrics(
        overall_progress=(iou + completion + position) / 3,
        completion_percentage=completion,
        iou_score=iou,
        position_accuracy=position,
        distance_score=1 - (either - shared) / sizes if sizes else 1.0,
        blocks_placed_correctly=right,
        blocks_total_target=total,
        blocks_total_current=board.blocks_total(),
    )


@lru_cache(maxsize=65536)
def _cell_counts(stack: Stack, wanted: Stack) -> tuple[int, int, int, bool]:
    """Count one cell: blocks in both sets, in either set, right blocks by layer, sets equal."""
    present, needed = set(stack), set(wanted)
    right = sum(block == goal for block, goal in zip(stack, wanted, strict=False))
    return len(present & needed), len(present | needed), right, present == needed
