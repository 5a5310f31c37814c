"""All states of CollabEscape, what joint actions lead to, and what the states are worth; over numbers, compiled by Numba.

A state is a number: rooms of Alice, Bob and the killer from 0, both generators' counters up to 2, and whom the killer has seen (`_SEEN`).
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from games.compiled import compiled, compiled_inside
from games.coordination.escape import EXIT, FIXES_NEEDED, GENERATORS, ROOMS
from games.coordination.players import Player

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

HORIZON: Final = 40
"""Chances of escape are worked out for so many turns."""

_SEEN: Final = 5
"""No one, Alice, Bob, both with Alice as target, both with Bob as target: 0 to 4."""
_MARKS: Final[Mapping[tuple[Player, ...], int]] = {(): 0, ("Alice",): 1, ("Bob",): 2}
_NONE, _ALICE, _BOB, _BOTH_ALICE, _BOTH_BOB = range(_SEEN)

_COUNT: Final = len(ROOMS)
_COUNTS: Final = FIXES_NEEDED + 1
_STATES: Final = _COUNT**3 * _COUNTS**2 * _SEEN
_FIRST, _SECOND = (room - 1 for room in GENERATORS)
_EXIT: Final = EXIT - 1
_MOST_NEIGHBOURS: Final = max(map(len, ROOMS.values()))
_MAP: Final = np.array([[*(other - 1 for other in near), *(-1,) * (_MOST_NEIGHBOURS - len(near))] for near in ROOMS.values()])
_WIN: Final = -1
_DEATH: Final = -2
_DONE: Final = 1e-13


class Tables(NamedTuple):
    """Values of all states, by state number."""

    chance: Floats
    """(HORIZON + 1, states): largest probability of escape within so many turns."""
    mean: Floats
    """Least expected turns to the escape among plans that escape surely."""
    best: Floats
    """Least turns with luck."""
    sure: Floats
    """Least turns against the worst draws."""


def number(rooms: tuple[int, int, int], counters: tuple[int, int], seen: tuple[Player, ...], target: Player | None) -> int:
    """Number a state: rooms of Alice, Bob and the killer, the generators' counters, whom the killer has seen, whom it hunts."""
    found = 0
    for room in rooms:
        found = found * _COUNT + room - 1
    for counter in counters:
        found = found * _COUNTS + min(counter, FIXES_NEEDED)
    mark = _MARKS.get(seen, _BOTH_BOB if target == "Bob" else _BOTH_ALICE)
    return found * _SEEN + mark


@cache
def tables(*, mark_stays: bool) -> Tables:
    """Value all states; with `mark_stays` a player's mark as seen stays while the killer has only the other one next to it."""
    classes, states = _classes(mark_stays)
    values = _values(*_transitions(mark_stays, classes, states))
    return Tables(*(table.take(classes, axis=-1) for table in values))


@compiled
def _classes(mark_stays: bool) -> tuple[Ints, Ints]:
    """States in which the same can happen are worth the same: whom the killer has seen matters to few of its decisions.

    Returns:
        (states,): the class of each state. (classes,): the first state of each class.
    """
    classes, firsts, answers = np.zeros(_STATES, np.int32), np.zeros(_STATES, np.int32), np.zeros((_SEEN, 2), np.int32)
    options, marks = np.zeros(_MOST_NEIGHBOURS, np.int32), np.zeros(_MOST_NEIGHBOURS, np.int32)
    count = 0
    for state in range(_STATES):
        seen = state % _SEEN
        alice, bob, killer, _, _ = _parts(state)
        _killer(alice, bob, killer, seen, mark_stays, options, marks)
        answers[seen, 0], answers[seen, 1] = options[0], marks[0]
        same = 0
        while answers[same, 0] != options[0] or answers[same, 1] != marks[0]:
            same += 1
        if same == seen:
            classes[state], firsts[count] = count, state
            count += 1
        else:
            classes[state] = classes[state - seen + same]
    return classes, firsts[:count]


@compiled_inside
def _parts(state: int) -> tuple[int, int, int, int, int]:
    """Rooms of Alice, Bob and the killer, from 0, and both counters."""
    rest = state // _SEEN
    second, rest = rest % _COUNTS, rest // _COUNTS
    first, rest = rest % _COUNTS, rest // _COUNTS
    killer, rest = rest % _COUNT, rest // _COUNT
    return rest // _COUNT, rest % _COUNT, killer, first, second


@compiled
def _transitions(mark_stays: bool, classes: Ints, states: Ints) -> tuple[Ints, Ints, Ints]:
    """Where joint actions lead.

    Returns:
        (classes + 1,): where the joint actions of each class begin. (actions + 1,): where the draws of each action begin. (draws,): class.
    """
    total = len(states)
    plans, draws, after = np.zeros(total + 1, np.int32), np.zeros(total * 25 + 1, np.int32), np.zeros(total * 75, np.int32)
    options, marks = np.zeros(_MOST_NEIGHBOURS, np.int32), np.zeros(_MOST_NEIGHBOURS, np.int32)
    action = draw = 0
    for place in range(total):
        alice, bob, killer, first, second = _parts(states[place])
        count = _killer(alice, bob, killer, states[place] % _SEEN, mark_stays, options, marks)
        for a in range(_MOST_NEIGHBOURS + 2):
            for b in range(_MOST_NEIGHBOURS + 2):
                a_room, a_fixes, b_room, b_fixes = _act(alice, a), _fixes(alice, a), _act(bob, b), _fixes(bob, b)
                if a_room < 0 or b_room < 0:
                    continue
                fixing_first = (a_fixes and alice == _FIRST) + (b_fixes and bob == _FIRST)
                fixing_second = (a_fixes and alice == _SECOND) + (b_fixes and bob == _SECOND)
                new_first, new_second = _counter(first, fixing_first), _counter(second, fixing_second)
                open_gate = new_first == FIXES_NEEDED and new_second == FIXES_NEEDED
                for option in range(count):
                    room = options[option]
                    if room in (a_room, b_room):
                        after[draw] = _DEATH
                    elif open_gate and _EXIT in (a_room, b_room):
                        after[draw] = _WIN
                    else:
                        new = ((a_room * _COUNT + b_room) * _COUNT + room) * _COUNTS + new_first
                        after[draw] = classes[(new * _COUNTS + new_second) * _SEEN + marks[option]]
                    draw += 1
                action += 1
                draws[action] = draw
        plans[place + 1] = action
    return plans, draws[: action + 1], after[:draw]


@compiled_inside
def _act(room: int, choice: int) -> int:
    """The room a player is in after a choice: a neighbour, then waiting, then repairing; -1 without such a choice."""
    if choice < _MOST_NEIGHBOURS:
        return int(_MAP[room, choice])
    return room if choice == _MOST_NEIGHBOURS or room in (_FIRST, _SECOND) else -1


@compiled_inside
def _fixes(room: int, choice: int) -> bool:
    return choice == _MOST_NEIGHBOURS + 1 and room in (_FIRST, _SECOND)


@compiled_inside
def _counter(counter: int, fixing: int) -> int:
    """A generator's counter after a turn: it falls back to 0 if no one works and it is not fixed."""
    return min(counter + fixing, FIXES_NEEDED) if counter == FIXES_NEEDED or fixing else 0


@compiled_inside
def _killer(alice: int, bob: int, killer: int, seen: int, mark_stays: bool, options: Ints, marks: Ints) -> int:
    """Write down the rooms the killer can decide for, and whom it has then seen; gives how many there are."""
    near_alice = near_bob = False
    count = 0
    for place in range(_MOST_NEIGHBOURS):
        if _MAP[killer, place] >= 0:
            options[count], marks[count] = _MAP[killer, place], _NONE
            count += 1
            near_alice |= _MAP[killer, place] == alice
            near_bob |= _MAP[killer, place] == bob
    if not (near_alice or near_bob):
        return count
    seen_alice, seen_bob = seen in (_ALICE, _BOTH_ALICE, _BOTH_BOB), seen in (_BOB, _BOTH_ALICE, _BOTH_BOB)
    if near_alice and near_bob:
        hunts_bob = seen_alice if seen_alice != seen_bob else seen == _BOTH_BOB  # the newly seen one, else the one it hunts
        marks[0] = _BOTH_BOB if hunts_bob else _BOTH_ALICE
    else:
        hunts_bob = near_bob
        retained = mark_stays and (seen_alice if hunts_bob else seen_bob)
        marks[0] = (_BOTH_BOB if retained else _BOB) if hunts_bob else (_BOTH_ALICE if retained else _ALICE)
    options[0] = bob if hunts_bob else alice
    return 1


@compiled
def _values(plans: Ints, draws: Ints, after: Ints) -> Tables:
    """What the classes are worth."""
    count = len(plans) - 1
    chance = np.zeros((HORIZON + 1, count))
    for turns in range(1, HORIZON + 1):
        _more_chance(plans, draws, after, chance, turns)
    best, sure = np.full(count, np.inf), np.full(count, np.inf)
    while _fewer(plans, draws, after, best, 0) + _fewer(plans, draws, after, sure, 1) > 0:
        pass
    mean = sure.copy()
    while _fewer(plans, draws, after, mean, 2) > _DONE:
        pass
    return Tables(chance, mean, best, sure)


@compiled_inside
def _more_chance(plans: Ints, draws: Ints, after: Ints, chance: Floats, turns: int) -> None:
    for state in range(len(plans) - 1):
        highest = 0.0
        for action in range(plans[state], plans[state + 1]):
            total = 0.0
            for draw in range(draws[action], draws[action + 1]):
                if after[draw] == _WIN:
                    total += 1.0
                elif after[draw] >= 0:
                    total += chance[turns - 1, after[draw]]
            highest = max(highest, total / (draws[action + 1] - draws[action]))
        chance[turns, state] = highest


@compiled_inside
def _fewer(plans: Ints, draws: Ints, after: Ints, turns: Floats, over_draws: int) -> float:
    """Lower the turns of all states by one look ahead; over the draws by the best (0), the worst (1) or the mean (2).

    Gives the largest change.
    """
    change = 0.0
    for state in range(len(plans) - 1):
        fewest = turns[state]
        for action in range(plans[state], plans[state + 1]):
            first, last = draws[action], draws[action + 1]
            lowest, highest, total = np.inf, 0.0, 0.0
            for draw in range(first, last):
                left = 0.0 if after[draw] == _WIN else np.inf if after[draw] == _DEATH else turns[after[draw]]
                lowest, highest, total = min(lowest, left), max(highest, left), total + left
            found = lowest if over_draws == 0 else highest if over_draws == 1 else total / (last - first)
            fewest = min(fewest, 1 + found)
        if fewest < turns[state]:
            change = max(change, 1.0 if turns[state] == np.inf else turns[state] - fewest)
            turns[state] = fewest
    return change
