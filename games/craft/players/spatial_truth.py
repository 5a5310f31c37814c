"""Truth of the questions on spatial grounding (SG1 to SG7): the private reasoning against target, board and engine."""

from collections.abc import Callable
from typing import Final

from games.craft.engine.blocks import COLORS, MAX_HEIGHT, WALLS
from games.craft.engine.move import Move
from games.craft.engine.rules import execute
from games.craft.players.facts import Answer, TurnFacts, Voice
from games.craft.players.instruction import Instruction


def _names_missing_block(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    if thought is None or thought.cell is None or thought.layer is None or not voice.owns(thought.cells):
        return None
    right = facts.is_right(thought.cell, thought.layer)
    if thought.verb == "remove":
        nothing = facts.block(thought.cell, thought.layer) is None
        return ("No", "construction") if right or nothing else None
    if right:
        return "No", "geometry"
    missing = [layer for layer in range(MAX_HEIGHT) if not facts.is_right(thought.cell, layer)]
    if all((facts.target_block(thought.cell, layer) or " ")[0] != thought.color for layer in missing):
        return "No", "geometry"
    shown = facts.shown(voice.director, thought.cell, thought.layer)
    fits = shown is not None and (shown.color, shown.size) == (COLORS[thought.color or "g"], 2 if thought.size == "l" else 1)
    return ("Yes", "geometry") if fits and thought.layer >= facts.board.height(thought.cell) else None


def _leaves_right_blocks_out(facts: TurnFacts, voice: Voice) -> Answer:
    """A remark that a block is right asks for nothing."""
    thought = voice.plan.thought
    if thought is None or thought.layer is None or not voice.owns(thought.cells):
        return None
    if any(facts.is_right(cell, thought.layer) for cell in thought.cells):
        return "No", "construction"
    looks_right = any(facts.looks_right(voice.director, cell, thought.layer) for cell in thought.cells)
    return None if looks_right else ("Yes", "construction")


def _has_right_layer(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    if thought is None or thought.verb == "remove" or thought.cell is None or thought.layer is None or not voice.owns(thought.cells):
        return None
    if thought.layer != facts.board.height(thought.cell):
        return "No", "engine"
    even = all(facts.board.height(cell) == thought.layer for cell in thought.cells)
    wanted = facts.target_block(thought.cell, thought.layer)
    return ("Yes", "engine") if even and wanted is not None and wanted[0] == thought.color else None


def _arrives_at_candidate(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    if thought is None:
        return None
    if not facts.listed:
        return "N/A", "no oracle list in log"
    if any(thought.says_what(move) for move in facts.listed):
        return "Yes", "engine"
    near = any(
        move.action == thought.verb and (move.block or " ")[0] == thought.color and move.covered() & thought.cells for move in facts.listed
    )
    return None if near else ("No", "engine")


def _can_be_done_now(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    move = None if thought is None else _literal_move(facts, thought)
    if move is None:
        return None
    return ("Yes" if execute(facts.board, move).accepted else "No"), "engine"


def _literal_move(facts: TurnFacts, thought: Instruction) -> Move | None:
    if thought.cell is None or thought.layer is None:
        return None
    if thought.verb == "remove":
        return Move("remove", None, thought.cell, thought.layer, facts.board.partner(thought.cell, thought.layer))
    return Move("place", thought.block, thought.cell, thought.layer, thought.span_to) if thought.complete else None


def _reads_size(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    if thought is None or thought.verb == "remove" or thought.cell is None or thought.layer is None or not voice.owns(thought.cells):
        return None
    shown = facts.shown(voice.director, thought.cell, thought.layer)
    if shown is None:
        return None
    return ("Yes" if (shown.size == 1) == (thought.size == "s") else "No"), "geometry"


def _keeps_to_own_wall(_: TurnFacts, voice: Voice) -> Answer:
    plan = voice.plan
    named = set(plan.thought.cells if plan.thought else ())
    named |= {plan.right_block[0]} if plan.right_block else set()
    named |= {plan.other_wall} if plan.other_wall else set()
    return ("Yes" if named <= set(WALLS[voice.director]) else "No"), "construction"


SPATIAL_GROUNDING: Final[dict[str, Callable[[TurnFacts, Voice], Answer]]] = {
    "SG1": _names_missing_block,
    "SG2": _leaves_right_blocks_out,
    "SG3": _has_right_layer,
    "SG4": _arrives_at_candidate,
    "SG5": _can_be_done_now,
    "SG6": _reads_size,
    "SG7": _keeps_to_own_wall,
}
"""Question -> truth for one director with readable reasoning."""
