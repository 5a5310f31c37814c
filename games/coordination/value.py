"""What positions of LLM-Coordination's games are worth (formats/values.md, sections 3 to 5).

CollabEscape: what each turn did to the chance of escape and to the turns it takes. Both players are steered freely. They do not know a
random move of the killer, which goes to each of its neighbours with equal probability; with a player next to it, its move is known. The
rules leave open whether a player's mark as seen stays while the killer has only the other one next to it: values are computed both ways,
and are exact where both agree. All states are in `games.coordination.escape_tables`.

CollabCapture: the fewest turns to the capture, both players steered freely and knowing where the thief will go.

Hanabi: an upper bound on the points that can still be made, since hands and hints are not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from games.coordination.capture import BUTTONS, Action, CaptureState
from games.coordination.capture import ROOMS as CAPTURE_ROOMS
from games.coordination.capture import step as capture_step
from games.coordination.escape import GENERATORS, ROOMS, START, EscapeState, KillerChoice, Outcome, killer_options, step
from games.coordination.hanabi import COLORS, COPIES, RANKS, HanabiState
from games.coordination.players import PLAYERS, Player

if TYPE_CHECKING:
    from games.coordination.escape_tables import Tables

_LAST_TURN: Final = 40
"""Chances of escape are those up to this turn."""

_MOST_TURNS: Final = 4096
"""Turns whose values are cached: positions come again in other games."""


@dataclass(frozen=True, slots=True, eq=False)
class EscapeMove:
    """What happens in a turn, as logged. It is known again by being the same object: who reads many games makes equal ones once."""

    rooms: Mapping[str, int]
    """Alice, Bob and Adversary -> room, before the turn."""
    generators: Mapping[int, int]
    chosen: Mapping[Player, str]
    killer: int
    """The room the killer goes to."""
    rooms_after: Mapping[str, int]
    generators_after: Mapping[int, int]
    outcome: Outcome


class EscapeTurn(NamedTuple):
    """A turn as logged."""

    turn: int
    """From 1."""
    move: EscapeMove


class EscapeWorth(NamedTuple):
    """A position before a turn, after the players' choice, and after the killer's draw."""

    chance_before: float
    """Largest probability of escape within 40 turns of the game."""
    chance_chosen: float
    chance_after: float
    mean_before: float
    """Least expected turns to the escape among plans that escape surely; inf where there is none."""
    mean_chosen: float
    """The turn itself included."""
    mean_after: float
    best_before: float
    """Least turns with luck."""
    best_after: float
    sure_before: float
    """Least turns against the worst draws."""
    sure_after: float


def turn_worths(turns: Sequence[EscapeTurn]) -> Iterator[tuple[EscapeWorth, bool]]:
    """Value the turns of a game; with each whether the value is exact."""
    marks = _UNSEEN, _UNSEEN
    for turn in turns:
        worth, exact, marks = _valued(turn, marks)
        yield worth, exact


def choice_chance(state: EscapeState, turn: int, chosen: Mapping[Player, str]) -> float:
    """Largest probability of escape within 40 turns of the game after both players' choices in a turn, from 1, before the killer's draw."""
    from games.coordination.escape_tables import tables  # compiled code takes a second to load

    table, options, left = tables(mark_stays=False), killer_options(state), max(0, _LAST_TURN - turn + 1)
    ends = [_end(table, _led(state, option, chosen), left - 1) for option in options]
    return sum(found.chance for found in ends) / len(ends)


def choice_turns(state: EscapeState, chosen: Mapping[Player, str]) -> float:
    """Least expected turns to the escape with a choice of both players, its turn included; inf where death could follow at once."""
    from games.coordination.escape_tables import tables  # compiled code takes a second to load

    table, options = tables(mark_stays=False), killer_options(state)
    ends = [_end(table, _led(state, option, chosen), _LAST_TURN) for option in options]
    return 1 + sum(found.mean for found in ends) / len(ends)


_Mark = tuple[frozenset[Player], Player | None]
"""Whom the killer has seen, and whom it hunts."""
_UNSEEN: Final[_Mark] = (START.seen, START.target)

_Place = tuple[int, Outcome]
"""Where a turn can lead: the position's number, and how the game stands."""


@lru_cache(maxsize=_MOST_TURNS)
def _valued(turn: EscapeTurn, marks: tuple[_Mark, _Mark]) -> tuple[EscapeWorth, bool, tuple[_Mark, _Mark]]:
    """The turn's worth, whether it is exact, and the marks afterwards; marks are by both readings of the rules: lost, and retained."""
    left = max(0, _LAST_TURN - turn.turn + 1)
    (lost, mark), (retained, other) = (
        _worth(turn.move, mark, left, mark_stays=mark_stays) for mark, mark_stays in zip(marks, (False, True), strict=True)
    )
    return lost, lost == retained, (mark, other)


def _led(state: EscapeState, option: KillerChoice, chosen: Mapping[Player, str]) -> _Place:
    after, outcome = step(state, option, chosen)
    return _number(after), outcome


@lru_cache(maxsize=_MOST_TURNS)
def _drawn(move: EscapeMove, mark: _Mark, options: tuple[KillerChoice, ...]) -> tuple[int, Sequence[_Place], _Place, _Mark]:
    """The position before a turn, where each draw of the killer leads, where the logged one led, and the mark afterwards."""
    before = EscapeState(move.rooms, move.generators, *mark)
    taken = next((option for option in options if option.room == move.killer), options[0])
    after = EscapeState(move.rooms_after, move.generators_after, taken.seen, taken.target)
    ends = [_led(before, option, move.chosen) for option in options]
    return _number(before), ends, (_number(after), move.outcome), (taken.seen, taken.target)


def _options(move: EscapeMove, mark: _Mark, *, mark_stays: bool) -> tuple[KillerChoice, ...]:
    options = killer_options(EscapeState(move.rooms, move.generators, *mark))
    seen = mark[0] if mark_stays else frozenset()
    near = [player for player in PLAYERS if move.rooms[player] in ROOMS[move.rooms["Adversary"]]] if seen else []
    return tuple(option._replace(seen=option.seen | seen) for option in options) if len(near) == 1 else options


def _worth(move: EscapeMove, mark: _Mark, left: int, *, mark_stays: bool) -> tuple[EscapeWorth, _Mark]:
    from games.coordination.escape_tables import tables  # compiled code takes a second to load

    table = tables(mark_stays=mark_stays)
    now, places, place, after = _drawn(move, mark, _options(move, mark, mark_stays=mark_stays))
    ends, end = [_end(table, one, left - 1) for one in places], _end(table, place, left - 1)
    worth = EscapeWorth(
        chance_before=float(table.chance[left, now]),
        chance_chosen=sum(found.chance for found in ends) / len(ends),
        chance_after=end.chance,
        mean_before=float(table.mean[now]),
        mean_chosen=1 + sum(found.mean for found in ends) / len(ends),
        mean_after=end.mean,
        best_before=float(table.best[now]),
        best_after=end.best,
        sure_before=float(table.sure[now]),
        sure_after=end.sure,
    )
    return worth, after


class _End(NamedTuple):
    """What a position after a turn is worth."""

    chance: float
    mean: float
    best: float
    sure: float


_ENDS: Final[Mapping[Outcome, _End]] = {"win": _End(1.0, 0.0, 0.0, 0.0), "loss": _End(0.0, math.inf, math.inf, math.inf)}


def _end(table: Tables, place: _Place, turns_left: int) -> _End:
    number, outcome = place
    if outcome in _ENDS:
        return _ENDS[outcome]
    chance = table.chance[max(0, turns_left), number]
    return _End(float(chance), float(table.mean[number]), float(table.best[number]), float(table.sure[number]))


def _number(state: EscapeState) -> int:
    from games.coordination.escape_tables import number

    seen = tuple(player for player in PLAYERS if player in state.seen)
    rooms = (state.rooms["Alice"], state.rooms["Bob"], state.rooms["Adversary"])
    return number(rooms, (state.generators[GENERATORS[0]], state.generators[GENERATORS[1]]), seen, state.target)


_DOORS: Final = tuple(BUTTONS.values())


class _State(NamedTuple):
    alice: int
    bob: int
    thief: int
    doors: int
    """Bit i: door i of `_DOORS` is open."""


_CAPTURE: Final = _State(0, 0, 0, 0)
"""Represents every end with a capture."""


def turns_left(state: CaptureState, *, first: bool) -> float:
    """Turns to the capture, inf without a way. In the first turn an exchange of rooms with the thief is not a capture."""
    doors = _opened(tuple(state.doors[door] for door in _DOORS))
    here = _State(state.rooms["Alice"], state.rooms["Bob"], state.rooms["Thief"], doors)
    if not first:
        return _table().get(here, math.inf)
    return 1 + min(_table().get(after, math.inf) for after in _outcomes(here, first=True))


def turns_after(state: CaptureState, chosen: Mapping[Player, Action], *, first: bool) -> float:
    """Turns to the capture after a joint choice, 0 if it captures, inf without a way."""
    turned = capture_step(state, chosen, first=first)
    return 0.0 if turned.capture is not None else turns_left(turned.state, first=False)


def best_actions(state: CaptureState, *, first: bool) -> Mapping[Player, frozenset[Action]]:
    """Each player's actions that are part of a joint choice with the fewest turns to the capture; none without a way to it."""
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
    states = [_State(*key) for key in product(CAPTURE_ROOMS, CAPTURE_ROOMS, CAPTURE_ROOMS, range(1 << len(_DOORS)))]
    outcomes = {state: _outcomes(state, first=False) for state in states}
    found, turns, nearer = {_CAPTURE: 0}, 0, {_CAPTURE}
    while nearer:
        turns += 1
        nearer = {state for state, after in outcomes.items() if state not in found and not nearer.isdisjoint(after)}
        found.update(dict.fromkeys(nearer, turns))
    return found


def _outcomes(state: _State, *, first: bool) -> set[_State]:
    """The states that the joint actions lead to: the rules of `games.coordination.capture.step`, over numbers for their speed."""
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


_LAST_TURNS = 2
"""Turns after the last card is drawn."""


class Ceiling(NamedTuple):
    """What bounds the final score, in points."""

    reach: int
    """Sum over the colours of the highest rank up to which no rank above the stack has all its copies discarded."""
    pace: int
    """Points made and plays that are still possible."""
    bound: int
    """The lower of both; the points made once all lives are lost."""


def ceilings(states: Sequence[HanabiState]) -> Iterator[Ceiling]:
    """Bound the final score in the states of a game, the first to the last in their order."""
    left = _LAST_TURNS
    for index, state in enumerate(states):
        if index and states[index - 1].deck == 0:
            left = max(0, left - 1)
        reach, pace = sum(_highest(state, color) for color in COLORS), state.stacked + (state.deck + _LAST_TURNS if state.deck else left)
        yield Ceiling(reach, pace, min(reach, pace) if state.lives else state.stacked)


def _highest(state: HanabiState, color: str) -> int:
    for rank in RANKS[state.fireworks[color] :]:
        if state.discards.count(f"{color}{rank}") == COPIES[rank]:
            return int(rank) - 1
    return int(RANKS[-1])
