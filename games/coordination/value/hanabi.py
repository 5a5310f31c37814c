"""The most points that a Hanabi table can still make, at most: a bound, since hands and hints are not looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from games.coordination.hanabi.rules import COLORS, COPIES, RANKS, HanabiState

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
        reach, pace = _reach(state), state.stacked + (state.deck + _LAST_TURNS if state.deck else left)
        yield Ceiling(reach, pace, min(reach, pace) if state.lives else state.stacked)


def _reach(state: HanabiState) -> int:
    return sum(_highest(state, color) for color in COLORS)


def _highest(state: HanabiState, color: str) -> int:
    for rank in RANKS[state.fireworks[color] :]:
        if state.discards.count(f"{color}{rank}") == COPIES[rank]:
            return int(rank) - 1
    return int(RANKS[-1])
