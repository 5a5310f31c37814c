"""Verified candidates: the moves that the oracle condition lists for the builder.

As in the released code a candidate is a move the engine accepts now and that agrees with the target
at the cell it names. That is weaker than progress: lower layers are not compared while a stack is
too short, and a wrong block under right ones makes the oracle ask for the top to be taken off and,
next turn, to be put back.
"""

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from games.craft.engine.board import CELLS, EMPTY_BOARD, Board, Cell, Span, Stack, is_large
from games.craft.engine.rules import Move, accepts

DEFAULT_SAMPLE: Final = 5
"""Candidates listed per turn in the published runs."""


@lru_cache(maxsize=8192)  # boards stay as they are on refused turns, and games of one target begin alike
def candidates(board: Board, target: Board) -> tuple[Move, ...]:
    """Give all candidates in cell order, each large block once. Ghost cells play no part."""
    real = Board(board.stacks, board.spans) if board.ghosts else board
    return tuple(move for move in _proposals(real, target) if _fits(real, move))


def sample(moves: Sequence[Move], n: int, turn: int, structure_idx: int = 0) -> tuple[Move, ...]:
    """Draw the candidates that are listed in a turn (counted from 1).

    Up to ``n`` candidates keep their order; of more, ``n`` are drawn without replacement by
    ``random.Random(structure_idx * 1000 + turn)`` and keep the drawing's order. Published logs
    always have ``structure_idx`` 0.
    """
    if len(moves) <= n:
        return tuple(moves)
    return tuple(random.Random(structure_idx * 1000 + turn).sample(moves, n))


def _fits(board: Board, move: Move) -> bool:
    return _fits_there(move, board.stack(move.position), board.stack(move.span_to or ""), board.layer_spans(move.layer))


@lru_cache(maxsize=65536)  # what is elsewhere does not matter, and there are few stacks
def _fits_there(move: Move, stack: Stack, partner_stack: Stack, spans: tuple[Span, ...]) -> bool:
    """Tell whether the engine would carry a move out on any board with these stacks in its cells and these spans on its layer."""
    board = EMPTY_BOARD.with_layer_spans(move.layer, spans).with_stack(move.position, stack)
    return accepts(board if move.span_to is None else board.with_stack(move.span_to, partner_stack), move)


def _proposals(board: Board, target: Board) -> Iterator[Move]:
    listed: set[frozenset[Cell]] = set()
    for cell, stack, wanted in zip(CELLS, board.stacks, target.stacks, strict=True):
        move = _proposal(board, target, cell, stack, wanted)
        if move is None:
            continue
        if move.span_to is not None:
            pair = frozenset((cell, move.span_to))
            if pair in listed:
                continue
            listed.add(pair)
        yield move


def _proposal(board: Board, target: Board, cell: Cell, stack: Stack, wanted: Stack) -> Move | None:
    if len(stack) < len(wanted):
        layer = len(stack)
        return _move("place", wanted[layer], cell, layer, owner=target)
    if stack == wanted:
        return None
    layer = len(stack) - 1
    return _move("remove", stack[layer], cell, layer, owner=board)


def _move(action: str, block: str, cell: Cell, layer: int, *, owner: Board) -> Move | None:
    if not is_large(block):
        return _known(action, block, cell, layer, None)
    partner = owner.partner(cell, layer)
    return None if partner is None else _known(action, block, cell, layer, partner)


_known: Final = lru_cache(maxsize=65536)(Move)
