"""Pages and reports as one HTML file each."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from dash import dcc, html
from dash.development.base_component import Component

from analytics.findings import TOPICS, Finding, findings
from analytics.reports import COMPUTED, described, shown_columns
from analytics.statistics.few_games import few_games
from analytics.views import VIEWS
from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.pages import pages
from dashboards.parts import Fragment, Html, Part, Static, svg, to_html
from dashboards.reader import reader
from schemas.common.text import printable
from schemas.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    import plotly.graph_objects as go
    import polars as pl

_MOST_ROWS, _MOST_OF_MANY = 2_000, 100
"""Rows of a table that are written into a page of one report, and of several; the CSV form has all."""

_SCRIPT: Final = """
const unpacked = (async () => {
  const packed = document.getElementById('plotly-gz');
  if (!packed) return;
  const bytes = Uint8Array.from(atob(packed.textContent.trim()), letter => letter.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
  const script = document.createElement('script');
  script.textContent = text;
  document.head.append(script);
})();
const draw = async place => {
  if (place.dataset.drawn) return;
  place.dataset.drawn = 'yes';
  await unpacked;
  const figure = JSON.parse(document.getElementById(place.id + '-data').textContent);
  Plotly.newPlot(place, figure.data, figure.layout, {displaylogo: false, responsive: true});
};
const show = folded => folded.querySelectorAll('.plotly-graph-div').forEach(draw);
document.querySelectorAll('details').forEach(folded => {
  if (folded.open) show(folded);
  folded.addEventListener('toggle', () => folded.open && show(folded));
});
const follow = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) { target.querySelectorAll('details').forEach(folded => { folded.open = true; }); target.scrollIntoView(); }
};
document.querySelectorAll('.plotly-graph-div').forEach(place => place.closest('details:not([open])') || draw(place));
window.addEventListener('hashchange', follow);
follow();
"""


def document(store: Store, tables: Mapping[str, pl.DataFrame]) -> str:
    """One HTML page: of several reports the findings in sentences and the contents, then a section each, empty ones left out.

    A section has the report's figure where the dashboard has one, then its rows. Of several reports sections are folded, and tables have
    the columns that fit.

    Raises:
        StoreError: the store cannot be read.
    """
    is_one = len(tables) == 1
    shown = {name: rows for name, rows in tables.items() if is_one or not rows.is_empty()}
    figures = _figures(store, list(shown))
    sections = "\n".join(_section(name, rows, figures.get(name), is_one=is_one) for name, rows in shown.items())
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    front = "" if is_one else _found(findings(store)) + _contents(list(shown), [name for name in tables if name not in shown])
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>cotrace report</title><style>{style_sheet()}</style>"
        f"</head><body><main><h1>cotrace report</h1><p class='lead'>{escape(store.path.name)}, {made}</p>{front}{sections}</main>"
        f"{packed_plotly() if figures else ''}<script>{_SCRIPT}</script></body></html>"
    )


def style_sheet() -> str:
    """The style of all pages, with its font in it: a file needs nothing beside it."""
    folder = files("dashboards").joinpath("assets")
    sheets = sorted((found for found in folder.iterdir() if found.name.endswith(".css")), key=lambda found: found.name)
    font = b64encode(folder.joinpath("inter-latin.woff2").read_bytes()).decode()
    style = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    return style.replace("inter-latin.woff2", f"data:font/woff2;base64,{font}")


def script_of_figures() -> str:
    """What draws the figures of a file, those in folds when they are opened."""
    return _SCRIPT


def packed_plotly() -> str:
    """The library, packed: it is most of the page."""
    from plotly.offline import get_plotlyjs

    packed = b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode()
    return f"<script type='text/plain' id='plotly-gz'>{packed}</script>"


def _found(found: Sequence[Finding]) -> str:
    """The sentences under what they are about."""
    if not found:
        return ""
    parts = []
    for topic, title in TOPICS.items():
        lines = "".join(
            f"<li>{escape(printable(one.sentence))} <a href='#{one.report}'>{one.report}</a></li>" for one in found if one.topic == topic
        )
        parts.append(f"<h3>{title}</h3><ul>{lines}</ul>" if lines else "")
    return f"<div class='card' id='findings'>{''.join(parts)}</div>"


def _contents(names: Sequence[str], empty: Sequence[str]) -> str:
    links = ", ".join(f"<a href='#{escape(name)}'>{escape(name)}</a>" for name in names)
    left_out = f"<p class='hint'>Without rows, and left out: {escape(', '.join(empty))}.</p>" if empty else ""
    return f"<nav class='card' aria-label='contents'><p>{links}</p>{left_out}</nav>"


def _section(name: str, rows: pl.DataFrame, drawn: go.Figure | None, *, is_one: bool) -> str:
    most = _MOST_ROWS if is_one else _MOST_OF_MANY
    columns = rows.columns if is_one else shown_columns(name, rows)
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows.select(columns).head(most).iter_rows()
    )
    told = f"The first {most:,} of {len(rows):,} rows, in the report's order; cotrace report {escape(name)} --format csv has all."
    cut = f"<p class='hint'>{told}</p>" if len(rows) > most else ""
    empty = "<p class='hint'>No rows.</p>" if rows.is_empty() else ""
    narrowed = (
        f"<p class='hint'>{len(columns)} of {len(rows.columns)} columns; the CSV form has all.</p>" if len(columns) < rows.width else ""
    )
    doubt = few_games(rows, name)
    few = f"<p class='hint'>{escape(doubt[0].upper() + doubt[1:])}.</p>" if doubt else ""
    about = next((spec.summary.partition(". ")[0] for spec in VIEWS if spec.report and spec.report[0] == name), "")
    about = described(name).rstrip(".") if name in COMPUTED else about
    about = f"{about} ({len(rows):,} row{'' if len(rows) == 1 else 's'})"
    return (
        f"<section class='card' id='{escape(name)}'><details{' open' if is_one else ''}><summary><h2>{escape(name)}</h2>"
        f"<span class='hint'>{escape(about)}</span></summary>{_picture(name, drawn)}{few}{cut}{narrowed}{empty}"
        f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details></section>"
    )


def _picture(name: str, drawn: go.Figure | None) -> str:
    """The figure as data, drawn when its section is opened."""
    if drawn is None:
        return ""
    return drawn_place(f"figure-{escape(name)}", drawn)


def drawn_place(place: str, drawn: go.Figure) -> Html:
    """Where a figure is drawn, with its data beside it.

    Args:
        place: its id.
        drawn: the figure.
    """
    data = str(drawn.to_json()).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    height = drawn.layout.height or 450
    return Html(
        f"<div class='plotly-graph-div' id='{place}' style='height:{height}px'></div>"
        f"<script type='application/json' id='{place}-data'>{data}</script>"
    )


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else escape(printable(str(value)))


def _figures(store: Store, names: list[str]) -> dict[str, go.Figure]:
    """The dashboard's figures over the whole store, for the reports that have one."""
    address = Address("/")
    drawn: dict[str, go.Figure] = {}
    with reader(store, address) as read:
        for page in pages():
            for name, draw in getattr(page, "FIGURES", {}).items():
                figure = draw(read) if name in names else None
                if figure is not None:
                    drawn[name] = figure
    return drawn


_LEFT_OUT: Final = frozenset(
    {"Button", "Checklist", "Download", "Dropdown", "Form", "Input", "Location", "RadioItems", "Store", "Textarea"}
)
"""What a file has no use for: it answers to nobody."""


_PRINT: Final = """
const places = [...document.querySelectorAll('.plotly-graph-div')];
const drawn = setInterval(() => {
  if (!places.every(place => place.querySelector('.main-svg'))) return;
  clearInterval(drawn);
  window.print();
}, 100);
"""


def page_file(store: Store, address: Address, rubric_folders: Sequence[Path] = (), *, prints: bool = False, raises: bool = False) -> str:
    """The page of an address as a document. Links to other pages become text: a file has no store beside it.

    Args:
        store: what to show.
        address: of the page.
        rubric_folders: folders with rubrics of the user's own.
        prints: it opens the browser's dialogue for printing as soon as its figures are drawn.
        raises: what fails while the page is drawn is raised; otherwise the page shows it.

    Raises:
        StoreError: the store cannot be read.
    """
    drawn = draw_page(store, address, rubric_folders, raises=raises)
    frozen = _Frozen()
    content = to_html(frozen(drawn.content))
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    title = escape(printable(drawn.title))
    told = escape(printable(f"cotrace, {store.path.name}, {address.to()}, {made}"))
    script = f"{packed_plotly()}<script>{script_of_figures()}</script>" if frozen.figures else ""
    script += f"<script>{_PRINT}</script>" if prints else ""
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{title} – cotrace</title><style>{style_sheet()}</style></head>"
        f"<body><main id='page'><p class='hint'>{told}</p>{content}</main>{script}</body></html>"
    )


class _Frozen:
    """Turns a page into static parts."""

    def __init__(self) -> None:
        self.figures = 0

    def __call__(self, part: Part) -> Static:
        if isinstance(part, list | tuple):
            return [self(child) for child in part]
        if isinstance(part, svg):
            return None if part.tag in {"input", "textarea"} else svg(part.tag, *map(self, part.children), **part.attributes)
        if isinstance(part, dcc.Graph):
            self.figures += 1
            graph: Any = part
            return Fragment(drawn_place(f"figure-{self.figures}", graph.figure))
        if isinstance(part, Component) and not isinstance(part, Fragment):
            return self._component(part)
        return part

    def _component(self, part: Component) -> Static:
        kind = str(part._type)  # noqa: SLF001 - Dash has no other name for it
        if kind in _LEFT_OUT:
            return None
        known: dict[str, Any] = part.to_plotly_json()["props"]  # type: ignore[no-untyped-call]
        properties = {name: value for name, value in known.items() if name not in {"children", "id"}}
        if kind in {"A", "Link"}:
            kind, properties = "Span", {name: value for name, value in properties.items() if name not in {"href", "target", "refresh"}}
        if kind == "Loading":
            kind, properties = "Div", {}
        return getattr(html, kind)(self(getattr(part, "children", None)), **properties)
