"""Overview: a card a family that answers how far teams got and what went wrong; with one family, its teams side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dash import html

from dashboards.family_card import family_card
from dashboards.grid import Grid, fold
from dashboards.leaderboard import LEADERBOARD, games_of_team, leaderboard, leaderboard_card, leaderboard_rows
from dashboards.one_benchmark import in_order, narrowed
from dashboards.parts import Later, Part, card, note
from dashboards.reader import Reader
from dashboards.tables import GridColumn, TableRows
from schemas import wording
from schemas.families import family

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["IN_MENU", "LATER", "ORDER", "PATH", "REPORT", "TABLES", "TITLE", "content", "report_figure"]

PATH = "/"
TITLE = "Overview"
IN_MENU = True
ORDER = 10
REPORT = "leaderboard"

_TOTALS = """
    SELECT benchmark, count(*) AS games, sum(turns_taken)::BIGINT AS turns FROM games WHERE {filters} GROUP BY ALL
"""
_METRIC_ROWS = """
    WITH measured AS (
        SELECT
            games.benchmark, games.model, games.condition, metric, value,
            CASE WHEN min(task_id) OVER row = max(task_id) OVER row THEN episode_id ELSE task_id END AS cluster
        FROM games INNER JOIN episode_metrics USING (episode_id)
        WHERE {filters} AND games.benchmark = $benchmark AND metric NOT LIKE '%.structure.%' AND metric NOT LIKE '%\\_t0' ESCAPE '\\'
        WINDOW row AS (PARTITION BY games.model, games.condition, metric)
    ),

    clusters AS (
        SELECT benchmark, model, condition, metric, cluster, sum(value) AS k, count(*) AS n, min(value) AS least, max(value) AS most
        FROM measured GROUP BY ALL
    )

    SELECT
        metric, model, condition, benchmark, sum(k) / sum(n) AS mean, sum(n)::BIGINT AS n, min(least) AS lowest, max(most) AS highest,
        CASE WHEN lowest >= 0 AND highest <= 1 THEN clustered_low(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) END AS low,
        CASE WHEN lowest >= 0 AND highest <= 1 THEN clustered_high(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) END AS high
    FROM clusters GROUP BY ALL ORDER BY metric, mean DESC, model, condition
"""


def content(read: Reader) -> Part:
    """The families in view; with a single one, its leaderboard and metrics too."""
    totals = read.rows(_TOTALS)
    if totals.is_empty():
        return note("No game under these filters.")
    names = in_order(totals["benchmark"].to_list())
    said = f"{len(names)} families, " if len(names) > 1 else ""
    lead = f"{said}{wording.counted(int(totals['games'].sum()), 'game')}, {wording.counted(int(totals['turns'].sum()), 'turn')}."
    own = [name for name in names if family(name)]
    cards = [[_FAMILY(read, name) for name in group] for group in (own, [name for name in names if name not in own])]
    more = [_BOARD(read, names[0]), _METRICS(read, names[0])] if len(names) == 1 else []
    return html.Div(
        [html.H1("Overview"), html.P(lead, className="lead"), *(html.Div(group, className="families") for group in cards if group), *more]
    )


def report_figure(read: Reader) -> go.Figure | None:
    """The leaderboard of the first benchmark, as the report shows it; None without games."""
    rows = leaderboard_rows(read)
    return None if rows.is_empty() else leaderboard(read, rows.filter(rows["benchmark"] == rows["benchmark"][0]))


def _metrics_card(read: Reader, benchmark: str) -> Part:
    return card(
        "Every metric", fold(narrowed(read, benchmark), METRICS, benchmark), hint="Means over games, a line for each metric and team."
    )


def _metrics(read: Reader, benchmark: str) -> TableRows:
    return TableRows(
        sql=_METRIC_ROWS,
        parameters={"benchmark": benchmark},
        columns={
            "metric": GridColumn(heading="Metric", kind="name"),
            "model": GridColumn(heading="Team"),
            "condition": GridColumn(heading="Condition", kind="condition"),
            "mean": GridColumn(heading="Mean", kind="score", low="low", high="high"),
            "n": GridColumn(heading="Games", kind="count"),
            "lowest": GridColumn(heading="Least", kind="score"),
            "highest": GridColumn(heading="Most", kind="score"),
        },
        link=lambda row: games_of_team(read, row),
    )


_FAMILY: Final = Later("overview-family", family_card, 300)
_BOARD: Final = Later("overview-leaderboard", leaderboard_card, 420)
_METRICS: Final = Later("overview-metrics", _metrics_card, 90)
LATER = (_FAMILY, _BOARD, _METRICS)
METRICS: Final = Grid("metrics", _metrics, "Metrics of every team")
TABLES = (LEADERBOARD, METRICS)
