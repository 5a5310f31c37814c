"""`python tools/make_pictures.py STORE OUT`: pictures of every page, 1440 and 420 pixels wide, light and dark, to be looked at one by one.

With `--front FAMILY` OUT is a file: the first screen. docs/overview.png is over three published CRAFT games of models,
two of another one, those of `cotrace/demo_games` and four scripted teams,
docs/overview_avalon.png over two folders of published games of Avalon (12 with five players, 10 with seven) and those of
`cotrace/demo_games`.

The store should hold every family, judged and attributed; pages that need a game, a rubric or a query get one that the store has.
"""

import argparse
import logging
import shutil
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright
from werkzeug.serving import make_server

from analytics.query import query
from dashboards.app import create_app
from dashboards.pages import pages
from dashboards.pages.judges import SECTIONS
from schemas.store.store import Store

WIDTHS = {1440: 900, 420: 860}
THEMES = ("light", "dark")
SHOWS = tuple(section.name for section in SECTIONS)
QUERY = "SELECT benchmark, count(*) AS games FROM games GROUP BY ALL ORDER BY games DESC"


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures."""
    parser = argparse.ArgumentParser(prog="make_pictures", description=(__doc__ or "").partition(": ")[2])
    parser.add_argument("store", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", metavar="WORD", help="only pages with this word in their name")
    parser.add_argument(
        "--front", metavar="FAMILY", help="only what the Overview of a family shows first, into the file OUT: the pictures of the README"
    )
    asked = parser.parse_args(arguments)
    (asked.out.parent if asked.front else asked.out).mkdir(parents=True, exist_ok=True)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    store = Store(asked.store)
    server = make_server("127.0.0.1", 0, create_app(store).server, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        if asked.front:
            front(browser, f"http://127.0.0.1:{server.server_port}/?benchmark={asked.front}", asked.out)
        for name, address in addresses(store).items() if not asked.front else ():
            if asked.only in name:
                take(browser, f"http://127.0.0.1:{server.server_port}{address}", asked.out / name)
        browser.close()
    server.shutdown()
    return 0


def addresses(store: Store) -> dict[str, str]:
    """Name of a picture -> address: every page as it opens, every rubric section, and of each family its costliest decisive turn."""
    found = {page.PATH.strip("/").replace("/", "-") or "overview": page.PATH for page in pages()}
    found |= {f"judges-{show}": f"/judges?rubric=spatial_grounding&show={show}" for show in SHOWS}
    found |= {
        "search-found": "/search?q=block",
        "labelling-unit": "/labelling?annotator=ann",
        "sql-chart": f"/sql?{urlencode({'query': QUERY, 'chart': 'bars'})}",
    }
    for benchmark, episode, turn in query(store, _GAMES).rows():
        found[f"overview-{benchmark}"] = f"/?benchmark={benchmark}"
        found[f"game-{benchmark}"] = f"/game?{urlencode({'episode': episode, 'turn': turn})}"
    return found


_GAMES = """
    WITH decided AS (
        SELECT episodes.benchmark, episode_id, coalesce(decisive_turns.turn, 1) AS turn,
            CASE WHEN isfinite(cost) THEN cost ELSE 0 END AS cost
        FROM episodes LEFT JOIN decisive_turns USING (episode_id) WHERE turns_taken > 0
    )
    SELECT benchmark, arg_max(episode_id, (cost, episode_id)), arg_max(turn, (cost, episode_id)) FROM decided GROUP BY ALL ORDER BY ALL
"""


def front(browser: Browser, address: str, place: Path) -> None:
    """The answers and the figure of the Overview, light."""
    page = browser.new_page(viewport={"width": 1440, "height": 1100})
    page.goto(address)
    page.locator(".wide-only .main-svg").first.wait_for(timeout=120_000)
    page.wait_for_timeout(600)
    page.locator(".card").first.screenshot(path=place)
    page.close()


_DRAWN = """() => !document.querySelector('.waiting, .ag-row-loading, .ag-loading') && [...document.querySelectorAll('.grid-box')].every(
    box => !box.checkVisibility() || box.querySelector('.ag-row, .ag-overlay-no-rows-center'))"""
"""No card and no table that is unfolded is still to come: a grid draws itself after the network is idle."""


def take(browser: Browser, address: str, place: Path) -> None:
    """The page in every width and theme; what a screen shows first, and below it the whole page."""
    for width, height in WIDTHS.items():
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(600_000)  # on a machine that others use too
        page.on("console", lambda said: print(f"{place.name}: console: {said.text}") if said.type == "error" else None)
        page.on("pageerror", lambda error: print(f"{place.name}: {error}"))
        page.goto(address)
        page.locator("main .card, main .note, main .stage, main h1").first.wait_for()
        page.wait_for_load_state("networkidle")
        for above in range(0, page.evaluate("document.documentElement.scrollHeight"), height):  # what is below is drawn when it is seen
            page.evaluate(f"scrollTo(0, {above})")
            page.wait_for_timeout(200)
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_load_state("networkidle")
        page.wait_for_function(_DRAWN)
        tall = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": width, "height": max(height, tall)})  # what is far below the screen may not be painted
        page.wait_for_timeout(300)
        for theme in THEMES:
            page.evaluate(f"cotrace.setTheme('{theme}')")
            page.wait_for_timeout(200)
            page.screenshot(path=place.with_name(f"{place.name}-{width}-{theme}.png"), full_page=True)
        wide = page.evaluate("document.documentElement.scrollWidth")
        print(f"{place.name} at {width}: {tall} pixels high{f', {wide} WIDE' if wide > width else ''}", flush=True)
        page.close()


if __name__ == "__main__":
    sys.exit(main())
