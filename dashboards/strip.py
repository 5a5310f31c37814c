"""Small figures made of boxes: a line a team with its dot, its interval and its number; light enough to stand in every card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dash import html

from dashboards.parts import Part
from schemas import wording

__all__ = ["StripLine", "strip"]


@dataclass(frozen=True, kw_only=True)
class StripLine:
    """One line."""

    name: str
    detail: str = ""
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    """Games."""
    href: str


def strip(lines: Sequence[StripLine], *, least: float = 0, most: float = 1, is_share: bool = False) -> Part:
    """The lines on one scale.

    Args:
        lines: in their order.
        least: left end of the scale.
        most: right end.
        is_share: values are written in percent.
    """
    write = wording.share if is_share else wording.score if most == 1 else wording.number

    def at(value: float) -> float:
        return round(100 * (min(max(value, least), most) - least) / ((most - least) or 1), 1)

    def line(entry: StripLine) -> Part:
        marks: list[Part] = []
        if entry.low is not None and entry.high is not None:
            left = at(entry.low)
            marks.append(html.Span(className="strip-range", style={"left": f"{left}%", "width": f"{max(0.6, at(entry.high) - left)}%"}))
        if entry.value is not None:
            marks.append(html.Span(className="strip-dot", style={"left": f"{at(entry.value)}%"}))
        said = write(entry.value)
        name = [html.Span(entry.name, className="strip-model"), html.Span(entry.detail, className="strip-detail") if entry.detail else None]
        return html.A(
            [
                html.Span(name, className="strip-name"),
                html.Span(marks, className="strip-track"),
                html.Span(said, className="strip-value"),
                html.Span(f"n {wording.count(entry.n)}", className="strip-n"),
            ],
            href=entry.href,
            className="strip-line",
        )

    return html.Div([line(entry) for entry in lines], className="strips")
