"""Pages and reports as one HTML file each."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from dash import dcc
from dash.development.base_component import Component

from analytics.findings import TOPICS, Finding, findings
from analytics.reports import COMPUTED, described, grouped, shown_columns
from analytics.statistics.few_games import are_few, few_games
from analytics.views import VIEWS
from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.pages import pages
from dashboards.parts import Element, Fragment, Html, Part, Static, to_html
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


def document(store: Store, tables: Mapping[str, pl.DataFrame]) -> Html:
    """One HTML page: of several reports the findings in sentences and the contents, then a section each, empty ones left out.

    A section has the report's figure where the dashboard has one, then its rows. Of several reports sections are folded, and tables have
    the columns that fit.

    Raises:
        StoreError: the store cannot be read.
    """
    is_one = len(tables) == 1
    shown = {name: rows for name, rows in tables.items() if is_one or not rows.is_empty()}
    figures = _figures(store, list(shown))
    written = {name: _section(name, rows, figures.get(name), is_one=is_one) for name, rows in shown.items()}
    sections = Html.joined("\n", list(written.values()) if is_one else _in_groups(written))
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    front = [] if is_one else [_found(findings(store, tables)), _contents(shown, [name for name in tables if name not in shown])]
    return Html(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>cotrace report</title><style>{}</style>"
        "</head><body><main><h1>cotrace report</h1><p class='lead'>{}, {}</p>{}{}</main>{}<script>{}</script></body></html>",
        style_sheet(),
        store.path.name,
        made,
        Html.joined("", front),
        sections,
        packed_plotly() if figures else Html(),
        script_of_figures(),
    )


def style_sheet() -> Html:
    """The style of all pages, with its font in it: a file needs nothing beside it."""
    folder = files("dashboards").joinpath("assets")
    sheets = sorted((found for found in folder.iterdir() if found.name.endswith(".css")), key=lambda found: found.name)
    font = b64encode(folder.joinpath("inter-latin.woff2").read_bytes()).decode()
    style = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    return Html.own(style.replace("inter-latin.woff2", f"data:font/woff2;base64,{font}"))


def script_of_figures() -> Html:
    """What draws the figures of a file, those in folds when they are opened."""
    return Html.own(_SCRIPT)


def packed_plotly() -> Html:
    """The library, packed: it is most of the page."""
    from plotly.offline import get_plotlyjs

    packed = b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode()
    return Html("<script type='text/plain' id='plotly-gz'>{}</script>", packed)


def _found(found: Sequence[Finding]) -> Html:
    """The sentences under what they are about."""
    parts = []
    for topic, title in TOPICS.items():
        lines = [Html("<li>{0} <a href='#{1}'>{1}</a></li>", printable(one.sentence), one.report) for one in found if one.topic == topic]
        parts += [Html("<h3>{}</h3><ul>{}</ul>", title, Html.joined("", lines))] if lines else []
    return Html("<div class='card' id='findings'>{}</div>", Html.joined("", parts)) if found else Html()


def _in_groups(sections: Mapping[str, Html]) -> list[Html]:
    """The sections under the headings of `cotrace report list`."""
    found = []
    for heading, reports in grouped().items():
        here = [sections[name] for name in reports if name in sections]
        found += [Html("<h2 class='group'>{}</h2>", heading), *here] if here else []
    known = {name for reports in grouped().values() for name in reports}
    return found + [section for name, section in sections.items() if name not in known]


def _contents(shown: Mapping[str, pl.DataFrame], empty: Sequence[str]) -> Html:
    """Links by group, and once what holds for several reports."""
    parts = []
    for heading, reports in grouped().items():
        links = [Html("<a href='#{0}'>{0}</a>", name) for name in reports if name in shown]
        parts += [Html("<p><b>{}</b>: {}</p>", heading, Html.joined(", ", links))] if links else []
    doubtful = [name for name, rows in shown.items() if are_few(rows)]
    if doubtful:
        worth = few_games(shown[doubtful[0]], doubtful[0])
        parts.append(_hint(f"Intervals that rest on few tasks are in {', '.join(doubtful)}. Of {doubtful[0]}: {worth}."))
    left_out = [_hint(f"Without rows, and left out: {', '.join(empty)}.")] if empty else []
    return Html("<nav class='card' aria-label='contents'>{}</nav>", Html.joined("", [*parts, *left_out]))


def _hint(text: str) -> Html:
    return Html("<p class='hint'>{}</p>", text)


def _section(name: str, rows: pl.DataFrame, drawn: go.Figure | None, *, is_one: bool) -> Html:
    most = _MOST_ROWS if is_one else _MOST_OF_MANY
    columns = rows.columns if is_one else shown_columns(name, rows)
    hints = []
    if is_one and (doubt := few_games(rows, name)):
        hints.append(f"{doubt[0].upper()}{doubt[1:]}.")
    if len(rows) > most:
        hints.append(f"The first {most:,} of {len(rows):,} rows, in the report's order; cotrace report {name} --format csv has all.")
    if len(columns) < rows.width:
        hints.append(f"{len(columns)} of {len(rows.columns)} columns; the CSV form has all.")
    if rows.is_empty():
        hints.append("No rows.")
    about = next((spec.summary.partition(". ")[0] for spec in VIEWS if spec.report and spec.report[0] == name), "")
    about = described(name).rstrip(".") if name in COMPUTED else about
    return Html(
        "<section class='card' id='{0}'><details{1}><summary><h2>{0}</h2><span class='hint'>{2}</span></summary>{3}"
        "<div class='scroll'><table><thead><tr>{4}</tr></thead><tbody>{5}</tbody></table></div></details></section>",
        name,
        Html(" open") if is_one else Html(),
        f"{about} ({len(rows):,} row{'' if len(rows) == 1 else 's'})",
        Html.joined("", [*([drawn_place(f"figure-{name}", drawn)] if drawn else []), *map(_hint, hints)]),
        Html.joined("", [Html("<th>{}</th>", column) for column in columns]),
        Html.joined("", [_row(row) for row in rows.select(columns).head(most).iter_rows()]),
    )


def drawn_place(place: str, drawn: go.Figure) -> Html:
    """Where a figure is drawn, with its data beside it.

    Args:
        place: its id.
        drawn: the figure.
    """
    data = str(drawn.to_json()).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Html(
        "<div class='plotly-graph-div' id='{0}' style='height:{1}px'></div><script type='application/json' id='{0}-data'>{2}</script>",
        place,
        drawn.layout.height or 450,
        Html.own(data),
    )


def _row(values: Sequence[object]) -> Html:
    return Html("<tr>{}</tr>", Html.joined("", [Html("<td>{}</td>", _cell(value)) for value in values]))


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


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


_LEFT_OUT: Final = frozenset({"button", "form", "input", "textarea"})
"""What a file has no use for, as it answers to nobody; so are Dash's own components, figures apart."""
_OF_LINKS: Final = frozenset({"href", "target"})


_PRINT: Final = """
const places = [...document.querySelectorAll('.plotly-graph-div')];
const drawn = setInterval(() => {
  if (!places.every(place => place.querySelector('.main-svg'))) return;
  clearInterval(drawn);
  window.print();
}, 100);
"""


def page_file(store: Store, address: Address, rubric_folders: Sequence[Path] = (), *, prints: bool = False, raises: bool = False) -> Html:
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
    footer = f"cotrace, {store.path.name}, {address.to()}, {made}"
    scripts = [packed_plotly(), Html("<script>{}</script>", script_of_figures())] if frozen.figures else []
    return Html(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<title>{} – cotrace</title><style>{}</style></head><body><main id='page'>{}{}</main>{}</body></html>",
        printable(drawn.title),
        style_sheet(),
        _hint(printable(footer)),
        content,
        Html.joined("", [*scripts, *([Html("<script>{}</script>", Html.own(_PRINT))] if prints else [])]),
    )


class _Frozen:
    """Turns a page into static parts."""

    def __init__(self) -> None:
        self.figures = 0

    def __call__(self, part: Part) -> Static:
        if isinstance(part, list | tuple):
            return [self(child) for child in part]
        if isinstance(part, dcc.Graph):
            self.figures += 1
            graph: Any = part
            return Fragment(drawn_place(f"figure-{self.figures}", graph.figure))
        if isinstance(part, Element):
            return None if part.tag in _LEFT_OUT else self._element(part)
        return None if isinstance(part, Component) and not isinstance(part, Fragment) else part

    def _element(self, part: Element) -> Static:
        is_link = part.tag == "a"
        gone = {*({"id"} if part.is_live else ()), *(_OF_LINKS if is_link else ())}
        attributes = {name: value for name, value in part.attributes.items() if name not in gone}
        return Element("span" if is_link else part.tag, self(part.children), **attributes)
