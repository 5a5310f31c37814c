"""The page of an address: header, filters, content and title; a fault becomes a part that reports it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Thread
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar
from urllib.parse import urlencode

from dash import dcc

from analytics.installation import are_current, ensure_installed
from dashboards import filters
from dashboards.address import FILTERS, GAME, Address
from dashboards.pages import pages
from dashboards.parts import Element, Part, aria, compact, data, html, note, svg
from dashboards.reader import kept, reader
from dashboards.requests import tell
from schemas.common.errors import CotraceError, StoreError, UsageError
from schemas.common.text import in_shell, printable
from schemas.families import title_of
from schemas.store.stores import state_of

if TYPE_CHECKING:
    from dashboards.reader import Reader
    from schemas.store.store import Store

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
    shown = [page for page in pages if page.IN_MENU and getattr(page, "BENCHMARK", None) in {None, *played}]
    menu = [page for page in shown if not hasattr(page, "BENCHMARK") or getattr(page, "IN_MAIN_MENU", False)]
    families = [page for page in shown if page not in menu]
    links = [_link(page, address, current, played) for page in menu]
    if families:
        inside = current in families
        box = html.Details(
            [
                html.Summary("Families", className="nav-link current" if inside else "nav-link"),
                html.Div([_link(page, address, current, played) for page in families]),
            ],
            className="nav-more",
        )
        links.append(box)
    here = _title_in_menu(current, played) if current else "Pages"
    return [
        html.A("cotrace", href="/", className="brand"),
        html.Button(
            here,
            className="nav-open",
            type="button",
            **data(menu=""),
            **aria(label=f"{here}: all pages", expanded="false", controls="pages"),
        ),
        html.Nav(links, id="pages", **aria(label="Pages")),
        _search(address),
        _views(address),
        html.Button("◐", id="theme", className="quiet", title="Light or dark", **aria(label="change between light and dark")),
    ]


def _title_in_menu(page: ModuleType, played: Collection[str]) -> str:
    """A store without games has transcripts."""
    return f"{filters.thing_of(played)}s".capitalize() if page.PATH == GAME else str(page.TITLE)


def _link(page: ModuleType, address: Address, current: ModuleType | None, played: Collection[str]) -> Part:
    here = aria(current="page") if page is current else {}
    about = getattr(page, "BENCHMARK", None)
    family = {"benchmark": about} if about and address.all("benchmark") else {}  # under another one it would be empty
    return html.A(
        _title_in_menu(page, played),
        href=address.filters().to(page.PATH, **family),
        className="nav-link current" if page is current else "nav-link",
        **here,
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


T = TypeVar("T")

_CARD_BYTES: Final = 2**20
"""Of a card with its figures: several times that of a large one as it goes to the browser."""

_GAMES = "SELECT benchmark, condition, model, level, count(*) AS games FROM games GROUP BY ALL"


class Drawn(NamedTuple):
    """What a page's address shows."""

    head: Part
    filters: Part
    content: Part
    title: str
    state: str
    """What the store was: a browser that is told another one has an old page. Empty where there was no telling."""


def draw_page(store: Store, address: Address, rubric_folders: Sequence[Path] = (), *, is_whole: bool = True, raises: bool = False) -> Drawn:
    """The page of an address.

    Args:
        store: what to show.
        address: of the page.
        rubric_folders: folders with rubrics of the user's own.
        is_whole: with all its cards; a browser asks for those that take long one by one.
        raises: an error is raised; otherwise the page shows it.

    Raises:
        CotraceError: with `raises`, the store cannot be read or the address makes no sense.
    """
    page = next((found for found in pages() if address.path == found.PATH), None)
    state = state_told(store)
    if page is None:
        missing = note(f"There is no page {address.path}.", html.A("Go to the overview", href="/"))
        return Drawn(navigation(address, pages(), None), None, missing, "No such page", state)

    def alone(said: Part, state: str) -> Drawn:
        return Drawn(navigation(address, pages(), page), None, _headed(said, page.TITLE), page.TITLE, state)

    def draw() -> Drawn:
        with _with_views(store, address, rubric_folders, is_whole=is_whole, raises=raises) as read:
            state = state_told(store)  # after the views, which are no news, and before anything else is read
            found = read.rows(_GAMES)
            if found.is_empty():
                return alone(_empty(store), state)
            head = navigation(address, pages(), page, set(found["benchmark"]))
            used: Sequence[str] = page.filters_of(address) if hasattr(page, "filters_of") else getattr(page, "FILTERS", FILTERS)
            if about := getattr(page, "BENCHMARK", None):
                found = found.filter(found["benchmark"] == about)
                if found.is_empty():
                    return Drawn(head, None, _headed(_not_played(about), page.TITLE), page.TITLE, state)
            return Drawn(head, filters.bar(read, found, used), _headed(page.content(read), page.TITLE), _title(page, read), state)

    return draw() if raises else _or_why(draw, lambda said: alone(said, state))


def state_told(store: Store) -> str:
    """What changes with every write to the store, as browsers are told it, by whatever server; empty where there is no telling."""
    try:
        return hashlib.sha256(repr(state_of(store.path)).encode()).hexdigest()
    except CotraceError:
        return ""


def draw_part(store: Store, address: Address, name: str, part: str, rubric_folders: Sequence[Path] = ()) -> Part:
    """One of the cards that a page leaves for later; kept, its figures included, until the store or a rubric of the user's own changes."""

    def draw() -> Part:
        cards = {card.name: card for page in pages() for card in getattr(page, "LATER", ())}
        if name not in cards:
            raise UsageError(f"there is no card {name!r}")
        with reader(store, address, rubric_folders, is_whole=False) as read:
            return compact(cards[name].draw(read, part))

    asked = ("card", address.to(), name, part, _edited(rubric_folders))
    return _or_why(
        lambda: kept(store.path, asked, draw, size_of=lambda _: _CARD_BYTES),
        lambda said: compact(html.Section([said], className="card")),
    )


def _edited(rubric_folders: Sequence[Path]) -> tuple[tuple[str, int], ...]:
    """Which rubrics of the user's own there are, and when each was last written: a card may quote their questions."""
    files = (file for folder in rubric_folders if folder.is_dir() for file in sorted(folder.iterdir()))
    return tuple((str(file), file.stat().st_mtime_ns) for file in files if file.is_file())


@contextmanager
def _with_views(store: Store, address: Address, rubric_folders: Sequence[Path], *, is_whole: bool, raises: bool) -> Iterator[Reader]:
    """A reader of a store that has the views. Asked once for each state of the store, by what reads the page: to open it takes time."""
    import polars as pl

    patience_s = None if is_whole else _PATIENCE_S
    if store.path in _UPDATES:
        _wait_for_views(store, patience_s)
    with reader(store, address, rubric_folders, is_whole=is_whole, raises=raises) as read:
        if kept(store.path, "views", lambda: pl.DataFrame([are_current(read.connection)])).item():
            yield read
            return
    _wait_for_views(store, patience_s)
    with reader(store, address, rubric_folders, is_whole=is_whole, raises=raises) as read:
        yield read


_PATIENCE_S: Final = 5.0
_UPDATES: Final[dict[Path, Future[None]]] = {}
"""Stores whose views this process is bringing up to date: it holds them meanwhile, and no page can be read."""
_STARTING: Final = Lock()


def _wait_for_views(store: Store, patience_s: float | None) -> None:
    """Bring the views up to date, whoever asks first; others wait for that as well.

    Raises:
        StoreError: it takes longer than so many seconds, and goes on; or the views cannot be made.
    """
    with _STARTING:
        update = _UPDATES.get(store.path)
        if update is None:
            update = _UPDATES[store.path] = Future()
            Thread(target=_update_views, args=(store, update), daemon=True).start()
    try:
        update.result(patience_s)
    except TimeoutError:
        age = "the store was made by another version of cotrace"
        raise StoreError(f"{age}, and what pages read is being computed anew (minutes for a million turns): please wait") from None


def _update_views(store: Store, update: Future[None]) -> None:
    try:
        ensure_installed(store)
    except Exception as error:  # noqa: BLE001 - whoever waits raises it
        update.set_exception(error)
    else:
        update.set_result(None)
    finally:
        del _UPDATES[store.path]


def _not_played(benchmark: str) -> Part:
    """A page of a family without a game in the store: filters would choose among none."""
    commands = f"cotrace play {benchmark} --out logs/\ncotrace ingest logs/"
    return note(f"No {title_of(benchmark)} game in this store.", html.Pre(commands))


def _headed(content: Part, title: str) -> Part:
    """A page that is one note has a heading too: screen readers go by them. It follows the store, which may soon have what is missing."""
    is_note = isinstance(content, Element) and content.attributes.get("className") == "note"
    return html.Div([html.H1(title), content], **data(live="")) if is_note else content


def _or_why(draw: Callable[[], T], instead: Callable[[Part], T]) -> T:
    try:
        return draw()
    except CotraceError as error:
        return instead(note(f"This could not be drawn: {error}"))
    except Exception as error:  # noqa: BLE001 - one of the named boundaries: whatever fails becomes a part that says so
        return instead(note(f"This could not be drawn ({tell('drawing', error)}). `cotrace --debug dash` shows where."))


def _title(page: ModuleType, read: Reader) -> str:
    """What the tab is called: what is shown first, for tabs are narrow."""
    own: Callable[[Reader], str] | None = getattr(page, "title", None)
    return printable(own(read) if own else " · ".join(filter(None, [page.TITLE, filters.in_words(read)])))


def _empty(store: Store) -> Part:
    return note(
        f"The store {store.path} has no games yet. Read some logs, and this page shows them:",
        html.Pre(f"cotrace ingest path/to/logs --store {in_shell(store.path)}"),
        html.P("No logs at hand? Let cotrace play some:"),
        html.Pre(f"cotrace play craft --out logs/ && cotrace ingest logs/ --store {in_shell(store.path)}"),
    )
