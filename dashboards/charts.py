"""Charts as data: a page of a family is a specification of numbers, charts and tables over views, `page.yaml`, and this module draws it.

A chart's query has columns of fixed names:

- `dots`: `line`, `series`, `value`, `low`, `high`, `n`, and, where there are values that matter, `line_at`;
- `bars`: `line`, `series`, `value`, `n`; stacked where a line has several series;
- `steps`: `series`, `dash`, `x`, `value`, `hover`;
- `heat`: `x`, `y`, `value`, `text`, `hover`, and `panel` where there are several;
- `table`: none, the chart is its table.

Further columns are what a click takes along (`links`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import TypeAdapter

from dashboards.address import FILTERS, GAME
from dashboards.figures import FULLER, NO_LOOKS, QUIET, Axis, Dot, Looks, color_of, dot_plot, look, numbered, plain, styled
from dashboards.grid import Grid, GridColumn, TableRows, fold
from dashboards.parts import Part, card, figure, html, link_choices, note, stat
from dashboards.reader import Reader, looks_of_teams
from schemas.common import wording
from schemas.common.packages import packaged_yaml

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

_FEW: Final = 4
"""Series whose dots and intervals fit next to one another on a line; more are rows of a grid."""
_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_WRITTEN: Final[Mapping[str, Callable[[Any], str]]] = {
    "share": wording.share,
    "score": wording.score,
    "number": wording.number,
    "count": wording.count,
}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One value out of several, chosen in the address; titles and hints name it as `{key}`."""

    key: str
    label: str
    options: Mapping[str, str] | str
    """Value -> its words, the first by default: queries have the value as `{key}`. Or a query of the values, the first by default: queries
    have it as `$key`, for it comes out of logs."""
    default: str = ""

    def chosen(self, read: Reader) -> tuple[str, Mapping[str, str]]:
        """The value in the address or the default, and all options."""
        options = self.options
        if isinstance(options, str):
            options = {str(value): str(value) for (value,) in read.rows(options).rows()}
        asked = read.address.one(self.key)
        return (asked if asked in options else self.default or next(iter(options), "")), options

    def links(self, read: Reader) -> Part:
        """The row of alternatives; nothing where there is but one."""
        now, options = self.chosen(read)
        links = [(words, read.address.to(**{self.key: value}), value == now) for value, words in options.items()]
        return link_choices(self.label, links) if len(links) > 1 else None


@dataclass(frozen=True, kw_only=True)
class Links:
    """Where a point or a row leads: a page of the same family, narrowed by columns of the row."""

    keys: Mapping[str, str] = field(default_factory=lambda: {"model": "model"})
    """Key of the address -> column; a column that the query does not have narrows nothing."""
    to: str = GAME


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number at the head of a page: a column of the one row of its query."""

    label: str
    column: str
    kind: Literal["share", "score", "number", "count"]
    detail: str
    """`{column}` stands for a count, or for words."""
    of: str = ""
    """Column that counts what it is about: where there is none, the number is left out."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """The rows of a query in a grid."""

    title: str
    columns: Mapping[str, GridColumn]
    name: str = ""
    """The chart's by default."""
    sql: str = ""
    """The chart's by default."""
    links: Links | None = None


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A card with a figure, choices and a table; left out where its query has no rows."""

    name: str
    title: str
    kind: Literal["dots", "bars", "steps", "heat", "table"]
    sql: str
    axis: Axis = field(default_factory=lambda: Axis(title=""))
    hint: str = ""
    choices: tuple[Choice, ...] = ()
    table: Table | None = None
    links: Links = field(default_factory=Links)
    filter_on: Sequence[str] = FILTERS
    n_of: str = "game"
    x: str = ""
    """Title of the other axis."""
    y: str = ""
    empty: str = ""
    """What is shown in its place where the query has no rows; nothing by default."""
    is_wide: bool = True


@dataclass(frozen=True, kw_only=True)
class FamilyPage:
    """The page of a family."""

    title: str
    benchmark: str
    numbers_sql: str
    """One row; its column `games` counts what there is under the filters."""
    numbers: tuple[Number, ...]
    charts: tuple[Chart, ...]
    choices: tuple[Choice, ...] = ()
    """Of all charts."""
    lead: str = ""

    def content(self, read: Reader) -> Part:
        """The page under the filters and choices of the address."""
        (row,) = read.rows(self.numbers_sql).rows(named=True)
        if not row["games"]:
            commands = f"cotrace play {self.benchmark} --out logs/\ncotrace ingest logs/"
            return note(f"No {self.title} game under these filters.", html.Pre(commands))
        numbers = [
            stat(
                one.label,
                _WRITTEN[one.kind](row[one.column]),
                re.sub(r"{(\w+)}", lambda name: _in_detail(row[name[1]]), one.detail),
            )
            for one in self.numbers
            if not one.of or row[one.of]
        ]
        return html.Div(
            [
                html.H1(self.title),
                html.P(self.lead, className="lead") if self.lead else None,
                html.Div(numbers, className="stats"),
                *(choice.links(read) for choice in self.choices),
                html.Div([self._card(read, chart) for chart in self.charts], className="columns"),
            ]
        )

    @cached_property
    def tables(self) -> tuple[Grid, ...]:
        """For the page's `TABLES`."""
        return tuple(self._grids.values())

    @cached_property
    def figures(self) -> dict[str, Callable[[Reader], go.Figure | None]]:
        """Name of a chart -> what draws it, for the page's `FIGURES`."""
        return {chart.name: partial(self.figure_of, chart.name) for chart in self.charts if chart.kind != "table"}

    def figure_of(self, name: str, read: Reader) -> go.Figure | None:
        """The figure of a chart; None without rows."""
        chart = next(chart for chart in self.charts if chart.name == name)
        rows = self.rows(read, chart)
        return None if rows.is_empty() else self.draw(read, chart, rows)

    def rows(self, read: Reader, chart: Chart) -> pl.DataFrame:
        """What a chart draws."""
        sql, values = self._asked(read, chart.sql, chart.choices)
        return read.rows(sql, values, filter_on=chart.filter_on)

    def draw(self, read: Reader, chart: Chart, rows: pl.DataFrame) -> go.Figure:
        """The figure of rows."""
        title = self._filled(read, chart, chart.axis.title)
        chart = replace(chart, axis=replace(chart.axis, title=title))
        links = [self._link(read, chart.links, row) for row in rows.iter_rows(named=True)]
        if chart.kind == "dots":
            few = rows["series"].n_unique() <= _FEW
            return _dots(chart, rows, links, self._looks(read, rows)) if few else _grid(chart, rows, links)
        if chart.kind == "bars":
            taxonomies = rows["taxonomy"].unique() if "taxonomy" in rows.columns else ()
            return _bars(chart, rows, links, {name: words for taxonomy in taxonomies for name, words in read.failures(taxonomy).items()})
        return _steps(chart, rows, self._looks(read, rows)) if chart.kind == "steps" else _heat(chart, rows, links)

    def _looks(self, read: Reader, rows: pl.DataFrame) -> Looks:
        """Of series that are teams."""
        looks = looks_of_teams(read, self.benchmark)
        return looks if any(name in looks for name in rows["series"]) else NO_LOOKS

    def _card(self, read: Reader, chart: Chart) -> Part:
        rows = self.rows(read, chart)
        if rows.is_empty():
            return card(chart.title, note(chart.empty), wide=True) if chart.empty else None
        table = fold(read, self._grids[chart.name], is_open=chart.kind == "table") if chart.table else None
        drawn = None
        if chart.kind != "table":
            found = self.draw(read, chart, rows)
            drawn = figure(chart.name, found, label=self._label(read, chart))
            if chart.is_wide and found.data[0].type == "heatmap":  # whose texts touch where it is narrow
                drawn = html.Div(drawn, className="wide-figure")
        links = [choice.links(read) for choice in chart.choices]
        return card(chart.title, *links, drawn, table, hint=self._filled(read, chart, chart.hint), wide=chart.is_wide)

    def _label(self, read: Reader, chart: Chart) -> str:
        return f"{self._filled(read, chart, chart.axis.title)} {f'by {chart.x}' if chart.x else ''}".strip() or chart.title

    def _filled(self, read: Reader, chart: Chart, text: str) -> str:
        for choice in (*self.choices, *chart.choices):
            now, options = choice.chosen(read)
            text = text.replace(f"{{{choice.key}}}", options.get(now, now))
        return text

    def _asked(self, read: Reader, sql: str, choices: Sequence[Choice]) -> tuple[str, dict[str, object]]:
        values: dict[str, object] = {}
        for choice in (*self.choices, *choices):
            now, _ = choice.chosen(read)
            if isinstance(choice.options, str):
                values |= {choice.key: now} if f"${choice.key}" in sql else {}
            else:
                sql = sql.replace(f"{{{choice.key}}}", now)
        return sql, values

    def _link(self, read: Reader, links: Links, row: Mapping[str, Any]) -> str:
        given = {key: row[column] for key, column in links.keys.items() if row.get(column) is not None}
        return read.address.narrowed(links.to, benchmark=self.benchmark, **given)

    @cached_property
    def _grids(self) -> dict[str, Grid]:
        return {
            chart.name: Grid(chart.table.name or chart.name, partial(self._table_rows, chart, chart.table), chart.table.title)
            for chart in self.charts
            if chart.table
        }

    def _table_rows(self, chart: Chart, table: Table, read: Reader, _: str) -> TableRows:
        sql, values = self._asked(read, table.sql or chart.sql, chart.choices)
        known = [choice for choice in (*self.choices, *chart.choices) if not isinstance(choice.options, str)]
        named = {f"{{{choice.key}}}": choice.chosen(read) for choice in known}
        columns = {
            named[name][0] if name in named else name: replace(column, heading=named[name][1][named[name][0]]) if name in named else column
            for name, column in table.columns.items()
        }
        links = table.links
        link = None if links is None else lambda row: self._link(read, links, row)
        return TableRows(sql=sql, parameters=values, filter_on=chart.filter_on, columns=columns, link=link)


def family_page(package: str, **computed: str) -> FamilyPage:
    """The page in the `page.yaml` of a package, the fields of a `FamilyPage` and its `pieces`.

    Args:
        package: it is next to the module with the page's address.
        computed: pieces of queries that follow from the rules of the game: name -> SQL.
    """
    spec = packaged_yaml(package, "page.yaml")
    pieces = spec.pop("pieces") | computed

    def filled(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {key: value if key == "detail" else filled(value) for key, value in part.items()}  # braces there name columns
        if isinstance(part, list):
            return [filled(value) for value in part]
        while isinstance(part, str) and (whole := re.sub(r"{(\w+)}", lambda name: pieces.get(name[1], name[0]), part)) != part:
            part = whole
        return part

    return TypeAdapter(FamilyPage).validate_python(filled(spec))


def _in_detail(value: Any) -> str:
    return value if isinstance(value, str) else wording.count(value or 0)


def _dots(chart: Chart, rows: pl.DataFrame, links: Sequence[str], looks: Looks) -> go.Figure:
    model = chart.links.keys.get("model", "")  # a model's name stays what it is
    dots = [
        Dot(
            line=row["line"] if row["line"] == row.get(model) else wording.in_words(row["line"]),
            series=row["series"] if row["series"] == row.get(model) else wording.in_words(row["series"]),
            value=row["value"],
            low=row["low"],
            high=row["high"],
            n=row["n"],
            told=row.get("hover") or "",
            link=link,
        )
        for row, link in zip(rows.iter_rows(named=True), links, strict=True)
    ]
    lines_at = tuple(rows["line_at"].drop_nulls().unique().sort()) if "line_at" in rows.columns else chart.axis.lines_at
    return dot_plot(dots, replace(chart.axis, lines_at=lines_at), n_of=f"{chart.n_of}s", looks=looks)


def _grid(chart: Chart, rows: pl.DataFrame, links: Sequence[str]) -> go.Figure:
    """Series are rows, lines are columns; the intervals are under the pointer and in the table."""
    import polars as pl

    write, ends = (wording.share, wording.share_interval) if chart.axis.is_share else (wording.number, wording.interval)
    hover = [
        f"{write(row['value'])}"
        + (f" {ends(row['low'], row['high'])} ({wording.counted(row['n'], chart.n_of)})" if row["n"] is not None else "")
        for row in rows.iter_rows(named=True)
    ]
    counts = ["" if n is None else f"<br><span style='font-size: 9.5px'>n {n}</span>" for n in rows["n"]]
    text = [f"{write(value)}{n}" for value, n in zip(rows["value"], counts, strict=True)]
    cells = rows.select(x=pl.col("line").cast(pl.String), y=pl.col("series").cast(pl.String), value=pl.col("value"))
    cells = cells.with_columns(text=pl.Series(text), hover=pl.Series(hover), link=pl.Series(links)).drop_nulls("value")
    cells = cells.sort("y", "x")
    return _heat(replace(chart, y=""), cells, cells["link"].to_list(), sorted(cells["x"].unique()))


def _heat(chart: Chart, rows: pl.DataFrame, links: Sequence[str], columns: Sequence[str] = ()) -> go.Figure:
    """Cells by their value; their texts are a trace of its own, since clicks on a heat map carry no data."""
    from plotly.subplots import make_subplots

    panels = rows["panel"].unique(maintain_order=True).to_list() if "panel" in rows.columns else [""]
    drawn = make_subplots(cols=len(panels), shared_yaxes=True, subplot_titles=panels if panels != [""] else None, horizontal_spacing=0.06)
    own, lines = (rows[name].unique(maintain_order=True).to_list() for name in ("x", "y"))
    columns = columns or own  # by default as they come first, which is another order where the first line lacks some
    for place, panel in enumerate(panels, start=1):
        chosen = [at for at, row in enumerate(rows.iter_rows(named=True)) if row.get("panel", "") == panel]
        part = rows[chosen]
        values = {(row["x"], row["y"]): row["value"] for row in part.iter_rows(named=True)}
        z = [[values.get((x, y)) for x in columns] for y in lines]
        drawn.add_heatmap(
            z=z,
            x=_axis(columns),
            y=_axis(lines),
            coloraxis="coloraxis",
            colorscale=FULLER,
            xgap=3,
            ygap=3,
            hoverinfo="skip",
            row=1,
            col=place,
        )
        drawn.add_scatter(
            x=_axis(part["x"].to_list()),
            y=_axis(part["y"].to_list()),
            mode="markers+text",
            marker={"symbol": "square", "size": 30, "color": "rgba(0,0,0,0)"},
            text=part["text"].to_list(),
            textfont={"size": 11},
            customdata=[[links[at], hover] for at, hover in zip(chosen, part["hover"], strict=True)],
            hovertemplate="%{y}, %{x}: %{customdata[1]}<extra></extra>",
            row=1,
            col=place,
        )
    turns = [column for column in columns if isinstance(column, int)]
    across = numbered(len(turns)) | {"range": [min(turns) - 0.5, max(turns) + 0.5]} if turns else {"type": "category"}
    drawn.update_xaxes(title=chart.x, showgrid=False, **across)
    drawn.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, type="category", tickfont={"size": 11.5})
    drawn.update_yaxes(title=chart.y, col=1)
    scale = {"cmin": 0, "cmax": 1} if chart.axis.is_share else {"cmin": 0}
    drawn.update_annotations(font_size=13)
    drawn.update_layout(coloraxis={"colorscale": FULLER, "showscale": False, **scale})
    height = 90 + (30 if len(panels) > 1 else 0) + 38 * max(len(lines), 3)
    return styled(drawn, height=height, legend=False).update_layout(margin={"l": 4, "r": 4, "t": 34 if len(panels) > 1 else 8})


def _axis(values: Sequence[Any]) -> list[Any]:
    return [value if isinstance(value, int) else plain(wording.in_words(value)) for value in values]


def _bars(chart: Chart, rows: pl.DataFrame, links: Sequence[str], failures: Mapping[str, str]) -> go.Figure:
    import plotly.graph_objects as go

    drawn = go.Figure()
    is_shared_out = "".join(rows["series"]) != ""
    right = [name for name in rows["series"].unique(maintain_order=True) if name not in failures]
    order = [*(name for name in failures if name in rows["series"]), *right]  # what went wrong comes first
    categories = "series" if is_shared_out else "line"
    for series in order:
        at = [place for place, name in enumerate(rows["series"]) if name == series]
        part = rows[at]
        drawn.add_bar(
            x=part["value"].to_list(),
            y=[plain(wording.in_words(line)) for line in part["line"]],
            orientation="h",
            name=plain(wording.in_words(series)),
            text=[wording.count(n) for n in part["n"]],
            textangle=0,
            textposition="none" if series in right else "auto",  # a number on the pale colour can be read in one theme alone
            marker={"color": [QUIET if name in right else color_of(name, failures) for name in part[categories]]},
            customdata=[
                [links[place], f"{wording.share(value)} ({wording.counted(n, chart.n_of)})"]
                for place, value, n in zip(at, part["value"], part["n"], strict=True)
            ],
            hovertemplate="%{y}: %{customdata[1]}<extra>%{fullData.name}</extra>",
        )
    drawn.update_layout(barmode="stack", uniformtext={"minsize": 9, "mode": "hide"})
    drawn.update_xaxes(title=chart.axis.title, rangemode="tozero", tickformat=".0%", range=[0, 1] if is_shared_out else None)
    drawn.update_yaxes(title=chart.y, autorange="reversed")
    return styled(drawn, height=130 + 26 * rows["line"].n_unique(), legend=is_shared_out)


def _steps(chart: Chart, rows: pl.DataFrame, looks: Looks) -> go.Figure:
    import plotly.graph_objects as go

    drawn = go.Figure()
    series, dashes = (rows[name].unique(maintain_order=True).to_list() for name in ("series", "dash"))
    for (name, dash), part in rows.group_by("series", "dash", maintain_order=True):
        drawn.add_scatter(
            x=part["x"].to_list(),
            y=part["value"].to_list(),
            mode="lines+markers",
            name=f"{plain(name)}, {plain(dash)}",
            line={"shape": "hv", "color": looks.get(name, look(series.index(name)))[0], "dash": _DASHES[dashes.index(dash) % len(_DASHES)]},
            customdata=part["hover"].to_list(),
            hovertemplate="%{fullData.name}, turn %{x}: %{customdata}<extra></extra>",
        )
    longest = rows["x"].max()
    drawn.update_xaxes(title=chart.x, **numbered(longest if isinstance(longest, int) else 1), rangemode="tozero")
    drawn.update_yaxes(title=chart.axis.title, range=[-0.03, 1.03], tickformat=".0%")
    return styled(drawn, height=420)
