"""Intervals of shares, means, differences and simple coefficients: of games as they come, without labels.

Part of `python -m research coverage`.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analytics.comparison.compare import ValueRange, paired
from analytics.courses import Turns, against_any_order, level_of
from analytics.statistics.intervals import mean_interval, share_interval
from analytics.statistics.regressions import clustered_regression, correlation, mean_by
from analytics.statistics.shifts import share_difference
from research.scenes import TURNS, Drawn, Method, Scene, hits_of, levels_of, sizes_of

Floats = NDArray[np.float64]


def _of_turns(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    sizes = np.broadcast_to(sizes_of(scene, TURNS), (data_sets, scene.games))
    found = mean_interval(hits_of(scene, sizes[0], data_sets, random), sizes)
    return found.low, found.high


def _left_out(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    sizes = np.broadcast_to(sizes_of(scene, TURNS), (data_sets, scene.games))
    found = share_interval(hits_of(scene, sizes[0], data_sets, random), sizes)
    return found.low, found.high


def _of_tasks(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """Each task counts once, with the mean of its runs."""
    runs = sizes_of(scene, 4)
    found = mean_interval(hits_of(scene, runs, data_sets, random) / runs, np.ones((data_sets, scene.games)))
    return found.low, found.high


def _scores(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """Scores from 0 to 1 of one run a task: the level itself, with some noise."""
    levels = levels_of(scene, data_sets, random)
    scores = random.beta(8 * levels + 1e-9, 8 * (1 - levels) + 1e-9)
    found = mean_interval(scores, np.ones((data_sets, scene.games)))
    return found.low, found.high


def _paired(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """Two teams on the same tasks, their chances of success equal on each: the truth is 0."""
    runs, levels = sizes_of(scene, 4), levels_of(scene, data_sets, random)
    sides = [random.binomial(runs.astype(int), levels) / runs for _ in range(2)]
    found = [paired(one, other, ValueRange(1.0)) for one, other in zip(*sides, strict=True)]
    return _column(found, 1), _column(found, 2)


def _successes(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """One team that always succeeds, and another one that fails in that share of the same tasks, of one game each, or 1 to 4."""
    runs = np.resize([1, 2, 4, 1], scene.games) if scene.unequal else np.ones(scene.games, dtype=np.int64)
    levels = levels_of(scene, data_sets, random)
    found = [
        paired(np.ones(scene.games), 1 - random.binomial(runs, level) / runs, ValueRange(1.0, yes_or_no=True), float(runs.mean()))
        for level in levels
    ]
    return _column(found, 1), _column(found, 2)


def _after(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """After a failure another one, in games that fail on as many turns as their level says, whatever came before: the truth is 0."""
    games = np.repeat(np.arange(scene.games), sizes_of(scene, TURNS).astype(int))
    has_next = np.append(games[1:] == games[:-1], [False])
    found = []
    for level in levels_of(scene, data_sets, random):
        failed = random.random(len(games)) < level[games]
        n = np.ones(len(games))
        turns = Turns(failed & has_next, np.append(failed[1:], [False]), level_of(games, n, failed, np.ones_like(failed)))
        hits, sizes, expected = against_any_order(games, n, turns)
        found.append(share_difference(hits, sizes, expected, sizes) if sizes.sum() else (None, None, None))
    return _column(found, 1), _column(found, 2)


def _effect(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """What following advice brings on a turn: the truth is 0; how often it is followed and what turns bring differ by task together."""
    clusters = np.repeat(np.arange(scene.games), sizes_of(scene, TURNS).astype(int))
    ends = []
    for _ in range(data_sets):
        level = levels_of(scene, 1, random)[0][clusters]
        followed = (random.random(len(clusters)) < np.clip(level + 0.2, 0, 1)).astype(float)
        columns = {"followed": followed, "mean": mean_by(followed, clusters)}
        found = clustered_regression(level + random.normal(0, 0.3, len(clusters)), columns, clusters, yes_or_no=False).get("followed")
        ends.append((np.nan, np.nan) if found is None else (found.low, found.high))
    low, high = np.array(ends).T
    return low, high


def _correlated(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """Two numbers of a turn that do not go together, whose levels differ between tasks each on its own: the truth is 0."""
    clusters = np.repeat(np.arange(scene.games), sizes_of(scene, TURNS).astype(int))
    ends = []
    for _ in range(data_sets):
        x, y = (levels_of(scene, 1, random)[0][clusters] + random.normal(0, 0.3, len(clusters)) for _ in range(2))
        found = correlation(x, y, clusters)
        ends.append((np.nan, np.nan) if found is None or found.low is None else (found.low, found.high))
    low, high = np.array(ends, dtype=float).T
    return low, high


def _column(found: Sequence[tuple[float | None, ...]], place: int) -> Floats:
    return np.array([np.nan if one[place] is None else one[place] for one in found], dtype=float)


PLAIN: Final[dict[str, Method]] = {
    "shares of turns": Method("failures, judge_scores, remove-gap, ...: `clustered_low`, `clustered_high`", _of_turns, is_rate=True),
    "shares, each game left out": Method("agreement, transitions, judges-needed, readers: `share_interval`", _left_out, is_rate=True),
    "success by task, tasks repeated": Method(
        "leaderboard: `clustered_low`, `clustered_high`; four runs of a task, or 1 to 9", _of_tasks, is_rate=True
    ),
    "scores by task": Method("leaderboard: `clustered_low`, `clustered_high`", _scores, is_rate=True),
    "differences on shared tasks, repeated": Method("compare", _paired),
    "success on shared tasks": Method("compare, of yes and no: one team always succeeds", _successes, is_rate=True),
    "failures after failures": Method("transitions: difference from the turns of each game in any order", _after),
    "effects": Method("effects", _effect, fraction=0.2),
    "correlations, pooled": Method("correlations", _correlated, fraction=0.2),
}
"""Name -> what reports print it, and how its ends are drawn."""
