"""The numbers that every benchmark's games have, as data: name, SQL, bounds, meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["COST", "JUDGED", "LOGGED", "METRICS", "Metric"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number of a game."""

    name: str
    sql: str
    """Gives episode_id and value; games without the number have no row or null."""
    doc: str
    low: float | None = None
    """Lower bound of the values; None: none is known."""
    high: float | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    """Of the SQL."""


def _share(name: str, sql: str, doc: str) -> Metric:
    return Metric(name=name, sql=sql, doc=doc, low=0.0, high=1.0)


def _of_outcomes(name: str, share: str, doc: str) -> Metric:
    sql = f"SELECT episode_id, {share} AS value FROM outcomes SEMI JOIN spiral_games USING (episode_id) GROUP BY episode_id"
    return _share(name, sql, doc)


def _gap(name: str, reading: str) -> Metric:
    doc = f"CRAFT: removals attempted beyond those advised, reading `{reading}` (docs/remove_gap.md)"
    return Metric(name=name, sql=f"SELECT episode_id, remove_gap_{reading} AS value FROM craft_game_facts", doc=doc, low=-1.0, high=1.0)


_SPIRALS = "SELECT episode_id, {} AS value FROM spiral_games LEFT JOIN correction_spirals USING (episode_id) GROUP BY episode_id"
_MESSAGES = "SELECT episode_id, {} AS value FROM utterances WHERE channel = 'public' AND NOT superseded GROUP BY episode_id"
_TOKENS = """
    SELECT episode_id, coalesce(billed.n, logged.n) AS value
    FROM games
    LEFT JOIN (
        SELECT episode_id, CASE WHEN count(*) = count(tokens_in + tokens_out) THEN sum(tokens_in + tokens_out) END AS n
        FROM calls WHERE purpose = 'player' GROUP BY 1
    ) AS billed
        USING (episode_id)
    LEFT JOIN (SELECT episode_id, sum(tokens) AS n FROM utterances GROUP BY 1) AS logged USING (episode_id)
"""

METRICS: Final[dict[str, Metric]] = {
    metric.name: metric
    for metric in (
        Metric(name="score", sql="SELECT episode_id, score AS value FROM games", doc="the benchmark's main end-to-end metric"),
        _share("success", "SELECT episode_id, success::int AS value FROM games", "the goal was reached"),
        Metric(name="turns", sql="SELECT episode_id, turns_taken AS value FROM games WHERE ending = 'ended'", doc="turns of the game"),
        _of_outcomes(
            "adherence",
            "count(*) FILTER (outcome = 'followed') / nullif(count(*) FILTER (outcome IN ('followed', 'not_followed')), 0)",
            "share of turns with candidates and an attempt on which a candidate was tried",
        ),
        _of_outcomes(
            "refused", "count(*) FILTER (NOT accepted) / nullif(count(accepted), 0)", "share of turns with a move that is refused"
        ),
        _of_outcomes("clarify", "count(*) FILTER (outcome = 'clarify') / count(*)", "share of turns on which somebody asked"),
        _of_outcomes("undoing", "count(*) FILTER (undoes) / nullif(count(undoes), 0)", "share of moves that take back earlier work"),
        _gap("remove_gap", "share"),
        _gap("remove_gap_any", "any"),
        _gap("remove_gap_first", "first"),
        _gap("remove_gap_share", "share"),
        Metric(name="spirals", sql=_SPIRALS.format("count(start_turn)"), doc="correction spirals"),
        Metric(name="turns_wasted", sql=_SPIRALS.format("coalesce(sum(turns_wasted), 0)"), doc="turns of spirals that led nowhere"),
        Metric(name="message_length", sql=_MESSAGES.format("avg(length(text))"), doc="characters of a public message, mean"),
        Metric(name="messages", sql=_MESSAGES.format("count(*)"), doc="public messages"),
        Metric(name="tokens", sql=_TOKENS, doc="tokens of the players' calls as billed; where none are logged, those of the utterances"),
    )
}
"""By name. Beside these: each metric of `episode_metrics` by its name, `cost:<measure>` and `judge:<rubric>.<question>` (`game_values`)."""

LOGGED: Final = "SELECT episode_id, value FROM episode_metrics WHERE metric = $name"
COST: Final = """
    SELECT episode_id, CASE WHEN NOT bool_or(kind = 'none') THEN sum(cost) END AS value
    FROM turn_values WHERE measure = $name GROUP BY episode_id
"""
"""Unknown where a turn has no value."""
JUDGED: Final = """
    SELECT episode_id, avg(score) AS value
    FROM (
        SELECT episode_id, unit_id, avg(score) AS score FROM verdicts_latest
        WHERE rubric || '.' || question = $name AND judge = $judge AND variant IS NULL AND score IS NOT NULL GROUP BY ALL
    )
    GROUP BY episode_id
"""
