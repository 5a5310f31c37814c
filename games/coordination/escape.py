"""CollabEscape: the rules, and what a move does for the escape.

Source: formats description of LLM-Coordination, section 6.1; the map is the code's, not the prompt's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Final, Literal, NamedTuple, Protocol

from games.coordination.players import PLAYERS, Player, partner_of
from schemas.common.errors import UsageError

ROOMS: Final[Mapping[int, tuple[int, ...]]] = {
    1: (2, 10),
    2: (1, 3),
    3: (2, 4, 8),
    4: (3, 5),
    5: (4, 6),
    6: (5, 7),
    7: (3, 6),
    8: (3, 7, 9),
    9: (8, 10),
    10: (1, 9),
}
"""Room -> where one can go; 7 to 3 and 8 to 7 are one-way."""

GENERATORS: Final = (1, 6)
EXIT: Final = 7
FIXES_NEEDED: Final = 2
WAIT: Final = "wait"

Outcome = Literal["continue", "win", "loss"]


@dataclass(frozen=True, slots=True)
class EscapeState:
    """Where everybody is, how far the repairs are, and whom the killer knows."""

    rooms: Mapping[str, int]
    """Alice, Bob and Adversary -> room."""
    generators: Mapping[int, int]
    """Room -> counter; may exceed 2 where both players finish it in one turn."""
    seen: frozenset[Player] = frozenset()
    target: Player | None = None

    @property
    def gate_open(self) -> bool:
        """Both generators are fixed."""
        return all(self.generators[room] >= FIXES_NEEDED for room in GENERATORS)


START: Final = EscapeState({"Alice": 1, "Bob": 2, "Adversary": 6}, dict.fromkeys(GENERATORS, 0))

PUBLISHED: Final = "published"
SCENARIOS: Final[Mapping[str, EscapeState]] = {
    PUBLISHED: START,
    "apart": EscapeState({"Alice": 3, "Bob": 9, "Adversary": 5}, dict.fromkeys(GENERATORS, 0)),
}
"""Scenario -> first state. The paper has a second one with other rooms, which it does not give: ours sets the players apart, each two rooms
from a generator, and the killer next to the other one."""


TURN_CAP: Final = 40
"""Turns after which a game is called off; the published game has no limit."""


class KillerChoice(NamedTuple):
    """What the killer decides before the players move."""

    room: int
    seen: frozenset[Player]
    target: Player | None


_DIGITS: Final = 10
"""From here on no room's number; Python reads no number of thousands."""


@lru_cache(maxsize=4096)
def room_in(action: str) -> int | None:
    """The room that an action names."""
    last = action.rpartition(" ")[2]
    return int(last) if last.isdecimal() and len(last) < _DIGITS else None


class _Placed(Protocol):
    @property
    def rooms(self) -> Mapping[str, int]: ...


def actions(state: _Placed, player: Player) -> tuple[str, ...]:
    """What a player may choose, in listed order; repairing is listed for a fixed generator too."""
    return _actions(state.rooms[player])


@cache
def _actions(room: int) -> tuple[str, ...]:
    moves = tuple(f"move to room {other}" for other in ROOMS[room])
    fix = (f"fix generator in room {room}",) if room in GENERATORS else ()
    return (*moves, *fix, WAIT)


def killer_options(state: EscapeState) -> tuple[KillerChoice, ...]:
    """What the killer may decide: one choice where it sees somebody, else each neighbour with equal probability."""
    return _killer_options(tuple(state.rooms[who] for who in (*PLAYERS, "Adversary")), state.seen, state.target)


@lru_cache(maxsize=65536)
def _killer_options(rooms: tuple[int, ...], seen: frozenset[Player], target: Player | None) -> tuple[KillerChoice, ...]:
    *players, here = rooms
    near = {player: room for player, room in zip(PLAYERS, players, strict=True) if room in ROOMS[here]}
    if not near:
        return tuple(KillerChoice(room, frozenset(), None) for room in ROOMS[here])
    lured = _target(list(near), seen, target)
    return (KillerChoice(near[lured], frozenset(near), lured),)


def _target(near: list[Player], seen: frozenset[Player], target: Player | None) -> Player:
    """One near player; of two, the newly seen one lures the killer away."""
    if len(near) == 1:
        return near[0]
    new = [player for player in near if player not in seen]
    if len(new) == 1:
        return new[0]
    return target if target is not None and not new else "Alice"


def step(state: EscapeState, choice: KillerChoice, chosen: Mapping[Player, str]) -> tuple[EscapeState, Outcome]:
    """Carry out a turn: repairs fall back if no one works, the players act, the killer goes where it decided to.

    Raises:
        UsageError: an action that the player may not choose.
    """
    for player in PLAYERS:
        if chosen[player] not in actions(state, player):
            raise UsageError(f"collab_escape: {player} may not {chosen[player]!r}; there are {', '.join(actions(state, player))}")
    fixing = [room_in(chosen[player]) for player in PLAYERS if chosen[player].startswith("fix")]
    generators = {
        room: counter + fixing.count(room) if counter >= FIXES_NEEDED or room in fixing else 0 for room, counter in state.generators.items()
    }
    moved = {player: room_in(chosen[player]) for player in PLAYERS if chosen[player].startswith("move")}
    rooms: dict[str, int] = {player: moved.get(player) or state.rooms[player] for player in PLAYERS}
    after = replace(state, rooms={**rooms, "Adversary": choice.room}, generators=generators, seen=choice.seen, target=choice.target)
    if choice.room in rooms.values():
        return after, "loss"
    return after, "win" if after.gate_open and EXIT in rooms.values() else "continue"


def shown_rooms(state: EscapeState, when: str) -> dict[str, Any]:
    """Rooms, generators and gate as a line of the step log has them; ``when``: before or after."""
    return {
        f"rooms_{when}": {name: f"room {room}" for name, room in state.rooms.items()},
        f"generators_{when}": {f"room {room}": counter for room, counter in state.generators.items()},
        f"exit_gate_{when}": state.gate_open,
    }


def observation(state: EscapeState, player: Player, choice: KillerChoice) -> str:
    """What a player sees."""
    partner = partner_of(player)
    killer = f"The killer is in room {state.rooms['Adversary']}."
    goal = f"He will go to the room of {choice.target}." if choice.target else "We do not know where he goes next."
    needs = " ".join(
        f"The generator in room {room} needs {max(0, FIXES_NEEDED - state.generators[room])} more repairs." for room in GENERATORS
    )
    gate = f"The exit gate is {'open' if state.gate_open else 'closed'}."
    own = f"My name is {player}. I am in room {state.rooms[player]}. {partner} is in room {state.rooms[partner]}."
    return f"{own} {killer} {goal} {needs} {gate} Available Actions: {', '.join(actions(state, player))}"


def is_deadly(state: EscapeState, player: Player, action: str) -> bool:
    """The killer is known to go to one room, and the player ends there."""
    options = killer_options(state)
    end = room_in(action) if action.startswith("move") else state.rooms[player]
    return options[0].target is not None and end == options[0].room


def abandons(state: EscapeState, player: Player, chosen: Mapping[Player, str]) -> bool:
    """The player is at a half repaired generator, does not go on, and no one else does."""
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
