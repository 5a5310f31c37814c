"""CollabCapture: the rules, and what a move does for the hunt. Source: formats description of LLM-Coordination, section 5.1."""

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from games.coordination.players import PLAYERS, Player, partner_of
from games.reach import distances
from schemas.common.errors import UsageError

ROOMS: Final[Mapping[int, tuple[int, ...]]] = {
    1: (2, 6),
    2: (1, 3),
    3: (2, 4),
    4: (3, 5),
    5: (4, 6, 7),
    6: (5, 9, 1),
    7: (5, 8),
    8: (7,),
    9: (6,),
}
"""Room -> its neighbours, in the order in which they are listed."""

BUTTONS: Final[Mapping[int, str]] = {9: "1-2", 8: "3-4"}
"""Room with a button -> the door that it toggles."""

SCENARIOS: Final = ("open_open", "closed_open", "open_closed", "closed_closed")
"""State of door 1-2, then of door 3-4."""

STAY: Final = "Stay in current room"
TURN_LIMIT: Final = 30
"""In turns; the published console prints 35 for a failure and the function returns 30."""


class Action(NamedTuple):
    """What a player does."""

    verb: Literal["stay", "move", "press"]
    room: int
    """Where it is afterwards."""

    @property
    def text(self) -> str:
        """As executed actions are logged."""
        if self.verb == "move":
            return f"Move to room {self.room}"
        return STAY if self.verb == "stay" else f"Press button in room {self.room}"


@dataclass(frozen=True, slots=True)
class CaptureState:
    """Where everybody is, and which doors are open."""

    rooms: Mapping[str, int]
    """Alice, Bob and Thief -> room."""
    doors: Mapping[str, bool]
    """`1-2` and `3-4` -> open."""

    def reachable(self, room: int) -> tuple[int, ...]:
        """Neighbours through open doors, in listed order."""
        return _reachable(room, tuple(self.doors.items()))

    def actions(self, player: Player) -> tuple[Action, ...]:
        """What a player may choose, in listed order."""
        return _actions(self.rooms[player], tuple(self.doors.items()))


_Doors = tuple[tuple[str, bool], ...]
"""Doors and whether they are open."""


@lru_cache(maxsize=1024)
def _reachable(room: int, doors: _Doors) -> tuple[int, ...]:
    is_open = dict(doors)
    return tuple(other for other in ROOMS[room] if is_open.get(f"{min(room, other)}-{max(room, other)}", True))


@lru_cache(maxsize=1024)
def _actions(room: int, doors: _Doors) -> tuple[Action, ...]:
    moves = tuple(Action("move", other) for other in _reachable(room, doors))
    return (Action("stay", room), *moves, *((Action("press", room),) if room in BUTTONS else ()))


class Turned(NamedTuple):
    """What a turn did."""

    state: CaptureState
    pressed: tuple[Player, ...]
    capture: Literal["same_room", "swap"] | None


def start(scenario: str) -> CaptureState:
    """The first state of a scenario, one of `SCENARIOS`."""
    first, second = scenario.split("_")
    return CaptureState({"Alice": 1, "Bob": 6, "Thief": 2}, {"1-2": first == "open", "3-4": second == "open"})


def thief_choice(state: CaptureState, actions: Mapping[Player, Action]) -> int:
    """The thief's next room: it knows both choices, and avoids the next rooms by the difference of the rooms' numbers."""
    nexts = [actions[player].room for player in PLAYERS]
    return max(state.reachable(state.rooms["Thief"]), key=lambda room: min(abs(room - other) for other in nexts))


def step(state: CaptureState, actions: Mapping[Player, Action], *, first: bool) -> Turned:
    """Carry out a turn. In the first turn an exchange of rooms with the thief is not a capture, as in the published code.

    Raises:
        UsageError: an action that the player may not choose.
    """
    for player in PLAYERS:
        if actions[player] not in state.actions(player):
            listed = ", ".join(action.text for action in state.actions(player))
            raise UsageError(f"collab_capture: {player} may not {actions[player].text!r}; there are {listed}")
    pressed = tuple(player for player in PLAYERS if actions[player].verb == "press")
    toggles = Counter(BUTTONS[actions[player].room] for player in pressed)
    doors = {door: is_open ^ (toggles[door] % 2 == 1) for door, is_open in state.doors.items()}
    thief = thief_choice(state, actions)
    rooms: dict[str, int] = {player: actions[player].room for player in PLAYERS}
    rooms["Thief"] = thief
    swapped = any(rooms[player] == state.rooms["Thief"] and thief == state.rooms[player] for player in PLAYERS)
    same = any(rooms[player] == thief for player in PLAYERS)
    return Turned(CaptureState(rooms, doors), pressed, "same_room" if same else "swap" if swapped and not first else None)


def distance(state: CaptureState, start_room: int, end_room: int) -> int | None:
    """Moves on the shortest way through open doors; None where there is none."""
    return _distances(start_room, tuple(state.doors.items())).get(end_room)


@lru_cache(maxsize=1024)
def _distances(start_room: int, doors: _Doors) -> Mapping[int, int]:
    return distances(start_room, lambda room: _reachable(room, doors))


def listed(place: int, action: Action) -> str:
    """An action as it is listed, at a place from 0."""
    letter = chr(ord("A") + place)
    return f"{letter}. {action.text}." if action.verb == "move" else f"{letter} {action.text}"


def observation(state: CaptureState, player: Player, actions: tuple[Action, ...]) -> str:
    """What a player sees."""
    partner = partner_of(player)
    doors = " ".join(
        f"Door between room {name[0]} and room {name[2]} is {'open' if is_open else 'closed'}." for name, is_open in state.doors.items()
    )
    thief = state.rooms["Thief"]
    rooms = f"I {player} am in room {state.rooms[player]}. {partner} is in room {state.rooms[partner]}. Thief is in room {thief}."
    return "\n".join([f"{rooms} {doors} ", *(listed(place, action) for place, action in enumerate(actions)), ""])


def move_category(state: CaptureState, player: Player, action: Action, best: Container[Action]) -> tuple[str, str]:
    """Category of a listed action before the turn, and what the rule saw; `best`: the player's `games.coordination.value.best_actions`."""
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
