"""Scripts that know no more than their observation: a director who asks for the next block in plain words, a builder who reads them.

They play with models (`script:plain`), and replace a model behind a stub server: what they need, a prompt must hold.
"""

import json
import re
from collections.abc import Sequence
from typing import Final

from games.craft.engine.board import COLORS, DIRECTORS, MAX_HEIGHT, NEIGHBORS, WALLS, Board, Cell, Director, View, is_large
from games.craft.engine.rules import Move
from games.craft.text.prompts import BuilderObservation, DirectorObservation
from games.craft.text.replies import CALL, Clarification, builder_line, director_text, parse_answer

FINISHED: Final = "My wall is finished."
"""The message of a director who has nothing to request."""

QUESTION: Final = "Which block shall I move, and where?"
"""The question of a builder who received no request."""

_COLUMNS: Final = ("left", "middle", "right")
_LAYERS: Final = ("bottom", "middle", "top")
_CODES: Final = {name: code for code, name in COLORS.items()}
_REQUEST: Final = re.compile(
    r"(?P<who>D[123]): Please (?P<verb>put|take) (?:a|the) (?P<size>small|large) (?P<color>\w+) block "
    r"(?:on|off) my (?P<first>left|middle|right)(?: and (?P<second>left|middle|right))? cell, (?P<layer>bottom|middle|top) layer\."
)


def director(seen: DirectorObservation) -> str:
    """Ask for the lowest place of the own wall that is not as the target, left before right."""
    board, target = seen.board_views[seen.director], seen.target_view
    for layer in range(MAX_HEIGHT):
        for column in range(len(_COLUMNS)):
            has, wants = board[layer][column], target[layer][column]
            if has.color == wants.color:
                continue
            verb, block = ("take", has) if has.color != "none" else ("put", wants)
            other = _second(board if verb == "take" else target, layer, column) if block.size > 1 else None
            columns = (column,) if other is None else (column, other)
            request = _request(verb, block.color, columns, layer)
            return director_text(f"Layer {layer}, {_COLUMNS[column]}: {has.color} stands, {wants.color} is wanted.", request)
    return director_text("My wall is as it should be.", FINISHED)


def _request(verb: str, color: str, columns: Sequence[int], layer: int) -> str:
    size = "small" if len(columns) == 1 else "large"
    article, way = ("a", "on") if verb == "put" else ("the", "off")
    where = " and ".join(_COLUMNS[column] for column in columns)
    return f"Please {verb} {article} {size} {color} block {way} my {where} cell, {_LAYERS[layer]} layer."


def asking_for(move: Move | None, director: Director, board: Board) -> str | None:
    """A director's plain words for a move on its wall, or for waiting (no move); None: its wall has no words for it."""
    if move is None:
        return FINISHED
    cells = [cell for cell in (move.position, move.span_to) if cell is not None]
    stack = board.stack(move.position) if move.position in WALLS[director] else ()
    block = move.block or (stack[-1] if stack else None)
    if block is None or not set(cells) <= set(WALLS[director]):
        return None
    columns = [WALLS[director].index(cell) for cell in cells]
    return _request("put" if move.action == "place" else "take", COLORS[block[0]], columns, move.layer)


def builder(seen: BuilderObservation) -> str:
    """Carry out the first request that is one of the listed moves, else the first that can be read, else ask."""
    requests = [(found["who"], move) for found in _REQUEST.finditer(seen.discussion) if (move := _move(found, seen)) is not None]
    if not requests:
        return f"CLARIFY:{QUESTION}"
    fits = [(who, move) for who, move in requests if any(_same(move, listed) for listed in seen.listed)]
    who, move = (fits or requests)[0]
    return builder_line(move, f"As {who} asks")


def simulating_builder(seen: BuilderObservation) -> str:
    """Try the plain builder's move first; ask if it fails or brings the structure no nearer."""
    line = builder(seen)
    answer = parse_answer(line)
    if isinstance(answer, Clarification):
        return line
    if not seen.simulated:
        return f"{CALL} {json.dumps(answer.move.to_log())}"
    found = json.loads(seen.simulated[-1])
    return (
        line
        if found["ok"] and found["correctness"]["structurePlacement"]
        else "CLARIFY:The move that I tried does not fit; what else is missing?"
    )


def _second(view: View, layer: int, column: int) -> int | None:
    color = view[layer][column].color
    adjacent = (other for other in (column + 1, column - 1) if 0 <= other < len(_COLUMNS))
    return next((other for other in adjacent if view[layer][other].color == color and view[layer][other].size > 1), None)


def _move(found: re.Match[str], seen: BuilderObservation) -> Move | None:
    speaker: Director = next(name for name in DIRECTORS if name == found["who"])
    color = _CODES.get(found["color"])
    cell = WALLS[speaker][_COLUMNS.index(found["first"])]
    span = WALLS[speaker][_COLUMNS.index(found["second"])] if found["second"] else None
    if color is None:
        return None
    if found["verb"] == "put":
        return Move("place", color + found["size"][0], cell, seen.board.height(cell), span)
    return Move("remove", None, cell, max(seen.board.height(cell) - 1, 0), span or _partner(seen, cell))


def _partner(seen: BuilderObservation, cell: Cell) -> Cell | None:
    """The other half of a large block, as far as stacks tell: a neighbour with the same code at the same layer."""
    stack = seen.board.stack(cell)
    if not stack or not is_large(stack[-1]):
        return None
    layer = len(stack) - 1
    return next((adjacent for adjacent in NEIGHBORS[cell] if seen.board.stack(adjacent)[layer : layer + 1] == stack[-1:]), None)


def _same(move: Move, listed: Move) -> bool:
    if move.action != listed.action or {move.position, move.span_to} != {listed.position, listed.span_to}:
        return False
    return move.action == "remove" or move.block == listed.block


DIRECTORS_BY_NAME: Final = {"plain": director}
BUILDERS: Final = {"plain": builder, "simulating": simulating_builder}
