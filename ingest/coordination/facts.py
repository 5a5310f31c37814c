"""What the lines of CollabCapture and CollabEscape say of the game, without replies and policies.

Games are full of the same positions: equal facts are one object, by which what follows from them is found again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from games.coordination.players import Player

__all__ = ["MOST_FACTS", "CaptureFacts", "EscapeFacts", "RoomPlayer", "capture_facts", "escape_facts"]

MOST_FACTS: Final = 1024
"""Lines whose facts are kept, and what follows from them: games are full of the same positions."""


class RoomPlayer(NamedTuple):
    """What a line of CollabCapture or CollabEscape says of a player, without its reply."""

    player: Player
    observation_text: str | None
    available_actions: tuple[str | int, ...]
    intended: str | None
    executed: str
    grounding_ok: bool | None


@dataclass(frozen=True, slots=True, eq=False)
class CaptureFacts:
    """What a line says of the game, without replies and policies."""

    turn: int
    rooms_before: Mapping[Literal["Alice", "Bob", "Thief"], int]
    rooms_after: Mapping[Literal["Alice", "Bob", "Thief"], int]
    doors_before: Mapping[Literal["1-2", "3-4"], bool]
    doors_after: Mapping[Literal["1-2", "3-4"], bool]
    players: tuple[RoomPlayer, RoomPlayer]
    buttons_pressed: tuple[str, ...] | None
    captured: bool
    capture_kind: Literal["same_room", "swap"] | None
    terminal: bool
    turns_printed: int | None


@dataclass(frozen=True, slots=True, eq=False)
class EscapeFacts:
    """What a line says of the game, without replies and policies."""

    rooms_before: Mapping[Literal["Alice", "Bob", "Adversary"], str]
    rooms_after: Mapping[Literal["Alice", "Bob", "Adversary"], str]
    generators_before: Mapping[Literal["room 1", "room 6"], int]
    generators_after: Mapping[Literal["room 1", "room 6"], int]
    generators_fixed: Mapping[str, bool] | None
    players: tuple[RoomPlayer, RoomPlayer]
    exit_gate_before: bool
    exit_gate_after: bool
    adversary_target: Player | None
    adversary_choice: str
    outcome: Literal["continue", "win", "loss", "turn_cap"]
    terminal: bool


@lru_cache(maxsize=MOST_FACTS)
def capture_facts(said: tuple[Any, ...]) -> CaptureFacts:
    """Facts from a line's values in their order, mappings as pairs, lists and players as tuples."""
    turn, rooms_before, rooms_after, doors_before, doors_after, players, *others = said
    return CaptureFacts(turn, dict(rooms_before), dict(rooms_after), dict(doors_before), dict(doors_after), _both(players), *others)


@lru_cache(maxsize=MOST_FACTS)
def escape_facts(said: tuple[Any, ...]) -> EscapeFacts:
    """Facts from a line's values in their order, mappings as pairs, lists and players as tuples."""
    rooms_before, rooms_after, counters_before, counters_after, fixed, players, *others = said
    counters = dict(counters_before), dict(counters_after), None if fixed is None else dict(fixed)
    return EscapeFacts(dict(rooms_before), dict(rooms_after), *counters, _both(players), *others)


def _both(players: tuple[tuple[Any, ...], tuple[Any, ...]]) -> tuple[RoomPlayer, RoomPlayer]:
    alice, bob = players
    return RoomPlayer(*alice), RoomPlayer(*bob)
