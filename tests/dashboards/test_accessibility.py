"""Every page in both themes under axe-core: contrast, names, landmarks, what a keyboard reaches."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from analytics.query import query
from dashboards.pages import pages
from schemas.store.store import Store

pytestmark = pytest.mark.browser

MORE = {"/game": "?episode={game}&turn=2", "/search": "?q=block", "/sql": "?query=SELECT+*+FROM+games&chart=bars", "/turns": "?turn=2"}
"""What a page needs to show all that it has."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", [page.PATH for page in pages()])
def test_axe_finds_nothing(path: str, played: Store, played_site: str, page: Page) -> None:
    """No finding of any weight in the light theme, none of contrast in the dark one."""
    game = query(played, "SELECT min(episode_id) FROM games").item()
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(played_site + path + MORE.get(path, "").format(game=game))
    page.locator("main h1").first.wait_for()
    page.wait_for_load_state("networkidle")
    light = Axe().run(page)
    assert not light.violations_count, light.generate_report()
    page.evaluate("cotrace.setTheme('dark')")
    dark = Axe().run(page, options={"runOnly": ["color-contrast"]})
    assert not dark.violations_count, dark.generate_report()
