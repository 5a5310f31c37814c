"""The checks a move has to pass, in the order of the released engine.

Every check is a function that gives the fields of its message if the move fails. Checks read the tidied
coordinate: ``(0, 1)`` becomes ``(0,1)``. Nothing compares a placed block with the target, and support is
implied: the layer must equal the height of the stack.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from games.craft.engine.blocks import BLOCKS, CELL_INDEX, HIDDEN_CELLS, MAX_HEIGHT, NEIGHBORS, is_large
from games.craft.engine.board import Board
from games.craft.engine.errors import MESSAGES, ErrorCode, MoveError
from games.craft.engine.move import Move

_Fields = Mapping[str, object]
_Check = tuple[ErrorCode, Callable[[Board, Move], _Fields | None]]
"""A code, and a function that gives the fields of its message if the move fails the check."""

_COORDINATE: Final = re.compile(r"\(\d,\d\)")
"""Matched at the start only: the released engine lets text after the bracket pass."""

_DIGIT: Final = re.compile(r"\d")
_ACTIONS: Final = ("place", "remove")
_AXES: Final = 2
"""Numbers in a coordinate."""


def examine(board: Board, move: Move) -> tuple[Move, MoveError | None]:
    """Check a move; give it with tidied coordinates, and the first rule it breaks."""
    if move.position in CELL_INDEX and move.action in _ACTIONS:  # passes all checks of the coordinate, and needs no tidying
        return _examine_place(board, move) if move.action == "place" else _examine_remove(board, move)
    error = _first_failure(_WRITTEN_CHECKS, board, move)
    if error is not None:
        return move, error
    tidied = _tidied(move, position=_tidy_cell(move.position))
    error = _first_failure(_POSITION_CHECKS, board, tidied)
    if error is not None:
        return tidied, error
    return _examine_place(board, tidied) if move.action == "place" else _examine_remove(board, tidied)


def _first_failure(checks: tuple[_Check, ...], board: Board, move: Move) -> MoveError | None:
    for code, failing_fields in checks:
        fields = failing_fields(board, move)
        if fields is not None:
            return MoveError(code, MESSAGES[code].format_map(fields))
    return None


# -- coordinates ---------------------------------------------------------------------------------


def _parts(text: str) -> list[str]:
    return text.strip("()").replace(" ", "").split(",")


def _tidy_cell(text: str) -> str:
    if text in CELL_INDEX or "(" not in text:
        return text
    return _tidy_pair(text)


def _tidy_pair(text: str) -> str:
    parts = _parts(text)
    return f"({parts[0]},{parts[1]})" if len(parts) == _AXES else text


def _tidied(move: Move, *, position: str) -> Move:
    return move if position == move.position else replace(move, position=position)


def _missing(_: Board, move: Move) -> _Fields | None:
    if move.action and move.position:
        return None
    return {"action": move.action, "position": move.position}


def _bad_coordinate(_: Board, move: Move) -> _Fields | None:
    if move.position in CELL_INDEX or "(" not in move.position:
        return None
    parts = _parts(move.position)
    return None if len(parts) == _AXES else {"parts": parts}


def _invalid_position(_: Board, move: Move) -> _Fields | None:
    return None if _COORDINATE.match(move.position) else {"position": move.position}


def _unreadable_digits(_: Board, move: Move) -> _Fields | None:
    if move.position in CELL_INDEX or len(_DIGIT.findall(move.position)) == _AXES:
        return None
    return {"reason": "too many values to unpack (expected 2)"}


def _out_of_bounds(_: Board, move: Move) -> _Fields | None:
    if move.position in CELL_INDEX:
        return None
    row, column = map(int, _DIGIT.findall(move.position))
    return None if f"({row},{column})" in CELL_INDEX else {"row": row, "column": column}


def _unknown_action(_: Board, move: Move) -> _Fields | None:
    return None if move.action in _ACTIONS else {"action": move.action}


_WRITTEN_CHECKS: Final[tuple[_Check, ...]] = (("C1", _missing), ("C2", _bad_coordinate))
_POSITION_CHECKS: Final[tuple[_Check, ...]] = (
    ("C3", _invalid_position),
    ("C5", _unreadable_digits),
    ("C4", _out_of_bounds),
    ("A1", _unknown_action),
)


# -- place ---------------------------------------------------------------------------------------


def _unknown_block(_: Board, move: Move) -> _Fields | None:
    return None if move.block in BLOCKS else {"block": move.block}


def _wrong_layer(board: Board, move: Move) -> _Fields | None:
    height = board.height(move.position)
    if move.layer == height:
        return None
    return {"position": move.position, "layer": move.layer, "height": height}


def _full(board: Board, move: Move) -> _Fields | None:
    return {"position": move.position} if board.height(move.position) >= MAX_HEIGHT else None


def _spans_itself(_: Board, move: Move) -> _Fields | None:
    return {"position": move.position} if move.span_to == move.position else None


def _no_span(_: Board, move: Move) -> _Fields | None:
    return None if move.span_to else {"block": move.block}


def _hidden_span(_: Board, move: Move) -> _Fields | None:
    if move.position not in HIDDEN_CELLS and move.span_to not in HIDDEN_CELLS:
        return None
    hidden = "{" + ", ".join(map(repr, HIDDEN_CELLS)) + "}"
    return {"position": move.position, "span_to": move.span_to, "hidden": hidden}


def _invalid_span(_: Board, move: Move) -> _Fields | None:
    return None if _COORDINATE.match(_span_to(move)) else {"span_to": move.span_to}


def _not_adjacent(_: Board, move: Move) -> _Fields | None:
    neighbors = NEIGHBORS.get(move.position, ())
    if move.span_to in neighbors:
        return None
    return {"span_to": move.span_to, "position": move.position, "neighbors": list(neighbors)}


def _uneven(board: Board, move: Move) -> _Fields | None:
    height, partner_height = board.height(move.position), board.height(_span_to(move))
    if height == partner_height:
        return None
    return {
        "span_to": move.span_to,
        "partner_height": partner_height,
        "position": move.position,
        "height": height,
    }


def _partner_full(board: Board, move: Move) -> _Fields | None:
    return {"span_to": move.span_to} if board.height(_span_to(move)) >= MAX_HEIGHT else None


def _span_taken(board: Board, move: Move) -> _Fields | None:
    cells = {move.position, move.span_to}
    if not any(cells.intersection(span) for span in board.layer_spans(move.layer)):
        return None
    return {"position": move.position, "span_to": move.span_to, "layer": move.layer}


_PLACE_CHECKS: Final[tuple[_Check, ...]] = (
    ("P1", _unknown_block),
    ("P2", _wrong_layer),
    ("P3", _full),
)
_SPAN_NAMED_CHECKS: Final[tuple[_Check, ...]] = (("L1", _spans_itself), ("L2", _no_span))
_SPAN_FITS_CHECKS: Final[tuple[_Check, ...]] = (
    ("L3", _hidden_span),
    ("L4", _invalid_span),
    ("L5", _not_adjacent),
    ("L6", _uneven),
    ("L7", _partner_full),
    ("L8", _span_taken),
)


def _examine_place(board: Board, move: Move) -> tuple[Move, MoveError | None]:
    error = _first_failure(_PLACE_CHECKS, board, move)
    if error is not None or not is_large(_block(move)):
        return move, error
    error = _first_failure(_SPAN_NAMED_CHECKS, board, move)
    if error is not None:
        return move, error
    tidied = _with_span(move, _tidy_cell(_span_to(move)))
    return tidied, _first_failure(_SPAN_FITS_CHECKS, board, tidied)


# -- remove --------------------------------------------------------------------------------------


def _nothing_there(board: Board, move: Move) -> _Fields | None:
    return None if board.height(move.position) else {"position": move.position}


def _not_the_top(board: Board, move: Move) -> _Fields | None:
    top = board.height(move.position) - 1
    if move.layer == top:
        return None
    return {"layer": move.layer, "position": move.position, "top": top}


def _unrecorded(board: Board, move: Move) -> _Fields | None:
    if board.partner(move.position, move.layer) is not None:
        return None
    return {"position": move.position, "layer": move.layer}


def _half_named(board: Board, move: Move) -> _Fields | None:
    if move.span_to:
        return None
    partner = board.partner(move.position, move.layer)
    return {"position": move.position, "layer": move.layer, "partner": partner}


def _other_half(board: Board, move: Move) -> _Fields | None:
    partner = board.partner(move.position, move.layer)
    if move.span_to == partner:
        return None
    return {
        "position": move.position,
        "layer": move.layer,
        "span_to": move.span_to,
        "partner": partner,
    }


_REMOVE_CHECKS: Final[tuple[_Check, ...]] = (("R1", _nothing_there), ("R2", _not_the_top))
_PARTNER_NAMED_CHECKS: Final[tuple[_Check, ...]] = (("R3", _unrecorded), ("R4", _half_named))
_PARTNER_CHECKS: Final[tuple[_Check, ...]] = (("R5", _other_half),)


def _examine_remove(board: Board, move: Move) -> tuple[Move, MoveError | None]:
    error = _first_failure(_REMOVE_CHECKS, board, move)
    if error is not None or not is_large(board.stack(move.position)[-1]):
        return move, error
    error = _first_failure(_PARTNER_NAMED_CHECKS, board, move)
    if error is not None:
        return move, error
    tidied = _with_span(move, _tidy_pair(_span_to(move)))
    return tidied, _first_failure(_PARTNER_CHECKS, board, tidied)


# -- fields that earlier checks have made sure of -------------------------------------------------


def _block(move: Move) -> str:
    return move.block or ""


def _span_to(move: Move) -> str:
    return move.span_to or ""


def _with_span(move: Move, span_to: str) -> Move:
    return move if span_to == move.span_to else replace(move, span_to=span_to)
