"""Questions about boards of CRAFT."""

import json
import random
from typing import Final

from games.craft.engine.board import CELLS, COLORS, DIRECTORS, MAX_HEIGHT, SEEN_BY, Board, Cell, all_views, views_json, wall_cells
from games.craft.engine.rules import Move, candidates, execute
from games.craft.value.search import best_progress
from games.probes import RULES, Probe, Scenario, Scene

_MOST_LEFT: Final = 20
_RULES: Final = RULES["craft"]


def scenario(scene: Scene, rng: random.Random) -> Scenario | None:
    """A top block, what a director can know, the best move, and the request that a director should make next."""
    board = Board.from_json(scene.state["stacks"], scene.state["spans"])
    target = Board.from_json(scene.goal["stacks"], scene.goal["spans"])
    left = min(scene.turns_left or _MOST_LEFT, _MOST_LEFT)
    worth = _worth(board, target, left, rng)
    director = rng.choice(DIRECTORS)
    missing = [cell for cell in CELLS if SEEN_BY[cell] and _next(board, target, cell) is not None]
    if not any(director in SEEN_BY[cell] for cell in missing):
        return None
    cell = rng.choice(CELLS)
    tops = {candidate: (board.stack(candidate)[-1] if board.stack(candidate) else "no block") for candidate in CELLS}
    blocks = {f"{color}{size}" for color in COLORS for size in "sl"} | {"no block"}
    due = {cell: str(_next(board, target, cell))[0] for cell in missing}
    known = {f"{COLORS[due[one]]} is due at {one} layer {board.height(one)}": director in SEEN_BY[one] for one in missing}
    requests = {
        f"{word} at {one} on layer {layer}": due.get(one) == color and layer == board.height(one)
        for one in wall_cells(director)
        for layer in range(MAX_HEIGHT)
        for color, word in COLORS.items()
    }
    views = json.dumps(views_json(all_views(target)))
    shown = f"Board, bottom to top: {json.dumps(board.structure_json())}\nWalls of the target, layer by layer: {views}\nTurns left: {left}"
    return Scenario(
        "CRAFT",
        f"{_RULES}\n{shown}",
        {
            "EC": Probe(f"Which block is on top of the stack at {cell}?", [tops[cell]], sorted(blocks - {tops[cell]})),
            "TOM": Probe.of(f"Which of these can director {director} conclude from its own wall of the target and the board?", known),
            "JP": Probe.best("Which of these moves leaves the highest score within reach in the turns left?", worth),
            "NR": Probe.of(f"Which of these should director {director} request next?", requests),
        },
    )


def _next(board: Board, target: Board, cell: Cell) -> str | None:
    """The block that is due on a stack which is right so far; None where none is."""
    stack, wanted = board.stack(cell), target.stack(cell)
    return wanted[len(stack)] if len(stack) < len(wanted) and wanted[: len(stack)] == stack else None


def _worth(board: Board, target: Board, left: int, rng: random.Random) -> dict[str, float]:
    """Some moves, in words, and the highest progress that is within reach after them."""
    verified = list(candidates(board, target))
    others = [
        *(Move("place", f"{color}s", cell, board.height(cell)) for cell in CELLS for color in COLORS if board.height(cell) < MAX_HEIGHT),
        *(Move("remove", board.stack(cell)[-1], cell, board.height(cell) - 1) for cell in CELLS if board.stack(cell)),
    ]
    chosen = [*rng.sample(verified, min(2, len(verified))), *rng.sample(others, min(4, len(others)))]
    outcomes = [(move, execute(board, move)) for move in dict.fromkeys(chosen)]
    return {_text(move): best_progress(outcome.board, target, left - 1) for move, outcome in outcomes if outcome.accepted}


def _text(move: Move) -> str:
    place = f"{move.position} layer {move.layer}" + (f" and {move.span_to}" if move.span_to else "")
    return f"{move.action} {move.block} at {place}" if move.action == "place" else f"remove the top block at {place}"
