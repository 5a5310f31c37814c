"""The page SQL in a browser: it answers what `cotrace sql` answers, completes, draws, keeps, and cannot write."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page

from analytics.query import query
from schemas.store.store import Store

pytestmark = pytest.mark.browser


def ask(page: Page, site: str, **asked: str) -> None:
    page.goto(f"{site}/sql?{urlencode(asked)}")


def test_a_query_is_written_completed_run_drawn_and_kept(played: Store, played_site: str, page: Page) -> None:
    """By keyboard alone: two letters and Tab are a table, Ctrl-Enter runs, and the rows are those of the store."""
    page.goto(f"{played_site}/sql")
    field = page.locator("#query")
    field.click()
    page.keyboard.type("SELECT model, count(*) AS n FROM gam")
    page.locator(".completion li", has_text="games").first.wait_for()
    page.keyboard.press("Tab")
    assert field.input_value().endswith("FROM games")
    page.keyboard.type(" GROUP BY ALL ORDER BY model")
    page.keyboard.press("Control+Enter")
    page.locator(".ag-row [col-id=n]", has_text="3").first.wait_for()
    rows = list(zip(*(page.locator(f".ag-row [col-id={name}]").all_inner_texts() for name in ("model", "n")), strict=True))
    assert rows == [(model, str(n)) for model, n in query(played, "SELECT model, count(*) FROM games GROUP BY ALL ORDER BY model").rows()]
    page.get_by_role("link", name="bars", exact=True).click()
    page.locator(".js-plotly-plot .bars .point").first.wait_for()
    page.locator("[name=name]").fill("games of teams")
    page.locator("[data-save]").click()
    page.wait_for_function("document.title.startsWith('games of teams')")
    page.goto(f"{played_site}/sql")
    page.locator(".saved a", has_text="games of teams").click()
    page.locator(".ag-row [col-id=n]").first.wait_for()


def test_nothing_can_be_written_and_mistakes_are_one_line(played: Store, played_site: str, page: Page) -> None:
    """The gate of `cotrace sql` stands before it; a slip says what is wrong."""
    for wrong, said in (
        ("DELETE FROM games", "read-only"),
        ("COPY games TO 'x.csv'", "read-only"),
        ("SELECT * FROM read_csv('/etc/passwd')", "disabled"),
        ("SELECT modle FROM games", "modle"),
    ):
        ask(page, played_site, query=wrong)
        page.locator("main .note", has_text=said).wait_for()
    assert query(played, "SELECT count(*) FROM games").item() == 9


def test_every_table_leads_to_its_query(played_site: str, page: Page) -> None:
    """The link beside a table opens the page with what gives the same rows."""
    page.goto(f"{played_site}/game?model=vague&model=clear")
    page.get_by_role("link", name="Query").click()
    page.wait_for_url("**/sql?**")
    page.locator("main h2", has_text="3 rows").wait_for()
