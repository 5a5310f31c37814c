"""Browser: every page in Chromium over a large store: how soon it has content, is complete, and what it weighs.

The store holds 250 CRAFT games, judged and attributed by the engine, under other ids so often that the turns are reached: 100,000, or
as many as `--turns`. Pages are opened in a browser that has been on others: once right after the store has changed, when nothing is kept
from before, and once when the dashboard has drawn them ahead, as it does when it starts and when the store has come to rest; search is
never drawn ahead. The first content is the page's heading; complete is when no card waits, every figure is drawn and every table has its
rows. A ratio is to the goal.
"""

from __future__ import annotations

import json
import shutil
import statistics
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.figures import Figure, seconds
from benchmarks.pages import JUDGED_TWICE, addresses
from benchmarks.workload import TURNS, ask_twice, craft_games, ingest, judge, multiply
from dashboards.app import create_app
from dashboards.server import addresses as pages_ahead
from dashboards.server import draw_ahead
from judges.attribution.job import attribute_games
from schemas.store.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["Visit", "filled", "run", "visits"]

_PLAYED: Final = 250
_STEPS: Final = 12
_WORDS: Final = ("layer", "orange corner", "zzzz")
"""Of a search: a common word, two that are rarer together, and one that is nowhere."""

_FIRST_S: Final = 0.3
_COMPLETE_S: Final = 1.5
_LONGEST_S: Final = 3.0
_STEP_S: Final = 0.15
_SEARCH_S: Final = 0.3
_COMPONENTS: Final = 500
_BYTES: Final = 700_000

_WATCH: Final = """
(() => {
  const seen = (window.__seen = { first: null, busy: 0, tasks: [] });
  const watch = new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((task) => task.duration)));
  watch.observe({ type: "longtask", buffered: true });
  const look = () => {
    const now = performance.now();
    if (seen.first === null && document.querySelector("main h1")) seen.first = now;
    const isBusy =
      seen.first === null || document.documentElement.dataset.dashIsLoading === "true" ||
      document.querySelector(".waiting, .ag-row-loading, .dash-graph:not(:has(.main-svg)), .cotrace-grid:not(:has(.ag-root))");
    if (isBusy) seen.busy = now;
    setTimeout(look, 8);
  };
  look();
})();
"""
"""Keeps when the heading came, and when the page was last busy."""
_QUIET_MS: Final = 500


class Visit(NamedTuple):
    """What a page took."""

    name: str
    first_s: float
    complete_s: float
    blocked_s: float
    """The longest task, during which the browser answers nothing."""
    components: int
    size: int
    """Bytes over the wire."""


def run(sizes: Sequence[int] = (100_000,)) -> list[Figure]:
    """Measure, at each number of turns."""
    paths = craft_games(_PLAYED)
    return [figure for size in sizes for figure in _measured(filled(paths, size), size)]


def filled(paths: Sequence[Any], turns: int) -> Store:
    """A store of so many turns."""
    store, _ = ingest(list(paths), f"browser-{turns}.duckdb")
    judge(store)
    ask_twice(store, JUDGED_TWICE)
    attribute_games(store)
    multiply(store, turns // (_PLAYED * TURNS))
    return store


def _measured(store: Store, turns: int) -> Iterator[Figure]:
    fresh = {visit.name: visit.complete_s for visit in visits(store)}
    began = perf_counter()
    draw_ahead(store, pages_ahead(store))
    ahead = perf_counter() - began
    found = visits(store)
    at = f"{turns:,} turns"
    one_by_one = sum(fresh.values())
    base = f"{seconds(one_by_one)}: {len(fresh)} pages in the browser right after a change"
    yield Figure(f"drawing all pages and sections ahead, {at}", seconds(ahead), base, ahead / one_by_one)
    fresh_median = statistics.median(fresh.values())
    yield _held(f"complete right after a change, median of all pages, {at}", fresh_median, _COMPLETE_S)
    slowest = max(found, key=lambda visit: visit.complete_s)
    yield _held(f"first content, median of {len(found)} pages, {at}", statistics.median(v.first_s for v in found), _FIRST_S)
    yield _held(f"complete, median of all pages, {at}", statistics.median(v.complete_s for v in found), _COMPLETE_S)
    yield _held(f"complete, the slowest page: {slowest.name}, {at}", slowest.complete_s, _LONGEST_S)
    for visit in sorted(found, key=lambda visit: -visit.complete_s):
        name = f"{visit.name}, {at}: first content {seconds(visit.first_s)}, longest task {seconds(visit.blocked_s)}"
        name += f", right after a change complete in {seconds(fresh[visit.name])}"
        yield _held(name, visit.complete_s, _LONGEST_S)
    most, largest = max(found, key=lambda visit: visit.components), max(found, key=lambda visit: visit.size)
    yield _held(f"most components: {most.name}, {at}", most.components, _COMPONENTS, str)
    yield _held(f"most over the wire: {largest.name}, {at}", largest.size / 1000, _BYTES / 1000, lambda kb: f"{kb:.0f} kB")
    with _browsing(store) as (site, page):
        yield _held(f"a step in a game, median of {_STEPS}, {at}", statistics.median(_steps(page, site, addresses(store))), _STEP_S)
    said = _one(store, "SELECT count(*) FROM utterances")
    for words in _WORDS:
        yield _held(f"search for {words}: {said:,} utterances, the answer of the server", _searched(store, words), _SEARCH_S)


def _held(name: str, value: float, goal: float, write: Callable[[float], str] = seconds) -> Figure:
    return Figure(name, write(value), write(goal), value / goal, "<= 1", value <= goal)


_SHARED: Final = ("/failures", "/game")
"""Pages where what others share is loaded: the libraries of figures and of tables."""


def visits(store: Store) -> list[Visit]:
    """Every page, opened once."""
    wanted = {name: address.to() for name, address in addresses(store).items()} | {"Search, found": "/search?q=layer"}
    with _browsing(store) as (site, page):
        for shared in _SHARED:
            page.goto(site + shared)
            _settle(page)
        return [_visited(page, name, site + address) for name, address in wanted.items()]


@contextmanager
def _browsing(store: Store) -> Iterator[tuple[str, Page]]:
    from playwright.sync_api import sync_playwright
    from waitress.server import create_server

    server: Any = create_server(create_app(store).server, host="127.0.0.1", port=0, threads=8)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        page.add_init_script(_WATCH)
        yield f"http://127.0.0.1:{server.effective_port}", page
        browser.close()
    server.close()


def _visited(page: Page, name: str, address: str) -> Visit:
    answers: list[Any] = []
    sizes: list[float] = []
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))

    def keep(answer: Any) -> None:
        if "_dash-update-component" in answer.url or "_dash-layout" in answer.url:
            answers.append(answer)

    page.on("response", keep)
    page.goto(address)
    _settle(page)
    seen = page.evaluate("__seen")
    components = sum(_components(_said(answer)) for answer in answers if answer.status == 200)
    page.remove_listener("response", keep)
    wire.detach()
    longest = max(seen["tasks"], default=0)
    return Visit(name, (seen["first"] or seen["busy"]) / 1000, seen["busy"] / 1000, longest / 1000, components, round(sum(sizes)))


def _said(answer: Any) -> Any:
    """What an answer holds; None of one that the page before had asked for, which came when it was left."""
    from playwright.sync_api import Error

    try:
        return json.loads(answer.body())
    except Error:
        return None


def _settle(page: Page) -> None:
    """Wait until nothing happens any more; a page that is still busy after two minutes is taken as it is then."""
    from playwright.sync_api import TimeoutError as TooLong

    with suppress(TooLong):
        page.wait_for_function(f"__seen.first !== null && performance.now() > __seen.busy + {_QUIET_MS}")


def _components(part: Any) -> int:
    if isinstance(part, dict):
        return ("namespace" in part and "type" in part) + sum(map(_components, part.values()))
    return sum(map(_components, part)) if isinstance(part, list) else 0


def _steps(page: Page, site: str, known: Mapping[str, Any]) -> list[float]:
    """Seconds from a press of the arrow until the next turn stands on the page."""
    page.goto(site + known["Game, one turn"].to(turn=1))
    _settle(page)
    return [page.evaluate(_STEP) / 1000 for _ in range(_STEPS)]


_STEP: Final = """
() => new Promise((done) => {
  const before = document.querySelector(".turn-number").textContent;
  const began = performance.now();
  const look = () => {
    if (document.querySelector(".turn-number")?.textContent !== before) requestAnimationFrame(() => done(performance.now() - began));
    else setTimeout(look, 2);
  };
  document.querySelector('[data-key="ArrowRight"]').click();
  look();
})
"""


def _searched(store: Store, words: str) -> float:
    """Seconds of the server for the page of a search, median of three; each time as if the store had just changed."""
    from benchmarks.timing import medians
    from dashboards.address import Address
    from dashboards.drawing import draw_page
    from dashboards.reader import forget_kept

    def search() -> None:
        forget_kept()
        draw_page(store, Address("/search", {"q": (words,)}))

    return medians(3, {"search": search})["search"].wall_s


def _one(store: Store, sql: str) -> int:
    with store.reading() as connection:
        ((found,),) = connection.execute(sql).fetchall()
    return int(found)
