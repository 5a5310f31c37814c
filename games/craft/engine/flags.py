"""The three flags the released engine attaches to an accepted move."""

from dataclasses import dataclass

from games.craft.engine.blocks import CELL_INDEX, SEEN_BY
from games.craft.engine.board import Board, Stack
from games.craft.engine.rules import Outcome


@dataclass(frozen=True, slots=True)
class Flags:
    """What an accepted move did for the target, by the released engine's tests."""

    correct_structure_placement: bool
    """Placed: the target has this block there. Removed: it has not. Only ``position`` counts."""

    correct_side_placement: bool
    """The same, seen by a director; always False on cells that nobody sees."""

    overall_structure_correctness: bool
    """Every block on the board equals the target's at its cell and layer; true for an empty board."""


def placement_flags(outcome: Outcome, target: Board) -> Flags:
    """Judge an accepted move. The block is the one placed or removed."""
    move = outcome.move
    right = suits_target(target, action=move.action, cell=outcome.named_cell, layer=move.layer, block=move.block)
    seen = bool(SEEN_BY.get(outcome.named_cell))
    return Flags(right, right and seen, overall_structure_correctness(outcome.board, target))


def suits_target(target: Board, *, action: str, cell: str, layer: int, block: str | None) -> bool:
    """Tell whether placing (or removing) a block there agrees with the target at that one cell."""
    index = CELL_INDEX.get(cell)
    stack: Stack = () if index is None else target.stacks[index]
    wanted = layer < len(stack) and stack[layer] == block
    return wanted if action == "place" else not wanted


def overall_structure_correctness(board: Board, target: Board) -> bool:
    """Tell whether every stack is the lower part of the target's; missing blocks do not matter."""
    return not any(stack for _, stack in board.ghosts) and all(
        stack == wanted[: len(stack)] for stack, wanted in zip(board.stacks, target.stacks, strict=True)
    )
