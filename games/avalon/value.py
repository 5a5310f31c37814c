"""How likely good is to win, by a model of how the rest of the game is played; no property of the game itself.

Stated play: every later leader takes itself and draws the rest of the team at random; every later proposal is approved; a mission fails
if evil is on its team; the assassin names a random good player. All sequences of missions are enumerated: the chance is exact for that
play.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from games.avalon.rules import EVIL, MISSIONS_TO_WIN
from games.avalon.table import Table


@lru_cache(maxsize=65536)
def good_wins(sides: tuple[bool, ...], sizes: tuple[int, ...], successes: int, fails: int, leader: int) -> float:
    """Chance that good wins before a proposal; `sides`: by position, whether evil; `successes` and `fails` count missions."""
    good = len(sides) - sum(sides)
    if successes >= MISSIONS_TO_WIN:
        return 1 - 1 / good
    if fails >= MISSIONS_TO_WIN or successes + fails >= len(sizes):
        return 0.0
    size, following = sizes[successes + fails], (leader + 1) % len(sides)
    clean = 0.0 if sides[leader] else math.comb(good - 1, size - 1) / math.comb(len(sides) - 1, size - 1)
    won = good_wins(sides, sizes, successes + 1, fails, following) if clean else 0.0
    return clean * won + (1 - clean) * good_wins(sides, sizes, successes, fails + 1, following)


class Chance(NamedTuple):
    """What a turn did to the chance of good."""

    before: float
    after: float
    otherwise: float | None = None
    """Of a proposal with a vote: the chance if the vote had gone the other way."""


def chances(table: Table, before: Mapping[str, Any], after: Mapping[str, Any]) -> Chance | None:
    """The chance before and after a turn, given by the states of a log; None of talk, and where roles, sizes or outcomes are not known."""
    roles = table.beliefs.roles
    if None in roles or len(table.sizes) < table.mission or before["stage"] not in ("proposal", "quest", "assassination"):
        return None
    sides = tuple(role in EVIL for role in roles)
    done = [mission["result"] for mission in before["missions"]]
    successes, fails = done.count("success"), done.count("fail")

    def at(won: int, lost: int, leader: str | None) -> float:
        return good_wins(sides, table.sizes, won, lost, 0 if leader is None else table.names.index(leader))

    def of_team(placed: Mapping[str, Any]) -> float:
        bad = bool(placed["team_evil"])
        return at(successes + (not bad), fails + bad, after["leader"])

    if before["stage"] == "proposal":
        placed = after["on_table"]
        start, approved, rejected = at(successes, fails, placed["leader"]), of_team(placed), at(successes, fails, after["leader"])
        if placed["result"] is None:
            return None
        now, other = (approved, rejected) if placed["result"] == "approved" else (rejected, approved)
        return Chance(start, now, None if placed["auto"] else other)
    if before["stage"] == "quest" and before["on_table"] is not None and after["missions"][-1]["result"]:
        won = after["missions"][-1]["result"] == "success"
        return Chance(of_team(before["on_table"]), at(successes + won, fails + (not won), after["leader"]))
    if before["stage"] == "assassination" and after["guess"]["right"] is not None:
        return Chance(at(successes, fails, None), float(not after["guess"]["right"]))
    return None
