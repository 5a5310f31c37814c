"""The builder's tool: moves that are tried on a copy of the board (agents of CRAFT, section 1.6).

The builder calls it by lines that begin with `SIMULATE:` and go on with a JSON object; so it works with every model, and with people. The
answer says how near the target the move would come: as published, that leaks the target.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from games.craft.engine.board import Board
from games.craft.engine.flags import placement_flags
from games.craft.engine.move import Move
from games.craft.engine.rules import execute
from games.craft.measures.metrics import progress
from providers.messages import Tool, ToolCall
from schemas.text import without_half_pairs

CALL: Final = "SIMULATE:"
_HEAD: Final = re.compile(rf"^\s*{CALL}\s*", re.MULTILINE)
_SPAN: Final = re.compile(r"must also specify span_to=(\S+)|expected (\(\d,\d\))$")


TOOL: Final = Tool(
    "simulate_move",
    "Try a move on a copy of the board as it is now: whether it is possible, and how near the structure is to its target afterwards.",
    {
        "type": "object",
        "properties": {
            "move": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["place", "remove", "clarify"]},
                    "block": {"type": ["string", "null"], "description": "block code, such as rs"},
                    "position": {"type": "string", "description": "cell, such as (1,0)"},
                    "layer": {"type": "integer"},
                    "span_to": {"type": ["string", "null"], "description": "second cell of a large block"},
                },
                "required": ["action", "position", "layer"],
            }
        },
        "required": ["move"],
    },
)
"""The same for models that call tools in their provider's protocol."""


def written_call(call: ToolCall) -> str:
    """A call of the tool as a line."""
    return f"{CALL} {call.arguments}"


class SimulationCall(NamedTuple):
    """A call of the tool."""

    written: str
    """What stood behind the mark."""
    move: Move | None
    """None if it is no move."""


def asked_for(answer: str) -> tuple[SimulationCall, ...]:
    """Give the calls in an answer."""
    found = []
    for head in _HEAD.finditer(answer):
        rest = answer[head.end() :]
        try:
            value, end = json.JSONDecoder().raw_decode(rest)
        except (ValueError, RecursionError):
            found.append(SimulationCall(rest.split("\n", 1)[0], None))
            continue
        found.append(SimulationCall(rest[:end], _move(without_half_pairs(value))))
    return tuple(found)


def _move(value: Any) -> Move | None:
    facts: Mapping[str, Any] = value.get("move", value) if isinstance(value, dict) else {}
    try:
        return Move.from_log(facts)
    except (KeyError, TypeError):
        return None


def simulated(asked: SimulationCall, board: Board, target: Board) -> str:
    """Give the tool's answer, as JSON: every call begins with the real board."""
    if asked.move is None or asked.move.action not in ("place", "remove"):
        return json.dumps({"ok": False, "error": "no move that can be tried", "hint": "give action place or remove, position and layer"})
    outcome = execute(board, asked.move)
    if outcome.error is not None:
        partner = _SPAN.search(outcome.error.message)
        named = next((cell for cell in partner.groups() if cell), None) if partner else None
        hint = f"fix this move: span_to is {named}" if named else "fix this move"
        return json.dumps({"ok": False, "error": outcome.error.message, "hint": hint})
    scores, flags = progress(outcome.board, target), placement_flags(outcome, target)
    correct = {"structurePlacement": flags.correct_structure_placement, "sidePlacement": flags.correct_side_placement}
    result = {
        "ok": True,
        "blocks_correct": scores.blocks_placed_correctly,
        "blocks_total": scores.blocks_total_target,
        "overall_progress": scores.overall_progress,
        "correctness": correct,
    }
    return json.dumps(result)
