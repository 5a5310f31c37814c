"""Validation and execution of moves as the released engine does them.

Two coordinates are in play. Checks read the tidied one (``(0, 1)`` becomes ``(0,1)``); the board is
changed under the text as the builder wrote it. ``board`` tells about the ghost cells this makes.
"""

from msgspec import Struct
from msgspec.structs import replace

from games.craft.engine.blocks import is_large
from games.craft.engine.board import Board
from games.craft.engine.checks import examine
from games.craft.engine.errors import MESSAGES, MoveError
from games.craft.engine.move import Move


class Outcome(Struct, frozen=True):
    """What a move did to a board."""

    board: Board
    """Board after the move. A refused move can leave an empty ghost cell behind, nothing else."""

    move: Move
    """The move as the engine logs it: coordinates tidied, block of a removal looked up."""

    named_cell: str
    """The position as the builder wrote it: the key under which the board was changed."""

    error: MoveError | None
    """None for an accepted move."""

    @property
    def accepted(self) -> bool:
        """Whether the engine carried the move out."""
        return self.error is None


def execute(board: Board, move: Move) -> Outcome:
    """Check a move and carry it out; one that breaks no rule can still fail when it is carried out (X1)."""
    named = _with_removed_block(board, move)
    tidied, error = examine(board, named)
    if error is not None:
        return Outcome(board, tidied, move.position, error)
    if not _carries(board, named):
        return Outcome(_with_named_cells(board, named), tidied, move.position, MoveError("X1", MESSAGES["X1"]))
    changed = _place(board, named) if named.action == "place" else _remove(board, named)
    return Outcome(changed, tidied, move.position, None)


def accepts(board: Board, move: Move) -> bool:
    """Tell whether ``execute`` would carry a move out, without making the board."""
    return examine(board, move)[1] is None and _carries(board, move)


def _with_removed_block(board: Board, move: Move) -> Move:
    """Name the block a removal is about: whatever stands on top."""
    stack = board.stack(move.position)
    if move.action != "remove" or not stack or move.block == stack[-1]:
        return move
    return replace(move, block=stack[-1])


def _place(board: Board, move: Move) -> Board:
    block, cell = move.block or "", move.position
    stack = board.stack(cell)
    if not is_large(block):
        return board.with_stack(cell, (*stack, block))
    span_to = move.span_to or ""
    placed = board.with_stack(cell, (*stack, block)).with_stack(span_to, (*board.stack(span_to), block))
    return placed.with_layer_spans(move.layer, (*board.layer_spans(move.layer), (cell, span_to)))


def _remove(board: Board, move: Move) -> Board:
    stack = board.stack(move.position)
    removed = board.with_stack(move.position, stack[:-1])
    if not is_large(stack[-1]):
        return removed
    span_to = move.span_to or ""
    pair = {move.position, span_to}
    spans = tuple(span for span in board.layer_spans(move.layer) if set(span) != pair)
    return removed.with_stack(span_to, board.stack(span_to)[:-1]).with_layer_spans(move.layer, spans)


def _carries(board: Board, move: Move) -> bool:
    """Tell whether a move that passed the checks can be carried out (else X1).

    Looks at the stacks under the names as written: a ghost cell is another cell, and a half may be covered.
    """
    stack = board.stack(move.position)
    if move.action == "place":
        return not is_large(move.block or "") or len(stack) == board.height(move.span_to or "")
    if not stack or move.layer != len(stack) - 1:
        return False
    partner_stack = board.stack(move.span_to or "") if is_large(stack[-1]) else stack
    return len(partner_stack) == len(stack) and partner_stack[-1] == stack[-1]


def _with_named_cells(board: Board, move: Move) -> Board:
    """A large block that could not be placed leaves its two names behind, as empty ghost cells."""
    if move.action != "place":
        return board
    for cell in (move.position, move.span_to or ""):
        board = board.with_stack(cell, board.stack(cell))
    return board
