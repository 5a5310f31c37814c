"""What page tests share: one browser, and one dashboard over games that no test changes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, ViewportSize, sync_playwright

from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.dashboards.sites import serve
from tests.ingest.asympuzl import asympuzl_logs
from tests.masters import copied, held_open
from tests.played import played_store

SIZE: ViewportSize = {"width": 1400, "height": 1000}


class Chromium(NamedTuple):
    """The browser of a process."""

    browser: Browser
    tab: Page
    """The page that tests share: its process has compiled the scripts, which is a third of what a page costs."""
    loop: asyncio.AbstractEventLoop


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """Debian's Chromium, best without windows of its own: a page then takes half as long."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path is None:
        pytest.fail("page tests need Debian's Chromium: apt-get install chromium-headless-shell (or leave them out with -m 'not browser')")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        loop = asyncio.get_running_loop()
        yield Chromium(browser, _new_page(browser), loop)
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture(scope="module")
def browser(chromium: Chromium) -> Iterator[Browser]:
    """That of all modules; between them its event loop, which would stop every other of its thread, is out of the way."""
    asyncio._set_running_loop(chromium.loop)
    yield chromium.browser
    asyncio._set_running_loop(None)


@pytest.fixture
def page(browser: Browser, chromium: Chromium) -> Iterator[Page]:  # noqa: ARG001 - its event loop must be there
    """A page that fails the test if the browser's console shows an error or a warning; as if it were new."""
    tab = chromium.tab
    tab.set_viewport_size(SIZE)
    with _heard(tab):
        yield tab
    if tab.url.startswith("http"):
        tab.evaluate("localStorage.clear()")
    tab.goto("about:blank")
    tab.context.clear_cookies()
    tab.emulate_media(media="null")


@pytest.fixture
def own_page(browser: Browser) -> Iterator[Page]:
    """The same for a test that changes what cannot be changed back, such as the clock."""
    page = _new_page(browser)
    with _heard(page):
        yield page
    page.close()


def _new_page(browser: Browser) -> Page:
    """Nothing moves in it: without a graphics card each frame costs as much as the page."""
    return browser.new_page(viewport=SIZE, reduced_motion="reduce")


@contextmanager
def _heard(page: Page) -> Iterator[None]:
    """Fails if the console shows an error or a warning meanwhile."""
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    def fail(error: Error) -> None:
        complaints.append(str(error))

    page.on("console", listen)
    page.on("pageerror", fail)
    yield
    page.remove_listener("console", listen)
    page.remove_listener("pageerror", fail)
    assert complaints == []


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Nine games of three personas under the engine judge: read it, never write to it."""
    yield from held_open(played_store(tmp_path_factory.mktemp("played")))


@pytest.fixture(scope="session")
def played_site(played: Store) -> Iterator[str]:
    """The address of the dashboard over these games."""
    with serve(played) as address:
        yield address


@pytest.fixture(scope="session")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games of two benchmarks: read it, never write to it."""

    def fill(folder: Path) -> None:
        store = played_store(folder, judged=False)
        lines = asympuzl_logs.log_of([asympuzl_logs.answer("mine", asympuzl_logs.replace(1, "cross", "navy"))] * 6)
        ingest_paths([asympuzl_logs.write(folder / "asympuzl" / "game.jsonl", lines)], store, workers=1)
        Store.settle(store)

    folder = tmp_path_factory.mktemp("mixed")
    copied("mixed", fill, folder)
    yield from held_open(Store(folder / "played.duckdb"))
