"""Pieces of evidence that only CRAFT has: board, walls, target views, the builder's answer.

Source: CRAFT (arXiv 2603.25268), judges of section 8 of the format description; the pieces named ``published_...`` show what the released
code shows beyond its own walls (8.5), and are meant for variants that measure the effect.
"""

import json
from collections.abc import Sequence
from typing import Final

from games.craft.engine.board import CELLS, WALLS
from games.craft.text.replies import is_complaint
from judges.evidence.frame import Entry, Frame, one_line
from judges.evidence.pieces import AGENT_UNITS, TURN_UNITS, Pieces, UnitContext, action_text
from judges.evidence.transcript import ActionView, JsonObject, TurnView

PIECES: Final = Pieces("craft")

_LAYERS: Final = (("row_0", "bottom layer 0"), ("row_1", "middle layer 1"), ("row_2", "top layer 2"))
_SIDES: Final = ("left end", "middle", "right end")
_HEARING: Final[dict[bool | None, str]] = {
    True: "Directors of a turn speak one after the other; each hears those who spoke before it in the turn.",
    False: "Directors of a turn do not hear one another; all know the messages of the turns before.",
    None: "The log does not say whether the directors of a turn hear one another; all know the messages of the turns before.",
}
_PUBLISHED_HISTORY_LINES: Final = 12
"""3 x 4 lines, formats section 8.5.2."""


@PIECES.add("state_before", "the board before the move, all nine cells", TURN_UNITS)
def _state_before(context: UnitContext) -> list[Entry]:
    stacks = _stacks(context.now.state_before)
    lines = [f"{cell}: {', '.join(map(str, stacks.get(cell) or ())) or 'empty'}" for cell in CELLS]
    return [Entry(Frame("The board before the move, each cell (row,column) from bottom to top:"), "\n".join(lines))]


def _stacks(state: JsonObject) -> JsonObject:
    stacks = state.get("stacks")
    return stacks if isinstance(stacks, dict) else {}


def _wall(context: UnitContext) -> tuple[str, ...]:
    return next((cells for director, cells in WALLS.items() if director == context.agent), ())


@PIECES.add("wall_cells", "which cells the judged director sees, from its left to its right", AGENT_UNITS)
def _wall_cells(context: UnitContext) -> list[Entry]:
    wall = _wall(context)
    return [Entry(Frame("Cells on the wall of {}, from its left to its right:", context.agent_name), _ends(wall))] if wall else []


def _ends(wall: Sequence[str]) -> str:
    return ", ".join(f"{name} {cell}" for name, cell in zip(_SIDES, wall, strict=True))


@PIECES.add("walls", "which cells each director sees, by the names of the wall's ends", TURN_UNITS)
def _walls(_: UnitContext) -> list[Entry]:
    lines = [f"{director}: {_ends(wall)}" for director, wall in WALLS.items()]
    return [Entry(Frame("The cells of each wall, from its own director's left to right:"), "\n".join(lines))]


@PIECES.add(
    "turn_setting",
    "whether directors of the turn hear one another, in which order they spoke, and which messages the builder received",
    TURN_UNITS,
)
def _turn_setting(context: UnitContext) -> list[Entry]:
    heard = context.game.details.get("same_turn_messages")
    lines = [_HEARING.get(heard, _HEARING[None]) if heard is None or isinstance(heard, bool) else _HEARING[None]]
    messages = [u for u in context.now.by_channel("public") if context.is_judged_role(u.agent)]
    lines.append(f"They spoke in this order: {', '.join(one_line(u.agent) for u in messages)}.")
    for agent in dict.fromkeys(u.agent for u in messages):
        own = [u for u in messages if u.agent == agent]
        if len(own) > 1:
            received = "only the last message of it" if any(u.superseded for u in own) else "all its messages"
            lines.append(f"{one_line(agent)} spoke {len(own)} times; the builder received {received}.")
    return [Entry(Frame("How the directors of this turn spoke:"), "\n".join(lines))]


@PIECES.add("target_view", "the judged director's view of the target as it was really shown, cell by cell", AGENT_UNITS)
def _target_view(context: UnitContext) -> list[Entry]:
    """The view at face value: its first entry is what the director was shown for the first cell of its wall, mirrored or not."""
    view = _private_view(context)
    wall = _wall(context)
    if view is None or not wall:
        return []
    lines = []
    for key, layer in _LAYERS:
        row = view.get(key)
        entries = row if isinstance(row, list) else []
        shown = [f"{cell} {_block(entry)}" for cell, entry in zip(wall, entries, strict=False)]
        lines.append(f"{layer}: {'; '.join(shown)}")
    return [Entry(Frame("The target as {} was shown it on its own wall:", context.agent_name), "\n".join(lines))]


def _block(entry: object) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    if entry.get("color") in (None, "none"):
        return "empty"
    return f"{entry['color']} size {entry.get('size')}"


def _private_view(context: UnitContext) -> JsonObject | None:
    agent = context.game.agents.get(context.agent_name)
    return agent.private_view if agent else None


@PIECES.add("builder_response", "the move that the builder attempted and what it said; not whether it worked", TURN_UNITS)
def _builder_response(context: UnitContext) -> list[Entry]:
    return [_attempt(action) for action in context.now.actions] + [
        Entry(Frame("The builder said:"), u.text)
        for u in context.now.by_channel("public")
        if _is_builder(context, u.agent) and u.text.strip()
    ]


def _attempt(action: ActionView) -> Entry:
    text = str(action.arguments.get("question") or action.arguments.get("reason") or "")
    if action.verb == "unreadable" or (action.verb == "clarify" and is_complaint(text)):
        return Entry(Frame("The builder's reply could not be read:"), text)
    head = Frame("The builder asked:") if action.verb == "clarify" else Frame("The builder attempted:")
    return Entry(head, action_text(action.verb, action.arguments))


def _is_builder(context: UnitContext, agent: str) -> bool:
    known = context.game.agents.get(agent)
    return known is not None and known.role == "builder"


@PIECES.add("outcome", "whether a candidate was taken and whether the move was carried out (a leak; for variants)", TURN_UNITS)
def _outcome(context: UnitContext) -> list[Entry]:
    took = {True: "yes", False: "no", None: "none was listed"}[context.now.oracle_followed]
    moves = [a for a in context.now.actions if a.accepted is not None]
    lines = ["the move was carried out" if a.accepted else f"the move was refused: {a.error_text}" for a in moves]
    lines.insert(0, f"the move has the action, position and layer of a candidate: {took}")
    return [Entry(Frame("What came of it:"), "\n".join(lines))]


@PIECES.add(
    "published_target_view",
    "the target view as bare JSON, without director and cells, as the released code shows it (for variants)",
    AGENT_UNITS,
)
def _published_target_view(context: UnitContext) -> list[Entry]:
    view = _private_view(context)
    return [] if view is None else [Entry(Frame("Target view:"), json.dumps(view, ensure_ascii=False))]


@PIECES.add(
    "published_history",
    "the last 12 lines of the history after the judged turn, as the released code shows it (a leak; for variants)",
    TURN_UNITS,
)
def _published_history(context: UnitContext) -> list[Entry]:
    """The last lines of the shared history after the judged turn: with the judged message, the builder's reaction and the result."""
    if context.now.goal_reached:
        return []
    lines = [line for turn in context.game.turns[: context.now.turn] for line in _published_lines(turn)]
    return [Entry(Frame("Recent conversation:"), "\n".join(lines[-_PUBLISHED_HISTORY_LINES:]))]


def _published_lines(turn: TurnView) -> list[str]:
    lines = [f"{u.agent}: {u.text}" for u in turn.by_channel("public")]
    board = json.dumps(_stacks(turn.state_after), ensure_ascii=False)
    for action in turn.actions:
        if action.accepted:
            where = action.arguments
            span = f"↔{where['span_to']}" if where.get("span_to") else ""
            placed = f"{where.get('block')} at {where.get('position')}{span} layer {where.get('layer')}"
            lines.append(f"Builder: Placed {placed}. Current board: {board}")
        elif action.accepted is not None:
            lines.append(f"Builder: FAILED — {action.error_text}. Board unchanged: {board}")
    return lines
