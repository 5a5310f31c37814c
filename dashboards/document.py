"""Reports as one self-contained HTML file: figures that work offline, tables below."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING

from dashboards.address import Address
from dashboards.pages import pages
from dashboards.reader import reader
from schemas.store import Store
from schemas.text import printable

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["document", "style_sheet"]

_MOST_ROWS, _MOST_OF_MANY = 2_000, 100
"""Rows of a table that are written into a page of one report, and of several; the CSV form has all."""


def document(store: Store, tables: Mapping[str, pl.DataFrame]) -> str:
    """One HTML page with a section for each report: its figure where the dashboard has one, then its rows.

    Raises:
        StoreError: the store cannot be read.
    """
    figures = _figures(store, list(tables))
    style = style_sheet()
    most = _MOST_ROWS if len(tables) == 1 else _MOST_OF_MANY
    sections = "\n".join(_section(name, rows, figures.get(name), most) for name, rows in tables.items())
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>cotrace report</title><style>{style}</style>"
        f"{_plotly() if figures else ''}</head><body><main><h1>cotrace report</h1>"
        f"<p class='lead'>{html.escape(store.path.name)}, {made}</p>{sections}</main></body></html>"
    )


def style_sheet() -> str:
    """The style of all pages, with its font in it: a file needs nothing beside it."""
    folder = files("dashboards").joinpath("assets")
    sheets = sorted((found for found in folder.iterdir() if found.name.endswith(".css")), key=lambda found: found.name)
    font = b64encode(folder.joinpath("inter-latin.woff2").read_bytes()).decode()
    style = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    return style.replace("inter-latin.woff2", f"data:font/woff2;base64,{font}")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return f"<script>{get_plotlyjs()}</script>"


def _section(name: str, rows: pl.DataFrame, drawn: go.Figure | None, most: int) -> str:
    picture = drawn.to_html(full_html=False, include_plotlyjs=False, config={"displaylogo": False}) if drawn is not None else ""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in rows.columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows.head(most).iter_rows())
    told = f"The first {most:,} of {len(rows):,} rows, in the report's order; cotrace report {html.escape(name)} --format csv has all."
    cut = f"<p class='hint'>{told}</p>" if len(rows) > most else ""
    empty = "<p class='hint'>No rows.</p>" if rows.is_empty() else ""
    return (
        f"<section class='card'><h2>{html.escape(name)}</h2>{picture}{cut}{empty}"
        f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></section>"
    )


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else html.escape(printable(str(value)))


def _figures(store: Store, names: list[str]) -> dict[str, go.Figure]:
    """The dashboard's figures over the whole store, for the reports that have one."""
    address = Address("/")
    drawn: dict[str, go.Figure] = {}
    with reader(store, address) as read:
        for page in pages():
            name: str = getattr(page, "REPORT", "")
            figure = page.report_figure(read) if name in names else None
            if figure is not None:
                drawn[name] = figure
    return drawn
