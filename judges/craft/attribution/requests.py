"""What directors asked for in a turn, held against what each of them could see.

A director sees its own wall of the target and all three walls of the board. Of a domino that lies half on another wall it sees a small
block in both. So a request is *wrong* only if the author's own view of the target, or the board, contradicts it; it may be right by the
view and still miss the target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from games.craft.claims import Request
from games.craft.engine.board import MAX_HEIGHT, WALLS, Board, Cell, Director, is_large
from games.craft.engine.rules import Move, accepts
from judges.claims.reading import Open
from judges.craft.checks.prepared import PreparedGame, PreparedTurn, Speech, ViewedBlock
from judges.craft.language.typed import Detail

_DOMINO: Final = 2


@dataclass(frozen=True, slots=True)
class Instruction:
    """A request with what its author could see."""

    author: Director
    seq: int
    request: Request
    wrong: str
    """Why the author's own view or the board contradicts it; empty if they do not."""

    missing: tuple[str, ...]
    """What a builder would have to guess."""

    move: Move | None
    """What a fair builder makes of it; None while something is missing."""

    @property
    def is_good(self) -> bool:
        """Clear, and right by the author's view."""
        return not self.wrong and not self.missing


def asked_in(speech: Speech) -> tuple[Request, ...] | Open:
    """What a message asks for; open if it may ask for more than was read, or give more of it."""
    details = speech.reading.whole(Detail)
    asked = details if isinstance(details, Open) else speech.reading.whole(Request)
    hidden = None if isinstance(asked, Open) else next((request for request in asked if request.place_open), None)
    return asked if hidden is None else Open(f'"{hidden.words}": which place is meant by another block is not clear')


def instructions_of(game: PreparedGame, prepared: PreparedTurn) -> list[Instruction]:
    """All requests of those messages of a turn that were understood in every clause: another clause may retract or change a request."""
    return [instruction for speech in prepared.current for instruction in _instructions(game, prepared, speech)]


def _instructions(game: PreparedGame, prepared: PreparedTurn, speech: Speech) -> Iterator[Instruction]:
    asked = asked_in(speech)
    for request in () if isinstance(asked, Open) else asked:
        missing = tuple(_missing(prepared.board, request, speech.agent))
        yield Instruction(
            speech.agent,
            speech.seq,
            request,
            _wrong(game, prepared, speech.agent, request),
            missing,
            _fair(prepared.board, request, missing),
        )


# -- what is left open --------------------------------------------------------------------------------


def _missing(board: Board, request: Request, author: Director) -> Iterator[str]:
    if not request.cells:
        yield "place"
    if request.verb == "remove":
        if len(request.cells) == 1 and _partner_on_wall(board, request.cells[0], author) is not None:
            yield "second cell"
        return
    if request.color is None:
        yield "colour"
    if request.size is None:
        yield "size"
    if request.size == "l" and len(request.cells) == 1:
        yield "second cell"


def _partner_on_wall(board: Board, cell: Cell, director: Director) -> Cell | None:
    """The second cell of the large block on top of a stack; None if it is small, or looks so from this wall."""
    partner = board.partner(cell, board.height(cell) - 1) if board.height(cell) and is_large(board.stack(cell)[-1]) else None
    return partner if partner in WALLS[director] else None


def _fair(board: Board, request: Request, missing: tuple[str, ...]) -> Move | None:
    """The move that a builder makes of a request who fills in nothing but the layer."""
    if missing or request.verb == "replace" or len(request.cells) > (_DOMINO if request.verb == "remove" or request.size == "l" else 1):
        return None
    cell, second = request.cells[0], request.cells[1] if len(request.cells) == _DOMINO else None
    height = board.height(cell)
    if request.verb == "remove":
        return Move("remove", None, cell, height - 1 if request.layer is None else request.layer, second)
    return Move("place", request.block, cell, height if request.layer is None else request.layer, second)


# -- what the author could see ---------------------------------------------------------------------------


def _wrong(game: PreparedGame, prepared: PreparedTurn, author: Director, request: Request) -> str:
    foreign = [cell for cell in request.cells if cell not in WALLS[author]]
    if foreign:
        return "" if _is_in_target(game, prepared.board, request) else f"{', '.join(foreign)} is not on {author}'s wall"
    if not request.cells or not game.has_view(author):
        return ""
    if request.verb == "remove":
        return _wrong_removal(game, prepared, author, request)
    return _wrong_place(game, prepared, author, request)


def _is_in_target(game: PreparedGame, board: Board, request: Request) -> bool:
    """Whether the target has what is to be placed: whoever asks for it has it from another director, or guessed right."""
    if game.target is None or request.verb != "place" or request.color is None:
        return False
    at = [(game.target.stack(cell), board.height(cell) if request.layer is None else request.layer) for cell in request.cells]
    return all(layer < len(stack) and stack[layer].startswith(request.block or request.color) for stack, layer in at)


def _wrong_place(game: PreparedGame, prepared: PreparedTurn, author: Director, request: Request) -> str:
    return next((why for cell in request.cells if (why := _wrong_at(game, prepared.board, author, request, cell))), "")


def _wrong_at(game: PreparedGame, board: Board, author: Director, request: Request, cell: Cell) -> str:
    """Why nothing of the kind belongs there, or could go there, by the author's view and the board; empty if it could."""
    height = board.height(cell)
    next_layer = height - 1 if request.verb == "replace" and height else height
    layer = next_layer if request.layer is None else request.layer
    wanted = game.shown(author, cell, layer) if layer < MAX_HEIGHT else None
    half = request.size == "l" and len(request.cells) == 1
    there = looks_like(board, author, cell, layer)
    right = there == wanted
    replaces = request.verb == "replace"
    reasons = (
        (layer >= MAX_HEIGHT, f"the stack at {cell} is full"),
        (wanted is None, f"{author}'s view has nothing at {cell} layer {layer}"),
        (
            request.verb == "place" and layer < height,
            f"the stack at {cell} is {height} high{', and what is there looks right' if right else ''}",
        ),
        (replaces and layer < height - 1, f"another block is on layer {layer} of {cell}"),
        (
            replaces and there is not None and request.old_color not in (None, there[0]),
            f"{_name(there)} is at {cell} layer {layer}",
        ),
        (
            wanted is not None and (request.color not in (None, wanted[0]) or (request.size not in (None, wanted[1]) and not half)),
            f"{author}'s view has {_name(wanted)} at {cell} layer {layer}",
        ),
        (replaces and right, f"what is at {cell} looks right in {author}'s view"),
        (request.verb == "place" and layer > height, f"the stack at {cell} is {height} high: layer {layer} has nothing to stand on"),
    )
    return next((why for is_so, why in reasons if is_so), "")


def _wrong_removal(game: PreparedGame, prepared: PreparedTurn, author: Director, request: Request) -> str:
    for cell in request.cells:
        height = prepared.board.height(cell)
        layer = height - 1 if request.layer is None else request.layer
        if not height:
            return f"nothing is at {cell}"
        if layer >= height:
            return f"the stack at {cell} is {height} high"
        if layer < height - 1:
            return f"another block is on layer {layer} of {cell}"
        if all(looks_like(prepared.board, author, cell, below) == game.shown(author, cell, below) for below in range(height)):
            return f"what is at {cell} looks right in {author}'s view"
    return ""


def looks_like(board: Board, director: Director, cell: Cell, layer: int) -> ViewedBlock | None:
    """The block of the board as a director's wall shows it: large only if both halves are on that wall."""
    stack = board.stack(cell)
    if layer >= len(stack):
        return None
    whole = is_large(stack[layer]) and board.partner(cell, layer) in WALLS[director]
    return stack[layer][0], "l" if whole else "s"


def _name(block: ViewedBlock | None) -> str:
    return "".join(block or ("nothing",))


def entailed(game: PreparedGame, prepared: PreparedTurn, director: Director) -> Iterator[Move]:
    """What a director's view asks for and the engine would carry out now: blocks that are missing, then tops that do not belong there.

    A block is missing where the stack under it looks right in colour; its size is the one it looks.
    """
    if game.has_view(director):
        yield from (move for move in _missing_blocks(game, prepared.board, director) if accepts(prepared.board, move))
        yield from (move for move in _wrong_tops(game, prepared.board, director) if accepts(prepared.board, move))


def _missing_blocks(game: PreparedGame, board: Board, director: Director) -> Iterator[Move]:
    for cell in WALLS[director]:
        layer = board.height(cell)
        wanted = game.shown(director, cell, layer) if layer < MAX_HEIGHT else None
        if wanted is None or not all(_same_color(game, board, director, cell, below) for below in range(layer)):
            continue
        code = wanted[0] + wanted[1]
        if wanted[1] == "s":
            yield Move("place", code, cell, layer)
        else:
            yield from (
                Move("place", code, cell, layer, second)
                for second in WALLS[director]
                if second != cell and game.shown(director, second, layer) == wanted
            )


def _wrong_tops(game: PreparedGame, board: Board, director: Director) -> Iterator[Move]:
    for cell in WALLS[director]:
        layer = board.height(cell) - 1
        if layer >= 0 and looks_like(board, director, cell, layer) != game.shown(director, cell, layer):
            yield Move("remove", None, cell, layer, _partner_on_wall(board, cell, director))


def _same_color(game: PreparedGame, board: Board, director: Director, cell: Cell, layer: int) -> bool:
    stands, wanted = looks_like(board, director, cell, layer), game.shown(director, cell, layer)
    return stands is not None and wanted is not None and stands[0] == wanted[0]
