"""The report `ability`: teams and tasks on one scale, so that teams that played different tasks can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.comparison.game_values import game_values
from analytics.comparison.team_names import unlike_names
from analytics.statistics.few_games import FEW
from analytics.statistics.intervals import LEVEL
from analytics.statistics.regressions import cluster_covariance, mean_by
from schemas import wording
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["SUMMARY", "AbilityScale", "ability", "ability_ends", "additive_scale", "rasch_scale"]

SUMMARY: Final = (
    "benchmark",
    "kind",
    "name",
    "condition",
    "scale",
    "games",
    "partners",
    "value",
    "low",
    "high",
    "expected",
    "observed",
    "island",
)
"""The columns that fit a terminal, beside the advice."""

_WIDE: Final = 3.0
"""Standard deviation of the normal prior of abilities, in log odds: so wide that it only keeps teams that always win from infinity."""
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

    Columns, in order:

    - benchmark; game: null where a benchmark has one kind of score, else a scale is of one game.
    - metric; kind: team or task; name; condition, max_turns: of a team.
    - scale: log odds (metric of 0 and 1 only) or the metric's own units.
    - games; partners: tasks of the team, or teams of the task; observed: mean of the metric.
    - value, low, high: ability of the team, or difficulty of the task: a team succeeds on a task the better, the more its ability is above
      the difficulty; mean difficulty is 0. 95 % interval (of a team:
      for its distance from the mean of the teams); expected: what a team would reach on an average
      task, an average team on the task.
    - island: teams and tasks that are linked by games have one number; across islands nothing can be compared. advice: what follows.

    Args:
        store: a store with the views.
        metric: as in `report compare`.
        benchmark: only this one; None: all that have the metric.

    Raises:
        UsageError: the store has no such metric.
    """
    import polars as pl

    games = game_values(store, metric)
    rows: list[_Row] = []
    for (name, game), part in games.group_by("benchmark", "game", maintain_order=True):
        if benchmark in (None, name):
            rows += [{"benchmark": name, "game": game, "metric": metric} | row for row in _of_benchmark(part)]
    return pl.DataFrame([{column: row[column] for column in _schema()} for row in rows], schema=_schema(), orient="row")


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    text, count, number = pl.String(), pl.Int64(), pl.Float64()
    schema: dict[str, pl.DataType] = dict.fromkeys(("benchmark", "game", "metric", "kind", "name", "condition"), text)
    schema |= {"max_turns": count, "scale": text, "games": count, "partners": count}
    return schema | dict.fromkeys(("observed", "value", "low", "high", "expected"), number) | {"island": count, "advice": text}


def _of_benchmark(games: pl.DataFrame) -> list[_Row]:
    import numpy as np
    import polars as pl

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
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    teams = int(team.max()) + 1
    size = teams + int(task.max()) + 1
    links = coo_array((np.ones(len(team)), (team, teams + task)), shape=(size, size))
    _, of_node = connected_components(links, directed=False)
    numbers, counts = np.unique(of_node[team], return_counts=True)
    return [of_node[team] == number for number in numbers[np.argsort(-counts, kind="stable")]]


def _rows(kind: str, scale: AbilityScale, values: Floats, team: NDArray[np.int64], task: NDArray[np.int64]) -> list[_Row]:
    import numpy as np

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
    import numpy as np

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
    import numpy as np
    from scipy import optimize
    from statsmodels.discrete.conditional_models import ConditionalLogit

    tells = np.isin(task, np.flatnonzero(np.bincount(task, weights=values) % np.bincount(task)))  # all right or all wrong says nothing
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
    import numpy as np
    from scipy import optimize

    return float(optimize.brentq(lambda hard: float((1 / (1 + np.exp(hard - able))).mean()) - share, able.min() - 20, able.max() + 20))


def _apart(covariance: Floats) -> Floats:
    """Standard errors of each team's distance from the teams' mean, from the covariance of distances to the first team."""
    import numpy as np

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
