"""What each turn of a CollabEscape game did to the chance of escape and to the turns it takes.

Both players are steered freely. They do not know a random move of the killer, which goes to each of its neighbours with equal
probability; with a player beside it, its move is known. The rules leave open whether a player's mark as seen stays while the killer has
only the other one beside it: values are worked out both ways, and are exact where both agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from games.coordination.escape.rules import GENERATORS, ROOMS, START, EscapeState, KillerChoice, Outcome, killer_options, step
from games.coordination.players import PLAYERS, Player

if TYPE_CHECKING:
    from games.coordination.value.escape_tables import Tables

__all__ = ["EscapeTurn", "EscapeWorth", "choice_chance", "choice_turns", "turn_worths"]

_LAST_TURN: Final = 40
"""Chances of escape are those up to this turn."""


class EscapeTurn(NamedTuple):
    """A turn as logged."""

    turn: int
    """From 1."""

    rooms: Mapping[str, int]
    """Alice, Bob and Adversary -> room, before the turn."""

    generators: Mapping[int, int]
    chosen: Mapping[Player, str]
    killer: int
    """The room the killer goes to."""

    rooms_after: Mapping[str, int]
    generators_after: Mapping[int, int]
    outcome: Outcome


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
    known = [_known(turn) for turn in turns]
    for worth, other in zip(_read(known, keeps=False), _read(known, keeps=True), strict=True):
        yield worth, worth == other


def choice_chance(state: EscapeState, turn: int, chosen: Mapping[Player, str]) -> float:
    """Largest probability of escape within 40 turns of the game after a choice of both players, before the killer's draw.

    Args:
        state: before the turn.
        turn: from 1.
        chosen: what each player does.
    """
    from games.coordination.value.escape_tables import tables  # compiled code takes a second to load

    table, options, left = tables(keeps=False), killer_options(state), max(0, _LAST_TURN - turn + 1)
    drawn = [(step(state, option, chosen), option) for option in options]
    ends = [_end(table, replace(after, seen=o.seen, target=o.target), outcome, left - 1) for (after, outcome), o in drawn]
    return sum(found.chance for found in ends) / len(ends)


def choice_turns(state: EscapeState, chosen: Mapping[Player, str]) -> float:
    """Least expected turns to the escape with a choice of both players, its turn included; inf where death could follow at once."""
    from games.coordination.value.escape_tables import tables  # compiled code takes a second to load

    table, options = tables(keeps=False), killer_options(state)
    drawn = [(step(state, option, chosen), option) for option in options]
    ends = [_end(table, replace(after, seen=o.seen, target=o.target), outcome, _LAST_TURN) for (after, outcome), o in drawn]
    return 1 + sum(found.mean for found in ends) / len(ends)


def _read(turns: Sequence[_Known], *, keeps: bool) -> Iterator[EscapeWorth]:
    seen, target = START.seen, START.target
    for turn in turns:
        worth, taken = _taken(turn, seen, target, keeps=keeps)
        seen, target = taken.seen, taken.target
        yield worth


class _Known(NamedTuple):
    """A turn as logged, its mappings as pairs, so that equal ones of other games are found again."""

    turn: int
    rooms: tuple[tuple[str, int], ...]
    generators: tuple[tuple[int, int], ...]
    chosen: tuple[tuple[Player, str], ...]
    killer: int
    rooms_after: tuple[tuple[str, int], ...]
    generators_after: tuple[tuple[int, int], ...]
    outcome: Outcome


def _known(turn: EscapeTurn) -> _Known:
    return _Known(
        turn.turn,
        tuple(turn.rooms.items()),
        tuple(turn.generators.items()),
        tuple(turn.chosen.items()),
        turn.killer,
        tuple(turn.rooms_after.items()),
        tuple(turn.generators_after.items()),
        turn.outcome,
    )


@lru_cache(maxsize=65536)
def _taken(known: _Known, seen: frozenset[Player], target: Player | None, *, keeps: bool) -> tuple[EscapeWorth, KillerChoice]:
    """What a turn is worth, and what the killer did in it."""
    from games.coordination.value.escape_tables import tables  # compiled code takes a second to load

    before = EscapeState(dict(known.rooms), dict(known.generators), seen, target)
    options = _options(before, keeps=keeps)
    taken = next((option for option in options if option.room == known.killer), options[0])
    after = EscapeState(dict(known.rooms_after), dict(known.generators_after), taken.seen, taken.target)
    return _worth(tables(keeps=keeps), known, before, after, options), taken


def _options(state: EscapeState, *, keeps: bool) -> tuple[KillerChoice, ...]:
    options = killer_options(state)
    near = [player for player in PLAYERS if state.rooms[player] in ROOMS[state.rooms["Adversary"]]]
    if keeps and len(near) == 1:
        return tuple(option._replace(seen=option.seen | state.seen) for option in options)
    return options


def _worth(table: Tables, turn: _Known, before: EscapeState, after: EscapeState, options: Sequence[KillerChoice]) -> EscapeWorth:
    now, left = _number(before), max(0, _LAST_TURN - turn.turn + 1)
    drawn = [step(before, option, dict(turn.chosen)) for option in options]
    ends = [
        _end(table, replace(state, seen=o.seen, target=o.target), outcome, left - 1)
        for (state, outcome), o in zip(drawn, options, strict=True)
    ]
    end = _end(table, after, turn.outcome, left - 1)
    return EscapeWorth(
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


class _End(NamedTuple):
    """What a position after a turn is worth."""

    chance: float
    mean: float
    best: float
    sure: float


_ENDS: Final[Mapping[Outcome, _End]] = {"win": _End(1.0, 0.0, 0.0, 0.0), "loss": _End(0.0, math.inf, math.inf, math.inf)}


def _end(table: Tables, state: EscapeState, outcome: Outcome, turns_left: int) -> _End:
    if outcome in _ENDS:
        return _ENDS[outcome]
    place = _number(state)
    chance = table.chance[max(0, turns_left), place]
    return _End(float(chance), float(table.mean[place]), float(table.best[place]), float(table.sure[place]))


def _number(state: EscapeState) -> int:
    from games.coordination.value.escape_tables import number

    seen = tuple(player for player in PLAYERS if player in state.seen)
    rooms = (state.rooms["Alice"], state.rooms["Bob"], state.rooms["Adversary"])
    return number(rooms, (state.generators[GENERATORS[0]], state.generators[GENERATORS[1]]), seen, state.target)
