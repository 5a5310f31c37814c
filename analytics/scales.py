"""The reports `ability`, `preferences` and `profiles`: teams and tasks on one scale, teams by pairwise verdicts, games by failures."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.comparison.game_values import codes, game_values, unlike_names
from analytics.query import query
from analytics.report_columns import framed
from analytics.statistics.few_games import FEW
from analytics.statistics.intervals import LEVEL, Floats
from analytics.statistics.regressions import cluster_covariance, mean_by
from schemas.common import wording
from schemas.store.store import Store

_WIDE: Final = 3.0
"""Standard deviation of the normal prior of abilities, in log odds: wide: it only prevents infinite abilities of teams that always win."""
_FEWEST: Final = 3
_Row = dict[str, Any]


class AbilityScale(NamedTuple):
    """Abilities and difficulties in the same units, difficulties with mean 0; a team's error is that of its distance from the mean team."""

    ability: Floats
    ability_error: Floats
    difficulty: Floats
    difficulty_error: Floats
    is_log_odds: bool


def ability(store: Store, *, metric: str = "score", benchmark: str | None = None) -> pl.DataFrame:
    """One row for each team and one for each task.

    Columns: `report_columns.csv`.

    Raises:
        UsageError: the store has no such metric.
    """
    games = game_values(store, metric)
    rows: list[_Row] = []
    for (name, game), part in games.group_by("benchmark", "game", maintain_order=True):
        if benchmark in (None, name):
            rows += [{"benchmark": name, "game": game, "metric": metric} | row for row in _of_benchmark(part)]
    return framed("ability", rows)


def _of_benchmark(games: pl.DataFrame) -> list[_Row]:
    sides = games.select("team_name", "condition", "max_turns").unique(maintain_order=True).sort(pl.all(), nulls_last=True)
    sides = sides.with_row_index("side")
    tasks = games.select("task").unique().sort("task").with_row_index("item")
    rows = games.join(sides, on=["team_name", "condition", "max_turns"], nulls_equal=True).join(tasks, on="task")
    team, task = rows["side"].to_numpy().astype(np.int64), rows["item"].to_numpy().astype(np.int64)
    values = rows["value"].to_numpy()
    yes_or_no = bool(np.isin(values, (0.0, 1.0)).all())
    found: list[_Row] = []
    for number, chosen in enumerate(_islands(team, task), start=1):
        own, other = (np.unique(column[chosen], return_inverse=True) for column in (team, task))
        if min(len(own[0]), len(other[0])) < 2 or np.ptp(values[chosen]) == 0:  # noqa: PLR2004 - a scale needs two
            continue
        scale = (rasch_scale if yes_or_no else additive_scale)(values[chosen], own[1], other[1])
        shared = {"island": number, "scale": "log odds" if scale.is_log_odds else "units"}
        found += [
            shared | row | sides.row(int(own[0][row.pop("place")]), named=True)
            for row in _rows("team", scale, values[chosen], own[1], other[1])
        ]
        found += [
            shared | row | {"name": tasks["task"][int(other[0][row.pop("place")])], "condition": None, "max_turns": None}
            for row in _rows("task", scale, values[chosen], own[1], other[1])
        ]
    for row in found:
        row["name"] = row.pop("team_name", None) or row["name"]
    islands = len({row["island"] for row in found})
    names = dict(zip(sides.drop("side").rows(), unlike_names(sides.drop("side").rows()), strict=True))
    for row in found:
        row["advice"] = _advice(row, names.get((row["name"], row["condition"], row["max_turns"])) or str(row["name"]), islands)
    return sorted(found, key=lambda row: (row["island"], row["kind"] == "task", -row["value"]))


def _islands(team: NDArray[np.int64], task: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Games that are linked by teams and tasks in common; the largest first."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    teams = int(team.max()) + 1
    size = teams + int(task.max()) + 1
    links = coo_array((np.ones(len(team)), (team, teams + task)), shape=(size, size))
    _, of_node = connected_components(links, directed=False)
    numbers, counts = np.unique(of_node[team], return_counts=True)
    return [of_node[team] == number for number in numbers[np.argsort(-counts, kind="stable")]]


def _rows(kind: str, scale: AbilityScale, values: Floats, team: NDArray[np.int64], task: NDArray[np.int64]) -> list[_Row]:
    own, other = (team, task) if kind == "team" else (task, team)
    level, error = (scale.ability, scale.ability_error) if kind == "team" else (scale.difficulty, scale.difficulty_error)
    freedom = max(len(scale.difficulty) - 1, 1)
    low, high = ability_ends(level, error, freedom)
    apart = level if kind == "team" else scale.ability.mean() - level
    return [
        {
            "place": place,
            "kind": kind,
            "games": int((own == place).sum()),
            "partners": len(np.unique(other[own == place])),
            "observed": float(values[own == place].mean()),
            "value": float(level[place]),
            "low": float(low[place]),
            "high": float(high[place]),
            "expected": float(1 / (1 + np.exp(-apart[place])) if scale.is_log_odds else apart[place]),
        }
        for place in range(len(level))
    ]


def ability_ends(level: Floats, error: Floats, freedom: int) -> tuple[Floats, Floats]:
    """95 % intervals by Student's t; freedom is tasks - 1."""
    from scipy import stats

    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    return level - half, level + half


def additive_scale(values: Floats, team: NDArray[np.int64], task: NDArray[np.int64]) -> AbilityScale:
    """Value = ability of the team - difficulty of the task + rest: least squares with a level for each task.

    Levels are free, not drawn from a distribution, since who plays which task may depend on how hard it is. The covariance is that of
    `analytics.statistics.regressions`, over tasks; where a team has fewer than ten tasks, errors are at least those of equal noise in all
    games, since its level is fitted to those few games, which leaves little or no rest to tell the error from (MacKinnon and Webb 2017,
    Journal of Applied Econometrics 32: with few treated clusters the clustered error is far too small).

    Args:
        values: shape (games,).
        team: shape (games,), numbers from 0 without gaps.
        task: likewise.
    """
    design = np.eye(int(team.max()) + 1)[team][:, 1:]
    inside = np.column_stack([column - mean_by(column, task) for column in design.T])
    found, *_ = np.linalg.lstsq(inside, values - mean_by(values, task), rcond=None)
    able = np.concatenate([[0.0], found])
    left = values - able[team]
    counts = np.bincount(task)
    level = np.bincount(task, weights=left) / counts
    residuals = left - level[task]
    noise = float((residuals**2).sum()) / max(len(values) - len(counts) - len(found), 1)
    error = _apart(cluster_covariance(inside, residuals, np.ones(len(values)), task))
    if np.bincount(np.unique(np.stack([team, task]), axis=1)[0]).min() < FEW:  # in the mean of the teams, from which all are distances
        error = np.maximum(error, _apart(noise * np.linalg.pinv(inside.T @ inside)))
    return AbilityScale(able + level.mean(), error, level.mean() - level, np.sqrt(noise / counts), is_log_odds=False)


def rasch_scale(values: Floats, team: NDArray[np.int64], task: NDArray[np.int64]) -> AbilityScale:
    """Log odds of yes = ability of the team - difficulty of the task (Rasch 1960).

    Abilities are those of the conditional likelihood given how many of a task's games succeeded, which holds no difficulty (Andersen 1970,
    Journal of the Royal Statistical Society B 32; statsmodels' ConditionalLogit), with a wide normal prior, which only matters for teams
    that always or never succeed. Difficulties are then those that expect as many successes as there were, half a one of each kind added.

    Args:
        values: 0 or 1, shape (games,).
        team: shape (games,), numbers from 0 without gaps.
        task: likewise.
    """
    from scipy import optimize
    from statsmodels.discrete.conditional_models import ConditionalLogit

    tells = np.isin(task, np.flatnonzero(np.bincount(task, weights=values) % np.bincount(task)))  # all right or all wrong shows nothing
    teams = int(team.max()) + 1
    if not tells.any():
        able, covariance = np.zeros(teams), np.eye(teams - 1) * _WIDE**2
    else:
        model = ConditionalLogit(values[tells], np.eye(teams)[team[tells]][:, 1:], groups=task[tells])
        best = optimize.minimize(
            lambda point: -model.loglike(point) + (point @ point) / (2 * _WIDE**2),
            np.zeros(teams - 1),
            jac=lambda point: -model.score(point) + point / _WIDE**2,
            method="BFGS",
        )
        slopes = np.atleast_2d(optimize.approx_fprime(best.x, lambda point: -model.score(point) + point / _WIDE**2))  # of two teams: (1,)
        able, covariance = np.concatenate([[0.0], best.x]), np.linalg.pinv((slopes + slopes.T) / 2)
    counts = np.bincount(task)
    wanted = (np.bincount(task, weights=values) + 0.5) / (counts + 1)
    hard = np.array([_difficulty(able[team[task == one]], share) for one, share in enumerate(wanted)])
    chance = 1 / (1 + np.exp(hard[task] - able[team]))
    error = 1 / np.sqrt(np.bincount(task, weights=chance * (1 - chance)))
    return AbilityScale(able - hard.mean(), _apart(covariance), hard - hard.mean(), error, is_log_odds=True)


def _difficulty(able: Floats, share: float) -> float:
    """At which teams of such abilities succeed in that share of the games."""
    from scipy import optimize

    return float(optimize.brentq(lambda hard: float((1 / (1 + np.exp(hard - able))).mean()) - share, able.min() - 20, able.max() + 20))


def _apart(covariance: Floats) -> Floats:
    """Standard errors of each team's distance from the teams' mean, from the covariance of distances to the first team."""
    teams = len(covariance) + 1
    whole = np.zeros((teams, teams))
    whole[1:, 1:] = covariance
    centre = np.eye(teams) - 1 / teams
    error: Floats = np.sqrt(np.maximum(np.diag(centre @ whole @ centre.T), 0))
    return error


def _advice(row: _Row, name: str, islands: int) -> str:
    what = "would reach" if row["kind"] == "team" else "lets an average team reach"
    reach = wording.number(row["expected"])
    about = f"{name}: {wording.signed(row['value'])} ({wording.from_to(row['low'], row['high'])}), {what} {reach}"
    about += " on an average task" if row["kind"] == "team" else ""
    few = f"; {row['partners']} {'tasks' if row['kind'] == 'team' else 'teams'} say little" if row["partners"] < _FEWEST else ""
    apart = f"; comparable only inside island {row['island']} of {islands}: no games link it with the others" if islands > 1 else ""
    return about + few + apart


_ADDED: Final = 0.5
"""Comparisons, half won, of each team with an average one: without, a team that is always preferred has no finite strength."""
_FEWEST_TASKS: Final = 5
_STEADY: Final = 1e-9

_ASKED: Final = ("rubric", "question", "judge", "variant")
_PAIRS: Final = """
    SELECT pairs.rubric, pairs.question, pairs.judge, coalesce(pairs.variant, '') AS variant, a.team_name AS team_a, b.team_name AS team_b,
        pairs.episode_a, pairs.episode_b, coalesce(a.task, pairs.episode_a) AS task, avg(pairs.score_a) AS score,
        avg(pairs.consistent::INT) AS consistent, avg(pairs.leans_first) AS leans_first
    FROM pair_preferences AS pairs
    INNER JOIN compared_games AS a ON a.episode_id = pairs.episode_a
    INNER JOIN compared_games AS b ON b.episode_id = pairs.episode_b
    WHERE pairs.score_a IS NOT NULL AND a.team_name <> b.team_name
    GROUP BY ALL
    ORDER BY ALL
"""


def preferences(store: Store) -> pl.DataFrame:
    """One row for each rubric, question, judge and team; only pairs that were asked in both orders count, and repeats of a pair share it.

    Columns: `report_columns.csv`.
    """
    pairs = query(store, _PAIRS)
    rows = [
        row for key, part in pairs.group_by(*_ASKED, maintain_order=True) for row in _of_question(dict(zip(_ASKED, key, strict=True)), part)
    ]
    return framed("preferences", rows)


def _of_question(asked: _Row, pairs: pl.DataFrame) -> Iterator[_Row]:
    names = sorted({*pairs["team_a"], *pairs["team_b"]})
    first, second = (np.array([names.index(team) for team in pairs[column]]) for column in ("team_a", "team_b"))
    scores = pairs["score"].to_numpy()
    found = bradley_terry(first, second, scores, codes(pairs["task"]))
    shared = asked | {"consistent": pairs["consistent"].mean(), "leans_first": pairs["leans_first"].mean()}
    rows = []
    for place in np.argsort(-found[0], kind="stable"):
        own = (first == place) | (second == place)
        strength, low, high = (float(column[place]) for column in found)
        rows.append(
            shared
            | {
                "team": names[place],
                "pairs": int(own.sum()),
                "tasks": pairs.filter(own)["task"].n_unique(),
                "wins": float(scores[first == place].sum() + (1 - scores[second == place]).sum()),
                "strength": strength,
                "low": None if np.isnan(low) else low,
                "high": None if np.isnan(high) else high,
                "chance": float(1 / (1 + np.exp(-strength))),
            }
        )
    for row in rows:
        yield row | {"advice": _preferences_advice(row)}


def bradley_terry(
    first: NDArray[np.int64], second: NDArray[np.int64], scores: Floats, clusters: NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """Strengths with mean 0, and the ends of their 95 % intervals, each shape (teams,).

    Log odds that one is preferred to another = strength - strength (Bradley and Terry 1952, Biometrika 39), by logistic regression on the
    difference of two columns; each team has also half a comparison with an average one, half won. Each task is left out in turn, with
    Student's t of tasks - 1 degrees of freedom (Efron and Stein 1981); NaN ends below five tasks, and where no task differs from the
    others, as with a judge that always takes the first place.

    Args:
        first: number of the one team, from 0, shape (pairs,).
        second: of the other.
        scores: how much the first is preferred, 0 to 1.
        clusters: of each pair, such as the task, from 0 without gaps.
    """
    from scipy import stats

    teams, groups = int(max(first.max(), second.max())) + 1, int(clusters.max()) + 1
    wins = np.zeros((groups, teams, teams))
    np.add.at(wins, (clusters, first, second), scores)
    np.add.at(wins, (clusters, second, first), 1 - scores)
    total = wins.sum(axis=0)
    value = _strengths(total)
    if groups < _FEWEST_TASKS:
        unknown = np.full(teams, np.nan)
        return value, unknown, unknown
    without = np.stack([_strengths(total - one) for one in wins])
    error = np.sqrt((groups - 1) / groups * ((without - value) ** 2).sum(axis=0) + _seldom(total))
    error[error <= _STEADY] = np.nan  # all tasks alike: nothing tells what another task would say
    half = float(stats.t.ppf((1 + LEVEL) / 2, groups - 1)) * error
    return value, value - half, value + half


def _strengths(wins: Floats) -> Floats:
    """From a table of wins, row over column, by Newton's steps on the penalised likelihood, which is concave."""
    games = wins + wins.T
    point: Floats = np.zeros(len(wins))
    for _ in range(50):
        chance = 1 / (1 + np.exp(point[None, :] - point[:, None]))
        average = 1 / (1 + np.exp(-point))
        slope = (wins - games * chance).sum(axis=1) + _ADDED * (0.5 - average)
        weight = games * chance * (1 - chance)
        curvature = np.diag(weight.sum(axis=1) + _ADDED * average * (1 - average)) - weight
        step = np.linalg.solve(curvature, slope)
        point = point + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:  # noqa: PLR2004
            break
    strengths: Floats = point - point.mean()
    return strengths


def _seldom(wins: Floats) -> Floats:
    """Variance that is not seen where a team always or never wins: that of the added comparison alone; 0 elsewhere."""
    won, games = wins.sum(axis=1), (wins + wins.T).sum(axis=1)
    variance: Floats = np.where((won <= 0) | (won >= games), 2 / _ADDED / np.maximum(games, 1) + 1, 0.0)
    return variance


def _preferences_advice(row: _Row) -> str:
    about = f"{row['question']} by {row['judge']}: {row['team']} is preferred to an average team in {wording.share(row['chance'])}"
    place = ""
    if abs(row["leans_first"] or 0) > 0.1:  # noqa: PLR2004
        liked = "first" if row["leans_first"] > 0 else "second"
        place = f"; the judge likes the {liked} place: both orders are averaged, so that makes ties, not a bias"
    if row["low"] is None:
        why = "too few for an interval" if row["tasks"] < _FEWEST_TASKS else "all alike: no interval, and nothing follows"
        return f"{about} of {row['pairs']} pairs; {row['tasks']} tasks are {why}{place}"
    sure = "above" if row["low"] > 0 else "below" if row["high"] < 0 else "not shown to differ from"
    return f"{about} (strength {wording.signed(row['strength'])}, {wording.from_to(row['low'], row['high'])}): {sure} average{place}"


STABLE: Final = 0.75
"""Jaccard similarity of a group with what becomes of it in other samples, from which on it counts as found (Hennig 2007)."""

_GROUPS: Final = range(2, 7)
_PROFILES_FEWEST: Final = 20
_DRAWS: Final = 25
_SEED: Final = 7
_MOST_COMPARED: Final = 1500
"""Games whose distances are all taken; of more, as many at random."""
_MARKS: Final = 3
_APART: Final = 0.01
"""How much larger a share is than in all games before it marks a group."""


def profiles(store: Store, *, benchmark: str | None = None) -> pl.DataFrame:
    """One row for each taxonomy and group of games with similar shares of failure categories.

    Columns: `report_columns.csv`.
    """
    turns = query(
        store,
        "SELECT failure_turns.taxonomy, failure_turns.benchmark, failure_turns.episode_id, category, count(*) AS n FROM failure_turns "
        "INNER JOIN compared_games USING (episode_id) WHERE counted GROUP BY ALL ORDER BY ALL",
    )
    games = query(store, "SELECT episode_id, team_name, task, score FROM compared_games")
    rows = [
        {"taxonomy": taxonomy, "benchmark": name} | row
        for (taxonomy, name), part in turns.group_by("taxonomy", "benchmark", maintain_order=True)
        if benchmark in (None, name)
        for row in _of_taxonomy(part, games)
    ]
    return framed("profiles", rows)


def _of_taxonomy(turns: pl.DataFrame, games: pl.DataFrame) -> Iterator[_Row]:
    wide = turns.pivot(on="category", index="episode_id", values="n").fill_null(0).join(games, on="episode_id", maintain_order="left")
    names = sorted(set(turns["category"]))
    counts = wide.select(names).to_numpy().astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    if len(wide) < _PROFILES_FEWEST or len(np.unique(shares, axis=0)) <= max(_GROUPS):
        return
    group, silhouette, stability = grouped(shares, wide["task"].to_numpy())
    sizes = np.bincount(group)
    for number, place in enumerate(np.argsort(-sizes, kind="stable"), start=1):
        own = group == place
        some = wide.filter(pl.Series(own))
        row = {
            "profile": number,
            "games": int(own.sum()),
            "share": float(own.mean()),
            "marks": _marks(names, shares[own].mean(axis=0), shares.mean(axis=0)),
            "score": some["score"].mean(),
            "teams": ", ".join(
                f"{team} {wording.share(n / len(some))}" for team, n in some["team_name"].value_counts(sort=True).head(3).rows()
            ),
            "groups": len(sizes),
            "silhouette": silhouette,
            "stability": float(stability[place]),
        }
        yield row | {"advice": _profiles_advice(row)}


def grouped(shares: Floats, tasks: NDArray[Any]) -> tuple[NDArray[np.int64], float, Floats]:
    """Group of each game, mean silhouette, and stability of each group: k-means (scikit-learn) on square roots of shares.

    Square roots make the distance that of Hellinger, so that a category of few turns counts as one of many. Samples are of whole tasks.

    Args:
        shares: of each category among the turns, shape (games, categories), rows sum to 1.
        tasks: shape (games,).
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    points = np.sqrt(shares)
    fits = {k: KMeans(k, n_init=5, random_state=_SEED).fit_predict(points) for k in _GROUPS}
    silhouettes = {
        k: float(silhouette_score(points, found, sample_size=min(len(points), _MOST_COMPARED), random_state=_SEED))
        for k, found in fits.items()
        if len(np.unique(found)) == k
    }
    best = max(silhouettes, key=lambda k: silhouettes[k])
    group, random = fits[best], np.random.default_rng(_SEED)
    kinds, place = np.unique(tasks, return_inverse=True)
    similar: Floats = np.zeros((_DRAWS, best))
    for draw in range(_DRAWS):
        times = np.bincount(random.integers(0, len(kinds), len(kinds)), minlength=len(kinds))[place]
        inside = times > 0
        if len(np.unique(points[inside], axis=0)) < best:
            continue
        again = KMeans(best, n_init=2, random_state=draw).fit_predict(points[inside], sample_weight=times[inside].astype(float))
        for one in range(best):
            was = group[inside] == one
            similar[draw, one] = max(
                float((was & (again == other)).sum() / max((was | (again == other)).sum(), 1)) for other in range(best)
            )
    return group, silhouettes[best], similar.mean(axis=0)


def _marks(names: list[str], own: Floats, everywhere: Floats) -> str:
    above = sorted(zip(own - everywhere, names, own, everywhere, strict=True), reverse=True)[:_MARKS]
    return ", ".join(
        f"{wording.in_words(name)} {wording.share(share)} (all {wording.share(usual)})"
        for apart, name, share, usual in above
        if apart > _APART
    )


def _profiles_advice(row: _Row) -> str:
    about = f"profile {row['profile']}: {row['games']} games with {row['marks'] or 'nothing above the others'}"
    stable = f"(stability {wording.score(row['stability'])})"
    if row["stability"] < STABLE:
        return f"{about}; in other samples of the tasks it would be another {stable}: do not read it"
    text = f"{about}; it recurs in other samples {stable}, which does not show why these games fail so"
    return f"{text}; where games differ by chance alone one group in seven to three is found again, too"
