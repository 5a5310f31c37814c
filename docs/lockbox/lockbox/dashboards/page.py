"""Lockbox: how many digits each keeper's locks came to."""

from dash import html

from dashboards.parts import Part
from dashboards.reader import Reader

__all__ = ["BENCHMARK", "IN_MENU", "ORDER", "PATH", "TITLE", "content"]

PATH = "/lockbox"
TITLE = "Lockbox"
IN_MENU = True
BENCHMARK = "lockbox"
ORDER = 89


def content(read: Reader) -> Part:
    """A line a keeper."""
    rows = read.rows(
        "SELECT model, count(*) AS games, avg(score) AS score FROM episodes WHERE benchmark = 'lockbox' GROUP BY model ORDER BY model"
    )
    return html.Ul([html.Li(f"{model}: {score:.2f} of the digits in {games} games") for model, games, score in rows.iter_rows()])
