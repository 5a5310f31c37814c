"""Questions that people ask of a store, each with its query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["QUESTIONS"]

QUESTIONS: Final[Mapping[str, str]] = {
    "Who reached the goal?": """
        SELECT benchmark, model, count(*) AS games, avg(success::INT) AS rate
        FROM games
        GROUP BY ALL
        ORDER BY benchmark, rate DESC
    """,
    "Which turns cost most?": """
        SELECT benchmark, model, task_id, turn, cost, unit, episode_id
        FROM costly_turns
        ORDER BY cost DESC LIMIT 100
    """,
    "Which turn decided each game?": """
        SELECT benchmark, model, task_id, turn, why, cost, unit, episode_id
        FROM decisive_turns
        ORDER BY cost DESC
    """,
    "What fails most?": """
        SELECT benchmark, common, count(*) AS turns
        FROM failure_turns
        JOIN failure_map USING (taxonomy, category)
        WHERE counted AND common <> 'none'
        GROUP BY ALL
        ORDER BY turns DESC
    """,
    "Where do teams go in circles?": """
        SELECT model, kind, count(*) AS spirals, sum(turns_wasted) AS wasted
        FROM correction_spirals
        GROUP BY ALL
        ORDER BY wasted DESC
    """,
    "What do judges say no to?": """
        SELECT rubric, question, judge, count(*) AS units, avg(score) AS mean
        FROM verdicts_latest
        WHERE score IS NOT NULL
        GROUP BY ALL
        ORDER BY mean
    """,
    "Who talks how much?": """
        SELECT model, agent, channel, count(*) AS utterances, avg(length(text)) AS characters
        FROM utterances
        JOIN episodes USING (episode_id)
        GROUP BY ALL
        ORDER BY characters DESC
    """,
    "What is in the store?": """
        SELECT table_name, estimated_size AS n
        FROM duckdb_tables()
        WHERE schema_name = 'main'
        ORDER BY n DESC
    """,
}
