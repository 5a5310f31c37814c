"""Panels side by side and below one another, as plain dicts: Plotly checks them once, in a sixth of the time that its own calls take."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

from dashboards.figures import AXIS, project_layout, say_bars

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Panels:
    """A figure of `rows` times `columns` panels, numbered from 1, until `figure` makes it one of Plotly's."""

    def __init__(self, rows: int, columns: int, **spacing: Any) -> None:
        """`spacing`: as `plotly.subplots.make_subplots` takes it, lists as tuples."""
        self._columns = columns
        self._traces: list[dict[str, Any]] = []
        self._layout: dict[str, Any] = {"annotations": [], "shapes": []} | deepcopy(_layout(rows, columns, **spacing))

    def _of(self, axis: str, row: int, col: int) -> str:
        number = (row - 1) * self._columns + col
        return axis if number == 1 else f"{axis}{number}"

    def x(self, row: int, col: int) -> dict[str, Any]:
        """The x axis of a panel, to be changed."""
        axis: dict[str, Any] = self._layout[self._of("xaxis", row, col)]
        return axis

    def y(self, row: int, col: int) -> dict[str, Any]:
        """The y axis of a panel, to be changed."""
        axis: dict[str, Any] = self._layout[self._of("yaxis", row, col)]
        return axis

    def axes(self, side: str) -> list[dict[str, Any]]:
        """All x or y axes, by panel."""
        return [axis for name, axis in self._layout.items() if name.startswith(f"{side}axis")]

    def add(self, kind: str, *, row: int, col: int, **trace: Any) -> None:
        """A trace, `scatter` or a horizontal `bar`; under bars of errors its axis has the words 95 %."""
        self._traces.append({"type": kind, "xaxis": self._of("x", row, col), "yaxis": self._of("y", row, col), **trace})
        if "error_x" in trace and any((*trace["error_x"]["array"], *trace["error_x"]["arrayminus"])):
            say_bars(self.x(row, col).setdefault("title", {}))

    def add_line(self, x: float, *, row: int, col: int, **line: Any) -> None:
        """A vertical line across a panel."""
        across = {"xref": self._of("x", row, col), "yref": f"{self._of('y', row, col)} domain", "x0": x, "x1": x, "y0": 0, "y1": 1}
        self._layout["shapes"].append({"type": "line", "line": line, **across})

    def write(self, text: str, *, row: int, col: int, **place: Any) -> None:
        """A text in a panel, by default in its upper left corner; x and y are shares of the panel."""
        refs = {"xref": f"{self._of('x', row, col)} domain", "yref": f"{self._of('y', row, col)} domain"}
        corner = {"x": 0, "y": 1, "xanchor": "left", "showarrow": False}
        self._layout["annotations"].append({**corner, **refs, **place, "text": text})

    def figure(self, *, height: int, legend: Mapping[str, Any] | None = None, **layout: Any) -> go.Figure:
        """With the layout of every figure; `legend`: what is other in its legend, None for none; `layout`: what else is other."""
        import plotly.graph_objects as go

        for axis in (*self.axes("x"), *self.axes("y")):
            axis.update(AXIS | {"title": {"font": {"size": 13}} | axis.get("title", {})})
        look = project_layout(height=height, legend=legend is not None)
        look["legend"] |= legend or {}
        return go.Figure({"data": self._traces, "layout": self._layout | look | layout})


@cache
def _layout(rows: int, columns: int, **spacing: Any) -> dict[str, Any]:
    from plotly.subplots import make_subplots

    found: dict[str, Any] = make_subplots(rows=rows, cols=columns, **spacing).to_dict()["layout"]
    del found["template"]
    return found
