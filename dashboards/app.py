"""The app: one callback draws the page of an address, one writes filters into it, one follows clicks on figures."""

from __future__ import annotations

import logging
from types import ModuleType
from typing import TYPE_CHECKING, Any

import dash
from dash import ALL, Dash, Input, Output, State, dcc, html

from analytics.views import ensure_installed
from dashboards.address import FILTERS, Address
from dashboards.pages import pages
from dashboards.parts import Part, note
from dashboards.reader import Reader, reader
from schemas.errors import CotraceError
from schemas.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import polars as pl

__all__ = ["create_app", "serve"]

_LOG = logging.getLogger(__name__)
_FILTER_LABELS = {"benchmark": "Benchmark", "condition": "Condition", "model": "Model", "level": "Tier"}


def create_app(store: Store, rubric_folders: Sequence[Path] = ()) -> Dash:
    """The dashboard over one store; the store is opened afresh for every page, so runs under way show up.

    Args:
        store: what to show.
        rubric_folders: folders with rubrics of the user's own, for the labelling page.
    """
    app = Dash("dashboards", title="cotrace", update_title="", suppress_callback_exceptions=True, assets_folder="assets")
    app.layout = html.Div(
        [
            dcc.Location(id="address", refresh="callback-nav"),
            html.Header(id="head"),
            html.Div(id="filters"),
            dcc.Loading(html.Main(id="page"), delay_show=400, color="#3b6fb6"),
        ]
    )

    @app.callback(
        Output("head", "children"),
        Output("filters", "children"),
        Output("page", "children"),
        Input("address", "pathname"),
        Input("address", "search"),
    )
    def draw(path: str | None, search: str | None) -> tuple[Part, Part, Part]:
        return draw_page(store, Address.parse(path, search), rubric_folders)

    @app.callback(
        Output("address", "href"),
        Input({"type": "filter", "name": ALL}, "value"),
        State({"type": "filter", "name": ALL}, "id"),
        State("address", "pathname"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    def choose(values: Sequence[Sequence[str] | None], ids: Sequence[dict[str, str]], path: str, search: str) -> Any:
        address = Address.parse(path, search)
        changes = {entry["name"]: tuple(value or ()) for entry, value in zip(ids, values, strict=True)}
        if all(set(address.all(name)) == set(chosen) for name, chosen in changes.items()):
            return dash.no_update
        return address.to(**changes)

    @app.callback(
        Output("address", "href", allow_duplicate=True),
        Input({"type": "figure", "name": ALL}, "clickData"),
        prevent_initial_call=True,
    )
    def follow(clicks: Sequence[dict[str, Any] | None]) -> Any:
        return next((target for click in clicks if (target := _target(click))), dash.no_update)

    for page in pages():
        if hasattr(page, "register"):
            page.register(app, store, rubric_folders)
    return app


def _target(click: dict[str, Any] | None) -> str | None:
    """The address that a clicked point leads to: the first of its customdata that is one of ours."""
    if not click:
        return None
    data = click["points"][0].get("customdata") or ()
    entries = data if isinstance(data, list) else [data]
    return next((entry for entry in entries if isinstance(entry, str) and entry.startswith("/")), None)


def draw_page(store: Store, address: Address, rubric_folders: Sequence[Path] = ()) -> tuple[Part, Part, Part]:
    """Navigation, filter bar and content of an address; whatever goes wrong becomes a page that says so."""
    page = next((found for found in pages() if address.path == found.PATH), None)
    if page is None:
        return _navigation(address, None), None, note(f"There is no page {address.path}.", dcc.Link("Go to the overview", href="/"))
    try:
        ensure_installed(store)
        with reader(store, address, rubric_folders) as read:
            found = read.rows("SELECT DISTINCT benchmark, condition, model, level FROM games")
            if found.is_empty():
                return _navigation(address, page), None, _empty(store)
            return _navigation(address, page, found["benchmark"].unique()), _filter_bar(read, found), page.content(read)
    except CotraceError as error:
        return _navigation(address, page), None, note(f"This page could not be drawn: {error}")
    except Exception as error:  # noqa: BLE001 - one of the named boundaries: whatever fails becomes a page that says so
        _LOG.exception("page %s failed", address.path)
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        return (
            _navigation(address, page),
            None,
            note(f"This page could not be drawn ({reason}). The terminal that serves the dashboard shows where."),
        )


def _empty(store: Store) -> Part:
    return note(
        f"The store {store.path} has no games yet. Read some logs, then reload this page:",
        html.Pre(f"cotrace ingest path/to/logs --store {store.path}"),
        html.P("No logs at hand? Let cotrace play some:"),
        html.Pre(f"cotrace play craft --out logs/ && cotrace ingest logs/ --store {store.path}"),
    )


def _navigation(address: Address, current: ModuleType | None, benchmarks: Iterable[str] = ()) -> Part:
    known = {None, *benchmarks}
    shown = [page for page in pages() if page.IN_MENU and getattr(page, "BENCHMARK", None) in known]
    links = [
        dcc.Link(page.TITLE, href=address.filters().to(page.PATH), className="nav-link current" if page is current else "nav-link")
        for page in shown
    ]
    return [dcc.Link("cotrace", href="/", className="brand"), html.Nav(links)]


def _filter_bar(read: Reader, found: pl.DataFrame) -> Part:
    return [
        html.Label(
            [
                html.Span(_FILTER_LABELS[name]),
                dcc.Dropdown(
                    id={"type": "filter", "name": name},
                    options=[{"label": value, "value": value} for value in sorted({*found[name].drop_nulls(), *read.address.all(name)})],
                    value=list(read.address.all(name)),
                    multi=True,
                    placeholder="all",
                ),
            ],
            className="filter",
        )
        for name in FILTERS
    ]


def serve(store: Store, *, host: str, port: int, rubric_folders: Sequence[Path] = ()) -> None:
    """Serve the dashboard until interrupted.

    Raises:
        CotraceError: the address is taken or not ours.
    """
    from werkzeug.serving import make_server

    app = create_app(store, rubric_folders)
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    try:
        server = make_server(host, port, app.server, threaded=True)
    except (OSError, SystemExit) as error:
        raise CotraceError(f"cannot serve on {host}:{port} ({error}): is the port taken? name another with --port") from error
    with server:
        server.serve_forever()
