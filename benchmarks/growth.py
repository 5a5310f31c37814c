"""Growth: ingest, the engine judge and the pages from 10 to 100 to 1,000 games; the base is the same thing on fewer games.

The exponent e is that of time ~ games^e between the two sizes: 1 is linear, less is better. What a thousand games take a game is held
against what a hundred take; 5 % are allowed for noise. The judge runs once a size, it takes longest.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Final

from benchmarks.figures import Figure, seconds
from benchmarks.pages import addresses, draw
from benchmarks.timing import medians
from benchmarks.workload import craft_games, ingest, judge
from schemas.store.store import Store

__all__ = ["run"]

_SIZES: Final = (10, 100, 1_000)
_ROUNDS: Final = 3
_MOST: Final = 1.05


def run() -> list[Figure]:
    """Measure."""
    paths = craft_games(_SIZES[-1])
    stores = {size: ingest(paths[:size], f"growth-{size}.duckdb")[0] for size in _SIZES}
    figures = _grown("ingest", lambda size: ingest(paths[:size], "growth.duckdb"), rounds=_ROUNDS)
    figures += _grown("engine judge, spatial_grounding", lambda size: judge(stores[size], ("spatial_grounding",)), rounds=1)
    return figures + _grown("all pages", lambda size: _draw_all(stores[size]), rounds=_ROUNDS)


def _draw_all(store: Store) -> None:
    for address in addresses(store).values():
        draw(store, address)


def _grown(name: str, action: Callable[[int], object], *, rounds: int) -> list[Figure]:
    action(_SIZES[0])  # imports
    taken = {int(size): found.wall_s for size, found in medians(rounds, {str(size): partial(action, size) for size in _SIZES}).items()}
    return [_step(name, fewer, more, taken) for fewer, more in pairwise(_SIZES)]


def _step(name: str, fewer: int, more: int, taken: dict[int, float]) -> Figure:
    ratio = (taken[more] / more) / (taken[fewer] / fewer)
    exponent = math.log(taken[more] / taken[fewer]) / math.log(more / fewer)
    return Figure(
        f"{name}, {more:,} games: e = {exponent:.2f}",
        f"{seconds(taken[more] / more)} a game",
        f"{seconds(taken[fewer] / fewer)} a game at {fewer:,}",
        ratio,
        f"<= {_MOST}",
        ratio <= _MOST,
    )
