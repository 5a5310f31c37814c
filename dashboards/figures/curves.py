"""Curves with their 95 % bands: what is left of games turn by turn, what a number of tasks can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dashboards.figures.palette import SERIES, look
from dashboards.figures.theme import plain, styled

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["Curve", "curves"]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line; all of its columns have the same length."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    """0 to 1."""
    low: Sequence[float | None] = field(default_factory=tuple)
    """Empty: no band."""
    high: Sequence[float | None] = field(default_factory=tuple)
    is_step: bool = False
    """Whether it holds its height until the next point."""
    is_dashed: bool = False


def curves(drawn: Sequence[Curve], *, across: str, up: str, line_at: float | None = None) -> go.Figure:
    """The curves over one axis, each with its colour and its sign; a band behind each that has one.

    Args:
        drawn: what is drawn, in order of the legend.
        across: title of the axis across.
        up: title of the axis up, a share.
        line_at: height that matters, such as the power wished for.
    """
    import plotly.graph_objects as go

    found = go.Figure()
    for place, one in enumerate(drawn):
        color, symbol = look(place)
        shape = "hv" if one.is_step else "linear"
        if one.low:
            _band(found, one, color, shape)
        found.add_scatter(
            x=list(one.x),
            y=list(one.y),
            mode="lines+markers",
            name=plain(one.name),
            line={"color": color, "width": 2, "shape": shape, "dash": "dash" if one.is_dashed else "solid"},
            marker={"size": 6, "symbol": symbol, "color": color},
            hovertemplate="%{x}: %{y:.0%}<extra>%{fullData.name}</extra>",
        )
    if line_at is not None:
        found.add_hline(y=line_at, line={"color": "#8a8f9c", "width": 1, "dash": "dot"})
    found.update_xaxes(title=across, rangemode="tozero")
    found.update_yaxes(title=up, range=[-0.02, 1.02], tickformat=".0%")
    styled(found, height=390, legend=True)
    return found


def _band(found: go.Figure, one: Curve, color: str, shape: str) -> None:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5)) if color in SERIES else (138, 143, 156)
    for ends, fill in ((one.low, None), (one.high, "tonexty")):
        found.add_scatter(
            x=list(one.x),
            y=list(ends),
            mode="lines",
            line={"width": 0, "shape": shape},
            fill=fill,
            fillcolor=f"rgba({red}, {green}, {blue}, 0.13)",
            showlegend=False,
            hoverinfo="skip",
        )
