"""The fewest turns to the capture in CollabCapture, both players steered freely and knowing where the thief will go."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from games.coordination.capture.rules import BUTTONS, ROOMS, Action, CaptureState, step
from games.coordination.players import PLAYERS, Player

_DOORS: Final = tuple(BUTTONS.values())


class _State(NamedTuple):
    alice: int
    bob: int
    thief: int
    doors: int
    """Bit i: door i of `_DOORS` is open."""


_CAPTURE: Final = _State(0, 0, 0, 0)
"""Stands for every end with a capture."""


def turns_left(state: CaptureState, *, first: bool) -> float:
    """Turns to the capture, inf if there is no way. In the first turn an exchange of rooms with the thief is no capture."""
    doors = _opened(tuple(state.doors[door] for door in _DOORS))
    here = _State(state.rooms["Alice"], state.rooms["Bob"], state.rooms["Thief"], doors)
    if not first:
        return _table().get(here, math.inf)
    return 1 + min(_table().get(after, math.inf) for after in _outcomes(here, first=True))


def turns_after(state: CaptureState, chosen: Mapping[Player, Action], *, first: bool) -> float:
    """Turns to the capture after a joint choice, 0 if it captures, inf if there is no way."""
    turned = step(state, chosen, first=first)
    return 0.0 if turned.capture is not None else turns_left(turned.state, first=False)


def best_actions(state: CaptureState, *, first: bool) -> Mapping[Player, frozenset[Action]]:
    """Each player's actions that are part of a joint choice with the fewest turns to the capture; none where there is no way to it."""
    joint = [dict(zip(PLAYERS, both, strict=True)) for both in product(*(state.actions(player) for player in PLAYERS))]
    turns = [turns_after(state, both, first=first) for both in joint]
    fewest = min(turns)
    best = [both for both, found in zip(joint, turns, strict=True) if found == fewest < math.inf]
    return {player: frozenset(both[player] for both in best) for player in PLAYERS}


@cache
def _opened(doors: tuple[bool, ...]) -> int:
    return sum(is_open << place for place, is_open in enumerate(doors))


@cache
def _table() -> dict[_State, int]:
    """Turns to the capture from every state from which there is a way, not in the first turn."""
    states = [_State(*key) for key in product(ROOMS, ROOMS, ROOMS, range(1 << len(_DOORS)))]
    outcomes = {state: _outcomes(state, first=False) for state in states}
    found, turns, nearer = {_CAPTURE: 0}, 0, {_CAPTURE}
    while nearer:
        turns += 1
        nearer = {state for state, after in outcomes.items() if state not in found and not nearer.isdisjoint(after)}
        found.update(dict.fromkeys(nearer, turns))
    return found


def _outcomes(state: _State, *, first: bool) -> set[_State]:
    """The states that the joint actions lead to: the rules of `games.coordination.capture.rules.step`, over numbers for their speed."""
    alice, bob, thief, doors = state
    found = set()
    for (a, a_pressed), (b, b_pressed) in product(_choices(alice, doors), _choices(bob, doors)):
        after = _thief(thief, doors, a, b)
        exchanged = not first and ((a == thief and after == alice) or (b == thief and after == bob))
        found.add(_CAPTURE if after in (a, b) or exchanged else _State(a, b, after, doors ^ a_pressed ^ b_pressed))
    return found


@cache
def _reachable(room: int, doors: int) -> tuple[int, ...]:
    opened = {name: bool(doors >> place & 1) for place, name in enumerate(_DOORS)}
    return CaptureState({}, opened).reachable(room)


@cache
def _choices(room: int, doors: int) -> tuple[tuple[int, int], ...]:
    """The rooms a player can be in afterwards, and the door it toggles, as a bit."""
    pressing = [(room, 1 << _DOORS.index(BUTTONS[room]))] if room in BUTTONS else []
    return ((room, 0), *((other, 0) for other in _reachable(room, doors)), *pressing)


@cache
def _thief(room: int, doors: int, alice: int, bob: int) -> int:
    return max(_reachable(room, doors), key=lambda other: min(abs(other - alice), abs(other - bob)))
