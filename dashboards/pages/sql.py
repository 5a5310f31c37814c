"""SQL: a query of the visitor's own over the store, with grid and chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final

from analytics.query import frame
from dashboards.address import game_at
from dashboards.figures import SERIES, plain, styled
from dashboards.foreign_sql import foreign_rows, warm_up
from dashboards.grid import Grid, GridColumn, Kind, RowRange, TableRows, block, grid, table_links
from dashboards.parts import Part, card, data, figure, html, link_choices, note, svg
from dashboards.reader import reader
from schemas.common.errors import CotraceError, UsageError
from schemas.common.packages import packaged_yaml
from schemas.common.text import printable
from schemas.common.wording import counted
from schemas.store.read_only_sql import as_query, without_end

if TYPE_CHECKING:
    from pathlib import Path

    import plotly.graph_objects as go
    import polars as pl
    from dash import Dash

    from dashboards.reader import Reader
    from schemas.store.store import Store

QUESTIONS: Final[Mapping[str, str]] = packaged_yaml(__package__, "questions.yaml")
CHARTS: Final[Mapping[str, str]] = {"none": "none", "bars": "bars", "line": "line", "dots": "dots"}
"""Kind -> its name; the first draws nothing."""


def axes_of(rows: pl.DataFrame, x: str, y: str) -> tuple[str, str] | None:
    """The columns to draw: those asked for where they fit, else the first that is no number across and the last number up."""
    numbers = [name for name in rows.columns if rows[name].dtype.is_numeric()]
    if not numbers:
        return None
    up = y if y in numbers else numbers[-1]
    words = [name for name in rows.columns if name not in numbers]
    return x if x in rows.columns else next((name for name in (*words, *numbers) if name != up), up), up


def rows_chart(rows: pl.DataFrame, kind: str, x: str, y: str) -> go.Figure:
    """The rows in their order.

    Args:
        rows: of the query.
        kind: of `CHARTS`, not none.
        x: column across.
        y: column up, of numbers.
    """
    import plotly.graph_objects as go

    is_number = rows[x].dtype.is_numeric()
    across = rows[x].to_list() if is_number else [plain(value) for value in rows[x]]
    drawn = go.Figure()
    if kind == "bars":
        drawn.add_bar(x=across, y=rows[y].to_list(), marker={"color": SERIES[0]})
    else:
        mode = "lines+markers" if kind == "line" else "markers"
        drawn.add_scatter(x=across, y=rows[y].to_list(), mode=mode, marker={"size": 8, "color": SERIES[0], "opacity": 0.8})
    drawn.update_xaxes(title=plain(x), **({} if is_number else {"type": "category"}))
    drawn.update_yaxes(title=plain(y))
    figure = styled(drawn, height=340, legend=False)
    figure.update_layout(bargap=0.45)
    return figure


PATH = "/sql"
TITLE = "SQL"
IN_MENU = True
ORDER = 95
FILTERS: Final[tuple[str, ...]] = ()

_CHARTED: Final = 2_000
"""Rows that a chart shows."""


def title(read: Reader) -> str:
    """The tab: the name of a saved query."""
    return printable(read.address.one("name")) or TITLE


def content(read: Reader) -> Part:
    """The editor, and what the query of the address gives: `?query=...&chart=bars&x=...&y=...&name=...`."""
    asked = read.address.one("query")
    if not read.is_whole:
        warm_up()
    answer = [_answer(read, asked)] if asked.strip() else []
    return html.Div([html.H1(title(read)), _editor(read, asked), *answer, _examples(read)])


def _editor(read: Reader, asked: str) -> Part:
    text: Part = svg(
        "textarea",
        asked,
        name="query",
        id="query",
        rows=str(max(5, min(asked.count("\n") + 2, 16))),
        spellcheck="false",
        autocomplete="off",
        data_complete="./-/words.json",
        data_focus="e",
        placeholder="SELECT model, count(*) FROM games GROUP BY ALL",
        aria_label="SQL query",
    )
    name: Part = svg("input", name="name", value=read.address.one("name"), placeholder="name", size="18", aria_label="name of the query")
    return html.Form(
        [
            html.Label([html.Span("Query", className="unseen"), text]),
            html.Div(
                [
                    html.Button("Run", type="submit", className="choice chosen"),
                    name,
                    html.Button(
                        "Save", type="submit", className="choice", title="Keep it in this browser, under its name", **data(save="")
                    ),
                    html.Span(
                        "Ctrl-Enter runs it; Tab completes tables and columns. It can read the store, and nothing else.",
                        className="hint",
                    ),
                ],
                className="editor-line",
            ),
            html.Ul([], className="saved", **data(saved="")),
        ],
        action=PATH,
        className="editor card",
    )


def _answer(read: Reader, asked: str) -> Part:
    try:
        sql = as_query(asked, read.connection)
        if sql.split(None, 1)[0].lower() == "explain":
            return card("Plan", html.Pre("\n".join(str(row[-1]) for row in foreign_rows(read.store, sql).rows())))
        found = block(read, _rows(read, ""), RowRange(size=_CHARTED))
    except CotraceError as error:
        if read.raises:
            raise
        return note(str(error))
    address = read.address
    kind = address.one("chart") if address.one("chart") in CHARTS else "none"
    shown = link_choices("Chart", [(text, address.to(chart=key), key == kind) for key, text in CHARTS.items()])
    axes, drawn = _chart(read, found.rows, kind)
    return card(
        counted(found.total, "row"),
        html.Div([shown, *axes], className="choices-row"),
        drawn,
        grid(read, RESULT, fills=True),
        menu=table_links(read, RESULT),
    )


def _chart(read: Reader, rows: pl.DataFrame, kind: str) -> tuple[list[Part], Part]:
    """The choices of its axes, and the chart."""
    if kind == "none" or rows.is_empty():
        return [], None
    found = axes_of(rows, read.address.one("x"), read.address.one("y"))
    if found is None:
        return [], note("There is no number among the columns that a chart could show.")
    x, y = found
    numbers = [name for name in rows.columns if rows[name].dtype.is_numeric()]
    chosen = [
        link_choices(label, [(name, read.address.to(**{key: name}), name == now) for name in names])
        for label, key, now, names in (
            ("Across", "x", x, rows.columns),
            ("Up", "y", y, numbers),
        )
    ]
    return chosen, figure("sql-chart", rows_chart(rows, kind, x, y), label=f"{y} by {x}")


def _rows(read: Reader, _: str) -> TableRows:
    """The rows of the address's query."""
    sql = as_query(read.address.one("query"), read.connection)
    if sql.split(None, 1)[0].lower() == "explain":
        raise UsageError("a plan is no table")
    sql = without_end(sql)
    described = foreign_rows(read.store, f"SELECT * FROM (\n{sql}\n) LIMIT 0")
    columns = {name: GridColumn(heading=name, kind=_kind(dtype)) for name, dtype in described.schema.items()}
    return TableRows(sql=f"FROM (\n{sql}\n)", columns=columns, filter_on=(), link=_game if "episode_id" in columns else None, stays=False)


def _game(row: Mapping[str, Any]) -> str:
    return game_at(row["episode_id"], row.get("turn") or 1)


def _kind(dtype: pl.DataType) -> Kind:
    if dtype.is_integer():
        return "count"
    if dtype.is_numeric():
        return "number"
    return "truth" if str(dtype) == "Boolean" else "text"


def _examples(read: Reader) -> Part:
    lines = [
        html.Li(html.A(text, href=read.address.filters().to(PATH, query=dedent(query).strip(), name=text)))
        for text, query in QUESTIONS.items()
    ]
    return card("Questions to begin with", html.Ul(lines, className="examples"))


def register(app: Dash, store: Store, rubric_folders: Sequence[Path]) -> None:
    """What completion offers: every table and view with its columns."""
    from flask import jsonify

    from dashboards.address import Address

    @app.server.get("/-/words.json")  # type: ignore[untyped-decorator]
    def words() -> Any:
        with reader(store, Address(PATH), rubric_folders) as read:
            rows = frame(read.connection, _WORDS)
        return jsonify(dict(rows.rows()))


_WORDS: Final = """
SELECT table_name, list(column_name) FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal GROUP BY ALL ORDER BY ALL
"""

RESULT: Final = Grid("sql", _rows, "Result")
TABLES = (RESULT,)
