"""What a move of CollabCapture does for the hunt, by rule."""

from __future__ import annotations

from games.coordination.capture.rules import BUTTONS, Action, CaptureState, distance
from games.coordination.players import PLAYERS, Player

__all__ = ["MOVE_CATEGORIES", "move_category", "opens_way"]

MOVE_CATEGORIES = {
    "closer": "one step less to the thief's room",
    "not_closer": "moves, but not nearer",
    "stay": "stays where it could have come closer",
    "stay_no_way": "stays, and no open way leads nearer",
    "press_opens": "opens a way to the thief that a player did not have",
    "press_other": "presses a button that opens no way to the thief",
}
"""Category -> meaning; by where the thief is before the turn."""


def move_category(state: CaptureState, player: Player, action: Action) -> tuple[str, str]:
    """Category of a listed action, and what the rule saw."""
    thief = state.rooms["Thief"]
    before = distance(state, state.rooms[player], thief)
    seen = f"{player} in room {state.rooms[player]}, thief in room {thief}, {'no open way' if before is None else f'{before} steps'}"
    if action.verb == "press":
        return ("press_opens" if opens_way(state, action.room) else "press_other"), seen
    if action.verb == "stay":
        return ("stay_no_way" if before is None else "stay"), seen
    after = distance(state, action.room, thief)
    return ("closer" if before is not None and after is not None and after < before else "not_closer"), seen


def opens_way(state: CaptureState, room: int) -> bool:
    """Whether the button in a room opens a door through which a player gets a way to the thief that it did not have."""
    door = BUTTONS.get(room)
    if door is None or state.doors[door]:
        return False
    opened = CaptureState(state.rooms, {**state.doors, door: True})
    thief = state.rooms["Thief"]
    cut_off = [state.rooms[player] for player in PLAYERS if distance(state, state.rooms[player], thief) is None]
    return any(distance(opened, start, thief) is not None for start in cut_off)
