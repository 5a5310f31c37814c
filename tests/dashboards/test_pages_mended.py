"""What was wrong with the pages once, each in a real browser or on what the browser gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from dashboards.app import create_app
from schemas.store.store import Store
from schemas.tables import TABLES
from tests.cotrace.test_untrusted_text import sent_to_browser
from tests.dashboards.sites import serve
from tests.played import played_store

pytestmark = pytest.mark.browser

MODELS = 30
"""Teams of the wide store: with seven questions and two outcomes a table of several hundred rows."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Nine games under the engine judge."""
    return played_store(tmp_path_factory.mktemp("mended"))


@pytest.fixture(scope="module")
def site(store: Store) -> Iterator[str]:
    with serve(store) as address:
        yield address


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The same games by thirty teams."""
    store = played_store(tmp_path_factory.mktemp("wide"))
    with store.writing() as connection:
        for spec in TABLES:
            if "episode_id" in spec.column_names:
                connection.execute(_copies(spec.name, spec.column_names))
    return store


def _copies(table: str, columns: tuple[str, ...]) -> str:
    changes = ["episode_id || '~' || copy AS episode_id"]
    changes += [f"replace({name}, episode_id, episode_id || '~' || copy) AS {name}" for name in ("unit_id", "unit_key") if name in columns]
    changes += ["model || ' ' || copy AS model"] if table == "episodes" else []
    return f"INSERT INTO {table} SELECT * EXCLUDE (copy) REPLACE ({', '.join(changes)}) FROM {table}, range({MODELS // 3 - 1}) c (copy)"


def components(part: Any) -> int:
    """Dash components in what the server sends."""
    if isinstance(part, dict):
        return ("namespace" in part and "type" in part) + sum(map(components, part.values()))
    return sum(map(components, part)) if isinstance(part, list) else 0


def test_a_table_of_many_rows_does_not_freeze_the_browser(wide: Store) -> None:
    """Every table cell was a component: hundreds of rows took twenty seconds. A page has at most 500."""
    sent = [components(part) for part in sent_to_browser(create_app(wide), "/judges?rubric=spatial_grounding&show=scores")]
    assert len(sent) > 1
    assert sum(sent) <= 500


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("/failures?model=clear", "Failures · clear – cotrace"),
        ("/", "Overview – cotrace"),
        ("/spirals?benchmark=craft", "Spirals · CRAFT – cotrace"),
    ],
)
def test_tabs_tell_pages_apart(address: str, title: str, site: str, page: Page) -> None:
    """Every tab was called cotrace."""
    page.goto(site + address)
    page.wait_for_function("title => document.title === title", arg=title)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("address", ["/runs", "/", "/failures", "/spirals", "/judges"])
def test_nothing_runs_out_of_a_narrow_screen(address: str, site: str, browser: Browser) -> None:
    """At 420 pixels the menu did not wrap, and boards and tables made the page wider than the screen."""
    narrow = browser.new_page(viewport={"width": 420, "height": 860})
    narrow.goto(site + address)
    narrow.locator("main .card, main h1").first.wait_for()
    narrow.wait_for_load_state("networkidle")
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 420
    if address == "/runs":  # columns were squeezed until headings were "Ex...", "Fa...", "Co..."
        narrow.locator(".cotrace-grid .ag-header-cell-text").first.wait_for()
        assert not narrow.evaluate(
            "[...document.querySelectorAll('.ag-header-cell-text')].filter(t => t.scrollWidth > t.clientWidth).length"
        )
    assert narrow.locator("header").bounding_box()["height"] < 64  # type: ignore[index]
    narrow.locator("[data-menu]").click()
    narrow.get_by_role("link", name="Why", exact=True).wait_for()
    narrow.close()


def test_a_saved_label_begins_the_next_unit_at_its_top(site: str, browser: Browser) -> None:
    """The page stayed at its bottom, below the new messages."""
    low = browser.new_page(viewport={"width": 1000, "height": 420})
    low.goto(f"{site}/labelling?rubric=spatial_grounding&annotator=ann")
    low.locator("#label-save").wait_for()
    for question in low.locator(".card input[type=radio][value='yes'], .card label:has-text('yes') input").all():
        question.check()
    low.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    assert low.evaluate("window.scrollY") > 0
    low.locator("#label-save").click()
    low.get_by_text("ann has labelled 1 of", exact=False).wait_for()
    low.wait_for_function("window.scrollY === 0")
    low.close()
