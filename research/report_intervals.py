"""How often the intervals of models, curves, scales and paired tests hold the truth: those that take a fit each.

Part of `python -m research coverage`. All draws give the ends less the truth, so the truth is 0.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from analytics.comparison.compare import ValueRange, unpaired
from analytics.courses import Times, free_curve, hazard_ratio
from analytics.estimates.effects import Sums, fisher_z, powered, slope
from analytics.estimates.raters import over_people, rows_without_labels
from analytics.losses.lost import losses_interval
from analytics.mediation import mediated
from analytics.planning import pooled_spread
from analytics.scales import AbilityScale, ability_ends, additive_scale, bradley_terry, rasch_scale
from analytics.statistics.intervals import LEVEL, ratio_interval, t_interval, wilson
from analytics.statistics.regressions import clustered_regression, correlation, dummies, mean_by, mixed_coefficient, without
from analytics.statistics.shifts import Cells, confidence_sequence, group_shift, paired_shift
from research.label_plans import labels_drawn
from research.scenes import TURNS, Drawn, Method, Scene, few_scenes, hits_of, levels_of, many, sizes_of

Floats = NDArray[np.float64]
Pair = tuple[float | None, float | None]
Draw = Callable[[Scene, int, np.random.Generator], Drawn]

_TEAMS: Final = 3
_HORIZON: Final = 20
_TURN: Final = 10
"""At which curves are looked at."""
_ABLE: Final = np.array([0.3, 0.0, -0.3])


def _each(one: Callable[[Scene, np.random.Generator], Pair | None]) -> Draw:
    """Of a draw of one data set, a draw of many."""

    def draw(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
        return many([one(scene, random) for _ in range(data_sets)])

    return draw


def _ends(found: tuple[float | None, ...] | None, truth: float = 0.0) -> Pair | None:
    """The second and third of a result, which are its ends everywhere."""
    if found is None or found[1] is None or found[2] is None:
        return None
    return found[1] - truth, found[2] - truth


def _tasks(scene: Scene, runs: int) -> NDArray[np.int64]:
    """Task of each game."""
    return np.repeat(np.arange(scene.games), sizes_of(scene, runs).astype(int))


def _numbers(scene: Scene, clusters: NDArray[np.int64], random: np.random.Generator) -> tuple[Floats, Floats]:
    """Two numbers of a row that do not go together, whose levels differ between clusters each on its own."""
    first, second = (levels_of(scene, 1, random)[0][clusters] + random.normal(0, 0.3, len(clusters)) for _ in range(2))
    return first, second


def _within(scene: Scene, random: np.random.Generator) -> Pair | None:
    clusters = _tasks(scene, 20)
    teams = np.arange(len(clusters)) % _TEAMS
    x, y = (one + random.normal(0, 1, _TEAMS)[teams] for one in _numbers(scene, clusters, random))
    held = dummies(teams.tolist(), "team ")
    rest = without(np.column_stack([x, y]), held)
    return _ends(correlation(rest[:, 0], rest[:, 1], clusters, len(held), teams))


def _partial(scene: Scene, random: np.random.Generator) -> Pair | None:
    clusters = _tasks(scene, 20)
    teams, turn = np.arange(len(clusters)) % _TEAMS, (random.permutation(len(clusters)) % 20).astype(float)
    x, y = (one + random.normal(0, 1, _TEAMS)[teams] + 0.05 * turn for one in _numbers(scene, clusters, random))
    held = dummies(teams.tolist(), "team ") | dummies(clusters.tolist(), "task ")
    held |= {"turn": turn, "turn squared": np.square(turn)}
    rest = without(np.column_stack([x, y]), held)
    return _ends(correlation(rest[:, 0], rest[:, 1], clusters, len(held)))


def _between(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Scene's games are teams; each counts once, with its means."""
    teams = _tasks(scene, 20)
    counts = np.bincount(teams)
    x, y = (np.bincount(teams, weights=one) / counts for one in _numbers(scene, teams, random))
    return _ends(correlation(x, y, np.arange(scene.games)))


def _logistic(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Log odds of a yes, which the predictor does not change inside tasks (whose levels go with it)."""
    clusters = _tasks(scene, 20)
    level = levels_of(scene, 1, random)[0][clusters]
    followed = (random.random(len(clusters)) < np.clip(level + 0.2, 0, 1)).astype(float)
    columns = {"followed": followed, "mean": mean_by(followed, clusters)}
    outcome = (random.random(len(clusters)) < 0.4).astype(float)
    found = clustered_regression(outcome, columns, clusters, yes_or_no=True).get("followed")
    return _ends(found)


def _mixed(scene: Scene, random: np.random.Generator) -> Pair | None:
    clusters = _tasks(scene, 20)
    level = levels_of(scene, 1, random)[0][clusters]
    followed = (random.random(len(clusters)) < np.clip(level + 0.2, 0, 1)).astype(float)
    columns = {"followed": followed, "mean": mean_by(followed, clusters)}
    return _ends(mixed_coefficient(level + random.normal(0, 0.3, len(clusters)), columns, clusters, "followed"))


def _mediation(scene: Scene, random: np.random.Generator) -> Pair | None:
    """The scene's share is what passes: a = b = its root; tasks differ in mediator and outcome; two runs of a task, or one to four."""
    tasks = np.repeat(_tasks(scene, 2), 2)
    side = (np.arange(len(tasks)) % 2).astype(float)
    path = scene.rate**0.5
    hard = random.normal(0, scene.icc**0.5, (2, scene.games))[:, tasks]
    # what a team's message brings differs between tasks, too: errors are clustered
    own = random.normal(0, 0.5 * scene.icc**0.5, (2, scene.games))[:, tasks] * (side - 0.5)
    mediator = path * side + hard[0] + own[0] + random.normal(0, 0.5, len(tasks))
    outcome = path * mediator + 0.1 * side + hard[1] + own[1] + random.normal(0, 0.5, len(tasks))
    found = mediated(side, mediator[:, None], outcome, tasks)
    return None if found is None else (found[2][0].low - scene.rate, found[2][0].high - scene.rate)


def _courses(scene: Scene, teams: int, random: np.random.Generator) -> Times:
    """Games of 20 turns, a tenth cut before; the event comes on each turn with the chance of the task, about a quarter of the share."""
    tasks = np.repeat(_tasks(scene, 2), teams)
    chance = np.clip(levels_of(scene, 1, random)[0], 1e-6, 1 - 1e-6)[tasks] / 4
    happened_at = random.geometric(chance).astype(float)
    last = np.where(random.random(len(tasks)) < 0.1, random.integers(1, _HORIZON, len(tasks)), _HORIZON).astype(float)
    return Times(np.minimum(happened_at, last), happened_at <= last, [f"team {one % teams}" for one in range(len(tasks))], tasks)


def _free(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Share of games without the event after the tenth turn; the truth by the distribution of the tasks' chances."""
    steps = [step for step in free_curve(_courses(scene, 1, random)) if step["turn"] <= _TURN]
    if not steps or steps[-1]["free_low"] is None:
        return None
    truth = _free_truth(scene.rate, scene.icc)
    return steps[-1]["free_low"] - truth, steps[-1]["free_high"] - truth


def _free_truth(rate: float, icc: float) -> float:
    if not icc:
        return float((1 - rate / 4) ** _TURN)
    strength = (1 - icc) / icc
    drawn = np.random.default_rng(1).beta(rate * strength, (1 - rate) * strength, 200_000)
    return float(((1 - drawn / 4) ** _TURN).mean())


def _in_spirals(scene: Scene, random: np.random.Generator) -> Pair | None:
    """What turns in spirals lose beyond other turns of their games, where it is nothing: bad games lose more, and have longer spirals."""
    beyond, inside, drawn = np.zeros((3, scene.games))
    for game, (level, size) in enumerate(zip(levels_of(scene, 1, random)[0], sizes_of(scene, TURNS).astype(int), strict=True)):
        lost = random.binomial(1, level, size) * random.exponential(1.0, size)
        inside[game] = length = random.binomial(size, level)
        first = random.integers(size - length + 1)
        beyond[game] = lost[first : first + length].sum() - length * lost.mean()
        drawn[game] = lost.var() * length * (size - length) / max(size - 1, 1)
    games = int((inside > 0).sum())
    freedom = inside.sum() ** 2 / max((inside**2).sum(), 1e-12) - 1
    if games < 2 or freedom < 1:
        return None
    more = beyond.sum() / inside.sum()
    between = np.sqrt(games / (games - 1) * ((beyond - more * inside) ** 2).sum())
    half = float(max(stats.t.ppf(0.975, freedom) * between, stats.norm.ppf(0.975) * np.sqrt(drawn.sum())) / inside.sum())
    return (more - half, more + half) if half else None


def _hazard(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Log hazard ratio of two teams that do not differ."""
    found = hazard_ratio(_courses(scene, 2, random), "team 1")
    return None if found is None else (float(np.log(found[1])), float(np.log(found[2])))


def _games_of_teams(scene: Scene) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Team and task of each game: each task once a team, or one to four times."""
    runs = sizes_of(scene, 2 if scene.unequal else 1).astype(int)
    tasks = np.repeat(np.arange(scene.games), runs * _TEAMS)
    return np.arange(len(tasks)) % _TEAMS, tasks


def _apart(scale: AbilityScale, freedom: int) -> Pair:
    """Of the first team: how far it is from the mean of the teams."""
    low, high = ability_ends(scale.ability - scale.ability.mean(), scale.ability_error, freedom)
    return float(low[0] - _ABLE[0]), float(high[0] - _ABLE[0])


def _additive(scene: Scene, random: np.random.Generator) -> Pair | None:
    team, task = _games_of_teams(scene)
    hard = levels_of(scene, 1, random)[0]
    suits = random.normal(0, 0.3 * scene.icc**0.5, (_TEAMS, scene.games))  # a task suits one team better than another
    values = _ABLE[team] - hard[task] + suits[team, task] + random.normal(0, 0.3, len(team))
    return _apart(additive_scale(values, team, task), scene.games - 1)


def _rasch(scene: Scene, random: np.random.Generator) -> Pair | None:
    team, task = _games_of_teams(scene)
    hard = random.normal(0, 2 * scene.icc**0.5, scene.games) + np.log(1 / scene.rate - 1) / 2
    values = (random.random(len(team)) < 1 / (1 + np.exp(hard[task] - _ABLE[team]))).astype(float)
    return None if np.ptp(values) == 0 else _apart(rasch_scale(values, team, task), scene.games - 1)


def _difficulty(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Of the first task: how much harder than the mean of the tasks."""
    team, task = _games_of_teams(scene)
    hard = levels_of(scene, 1, random)[0]
    values = _ABLE[team] - hard[task] + random.normal(0, 0.3, len(team))
    scale = additive_scale(values, team, task)
    low, high = ability_ends(scale.difficulty, scale.difficulty_error, scene.games - 1)
    return float(low[0] - hard[0] + hard.mean()), float(high[0] - hard[0] + hard.mean())


def _strength(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Of the first of three teams, by pairs of all; each task has pairs of its own, and a judge's taste of its own."""
    tasks = _tasks(scene, 6)
    first = np.arange(len(tasks)) % _TEAMS
    second = (first + 1 + np.arange(len(tasks)) // _TEAMS % (_TEAMS - 1)) % _TEAMS
    taste = random.normal(0, scene.icc**0.5, (_TEAMS, scene.games))
    able = np.array([1.0, 0.0, -1.0]) * (0.5 - scene.rate)
    chance = 1 / (1 + np.exp(able[second] - able[first] + taste[second, tasks] - taste[first, tasks]))
    found = bradley_terry(first, second, (random.random(len(tasks)) < chance).astype(float), tasks)
    low, high = found[1][0], found[2][0]
    return None if np.isnan(low) else (float(low - able[0]), float(high - able[0]))


def _asked_twice(scene: Scene, random: np.random.Generator) -> Pair | None:
    """A judge that answers alike before and after, apart from chance."""
    sizes, level = sizes_of(scene, 20), levels_of(scene, 1, random)[0]
    before, after = (random.binomial(sizes.astype(int), level) for _ in range(2))
    return _ends(paired_shift((after - before).astype(float), sizes))


def _groups(scene: Scene, random: np.random.Generator) -> Pair | None:
    """As many games before as after, or of a judge's own model as of others, equally good."""
    sizes = np.concatenate([sizes_of(scene, 20)] * 2)
    level = np.concatenate([levels_of(scene, 1, random)[0] for _ in range(2)])
    late = np.arange(len(sizes)) >= scene.games
    strata = np.zeros(len(sizes), dtype=np.int64)
    cells = Cells(strata, np.arange(len(sizes)), late, sizes, random.binomial(sizes.astype(int), level).astype(float))
    return _ends(group_shift(cells))


def _unpaired(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Two teams, equally good, each on tasks of its own, four runs a task or one to nine."""
    runs = sizes_of(scene, 4)
    sides = [hits_of(scene, runs, 1, random)[0] / runs for _ in range(2)]
    return _ends(unpaired(sides[0], sides[1], ValueRange(1.0)))


def _of_games(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Each game once, each of a task of its own."""
    found = wilson(int((random.random(scene.games) < scene.rate).sum()), scene.games)
    return None if found is None else (found.low - scene.rate, found.high - scene.rate)


def _losses(scene: Scene, random: np.random.Generator) -> Pair | None:
    """What games lose: often nothing, else as an exponential number; the scene's share are games that lose."""
    losses = (random.random(scene.games) < scene.rate) * random.exponential(1.0, scene.games)
    found = losses_interval(losses.tolist(), most=None)
    return None if found is None else (found.low - scene.rate, found.high - scene.rate)


def _without_bounds(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Scores that have no upper end, such as points: means of a task's runs, gamma."""
    found = t_interval(random.gamma(2.0, 1.0, scene.games).tolist())
    return None if found is None else (found.low - 2.0, found.high - 2.0)


def _ratio(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Log of the sum of one error over the other: squared errors of two guesses, one twice as bad."""
    games = _tasks(scene, 20)
    spread = np.exp(random.normal(0, 2 * scene.icc, scene.games))[games] * scene.rate
    one, other = (np.bincount(games, weights=spread * random.gamma(0.5, size, len(games))).astype(float) for size in (1.0, 2.0))
    found = ratio_interval(one, other)
    return None if found is None else (float(np.log(found.low) + np.log(2)), float(np.log(found.high) + np.log(2)))


def _spread(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Standard deviation over tasks of differences of two teams' means of four runs."""
    runs = sizes_of(scene, 4)
    levels = levels_of(scene, 1, random)[0]
    sides = [random.binomial(runs.astype(int), levels) / runs for _ in range(2)]
    found = pooled_spread("paired", [(sides[0] - sides[1]).tolist()])
    truth = float(np.sqrt(2 * scene.rate * (1 - scene.rate) * (1 - scene.icc) * (1 / runs).mean()))
    return None if found is None else (found.low - truth, found.high - truth)


def _judged(statistic: Callable[[Floats], Floats]) -> Callable[[Scene, np.random.Generator], Pair | None]:
    """Of yes-or-no labels and a predictor that do not go together, with a judge whose errors go with the predictor; a third is labelled."""

    def draw(scene: Scene, random: np.random.Generator) -> Pair | None:
        clusters = _tasks(scene, 20)
        level, place = (levels_of(scene, 1, random)[0][clusters] for _ in range(2))
        x, label = place + random.normal(0, 0.3, len(clusters)), (random.random(len(clusters)) < level).astype(float)
        judge = np.where(random.random(len(clusters)) < 0.2, 1 - label, label) + 0.3 * x
        chance = np.where(judge > np.median(judge), 0.5, 0.2)
        weight = (random.random(len(clusters)) < chance) / chance
        parts = ((np.ones(len(clusters)), judge), (weight, label), (weight, judge))
        found = powered(statistic, Sums(*(_sums(one, x, y, clusters) for one, y in parts)))
        return None if np.isnan(found.low) else (found.low, found.high)

    return draw


def _sums(weight: Floats, x: Floats, y: Floats, clusters: NDArray[np.int64]) -> Floats:
    return np.column_stack([np.bincount(clusters, weights=weight * power) for power in (np.ones(len(x)), x, y, x**2, x * y, y**2)])


def _bounded(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Means of four runs of two teams that are alike on each task."""
    runs, levels = sizes_of(scene, 4), levels_of(scene, 1, random)[0]
    one, other = (random.binomial(runs.astype(int), levels) / runs for _ in range(2))
    return confidence_sequence(one - other, 1 - LEVEL)


def _over_models(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Scene's games are models; two shares of each that do not go together."""
    x, y = (random.binomial(20, levels_of(scene, 1, random)[0]) / 20 for _ in range(2))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    ends = stats.pearsonr(x, y).confidence_interval(LEVEL)
    return float(ends.low), float(ends.high)


def _without_labels(scene: Scene, random: np.random.Generator) -> Pair | None:
    """Three judges that err independently in a fifth of the units, and the mean of the games' levels as the truth."""
    games = _tasks(scene, 20)
    is_yes = random.random(len(games)) < levels_of(scene, 1, random)[0][games]
    shared = {"unit": np.arange(len(games)).astype(str), "game": games, "model": "one"}
    judges = [
        pl.DataFrame(shared | {"judge": str(one), "score": np.where(random.random(len(games)) < 0.2, ~is_yes, is_yes).astype(float)})
        for one in range(3)
    ]
    (row,) = rows_without_labels(judges)
    return None if row["low"] is None else (row["low"] - scene.rate, row["high"] - scene.rate)


def _over_people(scene: Scene, random: np.random.Generator) -> Pair | None:
    """As many people as the scene has games label 20 units each, whose truth is alike: people differ in how often they say yes."""
    sizes = sizes_of(scene, 20)
    hits = hits_of(scene, sizes, 1, random)[0]
    of_units = wilson(int(hits.sum()), int(sizes.sum()))
    return of_units and over_people(of_units, float(hits.sum() / sizes.sum()), hits, sizes)


SLOW: Final[dict[str, Method]] = {
    "correlations, within teams": Method("correlations", _each(_within), fraction=0.2),
    "correlations, between teams": Method("correlations; games are teams here", _each(_between), fraction=0.2),
    "correlations, partial": Method("correlations", _each(_partial), fraction=0.2, scenes=few_scenes()),
    "effects, log odds": Method("effects", _each(_logistic), fraction=0.2, scenes=few_scenes()),
    "effects, mixed model": Method("effects", _each(_mixed), fraction=0.2, scenes=few_scenes()),
    "judged slopes": Method("judged-effects", _each(_judged(slope)), fraction=0.2, scenes=few_scenes(least=10)),
    "judged correlations": Method("judged-effects; Fisher's z", _each(_judged(fisher_z)), fraction=0.2, scenes=few_scenes(least=10)),
    "bounded differences": Method("compare: bounded_low", _each(_bounded), fraction=0.2),
    "correlations over models": Method("probe-skill; games are models here", _each(_over_models), fraction=0.2),
    "rates over people": Method("corrected-rates: rater_low; games are people here", _each(_over_people), is_rate=True),
    "rates without labels": Method("latent-rates", _each(_without_labels), fraction=0.05, scenes=few_scenes(least=10)[::3]),
    "mediation": Method("mediation; eight tasks in the place of five", _each(_mediation), fraction=0.2, scenes=few_scenes(least=8)),
    "curves": Method("survival, survival-curves: share of games without the event", _each(_free), fraction=0.2, scenes=few_scenes()),
    "hazard ratios": Method("survival", _each(_hazard), fraction=0.1, scenes=few_scenes()),
    "abilities in units": Method("ability", _each(_additive), fraction=0.2, scenes=few_scenes()),
    "abilities in log odds": Method("ability", _each(_rasch), fraction=0.1, scenes=few_scenes()),
    "difficulties": Method("ability; in units", _each(_difficulty), fraction=0.2, scenes=few_scenes()),
    "strengths": Method("preferences", _each(_strength), fraction=0.1, scenes=few_scenes()),
    "units asked twice": Method("drift", _each(_asked_twice), fraction=0.2),
    "different units": Method("drift, self-preference", _each(_groups), fraction=0.2),
    "differences on different tasks": Method("compare", _each(_unpaired), fraction=0.1, scenes=few_scenes()),
    "shares of games": Method(
        "attribution-accuracy, asympuzl, leaderboard with one game a task: Wilson", _each(_of_games), scenes=few_scenes()
    ),
    "losses in spirals": Method("cost-in-spirals", _each(_in_spirals), fraction=0.3, scenes=few_scenes()),
    "what games lose": Method("lost, in units without a bound, such as turns", _each(_losses), fraction=0.2, scenes=few_scenes()),
    "scores without bounds": Method("leaderboard, continuations: Student's t", _each(_without_bounds), scenes=few_scenes()),
    "skill": Method("calibration: ratios of sums", _each(_ratio), fraction=0.2, scenes=few_scenes()),
    "numbers of labels": Method("labels-needed, power: 6 labels a game, judges of accuracy 0.85", labels_drawn, fraction=0.2),
    "standard deviations": Method("power; of them tasks needed and curves are functions", _each(_spread), fraction=0.2),
}
"""Name -> what reports print it, and how its ends are drawn."""
