"""What a move of CollabCapture does for the hunt, by rule."""

from __future__ import annotations

from collections.abc import Container

from games.coordination.capture.rules import BUTTONS, Action, CaptureState, distance
from games.coordination.players import PLAYERS, Player

MOVE_CATEGORIES = {
    "closer": "one step less to the thief's room",
    "in_position": "not nearer to the thief's room, and yet part of a fastest capture: to a button, around the thief, in its way",
    "not_closer": "moves, not nearer, and no fastest capture has this move",
    "stay": "stays where it could have come closer, and no fastest capture has this",
    "stay_no_way": "stays, and no open way leads nearer",
    "press_opens": "opens a way to the thief that a player did not have",
    "press_other": "presses a button that opens no way to the thief",
}
"""Category -> meaning; by where the thief is before the turn, and by the fastest captures from there."""


def move_category(state: CaptureState, player: Player, action: Action, best: Container[Action]) -> tuple[str, str]:
    """Category of a listed action, and what the rule saw.

    Args:
        state: before the turn.
        player: who acts.
        action: what it does.
        best: the player's actions that are part of a fastest capture (`games.coordination.value.capture.best_actions`).
    """
    thief = state.rooms["Thief"]
    before = distance(state, state.rooms[player], thief)
    seen = f"{player} in room {state.rooms[player]}, thief in room {thief}, {'no open way' if before is None else f'{before} steps'}"
    if action.verb == "press":
        found = "press_opens" if opens_way(state, action.room) else "press_other"
    elif action.verb == "stay":
        found = "stay_no_way" if before is None else "stay"
    else:
        after = distance(state, action.room, thief)
        found = "closer" if before is not None and after is not None and after < before else "not_closer"
    if found in _SHORT and action in best:
        return "in_position", f"{seen}; part of a fastest capture"
    return found, seen


_SHORT = ("not_closer", "stay", "stay_no_way", "press_other")
"""What falls short by steps alone."""


def opens_way(state: CaptureState, room: int) -> bool:
    """Whether the button in a room opens a door through which a player gets a way to the thief that it did not have."""
    door = BUTTONS.get(room)
    if door is None or state.doors[door]:
        return False
    opened = CaptureState(state.rooms, {**state.doors, door: True})
    thief = state.rooms["Thief"]
    cut_off = [state.rooms[player] for player in PLAYERS if distance(state, state.rooms[player], thief) is None]
    return any(distance(opened, start, thief) is not None for start in cut_off)
