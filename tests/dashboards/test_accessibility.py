"""Pages in both themes under axe-core: contrast, names, landmarks, what a keyboard reaches; in `make test-long` every page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from analytics.query import query
from dashboards.pages import pages
from games.experiments.plan import play
from ingest.files.run import ingest_paths
from schemas.families import families
from schemas.store.store import Store
from tests.dashboards.sites import serve
from tests.masters import held_open
from tests.played import played_store

pytestmark = pytest.mark.browser

MORE = {
    "/game": "?episode={game}&turn=2",
    "/labelling": "?annotator=ann&rubric=spatial_grounding",
    "/search": "?q=block",
    "/sql": "?query=SELECT+*+FROM+games&chart=bars",
    "/turns": "?turn=2",
}
"""What a page needs to show all that it has."""

OF_FAMILIES = [page.PATH for page in pages() if hasattr(page, "BENCHMARK")]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games of every family."""
    folder = tmp_path_factory.mktemp("families")
    store = played_store(folder)
    for family in families():
        if family.name != "craft":
            settings: dict[str, Any] = {"game": "hanabi"} if family.name == "coordination" else {}
            play(family.name, folder / "more" / family.name, games=1, **settings)
    ingest_paths([folder / "more"], store, workers=1)
    Store.settle(store)
    yield from held_open(store)


@pytest.fixture(scope="module")
def site(stored: Store) -> Iterator[tuple[str, str]]:
    """The address of a dashboard over these games, and one of the games."""
    game = query(stored, "SELECT min(episode_id) FROM games WHERE benchmark = 'craft'").item()
    with serve(stored) as address:
        yield address, game


def _check(page: Page, site: tuple[str, str], path: str) -> None:
    """No finding of any weight in the light theme, none of contrast in the dark one."""
    address, game = site
    page.goto(address + path + MORE.get(path, "").format(game=game))
    page.locator("main h1").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelectorAll('[data-marks]').forEach(list => { list.open = true; })")
    light = Axe().run(page)
    assert not light.violations_count, light.generate_report()
    page.evaluate("cotrace.setTheme('dark')")
    dark = Axe().run(page, options={"runOnly": ["color-contrast"]})
    assert not dark.violations_count, dark.generate_report()


@pytest.mark.parametrize("path", ["/", "/game", pytest.param("/remove-gap", marks=pytest.mark.long)])
def test_axe_finds_nothing_in_a_store_of_one_family(path: str, played: Store, played_site: str, page: Page) -> None:
    """A page about everything, a game's with its board and its form, and a family's."""
    _check(page, (played_site, query(played, "SELECT min(episode_id) FROM games").item()), path)


@pytest.mark.long
@pytest.mark.parametrize("path", [page.PATH for page in pages() if page.PATH not in OF_FAMILIES])
def test_axe_finds_nothing(path: str, site: tuple[str, str], page: Page) -> None:
    """On pages about everything."""
    _check(page, site, path)


@pytest.mark.long
@pytest.mark.parametrize("path", OF_FAMILIES)
def test_axe_finds_nothing_on_a_page_of_a_family(path: str, site: tuple[str, str], page: Page) -> None:
    """They were notes that no game is there, in a store of one family."""
    _check(page, site, path)


@pytest.mark.long
@pytest.mark.parametrize("family", [family.name for family in families()])
def test_axe_finds_nothing_on_a_game_on_a_phone(family: str, site: tuple[str, str], stored: Store, page: Page) -> None:
    """Tables of AsymPuzl and Avalon that scroll there could not be reached by keyboard."""
    page.set_viewport_size({"width": 420, "height": 860})
    game = query(stored, "SELECT min(episode_id) FROM games WHERE benchmark = $family", {"family": family}).item()
    _check(page, (site[0], game), "/game")
