"""What a move of CollabEscape does for the escape, by rule."""

from __future__ import annotations

from collections.abc import Mapping

from games.coordination.escape.rules import EXIT, FIXES_NEEDED, EscapeState, killer_options, room_in
from games.coordination.players import Player

MOVE_CATEGORIES = {
    "repair": "works on a generator that is not fixed",
    "repair_fixed": "works on a generator that is fixed",
    "exit": "goes through the open gate's room",
    "deadly": "ends in the room to which the killer is known to go",
    "abandon": "leaves a half repaired generator to which nobody attends: it falls back",
    "move": "moves otherwise",
    "wait": "waits otherwise",
}
"""Category -> meaning; the first that holds, deadly before all others."""


def is_deadly(state: EscapeState, player: Player, action: str) -> bool:
    """The killer is known to go to one room, and the player ends there."""
    options = killer_options(state)
    end = room_in(action) if action.startswith("move") else state.rooms[player]
    return options[0].target is not None and end == options[0].room


def abandons(state: EscapeState, player: Player, chosen: Mapping[Player, str]) -> bool:
    """The player stands at a half repaired generator, does not go on, and nobody else does."""
    room = state.rooms[player]
    half = 0 < state.generators.get(room, 0) < FIXES_NEEDED
    return half and not any(action == f"fix generator in room {room}" for action in chosen.values())


def move_category(state: EscapeState, player: Player, chosen: Mapping[Player, str]) -> tuple[str, str]:
    """Category of a player's action among both, and what the rule saw."""
    action = chosen[player]
    target = killer_options(state)[0].target
    goal = "unknown" if target is None else f"the room of {target}"
    seen = f"{player} in room {state.rooms[player]}, killer in room {state.rooms['Adversary']}, going to {goal}"
    if is_deadly(state, player, action):
        return "deadly", seen
    if action.startswith("fix"):
        fixed = state.generators[state.rooms[player]] >= FIXES_NEEDED
        return ("repair_fixed" if fixed else "repair"), seen
    if abandons(state, player, chosen):
        return "abandon", seen
    if state.gate_open and room_in(action) == EXIT:
        return "exit", seen
    return ("move" if action.startswith("move") else "wait"), seen
