"""How figures look: one template, intervals and counts drawn the same way everywhere.

Texts, axes and grids take the colours of the page by style sheet (`assets/figures.css`), so that a figure follows the theme.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from dashboards.figures.palette import OTHER, SERIES, mark_of
from schemas.text import printable
from schemas.wording import number, share, without_zero

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["INK", "MODEL_COLORS", "color_of", "numbered", "plain", "short", "styled"]

INK = "#1b1f27"
GRID = "#e6e7e4"

MODEL_COLORS: tuple[str, ...] = SERIES
"""After the last they start again, with another symbol."""

_BARS = "bars: 95 %"

_TICKS: Final = {
    **{f"{sign}0.{digits}": f"{sign}.{digits}" for sign in ("", "−") for digits in (f"{n:02d}".rstrip("0") for n in range(1, 100))},
    **{f"{sign}{percent}%": f"{sign}{percent} %" for sign in ("", "−") for percent in range(101)},
}
"""What Plotly writes at an axis -> how texts and tables write it, who know no format for it."""

_HOVERS: Final[Mapping[str, Callable[[Any], str]]] = {":.0%": share, ":.3g": lambda value: without_zero(number(value))}
"""Plotly's format of a value under the pointer -> how texts write it."""

_LEFT: Final = -0.001
"""Where legends begin: left of the axis, from where Plotly lets them use the width of the whole figure, not of the plot alone."""

_ALL_NAMED, _MANY = 10, 60
"""Turns up to which each is named, and from which on Plotly chooses."""

_RIGHT = frozenset({"correct", "no_error", "none_of_these", "followed"})


def plain(text: object) -> str:
    """Text from a log for a figure: figures read a small markup, so it is escaped."""
    return html.escape(printable(str(text)), quote=False)


def short(text: str, letters: int) -> str:
    """The beginning of a name that may be of any length: Plotly would cut off where it begins."""
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def color_of(name: str, order: Sequence[str]) -> str:
    """The colour of a category, outcome or model; the same name has the same colour on every page with the same order.

    Args:
        name: what is drawn; what went right has its own colour, as have outcomes and kinds of spiral.
        order: names that share the palette, the most important first; those beyond it are grey.
    """
    if name in _RIGHT:
        return mark_of("followed").color
    known = mark_of(name)
    if known.words:
        return known.color
    shared = [other for other in order if other not in _RIGHT and not mark_of(other).words]
    return SERIES[shared.index(name)] if name in shared[: len(SERIES)] else OTHER


def styled(figure: go.Figure, *, height: int = 380, legend: bool = True) -> go.Figure:
    """Give a figure the look of the house."""
    figure.update_layout(
        template=_template(),
        height=height,
        font={"family": "Inter, system-ui, -apple-system, 'Segoe UI', sans-serif", "size": 13, "color": INK},
        colorway=SERIES,
        margin={"l": 60, "r": 20, "t": 30, "b": 50},
        showlegend=legend,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": _LEFT, "title": None, "traceorder": "normal"},
        hoverlabel={"font_size": 13},
        bargap=0.25,
        plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)",
    )
    upright = [trace for trace in figure.data if trace.type == "bar" and trace.orientation != "h"]
    if upright:  # a line behind the middle of a bar only stands out above it
        figure.update_xaxes(showgrid=False)
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=GRID, automargin=True, title_font_size=13)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=GRID, automargin=True, title_font_size=13)
    figure.update_coloraxes(colorbar={"labelalias": _TICKS, "title": {"font": {"size": 13}}})
    for trace in figure.data:
        _say_values(trace)
        for side in _sides_with_bars(trace):
            _say_bars(figure.layout[f"{side}axis{(trace[f'{side}axis'] or side)[1:]}"])
    return figure


@cache
def _template() -> Any:
    import plotly.io

    templates: Any = plotly.io.templates
    house = templates["plotly_white"]
    house.layout.xaxis.labelalias = house.layout.yaxis.labelalias = _TICKS
    return house


def _say_values(trace: Any) -> None:
    """Under the pointer a value is written as everywhere: `44 %` and `.52`, not `44%` and `0.52`."""
    told = ("hovertemplate" in trace and trace.hovertemplate) or ""
    for side in ("x", "y"):
        for form, write in _HOVERS.items():
            if f"%{{{side}{form}}}" in told:
                trace.hovertext = [write(value) for value in trace[side]]
                trace.hovertemplate = told.replace(f"%{{{side}{form}}}", "%{hovertext}")


def numbered(turns: int) -> dict[str, Any]:
    """Which turns an axis names: all where they are few, so that numbers do not touch on a narrow screen either."""
    return {"tick0": 0, "dtick": 1 if turns <= _ALL_NAMED else 5} if turns <= _MANY else {}


def _sides_with_bars(trace: Any) -> list[str]:
    ends = {side: trace[f"error_{side}"] for side in ("x", "y") if f"error_{side}" in trace}
    return [side for side, bars in ends.items() if any([*(bars.array or ()), *(bars.arrayminus or ())])]


def _say_bars(axis: Any) -> None:
    """The same words on every figure with intervals, on the axis along which they lie."""
    title = axis.title.text or ""
    if _BARS not in title:
        axis.title.text = f"{title} ({_BARS})" if title else _BARS
