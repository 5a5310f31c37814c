"""Runs in a browser: what was played, judged and read, and what comes in while one looks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from analytics.query import query
from dashboards.app import create_app
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.lake.store import LakeStore, copy_from
from schemas.store.store import Store
from schemas.store.stores import store_at
from tests.dashboards.sites import serve
from tests.places import ROOT
from tests.played import played_store

pytestmark = pytest.mark.browser


@pytest.fixture
def page(own_page: Page) -> Page:
    """Of one's own: tests set its clock."""
    return own_page


_WHOLE_ROWS = """() => {
    const shown = document.querySelector(".ag-body-viewport").clientHeight, row = document.querySelector(".ag-row").offsetHeight;
    return Math.abs(shown - row * Math.min(document.querySelectorAll(".ag-row").length, 10)) <= 2;
}"""
"""A table ends below a row, not in the middle of one."""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("kind", "table"), [("read", "sources"), ("judged", "judge_runs"), ("played", "runs")])
def test_every_kind_has_the_rows_of_the_store(kind: str, table: str, played: Store, played_site: str, page: Page) -> None:
    """Experiments, scoring jobs and files, each as many as there are."""
    page.goto(f"{played_site}/runs?show={kind}")
    number = query(played, f"SELECT count(*) FROM {table}").item()
    page.wait_for_function("number => document.querySelectorAll('.ag-row').length === number", arg=number)
    page.wait_for_function(_WHOLE_ROWS)


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["file", "lake", "empty"])
def test_a_store_that_comes_later_shows_without_a_reload(played: Store, tmp_path: Path, page: Page, kind: str) -> None:
    """Whatever page it is: one that has nothing to show yet follows the store."""
    path = tmp_path / "later"
    store = store_at(f"lake:{path}" if kind == "lake" else path)
    if kind == "empty":
        store.create()
    with serve(store) as site:
        page.clock.install()
        page.goto(f"{site}/runs")
        page.get_by_text(
            "has no games yet" if kind == "empty" else f"no {'lake' if kind == 'lake' else 'store'} at", exact=False
        ).wait_for()
        look(page)
        if kind == "lake":
            assert isinstance(store, LakeStore)
            copy_from(store, played)
        else:
            path.with_suffix(".new").write_bytes(played.path.read_bytes())
            path.with_suffix(".new").replace(path)
        look(page)
        page.get_by_text("Nothing is under way.", exact=False).wait_for()
        page.goto("about:blank")


def test_new_verdicts_show_without_a_reload(tmp_path: Path, page: Page) -> None:
    """The page of runs follows the store; another page says that there is new data, and draws it when asked."""
    store = played_store(tmp_path, judged=False)
    with serve(store) as site:
        page.clock.install()
        page.goto(f"{site}/runs?show=judged")
        page.get_by_text("Nothing is under way.", exact=False).wait_for()
        look(page)
        expect(page.locator(".ag-row")).to_have_count(0)
        run(JudgeRequest(rubric=find("spatial_grounding")), store)
        look(page)
        page.locator(".ag-row", has_text="spatial grounding").wait_for()
        page.goto(f"{site}/judges")
        page.locator("main h1").wait_for()
        look(page)
        run(JudgeRequest(rubric=find("pragmatic_sufficiency")), store)
        look(page)
        page.locator("#news button").click()
        page.get_by_text("pragmatic sufficiency", exact=False).first.wait_for()
        page.locator(".main-svg").first.wait_for()
        page.goto("about:blank")  # before the server goes


def drawing(page: Page) -> str | None:
    """Which drawing of the page is there: each has a name of its own."""
    return page.locator("[data-drawing]").get_attribute("data-drawing")


def look(page: Page) -> None:
    """Let the page look for news, as it does every few seconds, and do what follows from it."""
    with page.expect_response("**/-/state"):
        page.clock.fast_forward(3000)
    page.wait_for_load_state("networkidle")


def test_a_look_that_fails_is_no_news(played_site: str, page: Page) -> None:
    """The page was drawn once too often where the first look met a busy store."""
    page.clock.install()
    page.goto(f"{played_site}/runs")
    page.locator(".ag-row").first.wait_for()
    first = drawing(page)
    page.route("**/-/state", lambda route: route.fulfill(body=""), times=1)
    look(page)
    look(page)
    page.wait_for_timeout(300)
    assert drawing(page) == first


def test_what_came_before_the_first_look_is_news(played: Store, tmp_path: Path, page: Page) -> None:
    """The first look took the store as it found it for what the page showed."""
    store = Store(tmp_path / "s.duckdb")
    store.path.write_bytes(played.path.read_bytes())
    with serve(store) as site:
        page.clock.install()
        page.goto(f"{site}/runs")
        page.locator(".ag-row").first.wait_for()
        first = drawing(page)
        store.path.touch()
        look(page)
        page.wait_for_function("first => document.querySelector('[data-drawing]').dataset.drawing !== first", arg=first, timeout=5000)
        page.goto("about:blank")


def test_a_page_that_is_drawn_afresh_has_no_news(played: Store, tmp_path: Path, page: Page) -> None:
    """It still offered to refresh what it had just drawn."""
    store = Store(tmp_path / "s.duckdb")
    store.path.write_bytes(played.path.read_bytes())
    with serve(store) as site:
        page.clock.install()
        page.goto(f"{site}/judges")
        page.locator(".main-svg").first.wait_for()
        store.path.touch()
        look(page)
        page.locator("#news button").wait_for()
        page.get_by_role("link", name="Spirals").click()
        expect(page.get_by_role("heading", name="Spirals", exact=True)).to_be_visible()
        expect(page.locator("#news button")).to_have_count(0)
        page.goto("about:blank")


def test_a_server_that_is_gone_is_told_of_until_it_is_back(played_site: str, browser: Browser) -> None:
    """A click changed the address and not the page, without a word; what it led to shows when the server answers again."""
    page = browser.new_page()  # its console tells of each request that fails
    page.clock.install()
    page.goto(f"{played_site}/runs")
    page.locator(".ag-row").first.wait_for()
    for pattern in ("**/-/state", "**/_dash-update-component*"):
        page.route(pattern, lambda route: route.abort())
    page.get_by_role("link", name="Spirals").click()
    page.clock.fast_forward(3000)
    expect(page.get_by_role("status")).to_have_text("cotrace dash does not answer: is it still running?")
    page.unroute_all()
    page.clock.fast_forward(3000)
    expect(page.get_by_role("heading", name="Spirals", exact=True)).to_be_visible()
    expect(page.get_by_role("status")).to_be_empty()
    page.close()


def test_a_server_that_was_started_again_has_no_news(played: Store) -> None:
    """Each process told the same store by another text, so that every open page offered a refresh."""
    program = "import sys; from dashboards.app import create_app; from schemas.store.store import Store; from pathlib import Path;"
    program += "print(create_app(Store(Path(sys.argv[1]))).server.test_client().get('/-/state').text)"
    other = subprocess.run([sys.executable, "-c", program, str(played.path)], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert other == f"{create_app(played).server.test_client().get('/-/state').text}\n"
