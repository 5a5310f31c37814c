"""Any number of the store, by game: what teams are compared by."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from analytics.comparison.metrics import COST, JUDGED, LOGGED, METRICS, Metric
from analytics.query import query
from schemas.errors import UsageError
from schemas.store import Store
from schemas.text import near

if TYPE_CHECKING:
    import polars as pl

__all__ = ["game_values", "judge_of", "metric_of", "numbers_of_games"]


def game_values(store: Store, metric: str) -> pl.DataFrame:
    """One row a game that has the number: columns of the view `compared_games`, then value, and low and high, its bounds.

    Bounds are null where none is known. Only games that ended are in.

    Args:
        store: a store with the views.
        metric: a key of `METRICS`; a metric of `episode_metrics` (`craft.iou_score`, or `iou_score` where one benchmark has it);
            `cost:<measure>`: what the turns of a game cost by that measure of `turn_values`, summed; `judge:<rubric>.<question>`: mean
            score of the judge that answered most of it, or of another, `judge:<rubric>.<question>@<judge>`.

    Raises:
        UsageError: the store has no such number.
        StoreError: the store cannot be read.
    """
    found = metric_of(store, metric)
    low, high = ("NULL" if end is None else str(end) for end in (found.low, found.high))
    if found.name == "score":
        low, high = "CASE WHEN score_max IS NOT NULL THEN 0 END", "score_max"
    return query(
        store,
        f"SELECT compared_games.*, measured.value::DOUBLE AS value, ({low})::DOUBLE AS low, ({high})::DOUBLE AS high "
        f"FROM ({found.sql}) AS measured INNER JOIN compared_games USING (episode_id) "
        "WHERE compared_games.ending = 'ended' AND isfinite(measured.value::DOUBLE) ORDER BY episode_id",
        dict(found.parameters) or None,
    )


def numbers_of_games(store: Store, metric: str) -> pl.DataFrame:
    """The same numbers alone, of games that did not end too: episode_id, value. Quicker where games are known already.

    Raises:
        UsageError: the store has no such number.
        StoreError: the store cannot be read.
    """
    found = metric_of(store, metric)
    sql = f"SELECT episode_id, value::DOUBLE AS value FROM ({found.sql}) WHERE isfinite(value::DOUBLE) ORDER BY episode_id"
    return query(store, sql, dict(found.parameters) or None)


def metric_of(store: Store, metric: str) -> Metric:
    """What a metric is and how it is computed; `metric` as in `game_values`.

    Raises:
        UsageError: the store has no such number.
    """
    kind, _, name = metric.partition(":")
    if kind == "cost":
        _refuse_unknown(store, metric, name, "SELECT DISTINCT measure FROM turn_values ORDER BY ALL", "measure")
        return Metric(name=metric, sql=COST, doc="what its turns cost, summed", parameters=(("name", name),))
    if kind == "judge":
        question, _, judge = name.partition("@")
        main = _main_judge(store, question)
        if judge:
            _refuse_unknown(store, metric, judge, "SELECT DISTINCT judge FROM verdicts_latest ORDER BY ALL", "judge")
        parameters = (("name", question), ("judge", judge or main))
        return Metric(name=metric, sql=JUDGED, doc="mean score over its units", low=0.0, high=1.0, parameters=parameters)
    return METRICS[metric] if metric in METRICS else _logged(store, metric)


def judge_of(store: Store, metric: str) -> tuple[str, str] | None:
    """Of a metric `judge:<rubric>.<question>` rubric and question as one name, and whose answers they are; None of others.

    Raises:
        UsageError: the store has no such answers.
    """
    if not metric.startswith("judge:"):
        return None
    found = dict(metric_of(store, metric).parameters)
    return found["name"], found["judge"]


def _refuse_unknown(store: Store, metric: str, name: str, sql: str, kind: str) -> None:
    known = query(store, sql).to_series().to_list()
    if name not in known:
        raise UsageError(f"metric {metric}: the store has no {kind} {name}{near(name, known)}")


def _logged(store: Store, name: str) -> Metric:
    ends = query(
        store,
        "SELECT metric, min(value) >= 0 AND max(value) <= 1 AS is_share FROM episode_metrics "
        "WHERE $name IN (metric, split_part(metric, '.', 2)) GROUP BY metric ORDER BY metric",
        {"name": name},
    ).rows()
    if len(ends) > 1:
        raise UsageError(f"metric {name}: several benchmarks have it; say which, such as {ends[0][0]}")
    if not ends:
        known = [*METRICS, *query(store, "SELECT DISTINCT metric FROM episode_metrics ORDER BY 1")["metric"]]
        closest = difflib.get_close_matches(name, known, n=3) or known[:8]
        raise UsageError(f"metric {name}: the store has no such number; there are {', '.join(closest)}, ... (docs/compare.md)")
    (full, is_share), bounds = ends[0], {"low": 0.0, "high": 1.0}
    return Metric(name=full, sql=LOGGED, doc="as in episode_metrics", parameters=(("name", full),), **(bounds if is_share else {}))


def _main_judge(store: Store, name: str) -> str:
    found = query(
        store,
        "SELECT judge FROM verdicts_latest WHERE rubric || '.' || question = $name AND variant IS NULL "
        "GROUP BY judge ORDER BY count(score) DESC, judge",
        {"name": name},
    )["judge"].to_list()
    if not found:
        raise UsageError(
            f"metric judge:{name}: no judge has answered that; write judge:<rubric>.<question>, such as judge:spatial_grounding.SG1"
        )
    return str(found[0])
