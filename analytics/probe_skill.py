"""States for probes, and the report `probe-skill`: does who answers questions about states well also play well?"""

import math
from collections.abc import Iterator
from typing import Final

import polars as pl

from analytics.query import condition, query
from analytics.report_columns import framed
from games.probes import Scene
from schemas.store.store import Store

_FEWEST: Final = 4
"""Teams of which a correlation is computed: Fisher's interval needs four."""


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
    """One row a probed game and kind of question (and all kinds): how a team's accuracy goes with the mean score of its games.

    A team's accuracy is the mean of its members'. Columns: `report_columns.csv`.

    Args:
        store: with answers to questions and games of the same teams, matched by name.
    """
    from scipy import stats

    points = query(store, _POINTS)
    rows = []
    for (game, kind, benchmark), part in points.group_by("game", "type", "benchmark", maintain_order=True):
        known = part.drop_nulls(["accuracy", "score"])
        x, y = known["accuracy"].to_list(), known["score"].to_list()
        row = {"game": game, "type": kind, "benchmark": benchmark, "teams": len(x)}
        if len(x) < _FEWEST:
            shown = f"too few teams, {len(x)} of the {_FEWEST} that a correlation needs"
            if kind == "all":
                only = [", ".join(part.filter(pl.col(of).is_null())["team"].head(3)) or "none" for of in ("score", "accuracy")]
                shown += f"; only asked: {only[0]}; only played: {only[1]}"
        elif min(len(set(x)), len(set(y))) == 1:
            shown = f"all {len(x)} teams {'answer' if len(set(x)) == 1 else 'play'} equally well"
        else:
            found = stats.pearsonr(x, y)
            ends = found.confidence_interval(0.95)
            row |= {"pearson": float(found.statistic), "low": float(ends.low), "high": float(ends.high)}
            row["spearman"] = float(stats.spearmanr(x, y).statistic)
            least = math.tanh(1.959964 / math.sqrt(len(x) - 3))
            sure = "better" if ends.low > 0 else "worse" if ends.high < 0 else ""
            shown = (
                f"those of {len(x)} teams that answer better play {sure}"
                if sure
                else f"nothing is shown: of {len(x)} teams it takes r beyond {least:.2f}"
            )
        row["advice"] = f"{game}, {benchmark}, {kind} questions: {shown}"
        if x:
            row |= {"accuracy": sum(x) / len(x), "score": sum(y) / len(y)}
        rows.append(row)
    return framed("probe-skill", rows)


_POINTS: Final = r"""
    WITH answers AS (
        SELECT lower(regexp_replace(split_part(respondent, '/', -1), '^script:', '')) AS member, type, correct_read::INT AS is_right,
            regexp_replace(game_upstream, ' (states|[A-C][1-5])$', '') AS game,
            NOT regexp_matches(game_upstream, ' (states|[A-C][1-5])$|^CRAFT$') AS is_published
        FROM coordqa_answers
    ),

    asked AS (
        SELECT game, is_published, coalesce(type, 'all') AS type, member, avg(is_right) AS accuracy
        FROM answers GROUP BY GROUPING SETS ((game, is_published, type, member), (game, is_published, member))
    ),

    played AS (
        SELECT *, unnest(list_transform(string_split(team, '+'), lambda one: split_part(one, '/', -1))) AS member
        FROM (
            SELECT lower(model) AS team, benchmark, lower(replace(replace(level, '_', ''), ' ', '')) AS level, avg(score) AS score
            FROM games WHERE score IS NOT NULL AND NOT (benchmark = 'coordination' AND level IN ('EC', 'TOM', 'JP', 'NR')) GROUP BY ALL
        )
    ),

    -- the published questions are of LLM-Coordination's games, whose kitchen has the name of another family
    probed AS (
        SELECT DISTINCT game, type, is_published, benchmark, level FROM asked INNER JOIN played
            ON (benchmark = 'coordination' AND (level = lower(game) OR (game = 'CollabGames' AND starts_with(level, 'collab'))))
            OR (NOT is_published AND benchmark = lower(game))
    ),

    accuracies AS (
        SELECT game, type, benchmark, team, CASE WHEN count(accuracy) = count(*) THEN avg(accuracy) END AS accuracy, avg(score) AS score
        FROM probed INNER JOIN played USING (benchmark, level) LEFT JOIN asked USING (game, type, is_published, member)
        GROUP BY game, type, is_published, benchmark, team
    ),

    unplayed AS (
        SELECT DISTINCT game, type, benchmark, member, accuracy FROM asked INNER JOIN probed USING (game, type, is_published)
        ANTI JOIN played USING (benchmark, member)
    )

    SELECT game, type, benchmark, team, accuracy, score FROM accuracies
    UNION ALL SELECT game, type, benchmark, member, accuracy, NULL FROM unplayed
    ORDER BY ALL
"""
