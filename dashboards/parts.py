"""The parts pages are made of: cards, figures that lead on when clicked, tables, notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dash import dcc, html

from schemas.text import printable

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

    from dashboards.address import Address

__all__ = ["Part", "card", "figure", "link_choices", "note", "number", "pager", "rate", "stat", "table"]

Part = Any
"""A Dash component; Dash ships no types."""


def card(title: str, *children: Part, hint: str = "") -> Part:
    """A titled box; the hint says how to read it."""
    heading = ([html.H2(title)] if title else []) + ([html.P(hint, className="hint")] if hint else [])
    return html.Section([*heading, *children], className="card")


def figure(name: str, chart: go.Figure) -> Part:
    """A figure; points whose customdata begins with an address lead there when clicked."""
    config: Any = {"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"], "responsive": True}
    return dcc.Graph(id={"type": "figure", "name": name}, figure=chart, config=config)


def note(text: str, *children: Part) -> Part:
    """A helpful line in place of content."""
    return html.Div([html.P(text), *children], className="note")


def stat(label: str, value: str, detail: str = "") -> Part:
    """One number with its label."""
    return html.Div(
        [html.Div(value, className="stat-value"), html.Div(label, className="stat-label"), html.Div(detail, className="stat-detail")],
        className="stat",
    )


def number(value: float | None, digits: int = 3) -> str:
    """A number for a table cell; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def rate(part: float | None, whole: float | None) -> str:
    """`12 % (6 of 50)`: a rate never stands without its counts."""
    if part is None or not whole:
        return "– (0)"
    return f"{100 * part / whole:.0f} % ({part:.0f} of {whole:.0f})"


def table(
    rows: pl.DataFrame,
    columns: Mapping[str, str],
    *,
    link: Callable[[Mapping[str, Any]], str] | None = None,
    show: Mapping[str, Callable[[Any], str]] | None = None,
    classes: Mapping[str, str] | None = None,
) -> Part:
    """Rows as a table.

    Args:
        rows: what to show; the caller limits their number.
        columns: column -> heading, in order.
        link: the address a row leads to, from the row.
        show: column -> how its values are written; numbers have three digits, other values are text.
        classes: column -> its style: `num` aligned as a number, `words` for sentences; without it, by the column's type.
    """
    writers = show or {}
    kinds = {name: "num" if rows.schema[name].is_numeric() else "" for name in columns} | dict(classes or {})

    def written(name: str, value: Any) -> str:
        if name in writers:
            return writers[name](value)
        if value is None:
            return "–"
        return f"{value:.3f}" if isinstance(value, float) else printable(str(value))

    def line(row: Mapping[str, Any]) -> Part:
        cells: list[Part] = [html.Td(written(name, row[name]), className=kinds[name]) for name in columns]
        if link is not None:
            first = next(iter(columns))
            cells[0] = html.Td(dcc.Link(written(first, row[first]), href=link(row)), className=kinds[first])
        return html.Tr(cells)

    head = html.Tr([html.Th(heading, className=kinds[name]) for name, heading in columns.items()])
    return html.Div(html.Table([html.Thead(head), html.Tbody([line(row) for row in rows.iter_rows(named=True)])]), className="scroll")


def pager(address: Address, start: int, size: int, total: int, what: str) -> Part:
    """Where one is in a long list, and the ways to the pages before and after: `?from=`."""
    steps = [("← before", start - size), ("after →", start + size)]
    links = [dcc.Link(text, href=address.to(**{"from": at or None}), className="choice") for text, at in steps if 0 <= at < total]
    shown = f"{what} {min(start + 1, total)} to {min(start + size, total)} of {total}"
    return html.Div([html.Span(shown, className="choices-label"), *links], className="choices")


def link_choices(label: str, choices: Sequence[tuple[str, str, bool]]) -> Part:
    """A row of alternatives: (text, address, chosen)."""
    links = [dcc.Link(text, href=href, className="choice chosen" if chosen else "choice") for text, href, chosen in choices]
    return html.Div([html.Span(label, className="choices-label"), *links], className="choices")
