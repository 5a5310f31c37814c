"""The one grid: a page's table in AG Grid, whose blocks the server sorts, filters and writes; also as CSV, Parquet and query."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode

import dash
from dash import MATCH, Dash, Input, Output, State, html

from analytics.query import as_csv, with_literals
from dashboards.address import Address
from dashboards.parts import Part, aria, data
from dashboards.requests import checked
from dashboards.tables import HREF, NUMERIC, GridColumn, RowRange, TableRows, block, every_row, query_of, written
from schemas.errors import CotraceError, UsageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import polars as pl

    from dashboards.reader import Reader

__all__ = ["Grid", "few", "fold", "grid", "register", "table_links"]


class Grid(NamedTuple):
    """A table that pages show; a page lists its own in `TABLES`."""

    name: str
    """In addresses and files: `failures-counts`."""
    make: Callable[[Reader, str], TableRows]
    """Gives its rows under the reader's address; the second argument is the part of the page where it stands, empty where there is one."""
    title: str = "Table"


_MOST_PRINTED: Final = 2_000
"""Rows of a table without a grid."""
_MOST_ROWS: Final = 10
"""Rows that a grid shows before it scrolls; half of the next one shows that there are more."""
_HALF_ROW: Final = 0.5
_AROUND_GRID: Final = 330
"""Pixels of a page above and below a grid that fills the window."""
_BLOCK: Final = 100
_EDGES: Final = ("firstDataRendered", "gridSizeChanged", "bodyScroll", "columnResized")
_LISTENERS: Final = {name: ["cotraceEdge(params)"] for name in _EDGES} | {"cellKeyDown": ["cotraceOpen(params)"]}
"""Event of a grid -> what `assets/grid.js` does then."""
_WIDTHS: Final = {"words": 520, "team": 400, "judge": 220, "text": 170, "name": 240, "family": 180, "condition": 260, "when": 180}
_LEAST: Final = {"when": 156, "team": 170, "judge": 204, "text": 118, "name": 112, "family": 150, "condition": 150, "words": 240}
_LEAST_NUMBER, _LEAST_WITH_ENDS, _LEAST_WITH_SHARES = 76, 146, 172
"""Pixels below which a column of its kind cannot be read: what does not fit beside one another is scrolled to."""
_LEAST_LINK: Final = 150
"""Of a column of names that lead on: it says which row this is."""
_LETTER, _AROUND, _WIDEST_HEADING = 8, 52, 170
"""Of a heading: a letter's width, what stands around it, and the most that its longest word is given."""
_LONG_HEADING: Final = 16
"""Characters from which on a heading stands in two lines."""
_FILES: Final = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
_TITLES: Final = {"csv": "CSV", "parquet": "Parquet"}


def grid(read: Reader, table: Grid, part: str = "", *, fills: bool = False) -> Part:
    """A table of the page, at the given part of it; `fills`: it is as high as the window allows, for a page that shows little else."""
    rows = table.make(read, part)
    if read.is_whole:
        return html_table(read, rows)
    from dash_ag_grid import AgGrid

    total = block(read, rows, RowRange(size=_BLOCK)).total  # the rows that it asks for first
    head = 22 if any(len(column.heading) >= _LONG_HEADING for column in rows.columns.values()) else 0
    return html.Div(
        AgGrid(
            id={"type": "grid", "name": table.name, "part": part, "at": read.address.to()},  # under other filters it is another grid
            rowModelType="infinite",
            columnDefs=[
                _definition(key, column, linked=rows.link is not None and not place)
                for place, (key, column) in enumerate(rows.columns.items())
            ],
            defaultColDef={"resizable": True, "sortable": True, "minWidth": 72, "wrapHeaderText": True, "autoHeaderHeight": True},
            columnSize="responsiveSizeToFit",
            dashGridOptions={
                "theme": {"function": "cotraceTheme(themeQuartz)"},
                "cacheBlockSize": _BLOCK,
                "maxBlocksInCache": 20,
                "suppressFieldDotNotation": True,
                "suppressCellFocus": False,
                "enableCellTextSelection": True,
                "ensureDomOrder": True,
                "blockLoadDebounceMillis": 60,
                "multiSortKey": "ctrl",
                "context": {"most": _MOST_ROWS, "fills": fills},
            },
            eventListeners=_LISTENERS,
            style={"height": _height(total, 62 + head, fills=fills), "width": "100%"},
            className="cotrace-grid",
        ),
        className="grid-box",
        role="region",
        **aria(label=table.title),
    )


def _height(rows: int, head: int, *, fills: bool) -> str:
    """CSS: all rows, or as many as are shown before it scrolls; `assets/grid.js` sets it anew once rows are drawn."""
    if rows <= _MOST_ROWS:
        return f"calc({rows} * var(--row) + {head}px)"
    few = f"{_MOST_ROWS + _HALF_ROW} * var(--row) + {head}px"
    return f"min({rows} * var(--row) + {head}px, max({few}, 100vh - {_AROUND_GRID}px))" if fills else f"calc({few})"


def fold(read: Reader, table: Grid, part: str = "", *, is_open: bool = False) -> Part:
    """A table that is folded away until somebody wants it, with its files beside its name."""
    if read.is_whole:
        return html.Div([html.H3(table.title), grid(read, table, part), _few_of(table.make(read, part))])
    place = {"name": table.name, "part": part}
    body = [grid(read, table, part)] if is_open else None
    return html.Div(
        [
            html.Details(
                [html.Summary(table.title), html.Div(body, id={"type": "folded", **place}, className="folded")],
                id={"type": "fold", **place},
                open=is_open,
            ),
            table_links(read, table, part),
            _few_of(table.make(read, part)),
        ],
        className="fold",
    )


def _few_of(rows: TableRows) -> Part:
    """Of a table that is a report: its command names it."""
    return few(rows.frame, rows.source.removeprefix("cotrace report ").partition(" ")[0])


def few(rows: pl.DataFrame | None, report: str = "") -> Part:
    """What the intervals of a report are worth, where that is not the 95 % they promise; None where it is, or nothing was computed."""
    from analytics.statistics.few_games import few_games

    said = None if rows is None else few_games(rows, report)
    if not said:
        return None
    first, _, _ = said.partition("; ")
    which = f": {first}" if "rest on fewer" in first or "rests on fewer" in first else ""
    return html.Details(
        [html.Summary(f"How exact the 95 % intervals are{which}"), html.P(f"{said[0].upper()}{said[1:]}.")], className="hint few"
    )


def table_links(read: Reader, table: Grid, part: str = "") -> Part:
    """CSV, Parquet, and the query or command that gives the same rows."""
    if read.is_whole:
        return None
    search = urlencode({"table": table.name, "part": part, **read.address.values}, doseq=True)
    files = [html.A(title, href=f"/-/table.{kind}?{search}", **data(download="")) for kind, title in _TITLES.items()]
    return html.Span([*files, _origin(read, table.make(read, part))], className="table-links")


def _origin(read: Reader, rows: TableRows) -> Part:
    if rows.frame is not None:
        return html.Code(rows.source, title="This command gives the same rows") if rows.source else None
    query = with_literals(*query_of(read, rows)) if rows.stays else rows.sql
    return html.A("Query", href=f"/sql?{urlencode({'query': query})}", title="Open this table's query")


def html_table(read: Reader, rows: TableRows) -> Part:
    """The same table without a grid, for files and print."""
    found = block(read, rows, RowRange(size=_MOST_PRINTED))
    kinds = {name: "num" if column.kind in NUMERIC else "words" if column.kind == "words" else "" for name, column in rows.columns.items()}
    body = []
    for texts in written(read, rows, found.rows):
        cells: list[Part] = [html.Td(texts[name], className=kinds[name]) for name in rows.columns]
        if rows.link is not None:
            first = next(iter(rows.columns))
            cells[0] = html.Td(html.A(texts[first], href=texts[HREF]), className=kinds[first])
        body.append(html.Tr(cells))
    head = html.Tr([html.Th(column.heading, className=kinds[name]) for name, column in rows.columns.items()])
    cut = html.P(f"The first {_MOST_PRINTED} of {found.total} rows.", className="hint") if found.total > _MOST_PRINTED else None
    return html.Div([html.Table([html.Thead(head), html.Tbody(body)]), cut], className="scroll", tabIndex=0)


def _definition(name: str, column: GridColumn, *, linked: bool) -> dict[str, Any]:
    is_number = column.kind in NUMERIC
    definition: dict[str, Any] = {
        "field": name,
        "headerName": column.heading,
        "filter": "agNumberColumnFilter" if is_number else "agTextColumnFilter",
        "filterParams": {"buttons": ["reset"], "debounceMs": 300},
        "type": "rightAligned" if is_number else None,
        "width": _WIDTHS.get(column.kind, 190 if column.part or column.low else 90 if is_number else 110),
        "minWidth": max(_least(column), _LEAST_LINK) if linked and not is_number else _least(column),
        "headerTooltip": column.hint or None,
    }
    if linked:
        definition["cellRenderer"] = "CotraceLink"
    elif column.kind == "condition":
        definition["cellRenderer"] = "CotraceCondition"
    elif column.kind in {"words", "text", "team", "judge"}:
        definition["tooltipField"] = name
    return {key: value for key, value in definition.items() if value is not None}


def _least(column: GridColumn) -> int:
    """Pixels that a column needs to be read."""
    with_ends = _LEAST_WITH_SHARES if column.low and column.kind == "share" else _LEAST_WITH_ENDS
    least = with_ends if column.part or column.low else _LEAST.get(column.kind, _LEAST_NUMBER)
    word = max(map(len, column.heading.split()), default=0)
    return max(least, min(word * _LETTER + _AROUND, _WIDEST_HEADING))


def register(app: Dash, opened: Callable[[Address], AbstractContextManager[Reader]], tables: Mapping[str, Grid]) -> None:
    """Make the grids of all pages work.

    Args:
        app: the dashboard.
        opened: gives a reader for an address.
        tables: by name.
    """
    import dash_ag_grid  # noqa: F401 - the first page already names its scripts

    @app.callback(
        Output({"type": "grid", "name": MATCH, "part": MATCH, "at": MATCH}, "getRowsResponse"),
        Input({"type": "grid", "name": MATCH, "part": MATCH, "at": MATCH}, "getRowsRequest"),
        State({"type": "grid", "name": MATCH, "part": MATCH, "at": MATCH}, "id"),
        State("address", "pathname"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    @checked
    def rows_of_grid(request: dict[str, Any] | None, place: dict[str, str], path: str | None, search: str | None) -> Any:
        if not request:
            return dash.no_update
        with opened(Address.parse(path, search)) as read:
            rows = _made(tables, place.get("name", ""), read, place.get("part", ""))
            found = block(read, rows, _request(request))
            return {"rowData": list(written(read, rows, found.rows)), "rowCount": found.total}

    @app.callback(
        Output({"type": "folded", "name": MATCH, "part": MATCH}, "children"),
        Input({"type": "fold", "name": MATCH, "part": MATCH}, "n_clicks"),
        State({"type": "fold", "name": MATCH, "part": MATCH}, "id"),
        State({"type": "folded", "name": MATCH, "part": MATCH}, "children"),
        State("address", "pathname"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    @checked
    def unfold(clicks: int | None, place: dict[str, str], there: Any, path: str | None, search: str | None) -> Any:
        if not clicks or there:
            return dash.no_update
        with opened(Address.parse(path, search)) as read:
            return grid(read, _known(tables, place.get("name", "")), place.get("part", ""))

    @app.server.get("/-/table.<kind>")  # type: ignore[untyped-decorator]
    def file_of_table(kind: str) -> Any:
        from flask import Response, request

        if kind not in _FILES:
            return Response(f"no table as {kind}: there are {', '.join(_FILES)}\n", status=404, mimetype="text/plain")
        address = Address.parse("/", request.query_string.decode())
        try:
            with opened(address) as read:
                found = every_row(read, _made(tables, address.one("table"), read, address.one("part")))
        except CotraceError as error:
            return Response(f"{error}\n", status=400, mimetype="text/plain")
        name = f"{address.one('table')}.{kind}"
        return Response(_file(found, kind), mimetype=_FILES[kind], headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _made(tables: Mapping[str, Grid], name: str, read: Reader, part: str) -> TableRows:
    return _known(tables, name).make(read, part)


def _known(tables: Mapping[str, Grid], name: str) -> Grid:
    if name not in tables:
        raise UsageError(f"there is no table {name!r}")
    return tables[name]


def _request(asked: Mapping[str, Any]) -> RowRange:
    """What AG Grid asks for.

    Raises:
        UsageError: it is not what AG Grid asks for.
    """
    try:
        return _as_request(asked)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise UsageError("the rows that were asked for make no sense") from error


def _as_request(asked: Mapping[str, Any]) -> RowRange:
    start, end = int(asked.get("startRow") or 0), int(asked.get("endRow") or _BLOCK)
    filters = asked.get("filterModel") or {}
    if not isinstance(filters, Mapping):
        raise TypeError
    return RowRange(
        start=start,
        size=max(1, min(end - start, 1000)),
        sort=[(str(entry["colId"]), entry["sort"] == "desc") for entry in asked.get("sortModel") or ()],
        filters=filters,
    )


def _file(found: Any, kind: str) -> bytes | str:
    if kind == "csv":
        return as_csv(found)
    buffer = io.BytesIO()
    found.write_parquet(buffer)
    return buffer.getvalue()
