"""Games, or tasks, with a known truth, for `python -m research coverage`."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TURNS: Final = 20
_LENGTHS: Final = (0.25, 0.5, 1.0, 1.0, 2.25)


class Scene(NamedTuple):
    """Games, or tasks, with a known truth."""

    games: int
    unequal: bool
    """Whether games are a quarter to more than twice as long as the mean one (of tasks: 1 to 9 runs instead of 4)."""
    rate: float
    """True share, or mean score."""
    icc: float
    """Intraclass correlation inside a game, or a task."""


SCENES: Final = tuple(map(Scene._make, product((5, 10, 30), (False, True), (0.03, 0.1, 0.3, 0.5), (0.0, 0.1, 0.3))))
"""Every combination."""

Drawn = tuple[Floats, Floats]
"""Lower and upper ends, shape (data sets,)."""


class Method(NamedTuple):
    """One kind of interval."""

    reports: str
    """Which print it, and what there is to know."""
    draw: Callable[[Scene, int, np.random.Generator], Drawn]
    is_rate: bool = False
    """Whether the truth is the scene's share; else it is 0."""
    fraction: float = 1.0
    """Of the data sets: fewer where one takes long."""
    scenes: Sequence[Scene] = SCENES


def few_scenes(least: int = 5) -> tuple[Scene, ...]:
    """A third of them: rare and middling shares, without clustering and with much, for what takes long."""
    chosen = (scene for scene in SCENES if scene.rate in (0.1, 0.5) and scene.icc in (0.0, 0.3))
    return tuple(scene._replace(games=max(scene.games, least)) for scene in chosen)


def sizes_of(scene: Scene, mean: int) -> Floats:
    """Units of each game, shape (games,)."""
    sizes = np.full(scene.games, float(mean))
    return np.maximum(1.0, np.round(mean * np.resize(_LENGTHS, scene.games))) if scene.unequal else sizes


def levels_of(scene: Scene, data_sets: int, random: np.random.Generator) -> Floats:
    """True share of each game, shape (data sets, games)."""
    if not scene.icc:
        return np.full((data_sets, scene.games), scene.rate)
    strength = (1 - scene.icc) / scene.icc
    levels: Floats = random.beta(scene.rate * strength, (1 - scene.rate) * strength, (data_sets, scene.games))
    return levels


def hits_of(scene: Scene, sizes: Floats, data_sets: int, random: np.random.Generator) -> Floats:
    """Units of each game that are hits, shape (data sets, games)."""
    hits: Floats = random.binomial(sizes.astype(int), levels_of(scene, data_sets, random)).astype(float)
    return hits


def many(found: Sequence[tuple[float | None, float | None] | None]) -> Drawn:
    """Columns of ends; NaN where there are none."""
    none = (np.nan, np.nan)
    low, high = np.array([none if one is None or None in one else one for one in found], dtype=float).reshape(-1, 2).T
    return low, high
