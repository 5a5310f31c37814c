"""The parts pages are made of: cards, figures that lead on when clicked, notes, choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dash import dcc, html

from schemas.wording import NOTHING, count, share

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from dashboards.address import Address
    from dashboards.reader import Reader

__all__ = ["Later", "Part", "aria", "card", "data", "figure", "link_choices", "note", "pager", "stat", "stat_of"]

Part = Any
"""A Dash component; Dash ships no types."""


def aria(**values: str) -> Any:
    """Attributes for people who do not see the page: `html.Nav(..., **aria(label="Pages"))`."""
    return {f"aria-{name}": value for name, value in values.items()}


def data(**values: str) -> Any:
    """Attributes that scripts and style sheets read: `html.Li(..., **data(turn="3"))`."""
    return {f"data-{name}": value for name, value in values.items()}


def card(title: str, *children: Part, hint: str = "", lead: Part = None, menu: Part = None, wide: bool = False) -> Part:
    """A titled box.

    Args:
        title: what it is about.
        children: its content.
        hint: how to read it.
        lead: what it says, in a sentence.
        menu: what stands at the right of the title, such as files of its table.
        wide: over the whole width, where cards stand side by side.
    """
    head = [html.Div([html.H2(title), menu], className="card-head")] if title else []
    said = [html.P(lead, className="card-lead")] if lead else []
    read = [html.P(hint, className="hint")] if hint else []
    return html.Section([*head, *said, *read, *children], className="card wide" if wide else "card")


_LEGEND_ROOM, _LEGEND_LINE = 3, 20
"""Names of a legend for which a figure has room, and pixels of a line: on a narrow screen each has its own."""


def figure(name: str, chart: go.Figure, *, label: str = "") -> Part:
    """A figure; points whose customdata begins with an address lead there when clicked.

    Args:
        name: its id.
        chart: what is drawn.
        label: what screen readers call it, beside the table that says the same.
    """
    config: Any = {"displayModeBar": False, "responsive": True, "showTips": False}
    return html.Div(
        [
            dcc.Graph(
                id={"type": "figure", "name": name},
                figure=chart,
                config=config,
                responsive=True,
                style={"height": f"calc({chart.layout.height or 380}px + var(--narrow) * {_legend_lines(chart) * _LEGEND_LINE}px)"},
            ),
            html.Div(
                [
                    html.Button(
                        kind.upper(),
                        className="quiet",
                        **data(picture=kind),
                        **aria(label=f"save the figure {label or name} as {kind.upper()}"),
                    )
                    for kind in ("svg", "png")
                ],
                className="figure-files",
            ),
        ],
        className="figure",
        role="group",
        **aria(label=label or name.replace("-", " ")),
    )


def _legend_lines(chart: go.Figure) -> int:
    """Lines that the legend takes where each name has one of its own, beyond those that any figure has room for."""
    named = sum(trace.showlegend is not False and bool(trace.name) for trace in chart.data) if chart.layout.showlegend else 0
    return max(0, named - _LEGEND_ROOM)


class Later(NamedTuple):
    """A card that is drawn on its own, so that it holds nothing else up and its failure is its own; a page lists its own in `LATER`."""

    name: str
    draw: Callable[[Reader, str], Part]
    """From the reader, and the part of the page where it stands, empty where there is one."""
    height: int = 240
    """What it will be about, in pixels, so that nothing jumps."""

    def __call__(self, read: Reader, part: str = "") -> Part:
        """The card, where the page is drawn as a whole; else its place."""
        if read.is_whole:
            return self.draw(read, part)
        place = {"name": self.name, "part": part}
        waiting = html.Div(className="card waiting", style={"minHeight": f"{self.height}px"})
        return html.Div(
            [dcc.Store(id={"type": "ask", **place}, data=read.address.to()), waiting], id={"type": "later", **place}, className="later"
        )


def note(text: str, *children: Part) -> Part:
    """A helpful line in place of content; commands in it stand between backticks, as in the terminal."""
    said = [html.Code(part) if place % 2 else part for place, part in enumerate(text.split("`"))] if text.count("`") % 2 == 0 else text
    return html.Div([html.P(said), *children], className="note")


def stat(label: str, value: str, detail: str = "") -> Part:
    """One number with its label."""
    return html.Div(
        [html.Div(value, className="stat-value"), html.Div(label, className="stat-label"), html.Div(detail, className="stat-detail")],
        className="stat",
    )


def stat_of(label: str, part: int, whole: int) -> Part:
    """A share with its label and, below, what it is made of."""
    return stat(label, share(part / whole) if whole else NOTHING, f"{count(part)} of {count(whole)}")


def pager(address: Address, start: int, size: int, total: int, what: str) -> Part:
    """Where one is in a long list, and the ways to the pages before and after: `?from=`."""
    steps = [("← before", start - size), ("after →", start + size)]
    links = [dcc.Link(text, href=address.to(**{"from": at or None}), className="choice") for text, at in steps if 0 <= at < total]
    shown = f"{what} {count(min(start + 1, total))} to {count(min(start + size, total))} of {count(total)}"
    return html.Div([html.Span(shown, className="choices-label"), *links], className="choices")


_MANY = 7
"""Alternatives from which on a row of them would be a wall: they are folded behind the chosen one."""


def link_choices(label: str, choices: Sequence[tuple[str, str, bool]]) -> Part:
    """A row of alternatives, or of many a list behind the chosen one: (text, address, chosen)."""
    links = [
        html.A(text, href=href, className="choice chosen" if chosen else "choice", **(aria(current="true") if chosen else {}))
        for text, href, chosen in choices
    ]
    said = html.Span(label, className="choices-label")
    if len(choices) <= _MANY:
        return html.Div([said, *links], className="choices", role="group", **aria(label=label))
    now = next((text for text, _, chosen in choices if chosen), "choose")
    return html.Div([said, html.Details([html.Summary(now, className="choice"), html.Div(links)], className="menu")], className="choices")
