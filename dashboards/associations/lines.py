"""Curves of the reports on time and on planning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics.comparison.game_values import short_names
from dashboards.figures.curves import Curve, curves
from schemas.text import printable
from schemas.wording import in_words, number

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["power_figure", "survival_figure"]

_MOST: Final = 6
"""Curves that can be told apart."""
_WISHED: Final = 0.8


def survival_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Of `survival-curves`, the rows of one event: the share of games without it, turn by turn."""
    if rows.is_empty():
        return None
    short = short_names(rows["team"].to_list())
    drawn = []
    for (condition, team), part in rows.group_by("condition", "team", maintain_order=True):
        alone = part["condition"].n_unique() == rows["condition"].n_unique()
        drawn.append(
            Curve(
                name=printable(short[str(team)] + ("" if alone else f" ({condition})")),
                x=[0, *part["turn"]],
                y=[1.0, *part["free"]],
                low=[1.0, *part["free_low"]],
                high=[1.0, *part["free_high"]],
                is_step=True,
            )
        )
    return curves(drawn[:_MOST], across="turn", up=f"games without {rows['event'][0]}")


def power_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Of `power-curves`: the chance to see each difference, by tasks; dashed where the teams play different ones."""
    drawn = [
        Curve(
            name=", ".join(filter(None, (game and printable(in_words(game)), number(float(str(difference))), str(design)))),
            x=part["tasks"].to_list(),
            y=part["power"].to_list(),
            low=part["power_low"].to_list(),
            high=part["power_high"].to_list(),
            is_dashed=design != "paired",
        )
        for (game, design, difference), part in rows.group_by("game", "design", "difference", maintain_order=True)
    ]
    return curves(drawn[:_MOST], across="tasks", up="chance to see it", line_at=_WISHED) if drawn else None
