"""The app: callbacks draw the page of an address and the cards it left for later, and follow clicks on figures."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import dash
from dash import ALL, MATCH, Dash, Input, Output, State

from dashboards import grid, shell
from dashboards.address import Address
from dashboards.drawing import draw_page, draw_part
from dashboards.markup import compact
from dashboards.pages import pages
from dashboards.parts import Part
from dashboards.reader import Reader, reader
from schemas.errors import CotraceError
from schemas.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["create_app", "draw_page", "serve"]


def create_app(store: Store, rubric_folders: Sequence[Path] = ()) -> Dash:
    """The dashboard over one store; the store is opened afresh for every page, so runs under way show up.

    Args:
        store: what to show.
        rubric_folders: folders with rubrics of the user's own, for the labelling page.
    """
    app = Dash(
        "dashboards",
        title="cotrace",
        update_title="",
        suppress_callback_exceptions=True,
        assets_folder="assets",
        assets_ignore=r"theme\.js",
        index_string=shell.INDEX,
    )
    app.layout = shell.frame()

    def opened(address: Address) -> AbstractContextManager[Reader]:
        return reader(store, address, rubric_folders, is_whole=False)

    @app.callback(
        Output("head", "children"),
        Output("filters", "children"),
        Output("page", "children"),
        Output("title", "data"),
        Input("address", "pathname"),
        Input("address", "search"),
        Input("redraw", "data"),
    )
    def draw(path: str | None, search: str | None, _: object) -> tuple[Part, Part, Part, str]:
        drawn = draw_page(store, Address.parse(path, search), rubric_folders, is_whole=False)
        return compact(drawn.head), compact(drawn.filters), compact(drawn.content), drawn.title

    @app.callback(
        Output({"type": "later", "name": MATCH, "part": MATCH}, "children"),
        Input({"type": "ask", "name": MATCH, "part": MATCH}, "data"),
        State({"type": "later", "name": MATCH, "part": MATCH}, "id"),
    )
    def draw_later(href: str, place: dict[str, str]) -> Part:
        path, _, search = href.partition("?")
        return draw_part(store, Address.parse(path, search), place["name"], place["part"], rubric_folders)

    @app.callback(
        Output("address", "href"),
        Input({"type": "figure", "name": ALL}, "clickData"),
        prevent_initial_call=True,
    )
    def follow(clicks: Sequence[dict[str, Any] | None]) -> Any:
        return next((target for click in clicks if (target := _target(click))), dash.no_update)

    app.clientside_callback(  # type: ignore[no-untyped-call]
        "(title) => { document.title = title ? title + ' – cotrace' : 'cotrace'; return dash_clientside.no_update; }",
        Output("title", "modified_timestamp"),
        Input("title", "data"),
    )
    grid.register(app, opened, {table.name: table for page in pages() for table in getattr(page, "TABLES", ())})
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
