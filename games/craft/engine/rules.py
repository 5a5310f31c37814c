"""Checks, execution and candidates of moves as the released engine has them.

Checks come in the order of the released engine. They read the tidied coordinate: ``(0, 1)`` becomes ``(0,1)``; the board is changed under
the text as the builder wrote it (``board`` explains the ghost cells that result). Nothing compares a placed block with the target, and
support is implied: the layer must equal the height of the stack.

Texts of error messages are those of the released engine, because logs hold nothing else. Codes are ours and stable: C coordinates, P place,
L large block, R remove, X execution, A action.

Candidates of the oracle condition are moves that the engine accepts now and that agree with the target at the cell they name. That is
weaker than progress: lower layers are not compared while a stack is too short, and a wrong block under right ones makes the oracle ask for
the top to be taken off and, next turn, to be put back.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from games.craft.engine import board as boards
from schemas.common.packages import packaged_yaml


class Move(Struct, frozen=True, cache_hash=True):
    """One PLACE or REMOVE, as the builder wrote it or as the engine tidied it."""

    action: str
    """``place`` or ``remove``; logs of other engines could hold anything."""
    block: str | None
    """Block code. None for a removal whose block was not (or could not be) looked up."""
    position: str
    """Cell, ``"(i,j)"``; any text in moves that were rejected or that made ghost cells."""
    layer: int
    """Layer from 0 (bottom)."""
    span_to: str | None = None
    """Second cell of a large block; any text of the builder is stored."""

    @classmethod
    def from_log(cls, move: Mapping[str, Any]) -> Move:
        """Read ``builder_move_raw``, ``move_attempted`` or an entry of ``oracle_moves``.

        Raises:
            KeyError: action, position or layer is missing.
            TypeError: one of them, the block or the second cell has a type that no log writes.
        """
        fields = move["action"], move.get("block"), move["position"], move["layer"], move.get("span_to")
        match fields:
            case [str(), str() | None, str(), int(), str() | None]:
                return cls(*fields)
        raise TypeError(f"{dict(move)!r} is no move: action and position are texts, layer is an integer, block and span_to texts or null")

    def to_log(self) -> dict[str, Any]:
        """Give the dictionary logs hold; ``block`` is left out where it is unknown."""
        log: dict[str, Any] = {"action": self.action}
        if self.block is not None:
            log["block"] = self.block
        return log | {"position": self.position, "layer": self.layer, "span_to": self.span_to}

    def covered(self) -> frozenset[boards.Cell]:
        """Give the cells the block covers: one, or two of a large block whose second cell is named."""
        if self.span_to is None or not boards.is_large(self.block or ""):
            return frozenset((self.position,))
        return frozenset((self.position, self.span_to))


ErrorCode = Literal[
    "C1", "C2", "C3", "C4", "C5", "A1",
    "P1", "P2", "P3",
    "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8",
    "R1", "R2", "R3", "R4", "R5",
    "X1", "X2",
]  # fmt: skip

ERROR_CODES: Final[tuple[ErrorCode, ...]] = get_args(ErrorCode)

ErrorCategory = Literal["layer", "span", "other"]

MESSAGES: Final[dict[ErrorCode, str]] = packaged_yaml(__package__, "messages.yaml")
"""Message templates. X2 (an exception inside the released engine) occurs only in foreign logs."""


@dataclass(frozen=True, slots=True)
class MoveError:
    """Why the engine refused a move."""

    code: ErrorCode
    message: str

    @property
    def category(self) -> ErrorCategory:
        """What the published taxonomy files the message under."""
        return category_of(self.message)


def category_of(message: str) -> ErrorCategory:
    """File a message by substring, ``layer`` before ``span``, as the published taxonomy does."""
    lowered = message.lower()
    if "layer" in lowered:
        return "layer"
    return "span" if "span" in lowered else "other"


_FIELD = re.compile(r"\\{\w+\\}")
_PATTERNS: Final = tuple((code, re.compile(_FIELD.sub("(?:.*)", re.escape(template)), re.DOTALL)) for code, template in MESSAGES.items())


@lru_cache(maxsize=4096)
def code_of(message: str) -> ErrorCode | None:
    """Recognise a logged message; None if no message of the engine reads like it."""
    return next((code for code, pattern in _PATTERNS if pattern.fullmatch(message)), None)


_HIDDEN_SET, _HIDDEN_SET_REVERSED = (f"{{{first!r}, {second!r}}}" for first, second in (boards.HIDDEN_CELLS, boards.HIDDEN_CELLS[::-1]))


def same_message(first: str, second: str) -> bool:
    """Compare two messages; the printed set of hidden cells may be in either order."""
    first, second = (message.replace(_HIDDEN_SET_REVERSED, _HIDDEN_SET) for message in (first, second))
    return first == second


_COORDINATE: Final = re.compile(r"\(\d,\d\)")
"""Matched at the start only: the released engine lets text after the bracket pass."""

_DIGIT: Final = re.compile(r"\d")
_AXES: Final = 2
"""Numbers in a coordinate."""


def examine(board: boards.Board, move: Move) -> tuple[Move, MoveError | None]:
    """Check a move; give it with tidied coordinates, and the first rule it breaks."""
    if move.position not in boards.CELL_INDEX or move.action not in ("place", "remove"):
        if not move.action or not move.position:
            return move, _error("C1", move)
        parts = _parts(move.position)
        if "(" in move.position and len(parts) != _AXES:
            return move, _error("C2", move, parts=parts)
        move = _tidied(move, position=_tidy_cell(move.position))
        error = _position_error(move)
        if error is not None:
            return move, error
    return _examine_place(board, move) if move.action == "place" else _examine_remove(board, move)


def _error(code: ErrorCode, move: Move, **fields: object) -> MoveError:
    facts = {"action": move.action, "block": move.block, "position": move.position, "layer": move.layer, "span_to": move.span_to}
    return MoveError(code, MESSAGES[code].format_map(facts | fields))


def _parts(text: str) -> list[str]:
    return text.strip("()").replace(" ", "").split(",")


def _tidy_cell(text: str) -> str:
    return text if text in boards.CELL_INDEX or "(" not in text else _tidy_pair(text)


def _tidy_pair(text: str) -> str:
    parts = _parts(text)
    return f"({parts[0]},{parts[1]})" if len(parts) == _AXES else text


def _tidied(move: Move, **changed: str) -> Move:
    return move if all(getattr(move, name) == text for name, text in changed.items()) else replace(move, **changed)


def _position_error(move: Move) -> MoveError | None:
    """What is wrong with a tidied coordinate, or with the action."""
    if not _COORDINATE.match(move.position):
        return _error("C3", move)
    if move.position not in boards.CELL_INDEX:
        digits = [int(digit) for digit in _DIGIT.findall(move.position)]
        if len(digits) != _AXES:
            return _error("C5", move, reason="too many values to unpack (expected 2)")
        if f"({digits[0]},{digits[1]})" not in boards.CELL_INDEX:
            return _error("C4", move, row=digits[0], column=digits[1])
    return None if move.action in ("place", "remove") else _error("A1", move)


def _examine_place(board: boards.Board, move: Move) -> tuple[Move, MoveError | None]:
    height, large = board.height(move.position), boards.is_large(move.block or "")
    checks: tuple[tuple[ErrorCode, bool], ...] = (
        ("P1", move.block not in boards.BLOCKS),
        ("P2", move.layer != height),
        ("P3", height >= boards.MAX_HEIGHT),
        ("L1", large and move.span_to == move.position),
        ("L2", large and not move.span_to),
    )
    code = next((code for code, fails in checks if fails), None)
    if code is not None or not large:
        return move, None if code is None else _error(code, move, height=height)
    span_to = _tidy_cell(move.span_to or "")
    tidied = _tidied(move, span_to=span_to)
    return tidied, _span_error(board, tidied, span_to, height)


def _span_error(board: boards.Board, move: Move, span_to: str, height: int) -> MoveError | None:
    """Why a large block cannot lie over these two cells."""
    neighbors, partner_height = boards.NEIGHBORS.get(move.position, ()), board.height(span_to)
    checks: tuple[tuple[ErrorCode, bool], ...] = (
        ("L3", move.position in boards.HIDDEN_CELLS or span_to in boards.HIDDEN_CELLS),
        ("L4", not _COORDINATE.match(span_to)),
        ("L5", span_to not in neighbors),
        ("L6", height != partner_height),
        ("L7", partner_height >= boards.MAX_HEIGHT),
        ("L8", any({move.position, span_to}.intersection(span) for span in board.layer_spans(move.layer))),
    )
    code = next((code for code, fails in checks if fails), None)
    hidden = "{" + ", ".join(map(repr, boards.HIDDEN_CELLS)) + "}"
    facts = {"hidden": hidden, "neighbors": list(neighbors), "height": height, "partner_height": partner_height}
    return None if code is None else _error(code, move, **facts)


def _examine_remove(board: boards.Board, move: Move) -> tuple[Move, MoveError | None]:
    stack = board.stack(move.position)
    if not stack:
        return move, _error("R1", move)
    if move.layer != len(stack) - 1:
        return move, _error("R2", move, top=len(stack) - 1)
    if not boards.is_large(stack[-1]):
        return move, None
    partner = board.partner(move.position, move.layer)
    if partner is None:
        return move, _error("R3", move)
    if not move.span_to:
        return move, _error("R4", move, partner=partner)
    tidied = _tidied(move, span_to=_tidy_pair(move.span_to))
    return tidied, None if tidied.span_to == partner else _error("R5", tidied, partner=partner)


class Outcome(Struct, frozen=True):
    """What a move did to a board."""

    board: boards.Board
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


def execute(board: boards.Board, move: Move) -> Outcome:
    """Check a move and carry it out; one that breaks no rule can still fail when it is carried out (X1)."""
    stack = board.stack(move.position)
    # a removal names whatever is on top
    named = move if move.action != "remove" or not stack or move.block == stack[-1] else replace(move, block=stack[-1])
    tidied, error = examine(board, named)
    if error is not None:
        return Outcome(board, tidied, move.position, error)
    if not _carries(board, named):
        return Outcome(_with_named_cells(board, named), tidied, move.position, MoveError("X1", MESSAGES["X1"]))
    changed = _place(board, named) if named.action == "place" else _remove(board, named)
    return Outcome(changed, tidied, move.position, None)


def accepts(board: boards.Board, move: Move) -> bool:
    """Tell whether ``execute`` would carry a move out, without making the board."""
    return examine(board, move)[1] is None and _carries(board, move)


def _place(board: boards.Board, move: Move) -> boards.Board:
    block, cell = move.block or "", move.position
    stack = board.stack(cell)
    if not boards.is_large(block):
        return board.with_stack(cell, (*stack, block))
    span_to = move.span_to or ""
    placed = board.with_stack(cell, (*stack, block)).with_stack(span_to, (*board.stack(span_to), block))
    return placed.with_layer_spans(move.layer, (*board.layer_spans(move.layer), (cell, span_to)))


def _remove(board: boards.Board, move: Move) -> boards.Board:
    stack = board.stack(move.position)
    removed = board.with_stack(move.position, stack[:-1])
    if not boards.is_large(stack[-1]):
        return removed
    span_to = move.span_to or ""
    pair = {move.position, span_to}
    spans = tuple(span for span in board.layer_spans(move.layer) if set(span) != pair)
    return removed.with_stack(span_to, board.stack(span_to)[:-1]).with_layer_spans(move.layer, spans)


def _carries(board: boards.Board, move: Move) -> bool:
    """Tell whether a move that passed the checks can be carried out (else X1).

    Looks at the stacks under the names as written: a ghost cell is another cell, and a half may be covered.
    """
    stack = board.stack(move.position)
    if move.action == "place":
        return not boards.is_large(move.block or "") or len(stack) == board.height(move.span_to or "")
    if not stack or move.layer != len(stack) - 1:
        return False
    partner_stack = board.stack(move.span_to or "") if boards.is_large(stack[-1]) else stack
    return len(partner_stack) == len(stack) and partner_stack[-1] == stack[-1]


def _with_named_cells(board: boards.Board, move: Move) -> boards.Board:
    """A large block that could not be placed leaves its two names behind, as empty ghost cells."""
    if move.action != "place":
        return board
    for cell in (move.position, move.span_to or ""):
        board = board.with_stack(cell, board.stack(cell))
    return board


@dataclass(frozen=True, slots=True)
class Flags:
    """What an accepted move did for the target, by the released engine's tests."""

    correct_structure_placement: bool
    """Placed: the target has this block there. Removed: it has not. Only ``position`` counts."""
    correct_side_placement: bool
    """The same, seen by a director; always False on cells that no director sees."""
    overall_structure_correctness: bool
    """Every block on the board equals the target's at its cell and layer; true for an empty board."""


def placement_flags(outcome: Outcome, target: boards.Board) -> Flags:
    """Judge an accepted move. The block is the one placed or removed."""
    move = outcome.move
    index = boards.CELL_INDEX.get(outcome.named_cell)
    stack: boards.Stack = () if index is None else target.stacks[index]
    wanted = move.layer < len(stack) and stack[move.layer] == move.block
    right = wanted if move.action == "place" else not wanted
    seen = bool(boards.SEEN_BY.get(outcome.named_cell))
    return Flags(right, right and seen, overall_structure_correctness(outcome.board, target))


def overall_structure_correctness(board: boards.Board, target: boards.Board) -> bool:
    """Tell whether every stack is the lower part of the target's; missing blocks do not matter."""
    return not any(stack for _, stack in board.ghosts) and all(
        stack == wanted[: len(stack)] for stack, wanted in zip(board.stacks, target.stacks, strict=True)
    )


DEFAULT_SAMPLE: Final = 5
"""Candidates listed per turn in the published runs."""


@lru_cache(maxsize=8192)  # boards stay as they are on refused turns, and games of one target begin alike
def candidates(board: boards.Board, target: boards.Board) -> tuple[Move, ...]:
    """Give all candidates in cell order, each large block once. Ghost cells play no part."""
    real = boards.Board(board.stacks, board.spans) if board.ghosts else board
    return tuple(
        move
        for move in _proposals(real, target)
        if _fits(move, real.stack(move.position), real.stack(move.span_to or ""), real.layer_spans(move.layer))
    )


def sample(moves: Sequence[Move], n: int, turn: int, structure_idx: int = 0) -> tuple[Move, ...]:
    """Draw the candidates that are listed in a turn (counted from 1).

    Up to ``n`` candidates keep their order; of more, ``n`` are drawn without replacement by
    ``random.Random(structure_idx * 1000 + turn)`` and keep the drawing's order. Published logs
    always have ``structure_idx`` 0.
    """
    if len(moves) <= n:
        return tuple(moves)
    return tuple(random.Random(structure_idx * 1000 + turn).sample(moves, n))


@lru_cache(maxsize=65536)  # what is elsewhere does not matter, and there are few stacks
def _fits(move: Move, stack: boards.Stack, partner_stack: boards.Stack, spans: tuple[boards.Span, ...]) -> bool:
    """Tell whether the engine would carry a move out on any board with these stacks in its cells and these spans on its layer."""
    board = boards.EMPTY_BOARD.with_layer_spans(move.layer, spans).with_stack(move.position, stack)
    return accepts(board if move.span_to is None else board.with_stack(move.span_to, partner_stack), move)


def _proposals(board: boards.Board, target: boards.Board) -> Iterator[Move]:
    listed: set[frozenset[boards.Cell]] = set()
    for cell, stack, wanted in zip(boards.CELLS, board.stacks, target.stacks, strict=True):
        if stack == wanted:
            continue
        adds = len(stack) < len(wanted)
        layer = len(stack) if adds else len(stack) - 1
        block, owner = (wanted[layer], target) if adds else (stack[layer], board)
        partner = owner.partner(cell, layer) if boards.is_large(block) else None
        pair = frozenset((cell, partner or cell))
        if (boards.is_large(block) and partner is None) or (partner is not None and pair in listed):
            continue
        listed.add(pair)
        yield _known("place" if adds else "remove", block, cell, layer, partner)


_known: Final = lru_cache(maxsize=65536)(Move)
