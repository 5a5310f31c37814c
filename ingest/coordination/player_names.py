"""Names of the CSV files that the published players write: who, which model, when, and which file holds the other half of a game."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from games.coordination.players import PLAYERS, Player, partner_of

__all__ = ["PlayerFile", "other_half", "player_file"]

_TIME: Final = "%Y-%m-%d_%H-%M-%S"
_STAMP: Final = r"_(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)\.csv"
_HANABI: Final = re.compile(rf"(Alice|Bob)_(.+){_STAMP}")
_KITCHEN: Final = re.compile(rf"(?:.+)_ai_(.+)_player_([01]){_STAMP}")


class PlayerFile(NamedTuple):
    """What a name says."""

    player: Player
    model: str
    started_at: datetime


def player_file(name: str) -> PlayerFile | None:
    """`Bob_gpt-4_2024-03-28_16-39-54.csv` or `cramped_room_ai_gpt-4_player_0_2024-03-28_16-39-54.csv`; None for other names."""
    if found := _HANABI.fullmatch(name):
        return _parsed(found[1], found[2], found[3])
    if found := _KITCHEN.fullmatch(name):
        return _parsed(PLAYERS[int(found[2])], found[1], found[3])
    return None


def _parsed(player: str, model: str, stamp: str) -> PlayerFile | None:
    try:
        started_at = datetime.strptime(stamp, _TIME)  # noqa: DTZ007  # local time of the log, as everywhere in the store
    except ValueError:
        return None
    return PlayerFile("Alice" if player == "Alice" else "Bob", model, started_at)


def other_half(path: Path) -> Path | None:
    """The partner's Hanabi file of the same game: in the same folder, nearest in time, and this one is nearest to it.

    The two players of a game take their time stamps one after the other, so the stamps may differ by seconds.
    """
    found = _nearest(path)
    return found if found is not None and _nearest(found) == path else None


def _nearest(path: Path) -> Path | None:
    own = player_file(path.name)
    if own is None:
        return None
    candidates = {
        other: named
        for other in path.parent.glob(f"{partner_of(own.player)}_*.csv")
        if (named := player_file(other.name)) is not None and named.player != own.player
    }

    def distance(other: Path) -> tuple[float, bool, str]:
        named = candidates[other]
        return abs((named.started_at - own.started_at).total_seconds()), named.model != own.model, other.name

    return min(candidates, key=distance, default=None)
