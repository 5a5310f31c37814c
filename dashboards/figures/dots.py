"""Dots with their 95 % intervals, a line for each thing that is compared: the figure most questions want."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dashboards.figures.palette import look, mark_of
from dashboards.figures.theme import plain, short, styled
from schemas import wording

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["Axis", "Dot", "dot_plot"]

_LINE: Final = 34
"""Height of a line, in pixels."""
_LEGEND: Final = 12
"""What each name of a legend beyond three adds to the height: on a narrow screen it has a line of its own."""
_NAME, _DETAIL = 28, 30
"""Characters of a line of a label, and of its small print."""
_TOLD: Final = 64
"""Characters of a line that the pointer shows, and of a name in the legend."""
_MARK_SYMBOLS: Final = {"●": "circle", "◆": "diamond", "✕": "x", "?": "triangle-up", "–": "line-ns-open", "○": "circle-open", "·": "circle"}


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One estimate."""

    line: str
    """What it is about: the label of its line."""
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    """Games, or whatever the estimate counts."""
    series: str = ""
    """What gets a colour and a shape of its own; outcomes have theirs."""
    link: str = ""
    """Where a click leads."""
    detail: str = ""
    """Small print below the label of its line; the first dot of a line says it."""
    told: str = ""
    """What else the pointer shows."""
    is_hollow: bool = False
    """Drawn as a ring in the colour of the series before: the same thing in another reading."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What the dots measure."""

    title: str
    low: float | None = 0
    """Least possible value; intervals end there. None where there is none."""
    high: float | None = 1
    is_share: bool = False
    """Written in percent."""
    lines_at: Sequence[float] = field(default_factory=tuple)
    """Values that matter, such as chance."""


def dot_plot(dots: Sequence[Dot], axis: Axis, *, n_of: str = "games") -> go.Figure:
    """A line for each `Dot.line` in order of appearance, its dots side by side.

    Args:
        dots: what is drawn; without a value nothing is.
        axis: what they measure.
        n_of: what `Dot.n` counts.
    """
    import plotly.graph_objects as go

    lines = list(dict.fromkeys(dot.line for dot in dots))
    series = list(dict.fromkeys(dot.series for dot in dots))
    drawn = go.Figure()
    looks = -1
    for place, name in enumerate(series):
        own = [dot for dot in dots if dot.series == name and dot.value is not None]
        is_hollow = any(dot.is_hollow for dot in own)
        looks += not is_hollow
        color, symbol = _look(name, looks, is_hollow=is_hollow)
        shift = (place - (len(series) - 1) / 2) * min(0.22, 0.7 / len(series))
        drawn.add_scatter(
            x=[dot.value for dot in own],
            y=[lines.index(dot.line) + shift for dot in own],
            mode="markers",
            name=plain(short(wording.in_words(name), _TOLD)),
            marker={"size": 10, "color": color, "symbol": symbol, "line": {"color": color, "width": 1.5}},
            error_x=_ends(own, axis) | {"color": color, "thickness": 1.6, "width": 0},
            customdata=[[dot.link, _told(dot, axis, n_of)] for dot in own],
            hovertemplate="%{customdata[1]}<extra>%{fullData.name}</extra>" if name else "%{customdata[1]}<extra></extra>",
            showlegend=bool(name),
        )
    for value in axis.lines_at:
        drawn.add_vline(x=value, line={"color": "#8a8f9c", "width": 1, "dash": "dot"})
    drawn.update_yaxes(
        tickvals=list(range(len(lines))),
        ticktext=[_label(line, dots) for line in lines],
        range=[len(lines) - 0.45, -0.55],
        showgrid=True,
        zeroline=False,
        ticklabelstandoff=8,
    )
    drawn.update_xaxes(title=axis.title, range=_range(dots, axis), tickformat=".0%" if axis.is_share else None, zeroline=False)
    legend = len(series) > 1
    tall = _LINE + 14 * max((len(_wrapped(dot.detail)) + len(_named(dot.line)) - 1 for dot in dots), default=0)
    styled(
        drawn,
        height=(96 + _LEGEND * max(0, len(series) - 3) if legend else 66) + max(tall, 15 * len(series)) * max(1, len(lines)),
        legend=legend,
    )
    drawn.update_layout(margin={"l": 20, "r": 24, "t": 34 if legend else 8, "b": 46})
    return drawn


def _look(name: str, place: int, *, is_hollow: bool) -> tuple[str, str]:
    mark = mark_of(name)
    if mark.words:
        return mark.color, _MARK_SYMBOLS.get(mark.shape, "circle")
    color, symbol = look(place)
    return color, symbol + ("-open" if is_hollow else "")


def _ends(dots: Sequence[Dot], axis: Axis) -> dict[str, Any]:
    """Lengths of the bars; an interval ends where values end."""
    up = [max(0.0, _cut(dot.high, axis) - dot.value) if dot.high is not None and dot.value is not None else 0.0 for dot in dots]
    down = [max(0.0, dot.value - _cut(dot.low, axis)) if dot.low is not None and dot.value is not None else 0.0 for dot in dots]
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down}


def _cut(value: float, axis: Axis) -> float:
    value = value if axis.low is None else max(value, axis.low)
    return value if axis.high is None else min(value, axis.high)


def _range(dots: Sequence[Dot], axis: Axis) -> list[float] | None:
    found = [end for dot in dots for end in (dot.value, dot.low, dot.high) if end is not None]
    if not found:
        return [0, 1]
    low = axis.low if axis.low is not None else min(found)
    high = axis.high if axis.high is not None else max(found)
    room = 0.03 * ((high - low) or 1)
    return [low - room, high + room]


def _label(line: str, dots: Sequence[Dot]) -> str:
    detail = next((dot.detail for dot in dots if dot.line == line and dot.detail), "")
    name = "<br>".join(map(plain, _named(line)))
    small = "<br>".join(map(plain, _wrapped(detail)))
    return f"{name}<br><span style='font-size: 11px'>{small}</span>" if detail else name


def _named(line: str, width: int = _NAME) -> list[str]:
    """Two lines or so of a name."""
    return textwrap.wrap(short(line.split("\0", maxsplit=1)[0], 2 * width), width) or [""]


def _wrapped(detail: str) -> list[str]:
    """At most three short lines, so that a label leaves a narrow screen room for the dots."""
    return textwrap.wrap(detail, _DETAIL, max_lines=3, placeholder=" …")


def _told(dot: Dot, axis: Axis, n_of: str) -> str:
    write = wording.share if axis.is_share else wording.score if (axis.low, axis.high) == (0, 1) else wording.number
    ends = f" [{write(_cut(dot.low, axis))}, {write(_cut(dot.high, axis))}]" if dot.low is not None and dot.high is not None else ""
    count = f"<br>{wording.count(dot.n)} {n_of}" if dot.n is not None else ""
    told = f"<br>{plain(dot.told)}" if dot.told else ""
    detail = f"<br>{plain(dot.detail)}" if dot.detail else ""
    return f"<b>{'<br>'.join(map(plain, _named(dot.line, _TOLD)))}</b>{detail}<br>{write(dot.value)}{ends}{count}{told}"
