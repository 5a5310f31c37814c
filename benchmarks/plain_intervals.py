"""How often the intervals of shares, means and differences hold the truth: of games as they come, without labels.

Part of `python -m benchmarks.coverage`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.comparison.differences import ValueRange, paired
from analytics.statistics.cluster_intervals import mean_interval, share_interval
from analytics.statistics.partial_correlations import correlation
from analytics.statistics.regressions import clustered_regression, mean_by
from analytics.statistics.share_differences import share_difference

__all__ = ["SCENES", "Scene", "held", "plain_tables"]

Floats = NDArray[np.float64]
_SEED: Final = 2026
_LENGTHS: Final = (0.25, 0.5, 1.0, 1.0, 2.25)
_TURNS: Final = 20


class Scene(NamedTuple):
    """Games, or tasks, with a known truth."""

    games: int
    unequal: bool
    """Whether games are a quarter to more than twice as long as the mean one (of tasks: 1 to 8 runs instead of 4)."""
    rate: float
    """True share, or mean score."""
    icc: float
    """Intraclass correlation inside a game, or a task."""


SCENES: Final = tuple(map(Scene._make, product((5, 10, 30), (False, True), (0.03, 0.1, 0.3, 0.5), (0.0, 0.1, 0.3))))
"""Every combination."""

Drawn = tuple[Floats, Floats]
"""Lower and upper ends, shape (data sets,)."""


def _sizes(scene: Scene, mean: int) -> Floats:
    sizes = np.full(scene.games, float(mean))
    return np.maximum(1.0, np.round(mean * np.resize(_LENGTHS, scene.games))) if scene.unequal else sizes


def _levels(scene: Scene, data_sets: int, random: np.random.Generator) -> Floats:
    if not scene.icc:
        return np.full((data_sets, scene.games), scene.rate)
    strength = (1 - scene.icc) / scene.icc
    levels: Floats = random.beta(scene.rate * strength, (1 - scene.rate) * strength, (data_sets, scene.games))
    return levels


def _hits(scene: Scene, sizes: Floats, data_sets: int, random: np.random.Generator) -> Floats:
    hits: Floats = random.binomial(sizes.astype(int), _levels(scene, data_sets, random)).astype(float)
    return hits


def _of_turns(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    sizes = np.broadcast_to(_sizes(scene, _TURNS), (data_sets, scene.games))
    found = mean_interval(_hits(scene, sizes[0], data_sets, random), sizes)
    return found.low, found.high


def _left_out(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    sizes = np.broadcast_to(_sizes(scene, _TURNS), (data_sets, scene.games))
    found = share_interval(_hits(scene, sizes[0], data_sets, random), sizes)
    return found.low, found.high


def _of_tasks(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """Each task counts once, with the mean of its runs."""
    runs = _sizes(scene, 4)
    found = mean_interval(_hits(scene, runs, data_sets, random) / runs, np.ones((data_sets, scene.games)))
    return found.low, found.high


def _scores(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """Scores from 0 to 1 of one run a task: the level itself, with some noise."""
    levels = _levels(scene, data_sets, random)
    scores = random.beta(8 * levels + 1e-9, 8 * (1 - levels) + 1e-9)
    found = mean_interval(scores, np.ones((data_sets, scene.games)))
    return found.low, found.high


def _paired(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """Two teams on the same tasks, their chances of success equal on each: the truth is 0."""
    runs, levels = _sizes(scene, 4), _levels(scene, data_sets, random)
    sides = [random.binomial(runs.astype(int), levels) / runs for _ in range(2)]
    found = [paired(one, other, ValueRange(1.0)) for one, other in zip(*sides, strict=True)]
    return _column(found, 1), _column(found, 2)


def _after(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """A share after a failure and else, equal in each game: the truth is 0. A third of the turns are failures."""
    sizes, levels = _sizes(scene, _TURNS), _levels(scene, data_sets, random)
    after = np.maximum(1, np.round(sizes / 3)).astype(int)
    rest = np.maximum(1, sizes.astype(int) - after)
    hits, other = random.binomial(after, levels).astype(float), random.binomial(rest, levels).astype(float)
    found = [share_difference(one, after.astype(float), two, rest.astype(float)) for one, two in zip(hits, other, strict=True)]
    return _column(found, 1), _column(found, 2)


def _effect(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """What following advice brings on a turn: the truth is 0; how often it is followed and what turns bring differ by task together."""
    clusters = np.repeat(np.arange(scene.games), _sizes(scene, _TURNS).astype(int))
    ends = []
    for _ in range(max(data_sets // 5, 1)):
        level = _levels(scene, 1, random)[0][clusters]
        followed = (random.random(len(clusters)) < np.clip(level + 0.2, 0, 1)).astype(float)
        columns = {"followed": followed, "mean": mean_by(followed, clusters)}
        found = clustered_regression(level + random.normal(0, 0.3, len(clusters)), columns, clusters, yes_or_no=False).get("followed")
        ends.append((np.nan, np.nan) if found is None else (found.low, found.high))
    low, high = np.array(ends).T
    return low, high


def _correlated(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """Two numbers of a turn that do not go together, whose levels differ between tasks each on its own: the truth is 0."""
    clusters = np.repeat(np.arange(scene.games), _sizes(scene, _TURNS).astype(int))
    ends = []
    for _ in range(max(data_sets // 5, 1)):
        x, y = (_levels(scene, 1, random)[0][clusters] + random.normal(0, 0.3, len(clusters)) for _ in range(2))
        found = correlation(x, y, clusters)
        ends.append((np.nan, np.nan) if found is None or found.low is None else (found.low, found.high))
    low, high = np.array(ends, dtype=float).T
    return low, high


def _column(found: Sequence[tuple[float | None, ...]], place: int) -> Floats:
    return np.array([np.nan if one[place] is None else one[place] for one in found], dtype=float)


METHODS: Final[dict[str, tuple[str, Callable[[Scene, int, np.random.Generator], Drawn], bool]]] = {
    "shares of turns": ("failures, judge_scores, remove-gap, ...: `clustered_low`, `clustered_high`", _of_turns, True),
    "shares, each game left out": ("agreement, transitions, judges-needed: `share_interval`", _left_out, True),
    "success by task, tasks repeated": ("leaderboard: `clustered_low`, `clustered_high`; four runs of a task, or 1 to 9", _of_tasks, True),
    "scores by task": ("leaderboard: `clustered_low`, `clustered_high`", _scores, True),
    "differences on shared tasks, repeated": ("compare", _paired, False),
    "differences of shares": ("transitions", _after, False),
    "effects": ("effects", _effect, False),
    "correlations, pooled": ("correlations", _correlated, False),
}
"""Name -> (which reports, how ends are drawn, whether the truth is the rate; else it is 0)."""


def held(name: str, scene: Scene, data_sets: int, seed: int = _SEED) -> tuple[float, float]:
    """Share of the data sets with an interval whose interval holds the truth, and mean width; NaN if fewer than nine of ten have one."""
    _, draw, is_rate = METHODS[name]
    low, high = draw(scene, data_sets, np.random.default_rng(seed))
    given = np.isfinite(low) & np.isfinite(high)
    if given.mean() < 0.9:
        return np.nan, np.nan
    truth = scene.rate if is_rate else 0.0
    inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return float(inside[given].mean()), float((high - low)[given].mean())


_ABOUT: Final = """every combination of
5, 10, 30 games (of what comes by task: tasks) of equal or unequal length; true share 0.03, 0.1, 0.3, 0.5; intraclass correlation (icc) in
a game 0, 0.1, 0.3."""


def plain_tables(data_sets: int) -> Iterator[str]:
    """A section for each method: coverage by number of games, and in the worst scenes."""
    about = f"{len(SCENES)} scenes a method, of {data_sets:,} data sets (effects, correlations: a fifth): {_ABOUT}"
    yield f"## Shares, means, differences\n\n{about}"
    for name, (reports, *_) in METHODS.items():
        found = [(scene, *held(name, scene, data_sets)) for scene in SCENES]
        given = [(scene, share, width) for scene, share, width in found if np.isfinite(share)]
        lines = [
            f"### {name} ({reports})\n",
            "| scenes | least | mean | below 0.93 | 0.93 to 0.97 | above 0.97 | mean width |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [f"| {title} | {_told([one for one in given if chosen(one[0])])} |" for title, chosen in _groups()]
        worst = sorted(given, key=lambda one: one[1])[:3]
        lines.append("\nWorst: " + "; ".join(f"{share:.3f} ({_named(scene)})" for scene, share, _ in worst) + ".")
        yield "\n".join(lines)


def _groups() -> Iterator[tuple[str, Callable[[Scene], bool]]]:
    yield "all", lambda _: True
    for games in (5, 10, 30):
        yield f"{games} games", lambda scene, games=games: scene.games == games  # type: ignore[misc]
    yield "equal", lambda scene: not scene.unequal
    yield "unequal", lambda scene: scene.unequal
    for rate in (0.03, 0.1, 0.3, 0.5):
        yield f"share {rate:g}", lambda scene, rate=rate: scene.rate == rate  # type: ignore[misc]


def _told(chosen: list[tuple[Scene, float, float]]) -> str:
    if not chosen:
        return "no interval | | | | | "
    shares, widths = np.array([share for _, share, _ in chosen]), np.array([width for *_, width in chosen])
    below, above = shares < 0.93, shares > 0.97
    parts = (f"{shares.min():.3f}", f"{shares.mean():.3f}", *(f"{part.mean():.2f}" for part in (below, ~below & ~above, above, widths)))
    return " | ".join(parts)


def _named(scene: Scene) -> str:
    return f"{scene.games} {'unequal' if scene.unequal else 'equal'} games, share {scene.rate:g}, icc {scene.icc:g}"
