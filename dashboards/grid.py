"""Tables of pages: their rows, a page at a time, and how they are drawn."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from urllib.parse import urlencode

import dash
from dash import MATCH, Dash, Input, Output, State

from analytics.query import as_csv, frame, literal, with_literals
from dashboards.address import FILTERS, Address
from dashboards.foreign_sql import MOST_BYTES_OF_A_FILE, MOST_BYTES_OF_A_PAGE, foreign_rows
from dashboards.parts import Part, aria, compact, data, html
from dashboards.reader import kept, kept_already
from dashboards.requests import checked
from schemas.common import wording
from schemas.common.errors import CotraceError, UsageError
from schemas.common.packages import packaged_yaml
from schemas.common.text import in_name, printable, without_control
from schemas.families import title_of
from schemas.store.store import sealed_memory

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import polars as pl

    from dashboards.reader import Reader

Kind = Literal[
    "text",
    "words",
    "team",
    "judge",
    "name",
    "family",
    "condition",
    "truth",
    "share",
    "score",
    "count",
    "number",
    "cost",
    "money",
    "seconds",
    "p",
    "when",
]

HREF: Final = "→ href"
CODE: Final = "→ code"
"""Beside the columns of a row: no query calls its own so. `assets/grid.js` reads them."""
NUMERIC: Final = frozenset({"share", "score", "count", "number", "cost", "money", "seconds", "p"})

_WRITERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "share": wording.share,
    "score": wording.score,
    "count": wording.count,
    "number": wording.number,
    "cost": lambda value: wording.without_zero(wording.number(value)),
    "money": wording.money,
    "seconds": wording.seconds,
    "p": wording.p_value,
    "truth": wording.truth,
    "name": lambda value: printable(wording.in_words(value)),
    "family": title_of,
}


@dataclass(frozen=True, kw_only=True)
class GridColumn:
    """How a column is headed and written."""

    heading: str
    kind: Kind = "text"
    """`name` is a category or metric, written without its code's marks; `words` are sentences, `team` is long, `judge` its provider and
    model, `cost` what turns lost."""
    low: str = ""
    """Column with the lower end of its interval, which is then written beside it."""
    high: str = ""
    part: str = ""
    """Column with the count that a share is made of, written beside it with `whole`."""
    whole: str = ""
    hint: str = ""
    """What it is, where the heading does not say."""


_COLUMNS: Final[Mapping[str, Any]] = packaged_yaml(__package__, "columns.yaml")


def columns_of(page: str, table: str) -> dict[str, GridColumn]:
    """The columns of a page's table, as `columns.yaml` has them."""
    return {name: GridColumn(**column) for name, column in _COLUMNS[page][table].items()}


@dataclass(frozen=True, kw_only=True)
class TableRows:
    """The rows of a table: a query under the filters of the address, or a frame that a report has computed."""

    columns: Mapping[str, GridColumn]
    """Shown ones, in order."""
    sql: str = ""
    """`{filters}` stands for the condition that the address sets; ordered as the table is at first. Rows may be cut where
    `CUT` is, before others are joined to them."""
    counted: str = ""
    """A query with as many rows that reads less, for how many there are; empty: `sql`."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    filter_on: Sequence[str] = FILTERS
    frame: pl.DataFrame | None = None
    source: str = ""
    """The command that gives the same rows, where they are no query."""
    link: Callable[[Mapping[str, Any]], str] | None = None
    """The address a row leads to, from the row."""
    stays: bool = True
    """Whether the query gives the same until the store changes; one that a user writes need not: `random()`, `now()`."""


CUT: Final = "/* cut */"


@dataclass(frozen=True, kw_only=True)
class RowRange:
    """Which rows a grid asks for."""

    start: int = 0
    size: int = 100
    sort: Sequence[tuple[str, bool]] = ()
    """Column and whether it falls."""
    filters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Column -> condition, as AG Grid writes it."""


@dataclass(frozen=True)
class RowBlock:
    """Some rows of a table, and how many there are in all."""

    rows: pl.DataFrame
    total: int


def block(read: Reader, rows: TableRows, request: RowRange) -> RowBlock:
    """The rows that a grid asks for.

    Raises:
        UsageError: the request names a column that the table has not, or a condition that there is not.
    """
    sql, values = _chosen(read, rows, request)
    drawn = kept_already(read.store.path, (sql, repr(values))) if rows.stays and rows.frame is None else None
    if drawn is not None:  # the figure above the table is of the same rows
        return RowBlock(drawn.slice(request.start, request.size), len(drawn))
    cut = f"LIMIT {request.size} OFFSET {request.start}"
    is_cut_within = CUT in sql and not (request.filters or request.sort)
    found = _cached(read, rows, sql.replace(CUT, cut) if is_cut_within else f"SELECT * FROM ({sql}) {cut}", values)
    total = request.start + len(found)
    if len(found) == request.size or (request.start and not len(found)):  # a count reads less than all columns of all rows
        if rows.counted and not request.filters:
            sql, values = read.bound(rows.counted, rows.parameters, filter_on=rows.filter_on)
        total = int(_cached(read, rows, f"SELECT count(*) FROM ({sql})", values).item())
    return RowBlock(found, total)


def every_row(read: Reader, rows: TableRows) -> pl.DataFrame:
    """All rows with all columns, as the query gives them: what a file of the table holds."""
    return _run(read, rows, *_chosen(read, rows, RowRange()), MOST_BYTES_OF_A_FILE)


def written(read: Reader, rows: TableRows, found: pl.DataFrame) -> Iterator[dict[str, str]]:
    """The rows as texts for the shown columns; beside them where a row leads (`HREF`), and the code of its condition (`CODE`)."""
    for row in found.iter_rows(named=True):
        texts = {name: without_control(_cell(read, column, name, row)) for name, column in rows.columns.items()}
        if rows.link is not None:
            texts[HREF] = rows.link(row)
        if "condition" in row:
            texts[CODE] = printable(str(row["condition"]))
        yield texts


def _cell(read: Reader, column: GridColumn, name: str, row: Mapping[str, Any]) -> str:
    value = row[name]
    if column.part:
        return wording.share_of(row[column.part], row[column.whole])
    if column.kind == "condition":
        return read.condition_in_words(value)
    if value is None:
        return wording.NOTHING
    writer = _WRITERS.get(column.kind)
    text = printable(str(value)) if writer is None else writer(value)
    write_ends = wording.share_interval if column.kind == "share" else wording.interval
    ends = write_ends(row[column.low], row[column.high]) if column.low else ""
    return f"{text} {ends}".rstrip()


def _cached(read: Reader, rows: TableRows, sql: str, values: dict[str, object]) -> pl.DataFrame:
    """As `_run`, until the store changes: a grid is drawn as high as its rows need, then asks for the very rows that told how many."""
    if rows.frame is not None or not rows.stays:
        return _run(read, rows, sql, values)
    return kept(read.store.path, (sql, repr(values)), lambda: _run(read, rows, sql, values))


def _run(read: Reader, rows: TableRows, sql: str, values: dict[str, object], most_bytes: int = MOST_BYTES_OF_A_PAGE) -> pl.DataFrame:
    if rows.frame is None:
        if not rows.stays:
            return foreign_rows(read.store, sql, values or None, most_bytes=most_bytes)
        return frame(read.connection, sql, values or None)
    with sealed_memory(computed_rows=rows.frame.to_arrow()) as connection:
        return frame(connection, sql, values)


def _chosen(read: Reader, rows: TableRows, request: RowRange) -> tuple[str, dict[str, object]]:
    """The query under the grid's own conditions and order."""
    sql, values = "SELECT * FROM computed_rows", dict[str, object]()
    if rows.frame is None:
        sql, values = query_of(read, rows)
    conditions: list[str] = []
    for name, asked in request.filters.items():
        _check(rows, name)
        try:
            conditions.append(_condition(in_name(name), asked, rows.columns[name].kind))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise UsageError(f"the condition on {name} makes no sense") from error
    if conditions:
        sql = f"SELECT * FROM ({sql}) WHERE {' AND '.join(conditions)}"
    if request.sort:
        for name, _ in request.sort:
            _check(rows, name)
        order = ", ".join(f"{in_name(name)} {'DESC' if falls else 'ASC'} NULLS LAST" for name, falls in request.sort)
        sql = f"SELECT * FROM ({sql}) ORDER BY {order}"
    return sql, values


def query_of(read: Reader, rows: TableRows) -> tuple[str, dict[str, object]]:
    """The rows' query under the filters of the address, and the values of its parameters; a query of the user is no template."""
    return read.bound(rows.sql, rows.parameters, filter_on=rows.filter_on) if rows.stays else (rows.sql, {})


def _check(rows: TableRows, name: str) -> None:
    if name not in rows.columns:
        raise UsageError(f"the table has no column {name!r}: it has {', '.join(rows.columns)}")


_COMPARISONS: Final = {
    "equals": "{c} = {v}",
    "notEqual": "{c} <> {v}",
    "lessThan": "{c} < {v}",
    "lessThanOrEqual": "{c} <= {v}",
    "greaterThan": "{c} > {v}",
    "greaterThanOrEqual": "{c} >= {v}",
    "inRange": "{c} BETWEEN {v} AND {to}",
    "blank": "{c} IS NULL",
    "notBlank": "{c} IS NOT NULL",
}
_TEXTS: Final = {
    "contains": "contains({c}, {v})",
    "notContains": "NOT contains({c}, {v})",
    "equals": "{c} = {v}",
    "notEqual": "{c} <> {v}",
    "startsWith": "starts_with({c}, {v})",
    "endsWith": "ends_with({c}, {v})",
    "blank": "coalesce({c}, '') = ''",
    "notBlank": "coalesce({c}, '') <> ''",
}


def _condition(column: str, asked: Mapping[str, Any], kind: Kind) -> str:
    """SQL of one column's condition; texts compare without case, and with spaces where the page shows them.

    Values stand in it as they are read by DuckDB: a PIVOT takes no parameters.
    """
    if "operator" in asked:
        parts = [_condition(column, part, kind) for part in asked["conditions"]]
        return f"({(' AND ' if asked['operator'] == 'AND' else ' OR ').join(parts)})"
    known = _COMPARISONS if kind in NUMERIC else _TEXTS
    if asked.get("type") not in known:
        raise UsageError(f"no condition {asked.get('type')!r}: there are {', '.join(known)}")
    template = known[str(asked["type"])]
    if kind in NUMERIC:
        scale = 100 if kind == "share" else 1  # a share is shown, and asked for, in percent
        ends = {end: literal(float(asked[key]) / scale) for end, key in (("v", "filter"), ("to", "filterTo")) if f"{{{end}}}" in template}
        return template.format(c=column, **ends)
    value = literal(str(asked["filter"]).casefold()) if "{v}" in template else ""
    return template.format(c=f"replace(lower({column}::VARCHAR), '_', ' ')", v=value)


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
_LEAST: Final = {"when": 156, "team": 170, "judge": 204, "text": 118, "name": 112, "family": 150, "condition": 240, "words": 240}
_LEAST_NUMBER, _LEAST_SECONDS, _LEAST_WITH_ENDS, _LEAST_WITH_SHARES = 76, 100, 146, 172
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
    elif column.kind in {"condition", "words", "team"}:
        definition["cellRenderer"] = "CotraceLines"
    elif column.kind in {"text", "judge"}:
        definition["tooltipField"] = name
    return {key: value for key, value in definition.items() if value is not None}


def _least(column: GridColumn) -> int:
    """Pixels that a column needs to be read."""
    with_ends = _LEAST_WITH_SHARES if column.low and column.kind == "share" else _LEAST_WITH_ENDS
    least = (
        with_ends if column.part or column.low else _LEAST.get(column.kind, _LEAST_SECONDS if column.kind == "seconds" else _LEAST_NUMBER)
    )
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
            return compact(grid(read, _known(tables, place.get("name", "")), place.get("part", "")))

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
