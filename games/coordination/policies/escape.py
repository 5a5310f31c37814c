"""Scripted players of CollabEscape: each decides from the whole state, says why, and may do one thing wrong on purpose."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random
from typing import Final

from games.coordination.escape.rules import (
    EXIT,
    FIXES_NEEDED,
    GENERATORS,
    ROOMS,
    WAIT,
    EscapeState,
    actions,
    killer_options,
)
from games.coordination.players import PLAYERS, Player, ScriptDecision, partner_of
from games.coordination.value.escape import choice_turns

FAULTLESS: Final = "ideal"
"""Who plays before the turn from which `policy@turn` falls into its fault."""

Policy = Callable[[EscapeState, Player, Random], ScriptDecision]
"""(state, own name, random numbers) -> decision."""

_FAULT_RATE: Final = 0.3


def _way(start_room: int, goal: int, avoided: frozenset[int]) -> int | None:
    """The first room on a shortest way that avoids rooms; None where there is none."""
    first: dict[int, int] = {}
    waiting = deque((room, room) for room in ROOMS[start_room] if room not in avoided)
    while waiting:
        room, begin = waiting.popleft()
        if room in first:
            continue
        first[room] = begin
        waiting.extend((other, begin) for other in ROOMS[room] if other not in avoided and other not in first)
    return first.get(goal)


def _danger(state: EscapeState) -> frozenset[int]:
    """Rooms to which the killer may go."""
    return frozenset(option.room for option in killer_options(state))


def _fixer(state: EscapeState, player: Player, _rng: Random) -> ScriptDecision:
    """Keeps out of the killer's next room, repairs, and leaves when the gate is open."""
    here, danger = state.rooms[player], _danger(state)
    known = killer_options(state)[0].target is not None
    if here in danger and known:
        away = [room for room in ROOMS[here] if room not in danger and room != state.rooms["Adversary"]] or list(ROOMS[here])
        return ScriptDecision(intended=f"move to room {away[0]}", explanation=f"The killer comes to room {here}, so I leave.")
    open_rooms = [room for room in GENERATORS if state.generators[room] < FIXES_NEEDED]
    if here in open_rooms:
        left = FIXES_NEEDED - state.generators[here]
        return ScriptDecision(intended=f"fix generator in room {here}", explanation=f"The generator here still needs {left} repairs.")
    goal = EXIT if not open_rooms else min(open_rooms, key=lambda room: (room == state.rooms[partner_of(player)], room))
    room = _way(here, goal, danger | {state.rooms["Adversary"]})
    if room is None or here == goal:
        return ScriptDecision(intended=WAIT, explanation=f"The way to room {goal} is not safe now, so I wait.")
    return ScriptDecision(intended=f"move to room {room}", explanation=f"I go to room {goal} through room {room}.")


def _reckless(state: EscapeState, player: Player, rng: Random) -> ScriptDecision:
    """As the fixer, but without a thought for the killer."""
    here = state.rooms[player]
    open_rooms = [room for room in GENERATORS if state.generators[room] < FIXES_NEEDED]
    if here in open_rooms:
        return ScriptDecision(intended=f"fix generator in room {here}", explanation="I repair the generator.")
    room = _way(here, open_rooms[0] if open_rooms else EXIT, frozenset()) or rng.choice(ROOMS[here])
    return ScriptDecision(intended=f"move to room {room}", explanation=f"I go on through room {room}.")


def _camper(_state: EscapeState, _player: Player, _rng: Random) -> ScriptDecision:
    return ScriptDecision(intended=WAIT, explanation="I wait for my partner to do it.", injected=("idle",))


def _confused(state: EscapeState, player: Player, rng: Random) -> ScriptDecision:
    """As the fixer, but now and then wrong about a generator."""
    decision = _fixer(state, player, rng)
    if rng.random() >= _FAULT_RATE:
        return decision
    said = "not been touched yet" if state.generators[GENERATORS[0]] else "been fixed"
    text = f"The generator in room {GENERATORS[0]} has {said}."
    return ScriptDecision(intended=decision.intended, explanation=text, injected=("misgrounded_state",))


def _ideal(state: EscapeState, player: Player, _rng: Random) -> ScriptDecision:
    """Its own part of the joint choice with the fewest expected turns among those that escape surely; two who play so choose the same."""

    def turns(both: Sequence[str]) -> float:
        return choice_turns(state, dict(zip(PLAYERS, both, strict=True)))

    best = min(product(*(actions(state, each) for each in PLAYERS)), key=turns)[PLAYERS.index(player)]
    return ScriptDecision(intended=best, explanation="Together we are out soonest, and surely, if I do this.")


def _random(state: EscapeState, player: Player, rng: Random) -> ScriptDecision:
    return ScriptDecision(intended=rng.choice(actions(state, player)), explanation="Any action is fine.")


POLICIES: Final[Mapping[str, Policy]] = {
    "fixer": _fixer,
    "reckless": _reckless,
    "camper": _camper,
    "confused": _confused,
    "random": _random,
    FAULTLESS: _ideal,
}
