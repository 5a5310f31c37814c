"""The report `preferences`: teams on one scale, from a judge's preferences between pairs of games."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from analytics.associations.unit_values import codes
from analytics.query import query
from analytics.statistics.intervals import LEVEL
from schemas import wording
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["SUMMARY", "bradley_terry", "preferences"]

SUMMARY: Final = ("question", "judge", "team", "pairs", "tasks", "wins", "strength", "low", "high", "chance", "consistent", "leans_first")
"""The columns that fit a terminal, beside the advice."""

_ADDED: Final = 0.5
"""Comparisons, half won, of each team with an average one: without, a team that is always preferred has no finite strength."""
_FEWEST_TASKS: Final = 5
_STEADY: Final = 1e-9
_Row = dict[str, Any]

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

    Columns, in order:

    - rubric, question, judge, variant; team; pairs: compared with other teams; tasks; wins: sum of preferences, ties half.
    - strength, low, high: log odds of being preferred to an average team, with its 95 % interval over tasks; null ends below five tasks,
      and where all tasks say the same.
      chance: to be preferred to an average team, 0 to 1.
    - consistent: share of the question's pairs that prefer the same game in both orders; leans_first: how much the first place is liked
      beyond 0.5. Of all teams of the question.
    - advice: what follows.

    Args:
        store: a store with the views.
    """
    import polars as pl

    pairs = query(store, _PAIRS)
    rows = [
        row for key, part in pairs.group_by(*_ASKED, maintain_order=True) for row in _of_question(dict(zip(_ASKED, key, strict=True)), part)
    ]
    return pl.DataFrame([{column: row[column] for column in _schema()} for row in rows], schema=_schema(), orient="row")


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    schema: dict[str, pl.DataType] = dict.fromkeys(("rubric", "question", "judge", "variant", "team"), pl.String())
    schema |= dict.fromkeys(("pairs", "tasks"), pl.Int64())
    numbers = ("wins", "strength", "low", "high", "chance", "consistent", "leans_first")
    return schema | dict.fromkeys(numbers, pl.Float64()) | {"advice": pl.String()}


def _of_question(asked: _Row, pairs: pl.DataFrame) -> Iterator[_Row]:
    import numpy as np

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
        yield row | {"advice": _advice(row)}


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
    import numpy as np
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
    import numpy as np

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
    import numpy as np

    won, games = wins.sum(axis=1), (wins + wins.T).sum(axis=1)
    variance: Floats = np.where((won <= 0) | (won >= games), 2 / _ADDED / np.maximum(games, 1) + 1, 0.0)
    return variance


def _advice(row: _Row) -> str:
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
