"""What page tests share: one browser, and one dashboard over games that no test changes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from schemas.store.store import Store
from tests.dashboards.sites import serve
from tests.masters import held_open
from tests.played import played_store


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, best without windows of its own: a page then takes half as long.

    No longer than a module, since Playwright holds an event loop that would stop every other of its thread.
    """
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path is None:
        pytest.fail("page tests need Debian's Chromium: apt-get install chromium-headless-shell (or leave them out with -m 'not browser')")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test if the browser's console shows an error or a warning.

    Nothing moves in it: without a graphics card each frame costs as much as the page.
    """
    page = browser.new_page(viewport={"width": 1400, "height": 1000}, reduced_motion="reduce")
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    page.close()
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
