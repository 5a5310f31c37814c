"""How figures look: their colours, their common layout, and the figure most questions want, dots with 95 % intervals."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from schemas.common import wording
from schemas.common.text import printable
from schemas.common.wording import number, share, without_zero

if TYPE_CHECKING:
    import plotly.graph_objects as go

LIGHT_PAPER: Final = "#ffffff"
DARK_PAPER: Final = "#191c22"

SERIES: Final[tuple[str, ...]] = ("#5267b2", "#be856b", "#499b9b", "#a34b6a", "#706b31", "#ad74ff")
"""Series and categories; what is beyond them is grouped as "other"."""

OTHER: Final = "#8a8f9c"
"""What is grouped; always hatched."""
QUIET: Final = "rgba(138, 143, 156, 0.22)"
"""What went right, beside what went wrong."""

FULLER: Final = ((0, "rgba(73, 153, 155, 0.06)"), (1, "rgba(73, 153, 155, 0.62)"))
"""A scale from little to much; the paper shines through, so that texts keep the page's colour on it."""

SYMBOLS: Final[tuple[str, ...]] = ("circle", "diamond", "square", "triangle-up", "cross", "star")
"""The shape that goes with each colour of a series."""


class Mark(NamedTuple):
    """How one kind of thing is shown."""

    color: str
    shape: str
    """A sign that says it without colour."""
    words: str


OUTCOMES: Final[Mapping[str, Mark]] = {
    "followed": Mark("#27786b", "●", "lost nothing: a verified action"),
    "accepted": Mark("#27786b", "●", "carried out"),
    "not_followed": Mark("#e67339", "◆", "a verified action was available, another was taken"),
    "refused": Mark("#bb3f30", "✕", "refused by the engine"),
    "wrong": Mark("#e67339", "◆", "carried out, but wrong"),
    "lost": Mark("#e67339", "◇", "carried out; value was lost, and no agent is known to be at fault"),
    "clarify": Mark("#7990de", "?", "asked instead of acting"),
    "no_move": Mark("#9f8e9d", "–", "no agent acted"),
    "no_oracle": Mark("#9f8e9d", "○", "no verified action was listed"),
    "not_classified": Mark("#9f8e9d", "·", "in games whose log lists no verified actions"),
}
"""What became of a turn."""

SPIRALS: Final[Mapping[str, Mark]] = {
    "repeated_failure": Mark(SERIES[3], "↻", "an action refused before is tried again while nothing has changed"),
    "undo_loop": Mark(SERIES[0], "⟲", "the state returns to an earlier one"),
    "over_removal": Mark(SERIES[1], "⌫", "undone twice or more where no verified action undoes"),
    "stall": Mark(SERIES[2], "⋯", "three turns or more without a change"),
    "repeated_message": Mark(
        SERIES[4], "≡", "without states: an agent's message repeats one of its last three, in all or nine tenths of its words"
    ),
    "repeated_call": Mark(SERIES[5], "⟳", "without states: an agent calls a tool again with equal arguments"),
}
"""Kinds of correction spiral."""

_UNKNOWN: Final = Mark(OTHER, "·", "")


def look(place: int) -> tuple[str, str]:
    """Colour and shape of the series of that place, from 0; no two of the first 36 are alike."""
    return SERIES[place % len(SERIES)], SYMBOLS[(place + place // len(SERIES)) % len(SYMBOLS)]


Looks = Mapping[str, tuple[str, str]]
"""Name of a team -> its colour and shape (`reader.looks_of_teams`)."""
NO_LOOKS: Final[Looks] = {}


def mark_of(name: str) -> Mark:
    """The mark of an outcome or a kind of spiral; a grey dot for what has none."""
    return OUTCOMES.get(name) or SPIRALS.get(name) or _UNKNOWN


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


def plain(text: object) -> str:
    """Text from a log for a figure: figures read a small markup, so it is escaped."""
    return html.escape(printable(str(text)), quote=False)


def short(text: str, letters: int) -> str:
    """The beginning of a name that may be of any length: Plotly would cut off where it begins."""
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def color_of(name: str, order: Iterable[str]) -> str:
    """The colour of a category or model; the same name has the same colour on every page with the same order.

    Args:
        name: what is drawn.
        order: names that share the palette, the most important first, of a taxonomy `Reader.failures`; those beyond it are grey.
    """
    return dict(zip(order, SERIES, strict=False)).get(name, OTHER)


def project_layout(*, height: int, legend: bool) -> dict[str, Any]:
    """The layout of every figure."""
    return {
        "template": _template(),
        "height": height,
        "font": {"family": "Inter, system-ui, -apple-system, 'Segoe UI', sans-serif", "size": 13, "color": INK},
        "colorway": SERIES,
        "margin": {"l": 60, "r": 20, "t": 30, "b": 50},
        "showlegend": legend,
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": _LEFT, "title": None, "traceorder": "normal"},
        "hoverlabel": {"font": {"size": 13}},
        "bargap": 0.25,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
    }


AXIS: Final = {"gridcolor": GRID, "zerolinecolor": GRID, "automargin": True}


def styled(figure: go.Figure, *, height: int = 380, legend: bool = True) -> go.Figure:
    """Give a figure the look of the house."""
    figure.update_layout(**project_layout(height=height, legend=legend))
    upright = [trace for trace in figure.data if trace.type == "bar" and trace.orientation != "h"]
    if upright:  # a line behind the middle of a bar only stands out above it
        figure.update_xaxes(showgrid=False)
    figure.update_xaxes(**AXIS, title_font_size=13)
    figure.update_yaxes(**AXIS, title_font_size=13)
    figure.update_coloraxes(colorbar={"labelalias": _TICKS, "title": {"font": {"size": 13}}})
    for trace in figure.data:
        _say_values(trace)
        for side in _sides_with_bars(trace):
            say_bars(figure.layout[f"{side}axis{(trace[f'{side}axis'] or side)[1:]}"].title)
    return figure


@cache
def _template() -> Any:
    import plotly.graph_objects
    import plotly.io

    templates: Any = plotly.io.templates
    white = templates["plotly_white"]
    # of the kinds of traces that figures here have: each figure copies and checks all that its template holds
    template = plotly.graph_objects.layout.Template(layout=white.layout, data={"bar": white.data.bar, "heatmap": white.data.heatmap})
    template.data.bar[0].marker.line.width = 0  # a white edge, in the dark theme too
    template.layout.xaxis.labelalias = template.layout.yaxis.labelalias = _TICKS
    return template


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


def say_bars(title: Any) -> None:
    """The same words on every figure with intervals, in the title of the axis along which they lie."""
    text = title["text"] or "" if "text" in title else ""
    if _BARS not in text:
        title["text"] = f"{text} ({_BARS})" if text else _BARS


_LINE: Final = 34
"""Height of a line, in pixels."""
_LEGEND: Final = 12
"""What each name of a legend beyond three adds to the height: on a narrow screen it has a line of its own."""
_NAME, _DETAIL = 28, 30
"""Characters of a line of a label, and of its small print."""
_LETTERS: Final = 40
"""Characters of a line of the legend."""
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


def dot_plot(dots: Sequence[Dot], axis: Axis, *, n_of: str = "games", looks: Looks = NO_LOOKS) -> go.Figure:
    """A line for each `Dot.line` in order of appearance, its dots side by side.

    Args:
        dots: what is drawn; without a value nothing is.
        axis: what they measure.
        n_of: what `Dot.n` counts.
        looks: of series that are teams; next to them others are grey.
    """
    import plotly.graph_objects as go

    lines = list(dict.fromkeys(dot.line for dot in dots))
    series = list(dict.fromkeys(dot.series for dot in dots))
    drawn = go.Figure()
    is_shared = len({dot.line for dot in dots}) < len({(dot.line, dot.series) for dot in dots})
    rings = {dot.series for dot in dots if dot.is_hollow}
    places = max(1, len(series) - len(rings))
    place, of_ring = -1, ""
    for name in series:
        own = [dot for dot in dots if dot.series == name and dot.value is not None]
        is_hollow = name in rings
        place += not is_hollow
        of_ring = of_ring if is_hollow else name if own else ""  # a ring without dots beside it has the entry in the legend
        color, symbol = _look(of_ring or name, place, looks, is_hollow=is_hollow)
        shift = is_shared * (max(place, 0) - (places - 1) / 2) * min(0.22, 0.7 / places)
        drawn.add_scatter(
            x=[dot.value for dot in own],
            y=[lines.index(dot.line) + shift for dot in own],
            mode="markers",
            cliponaxis=False,
            name=_in_legend(wording.in_words(name) if mark_of(name).words else name),
            marker={"size": 14 if is_hollow and of_ring else 10, "color": color, "symbol": symbol, "line": {"color": color, "width": 1.5}},
            error_x=_ends(own, axis) | {"color": color, "thickness": 1.6, "width": 0},
            customdata=[[dot.link, _told(dot, axis, n_of)] for dot in own],
            hovertemplate="%{customdata[1]}<extra>%{fullData.name}</extra>" if name else "%{customdata[1]}<extra></extra>",
            showlegend=bool(name) and not (is_hollow and of_ring),
        )
    for value in axis.lines_at:
        drawn.add_vline(x=value, line={"color": "#8a8f9c", "width": 1, "dash": "dot"})
    drawn.update_yaxes(
        tickvals=list(range(len(lines))),
        ticktext=[_label(line, dots, n_of) for line in lines],
        range=[len(lines) - 0.45, -0.55],
        showgrid=True,
        zeroline=False,
        ticklabelstandoff=8,
    )
    drawn.update_xaxes(title=axis.title, range=_range(dots, axis), tickformat=".0%" if axis.is_share else None, zeroline=False)
    legend = len(series) > 1
    tall = _LINE + 14 * max((len(_small(dot.line, dots, n_of)) + len(_named(dot.line)) - 1 for dot in dots), default=0)
    styled(
        drawn,
        height=(96 + _LEGEND * max(0, places - 3) if legend else 66) + max(tall, 15 * places) * max(1, len(lines)),
        legend=legend,
    )
    drawn.update_layout(margin={"l": 20, "r": 24, "t": 34 if legend else 8, "b": 46})
    return drawn


def _in_legend(name: str) -> str:
    """A name that a narrow screen has room for, in two lines if need be."""
    return "<br>".join(map(plain, textwrap.wrap(short(name, _TOLD), _LETTERS))) or ""


def _look(name: str, place: int, looks: Looks, *, is_hollow: bool) -> tuple[str, str]:
    mark = mark_of(name)
    if mark.words:
        return mark.color, _MARK_SYMBOLS.get(mark.shape, "circle")
    color, symbol = looks.get(name) or (OTHER if looks else look(place)[0], look(place)[1])
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


def _label(line: str, dots: Sequence[Dot], n_of: str) -> str:
    name = "<br>".join(map(plain, _named(line)))
    small = "<br>".join(map(plain, _small(line, dots, n_of)))
    return f"{name}<br><span style='font-size: 11px'>{small}</span>" if small else name


def _small(line: str, dots: Sequence[Dot], n_of: str) -> list[str]:
    """What is below the name of a line: its details, and how many its estimates rest on where these do not show it."""
    detail = next((dot.detail for dot in dots if dot.line == line and dot.detail), "")
    counts = sorted({dot.n for dot in dots if dot.line == line and dot.n is not None})
    counted = " to ".join(wording.count(n) for n in dict.fromkeys((counts[0], counts[-1]))) if counts else ""
    of = n_of.removesuffix("s") if counted == "1" else n_of
    return _wrapped(detail) + ([f"{counted} {of}"] if counted and f"{counted} " not in detail else [])


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
