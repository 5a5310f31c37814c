"""The app: callbacks draw the page of an address and the cards it left for later, and follow clicks on figures."""

from __future__ import annotations

from contextlib import AbstractContextManager
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import dash
from dash import ALL, MATCH, Dash, Input, Output, State
from flask import Flask, Response, abort, request

from dashboards import grid
from dashboards.address import Address
from dashboards.drawing import INDEX, draw_page, draw_part, frame, state_told
from dashboards.page_file import page_file
from dashboards.pages import pages
from dashboards.parts import Part, compact, data, html
from dashboards.reader import Reader, reader
from dashboards.requests import LOCAL, Access, Click, answer_faults, checked, guard
from schemas.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def create_app(store: Store, rubric_folders: Sequence[Path] = (), *, access: Access = LOCAL, base_path: str = "") -> Dash:
    """The dashboard over one store; the store is opened afresh for every page, so runs under way show up.

    Args:
        store: what to show.
        rubric_folders: folders with rubrics of the user's own, for the labelling page.
        access: who may use it.
        base_path: path under which browsers reach it, such as `/cotrace`; the WSGI server takes it off.
    """
    app = Dash(
        "dashboards",
        title="cotrace",
        update_title="",
        suppress_callback_exceptions=True,
        assets_folder="assets",
        assets_ignore=r"theme\.js",
        index_string=INDEX.replace("/assets/", f"{base_path}/assets/"),
        requests_pathname_prefix=f"{base_path}/",
        routes_pathname_prefix="/",
    )
    guard(app.server, access)
    answer_faults(app.server)
    app.layout = compact(frame())

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
    @checked
    def draw(path: str | None, search: str | None, _: object) -> tuple[Part, Part, Part, dict[str, str]]:
        drawn = draw_page(store, Address.parse(path, search), rubric_folders, is_whole=False)
        drawing = token_hex(4)  # tells the browser when it is there
        page = html.Div(drawn.content, **data(drawing=drawing))
        return compact(drawn.head), compact(drawn.filters), compact(page), {"title": drawn.title, "drawing": drawing, "state": drawn.state}

    @app.callback(
        Output({"type": "later", "name": MATCH, "part": MATCH}, "children"),
        Input({"type": "ask", "name": MATCH, "part": MATCH}, "data"),
        State({"type": "later", "name": MATCH, "part": MATCH}, "id"),
    )
    @checked
    def draw_later(href: str, place: dict[str, str]) -> Part:
        path, _, search = href.partition("?")
        return draw_part(store, Address.parse(path, search), place.get("name", ""), place.get("part", ""), rubric_folders)

    @app.callback(
        Output("address", "href"),
        Input({"type": "figure", "name": ALL}, "clickData"),
        prevent_initial_call=True,
    )
    @checked
    def follow(clicks: list[Click | None]) -> Any:
        return next((f".{target}" for click in clicks if (target := _target(click))), dash.no_update)

    app.clientside_callback(  # type: ignore[no-untyped-call]
        "(drawn) => { cotrace.await(drawn); return dash_clientside.no_update; }",
        Output("title", "modified_timestamp"),
        Input("title", "data"),
    )

    _add_routes(app.server, store, rubric_folders)
    grid.register(app, opened, {table.name: table for page in pages() for table in getattr(page, "TABLES", ())})
    for page in pages():
        if hasattr(page, "register"):
            page.register(app, store, rubric_folders)
    return app


def _add_routes(server: Flask, store: Store, rubric_folders: Sequence[Path]) -> None:
    """What browsers ask for beside pages: the state of the store, and pages as files."""

    @server.before_request
    def refuse_deeper_pages() -> None:
        if request.endpoint == "/<path:path>" and "/" in request.path[1:]:
            abort(404)

    @server.get("/-/state")
    def state() -> str:
        return state_told(store)

    @server.get("/-/page.html")
    def file_of_page() -> Any:
        path, _, search = request.args.get("at", "/").partition("?")
        prints = bool(request.args.get("print"))
        text = page_file(store, Address.parse(path, search), rubric_folders, prints=prints)
        if prints:
            return Response(text, mimetype="text/html")
        name = f"cotrace{path.replace('/', '-').rstrip('-')}.html" if _is_ours(path) else "cotrace.html"
        return Response(text, mimetype="text/html", headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _target(click: Click | None) -> str | None:
    """The address that a clicked point leads to: the first of its customdata that is one of our pages."""
    data = click.points[0].customdata if click else None
    entries = data if isinstance(data, list) else [data]
    return next((entry for entry in entries if isinstance(entry, str) and _is_ours(entry)), None)


def _is_ours(address: str) -> bool:
    """Texts of logs are among a point's data: none of them may lead elsewhere."""
    path, _, _ = address.partition("?")
    return any(path == page.PATH for page in pages())
