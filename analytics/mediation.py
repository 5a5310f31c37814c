"""The report `mediation`: how much of the difference between two teams passes through their messages."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.comparison.game_values import codes, game_values, judge_columns, short_names, with_judges
from analytics.report_columns import framed
from analytics.statistics.intervals import LEVEL, Floats
from analytics.statistics.shifts import holm
from schemas.common import wording
from schemas.store.store import Store

_DRAWS: Final = 2000
_SEED: Final = 7
_SURE: Final = 0.05
_FEWEST_TASKS: Final = 8
_MOST_TEAMS: Final = 6
_OTHERS: Final = ("message_length", "remove_gap", "adherence")
"""Numbers of a game that are mediators in addition to the judges' scores."""
_ALL: Final = "all together"
_Row = dict[str, Any]


class Mediated(NamedTuple):
    """What of the difference passes through one mediator, others held fixed."""

    a: float | None
    """How far the teams are apart in the mediator; None of all mediators together, which have no unit in common."""
    b: float | None
    """How much more outcome one more of the mediator goes with, at the same team and the other mediators."""
    indirect: float
    low: float
    high: float
    p: float
    rho_zero: float | None
    """Correlation that an unmeasured cause of mediator and outcome would have to make between their errors for nothing to pass."""


def mediation(store: Store, *, metric: str = "score", benchmark: str | None = None) -> pl.DataFrame:
    """One row for each pair of teams of a condition on the tasks they share, and mediator; one more for all mediators together.

    Mediators are means of a game: each rubric's judges (all questions of a rubric and judge together, such as SG, MM, PS), message length,
    remove gap, adherence; those that vary.

    Columns: `report_columns.csv`.

    Raises:
        UsageError: the store has no such metric.
    """
    games = _games(store, metric)
    rows: list[_Row] = []
    for name in dict.fromkeys(games["benchmark"]):
        if benchmark not in (None, name):
            continue
        conditions = games.filter(pl.col("benchmark") == name).group_by("condition", maintain_order=True)
        shared = {"benchmark": name, "metric": metric}
        family = [shared | {"condition": condition} | row for (condition,), part in conditions for row in _pairs(part, metric)]
        short = short_names([row[side] for row in family for side in ("team_a", "team_b")])
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
            row["advice"] = _advice(row | {side: short[row[side]] for side in ("team_a", "team_b")}, len(family))
        rows += family
    return framed("mediation", rows)


def _games(store: Store, metric: str) -> pl.DataFrame:
    games = game_values(store, metric).select("episode_id", "benchmark", "condition", "team_name", "task", pl.col("value").alias("outcome"))
    for name in _OTHERS:
        if name != metric:
            found = game_values(store, name).select("episode_id", pl.col("value").alias(name))
            games = games.join(found, on="episode_id", how="left", maintain_order="left")
    judged = with_judges(store, games, ["episode_id"])
    of_rubric: dict[str, list[str]] = {}
    for column in judge_columns(judged):
        rubric, _, judge = column.removeprefix("judge:").partition("@")
        of_rubric.setdefault(f"{rubric.partition('.')[0]}@{judge}", []).append(column)
    return judged.with_columns(pl.mean_horizontal(columns).alias(name) for name, columns in of_rubric.items()).drop(
        name for name in judged.columns if name.startswith("judge:")
    )


def _pairs(games: pl.DataFrame, metric: str) -> Iterator[_Row]:
    mediators = [name for name in games.columns[6:] if name != metric]
    counts = games["team_name"].value_counts(sort=True).head(_MOST_TEAMS)["team_name"].to_list()
    for one, other in combinations(sorted(counts), 2):
        some = games.filter(pl.col("team_name").is_in([one, other]))
        used = [name for name in mediators if _varies(some, name)]
        some = some.drop_nulls(["outcome", *used])
        shared = some.group_by("task").agg(pl.col("team_name").n_unique()).filter(pl.col("team_name") == 2)["task"]  # noqa: PLR2004
        some = some.filter(pl.col("task").is_in(shared.implode()))
        if used and shared.len() >= _FEWEST_TASKS and _varies(some, "outcome"):
            yield from _of_pair(some, one, other, used)


def _varies(rows: pl.DataFrame, name: str) -> bool:
    values = rows[name].drop_nulls()
    return len(values) > 0.8 * len(rows) and (values.std() or 0) > 1e-9  # type: ignore[operator]  # noqa: PLR2004


def _of_pair(rows: pl.DataFrame, first: str, second: str, mediators: Sequence[str]) -> Iterator[_Row]:
    side = (rows["team_name"] == first).to_numpy().astype(float)
    columns = rows.select(mediators).to_numpy().astype(float)
    found = mediated(side, columns, rows["outcome"].to_numpy(), codes(rows["task"]))
    if found is None:
        return
    total, direct, parts, together = found
    if total < 0:
        yield from _of_pair(rows, second, first, mediators)
        return
    shared = {"team_a": first, "team_b": second, "games": len(rows), "tasks": rows["task"].n_unique(), "total": total, "direct": direct}
    for name, part in (*zip(mediators, parts, strict=True), *([(_ALL, together)] if len(parts) > 1 else [])):
        row = shared | {"mediator": name} | part._asdict()
        yield row | {"share": part.indirect / total if abs(total) > 1e-6 else None}  # noqa: PLR2004


def mediated(
    side: Floats, mediators: Floats, outcome: Floats, clusters: NDArray[np.int64]
) -> tuple[float, float, list[Mediated], Mediated] | None:
    """Total and direct difference of the sides, what passes through each mediator, and through all; None where they determine one another.

    Two linear models with a level for each task: mediator on side, outcome on side and all mediators (Baron and Kenny 1986; product of
    coefficients). Intervals and p by bootstrap of whole tasks, percentile method stretched by Student's t over the normal and by the root
    of tasks over tasks - 1, since percentiles of few clusters are too narrow (Hesterberg 2015, American Statistician 69). rho_zero as
    Imai, Keele and Yamamoto (2010, Statistical Science 25, section 5): the partial correlation of mediator and outcome given the side.

    Args:
        side: 1 of the one team, 0 of the other, shape (games,).
        mediators: shape (games, mediators).
        outcome: shape (games,).
        clusters: task of each game, numbers from 0 without gaps.
    """
    from scipy import stats

    inside = np.column_stack([side, mediators, outcome])
    counts = np.bincount(clusters)
    centred = inside - np.stack([np.bincount(clusters, weights=column) / counts for column in inside.T], axis=1)[clusters]
    groups = len(counts)
    products = np.zeros((groups, inside.shape[1], inside.shape[1]))
    np.add.at(products, clusters, centred[:, :, None] * centred[:, None, :])
    whole = products.sum(axis=0)
    if np.linalg.matrix_rank(whole[:-1, :-1], tol=1e-9 * max(float(np.trace(whole)), 1e-12)) < len(whole) - 1:
        return None
    a, b, total, direct = _paths(whole[None])
    random = np.random.default_rng(_SEED)
    times = random.multinomial(groups, np.full(groups, 1 / groups), size=_DRAWS).astype(float)
    drawn = np.einsum("dg,gij->dij", times, products)
    a_drawn, b_drawn, *_ = _paths(drawn)
    passes, drawn_passes = a[0] * b[0], a_drawn * b_drawn
    stretch = float(stats.t.ppf((1 + LEVEL) / 2, groups - 1) / stats.norm.ppf((1 + LEVEL) / 2)) * (groups / (groups - 1)) ** 0.5
    rho = _partial(whole)
    parts = [
        Mediated(float(a[0, k]), float(b[0, k]), float(passes[k]), *_ends(passes[k], drawn_passes[:, k], stretch), float(rho[k]))
        for k in range(mediators.shape[1])
    ]
    together = Mediated(None, None, float(passes.sum()), *_ends(passes.sum(), drawn_passes.sum(axis=1), stretch), None)
    return float(total[0]), float(direct[0]), parts, together


def _paths(products: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """From sums of products, shape (data sets, columns, columns), side first and outcome last: a, b, total, direct."""
    side = products[:, 0, 0][:, None]
    a, total = products[:, 0, 1:-1] / side, products[:, 0, -1] / side[:, 0]
    solved = np.linalg.pinv(products[:, :-1, :-1]) @ products[:, :-1, -1:]
    return a, solved[:, 1:, 0], total, solved[:, 0, 0]


def _partial(products: Floats) -> Floats:
    """Correlation of each mediator with the outcome, given the side and the other mediators."""
    precision = np.linalg.pinv(products)
    spread = np.sqrt(np.diag(precision))
    found: Floats = (-precision[1:-1, -1] / (spread[1:-1] * spread[-1])).clip(-1, 1)
    return found


def _ends(value: float, drawn: Floats, stretch: float) -> tuple[float, float, float]:
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    shifted = value + (drawn - value) * stretch
    below = float((shifted <= 0).mean())
    p = min(1.0, max(2 * min(below, 1 - below), 2 / len(drawn)))
    return float(value - (value - low) * stretch), float(value + (high - value) * stretch), p


def _advice(row: _Row, tests: int) -> str:
    about = f"{row['team_a']} is ahead of {row['team_b']} by {wording.number(row['total'])} on {row['tasks']} shared tasks"
    passes = f"{wording.signed(row['indirect'])} ({wording.from_to(row['low'], row['high'])}) goes with {row['mediator']}"
    chance = wording.chance(row["p"], row["p_holm"], tests)
    if row["p_holm"] >= _SURE:
        return f"{about}; {passes}: not shown ({chance})"
    rho = wording.coefficient(row["rho_zero"])
    hidden = "" if row["rho_zero"] is None else f"; a hidden cause that correlates their errors by {rho} would explain it away"
    return f"{about}; {passes} ({chance}); messages were not assigned at random, so this does not prove a path{hidden}"
