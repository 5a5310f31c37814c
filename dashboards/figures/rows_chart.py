"""A chart of the rows of any query: two of their columns as bars, a line or dots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from dashboards.figures.palette import SERIES
from dashboards.figures.theme import plain, styled

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["CHARTS", "axes_of", "rows_chart"]

CHARTS: Final[Mapping[str, str]] = {"none": "none", "bars": "bars", "line": "line", "dots": "dots"}
"""Kind -> its name; the first draws nothing."""


def axes_of(rows: pl.DataFrame, x: str, y: str) -> tuple[str, str] | None:
    """The columns to draw: those asked for where they fit, else the first that is no number across and the last number up."""
    numbers = [name for name in rows.columns if rows[name].dtype.is_numeric()]
    if not numbers:
        return None
    up = y if y in numbers else numbers[-1]
    words = [name for name in rows.columns if name not in numbers]
    return x if x in rows.columns else next((name for name in (*words, *numbers) if name != up), up), up


def rows_chart(rows: pl.DataFrame, kind: str, x: str, y: str) -> go.Figure:
    """The rows in their order.

    Args:
        rows: of the query.
        kind: of `CHARTS`, not none.
        x: column across.
        y: column up, of numbers.
    """
    import plotly.graph_objects as go

    is_number = rows[x].dtype.is_numeric()
    across = rows[x].to_list() if is_number else [plain(value) for value in rows[x]]
    drawn = go.Figure()
    if kind == "bars":
        drawn.add_bar(x=across, y=rows[y].to_list(), marker={"color": SERIES[0]})
    else:
        mode = "lines+markers" if kind == "line" else "markers"
        drawn.add_scatter(x=across, y=rows[y].to_list(), mode=mode, marker={"size": 8, "color": SERIES[0], "opacity": 0.8})
    drawn.update_xaxes(title=plain(x), **({} if is_number else {"type": "category"}))
    drawn.update_yaxes(title=plain(y))
    figure = styled(drawn, height=340, legend=False)
    figure.update_layout(bargap=0.45)
    return figure
