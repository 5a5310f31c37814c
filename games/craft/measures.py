"""Scores of a board, three readings of "the builder followed a listed candidate", and failure categories of a turn.

Scores are from 0 to 1, as in the released code. ``A`` and ``B`` are the *sets* of block codes in a cell on the board and in the target
(equal blocks in a stack count once, their order is lost); only the nine canonical cells count.

``published_category`` is the decision of the released code (paper, appendix on the taxonomy). Known faults of it: errors are distinguished
by substring, so span problems whose message contains the word "layer" count as layer errors; a wrong size counts as a wrong colour; a
right large block named from its other end counts as a wrong position; a right small block with a superfluous second cell as a wrong span.

``repaired_category`` asks the engine's error code instead of the text and compares what moves do:

1. a reply that cannot be read: ``unreadable_reply``; no candidate or no attempt: ``no_oracle_or_attempt``;
2. refused: ``engine_<kind>_error`` by the kind of the code (``ERROR_KINDS``);
3. accepted and the same effect as a candidate: ``correct``;
4. otherwise, against the candidates with the same action and layer that share a cell with the move (for an attempt at other cells there
   are none: ``wrong_position``): the category of the best one, by what differs: only the covered cells ``wrong_span``, only the size
   ``wrong_size``, only the colour ``wrong_color``, both ``wrong_color_and_size``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from games.craft.engine.board import Board, Stack
from games.craft.engine.rules import Move, MoveError, category_of


def followed_action_position_layer(listed: Sequence[Move], attempted: Move) -> bool:
    """Tell whether a candidate has the same action, position and layer.

    This is the logs' ``builder_followed_oracle``: block and second cell are not compared and the
    engine may have refused the move.
    """
    return attempted in listed or any(same_place(move, attempted) for move in listed)


def followed_full(listed: Sequence[Move], attempted: Move) -> bool:
    """Tell whether the move is literally a candidate, block and second cell included.

    The engine refuses such a move only when a blank in its coordinates leads execution to a ghost cell (X1).
    """
    return attempted in listed


def followed_physical(listed: Sequence[Move], attempted: Move) -> bool:
    """Tell whether the move is a candidate, a large block named from either end.

    As in ``followed_full`` a superfluous second cell on a small block does not count as following; ``same_effect`` lets it pass.
    """
    return attempted in listed or any(
        (move.action, move.block, move.layer, {move.position, move.span_to})
        == (attempted.action, attempted.block, attempted.layer, {attempted.position, attempted.span_to})
        for move in listed
    )


def same_place(first: Move, second: Move) -> bool:
    """Compare action, position and layer."""
    return (first.action, first.position, first.layer) == (second.action, second.position, second.layer)


def same_effect(first: Move, second: Move) -> bool:
    """Compare what two moves do to the board: action, block, layer and the cells the block covers."""
    return (first.action, first.block, first.layer) == (second.action, second.block, second.layer) and first.covered() == second.covered()


COMPLETION_THRESHOLD: Final = 0.95
"""Overall progress at which a game counts as completed and stops."""

METRICS: Final = ("overall_progress", "completion_percentage", "iou_score", "position_accuracy", "distance_score")


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


PublishedCategory = Literal[
    "correct",
    "engine_layer_error",
    "engine_span_error",
    "engine_other_error",
    "wrong_position",
    "wrong_block_color",
    "wrong_span",
    "no_oracle_or_attempt",
]

RepairedCategory = Literal[
    "correct",
    "engine_coordinate_error",
    "engine_block_error",
    "engine_layer_error",
    "engine_full_stack_error",
    "engine_span_error",
    "engine_empty_cell_error",
    "engine_execution_error",
    "wrong_position",
    "wrong_color",
    "wrong_size",
    "wrong_color_and_size",
    "wrong_span",
    "unreadable_reply",
    "no_oracle_or_attempt",
]

ERROR_KINDS: Final[dict[str, RepairedCategory]] = {
    **dict.fromkeys(("C1", "C2", "C3", "C4", "C5"), "engine_coordinate_error"),
    **dict.fromkeys(("A1", "X1", "X2"), "engine_execution_error"),
    "P1": "engine_block_error",
    **dict.fromkeys(("P2", "R2"), "engine_layer_error"),
    **dict.fromkeys(("P3", "L7"), "engine_full_stack_error"),
    **dict.fromkeys(("L1", "L2", "L3", "L4", "L5", "L6", "L8", "R3", "R4", "R5"), "engine_span_error"),
    "R1": "engine_empty_cell_error",
}


def published_category(listed: Sequence[Move], attempted: Move | None, error_text: str | None) -> PublishedCategory:
    """Classify a turn as the released code does; clarifications and crashes have no move, accepted moves no error."""
    if not listed or attempted is None:
        return "no_oracle_or_attempt"
    if error_text is not None:
        return _PUBLISHED_ERRORS[category_of(error_text)]
    if followed_full(listed, attempted):
        return "correct"
    there = [move for move in listed if same_place(move, attempted)]
    if not there:
        return "wrong_position"
    return "wrong_span" if any(move.block == attempted.block for move in there) else "wrong_block_color"


_PUBLISHED_ERRORS: Final[dict[str, PublishedCategory]] = {
    "layer": "engine_layer_error",
    "span": "engine_span_error",
    "other": "engine_other_error",
}


def repaired_category(
    listed: Sequence[Move], attempted: Move | None, error: MoveError | None, *, unreadable: bool = False
) -> RepairedCategory:
    """Classify a turn by what the move did; arguments as in ``published_category``, and whether the builder's reply could not be read."""
    if unreadable:
        return "unreadable_reply"
    if not listed or attempted is None:
        return "no_oracle_or_attempt"
    if error is not None:
        return ERROR_KINDS[error.code]
    if attempted in listed or any(same_effect(move, attempted) for move in listed):
        return "correct"
    same = [move for move in listed if (move.action, move.layer) == (attempted.action, attempted.layer)]
    near = [_difference(move, attempted) for move in same if not move.covered().isdisjoint(attempted.covered())]
    return min(near, key=_NEAREST_FIRST.index, default="wrong_position")


_NEAREST_FIRST: Final[tuple[RepairedCategory, ...]] = ("wrong_span", "wrong_size", "wrong_color", "wrong_color_and_size")


def _difference(candidate: Move, attempted: Move) -> RepairedCategory:
    wanted, got = candidate.block or "", attempted.block or ""
    same_color, same_size = wanted[:1] == got[:1], wanted[1:] == got[1:]
    if same_color and same_size:
        return "wrong_span"
    if same_color:
        return "wrong_size"
    return "wrong_color" if same_size else "wrong_color_and_size"
