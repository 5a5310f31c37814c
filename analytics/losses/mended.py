"""What comes back of a cost when the broken link that it was put down to is mended, and the turn played again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.query import query
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ALL", "Mended", "costs_by_turn", "lost_since", "mended_report"]

ALL: Final = "ALL"
"""Link of the rows that pool all."""
_HALF: Final = 0.5
_NOTHING: Final = 1e-9
_COUNTS: Final = ("turns", "games")
_RATES: Final = ("came_back", "came_back_low", "came_back_high", "little", "little_low", "little_high")


class Mended(NamedTuple):
    """A turn that was played again with one link mended."""

    benchmark: str
    episode_id: str
    turn: int
    agent: str
    link: str
    ideal: str
    """What the agent said or did instead."""
    charged: float
    """What it had been charged with."""
    promised: float
    """What its ideal would have kept, by the attribution; more than it was charged with where several share a turn."""
    back: float
    """What the game lost less in the turns that were played again."""


def costs_by_turn(store: Store) -> dict[str, dict[int, float]]:
    """Game -> turn -> what it cost, not below 0, where that is known."""
    found: dict[str, dict[int, float]] = {}
    for episode, turn, cost in query(store, "SELECT episode_id, turn, greatest(cost, 0) FROM turn_costs WHERE isfinite(cost)").rows():
        found.setdefault(episode, {})[turn] = cost
    return found


def lost_since(costs: Mapping[int, float], turn: int, turns: int | None) -> float:
    """What a game lost from a turn on, in so many turns; None: to its end."""
    last = float("inf") if turns is None else turn + turns - 1
    return sum(cost for when, cost in costs.items() if turn <= when <= last)


def mended_report(found: Sequence[Mended]) -> pl.DataFrame:
    """One row a benchmark and link, `ALL` first.

    Columns, in order: benchmark, link; turns that were mended, and of how many games; came_back: share of what the ideals would have kept,
    by the attribution, that came back (below 0 where more was lost); little: share of the turns in which less than half of it did, whose
    cost then was put down wrongly; `_low`, `_high`: their 95 % intervals over games, null below two games and where more than all or less
    than nothing came back in a game.
    """
    import polars as pl

    rows = []
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        own = [one for one in found if one.benchmark == benchmark]
        rows.append(_row(benchmark, ALL, own))
        rows += [_row(benchmark, link, [one for one in own if one.link == link]) for link in sorted({one.link for one in own})]
    schema: dict[str, Any] = {"benchmark": pl.String(), "link": pl.String()} | dict.fromkeys(_COUNTS, pl.Int64())
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(_RATES, pl.Float64()), orient="row")


def _row(benchmark: str, link: str, found: Sequence[Mended]) -> tuple[Any, ...]:
    games: dict[str, list[Mended]] = {}
    for one in found:
        games.setdefault(one.episode_id, []).append(one)
    promised = [sum(one.promised for one in game) for game in games.values()]
    back = [sum(one.back for one in game) for game in games.values()]
    little = [float(sum(one.back < _HALF * one.promised for one in game)) for game in games.values()]
    sizes = [float(len(game)) for game in games.values()]
    return (benchmark, link, len(found), len(games), *_share(back, promised), *_share(little, sizes))


def _share(right: Sequence[float], of: Sequence[float]) -> tuple[float, float | None, float | None]:
    import numpy as np

    from analytics.statistics.cluster_intervals import share_interval

    value = sum(right) / sum(of)
    if len(of) <= 1 or not all(-_NOTHING <= one <= whole + _NOTHING for one, whole in zip(right, of, strict=True)):
        return value, None, None
    ends = share_interval(np.clip(right, 0, of), np.array(of))
    return value, float(ends.low), float(ends.high)
