"""What stands around every page: the document, the header with menu, search and theme, and the places that callbacks fill."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Final
from urllib.parse import urlencode

from dash import dcc, html

from dashboards.address import Address
from dashboards.markup import svg
from dashboards.parts import Part, aria, data

__all__ = ["INDEX", "frame", "navigation"]

INDEX: Final = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{%title%}</title>
{%favicon%}
{%css%}
<script src="/assets/theme.js"></script>
</head>
<body>
<a class="skip" href="#page">Skip to the content</a>
{%app_entry%}
<footer>{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>
"""
"""The document; the theme is set before anything is drawn, so that a dark page does not begin with a white flash."""


def frame() -> Part:
    """The layout: what callbacks fill."""
    return html.Div(
        [
            dcc.Location(id="address", refresh="callback-nav"),
            dcc.Store(id="title"),
            dcc.Store(id="redraw"),
            html.Header(id="head"),
            html.Section(id="filters", **aria(label="Filters")),
            html.Main(id="page", tabIndex=-1),
            html.Div(id="news", role="status"),
        ],
        id="frame",
    )


def navigation(address: Address, pages: Sequence[ModuleType], current: ModuleType | None, benchmarks: Iterable[str] = ()) -> Part:
    """The menu: pages about everything first, then a list of the families that are in the store."""
    played = set(benchmarks)
    menu = [page for page in pages if page.IN_MENU and getattr(page, "BENCHMARK", None) is None]
    families = [page for page in pages if page.IN_MENU and getattr(page, "BENCHMARK", None) in played]
    links = [_link(page, address, current) for page in menu]
    if families:
        inside = current in families
        box = html.Details(
            [
                html.Summary("Families", className="nav-link current" if inside else "nav-link"),
                html.Div([_link(page, address, current) for page in families]),
            ],
            className="nav-more",
        )
        links.append(box)
    return [
        html.A("cotrace", href="/", className="brand"),
        html.Button(
            current.TITLE if current else "Pages",
            className="nav-open",
            type="button",
            **data(menu=""),
            **aria(label=f"{current.TITLE if current else 'Pages'}: all pages", expanded="false", controls="pages"),
        ),
        html.Nav(links, id="pages", **aria(label="Pages")),
        _search(address),
        _views(address),
        html.Button("◐", id="theme", className="quiet", title="Light or dark", **aria(label="change between light and dark")),
    ]


def _link(page: ModuleType, address: Address, current: ModuleType | None) -> Part:
    here = aria(current="page") if page is current else {}
    about = getattr(page, "BENCHMARK", None)
    family = {"benchmark": about} if about and address.all("benchmark") else {}  # under another one it would be empty
    return html.A(
        page.TITLE, href=address.filters().to(page.PATH, **family), className="nav-link current" if page is current else "nav-link", **here
    )


def _views(address: Address) -> Part:
    """What can be done with this view: kept under a name (in this browser), opened again, saved as a file, printed."""
    name: Part = svg("input", name="view", placeholder="name of this view", autocomplete="off", aria_label="name of this view")
    return html.Details(
        [
            html.Summary("Views", className="nav-link"),
            html.Div(
                [
                    html.Ul(**data(views=""), className="plain", hidden=True),
                    html.Form([name, html.Button("Keep", className="choice", type="submit")], className="keep-view", **data(keep="")),
                    html.A("save this page as a file", href=f"/-/page.html?{urlencode({'at': address.to()})}", className="choice"),
                    html.A(
                        "print, with all rows",
                        href=f"/-/page.html?{urlencode({'at': address.to(), 'print': 1})}",
                        target="_blank",
                        className="choice",
                    ),
                ]
            ),
        ],
        className="menu views",
    )


def _search(address: Address) -> Part:
    """A plain form, so that it works by keyboard alone; the script of the pages keeps it from loading the app again."""
    asked = address.one("q")
    field: Part = svg(
        "input",
        id="search-words",
        type="search",
        name="q",
        value=asked,
        placeholder="Search",
        title="messages, thoughts, reasons, games",
        autocomplete="off",
    )
    return html.Form(html.Label([html.Span("Search", className="unseen"), field]), action="/search", id="search-form", role="search")
