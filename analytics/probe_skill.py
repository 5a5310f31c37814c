"""States for probes, and the report `probe-skill`: does who answers questions about states well also play well?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from analytics.query import condition, query
from analytics.report_columns import framed
from games.probes import Scene
from schemas.store.store import Store

_FEWEST: Final = 4
"""Models of which a correlation is computed: Fisher's interval needs four."""


def scenes(store: Store, family: str, where: str, seed: int) -> Iterator[Scene]:
    """Distinct states of a family's logged games, in an order that the seed fixes whatever the order of the store.

    Raises:
        UsageError: the condition is none.
    """
    import orjson

    rows = query(
        store,
        f"""
        SELECT any_value(level) AS level, goal::VARCHAR AS goal, state_before::VARCHAR AS state, min(turn) AS turn,
            max(max_turns - turn + 1) AS turns_left
        FROM turns INNER JOIN (SELECT * FROM episodes WHERE {condition(where)}) AS chosen USING (episode_id)
        WHERE benchmark = $family AND state_before IS NOT NULL AND origin IS NULL GROUP BY goal::VARCHAR, state_before::VARCHAR
        ORDER BY md5($seed || goal::VARCHAR || state_before::VARCHAR)
        """,
        {"family": family, "seed": str(seed)},
    )
    for level, goal, state, turn, left in rows.iter_rows():
        yield Scene(level or "", None if goal is None else orjson.loads(goal), orjson.loads(state), turn, left)


def probe_skill(store: Store) -> pl.DataFrame:
    """One row a probed game and kind of question: how a model's accuracy goes with the mean score of the games that it plays.

    Columns: `report_columns.csv`.

    Args:
        store: with answers to questions and games of the same models.
    """
    from scipy import stats

    points = query(store, _POINTS)
    rows = []
    for (game, kind, benchmark), part in points.group_by("game", "type", "benchmark", maintain_order=True):
        x, y = part["accuracy"].to_list(), part["score"].to_list()
        row = {"game": game, "type": kind, "benchmark": benchmark, "models": len(x)}
        if len(x) >= _FEWEST and len(set(x)) > 1 and len(set(y)) > 1:
            found = stats.pearsonr(x, y)
            ends = found.confidence_interval(0.95)
            row |= {"pearson": float(found.statistic), "low": float(ends.low), "high": float(ends.high)}
            row["spearman"] = float(stats.spearmanr(x, y).statistic)
        rows.append(row | {"accuracy": sum(x) / len(x), "score": sum(y) / len(y)})
    return framed("probe-skill", rows)


_POINTS: Final = """
    WITH asked AS (
        SELECT respondent AS model, regexp_replace(game_upstream, ' (states|[A-C][1-5])$', '') AS game, type,
            avg(correct_read::INT) AS accuracy
        FROM coordqa_answers GROUP BY ALL
    ),

    played AS (
        SELECT split_part(model, '/', -1) AS model, benchmark, level, avg(score) AS score FROM games
        WHERE score IS NOT NULL AND NOT (benchmark = 'coordination' AND level IN ('EC', 'TOM', 'JP', 'NR')) GROUP BY ALL
    )

    SELECT game, type, benchmark, asked.model, accuracy, avg(score) AS score
    FROM asked INNER JOIN played ON split_part(asked.model, '/', -1) = played.model
        AND (lower(game) = benchmark OR lower(replace(replace(level, '_', ''), ' ', '')) = lower(game))
    GROUP BY ALL ORDER BY ALL
"""
