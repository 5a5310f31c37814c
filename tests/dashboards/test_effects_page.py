"""Effects in a browser: each question as a figure, as the report's own sentences, and as a table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from analytics.reports import report
from dashboards.address import Address
from dashboards.page_file import page_file
from dashboards.pages.effects import QUESTIONS
from schemas.store.store import Store
from tests.ingest.asked import ingested, written

pytestmark = pytest.mark.browser


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ask", ["transitions", "survival", "ability", "power"])
def test_a_question_is_drawn_and_says_what_follows(played: Store, played_site: str, page: Page, ask: str) -> None:
    """The sentences are those of the report of the first family; its rows are in the table."""
    page.goto(f"{played_site}/effects?ask={ask}")
    page.locator("h2", has_text=QUESTIONS[ask].title).wait_for()
    shown = page.locator(".card li").first
    shown.wait_for()
    rows = report(played, QUESTIONS[ask].report)
    # a team is called there what it is called on all pages
    assert shown.inner_text() in {re.sub(r"\bdirector (\w+), builder literal\b", r"\1", sentence) for sentence in rows["advice"]}
    page.locator(".js-plotly-plot").first.wait_for()
    page.locator(".fold summary").first.click()
    page.locator(".fold .ag-row").first.wait_for()


@pytest.mark.long
def test_survival_shows_another_event(played_site: str, page: Page) -> None:
    """By a click, and the address says so."""
    page.goto(f"{played_site}/effects?ask=survival")
    page.get_by_role("link", name="first refused action", exact=True).click()
    page.wait_for_url("**event=first**")
    expect(page.locator(".js-plotly-plot .ytitle").first).to_have_text("games without first refused action")


def test_sentences_are_about_the_event_that_is_shown(played_site: str, page: Page) -> None:
    """Under the curve of completion stood what holds of the first refused action."""
    page.goto(f"{played_site}/effects?ask=survival&event=first+refused+action")
    page.locator(".card li").first.wait_for()
    assert [said for said in page.locator(".card li").all_inner_texts() if not said.startswith("first refused action, ")] == []
    page.goto(f"{played_site}/effects?ask=survival&event=first+spiral")
    page.locator(".card li").first.wait_for()
    assert [said for said in page.locator(".card li").all_inner_texts() if not said.startswith("first spiral, ")] == []


@pytest.mark.long
def test_a_report_without_sentences_is_drawn(tmp_path: Path) -> None:
    """pass@k and pass^k of a team that tried each of four tasks three times; the report has no sentence to show."""
    talk = [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "done"}]
    rows = [
        {
            "task_id": f"task {task}",
            "model": "m",
            "success": tried < task,
            "messages": [*talk, {"role": "user", "content": f"{task} {tried}"}],
        }
        for task in range(4)
        for tried in range(3)
    ]
    found = ingested(tmp_path, written(tmp_path / "runs.jsonl", *map(json.dumps, rows)))
    drawn = page_file(found.store, Address("/effects", {"ask": ("attempts",)}))
    assert [text in drawn for text in ("k = 3", "pass^k", "could not be drawn", "The surest 0")] == [True, True, False, False]
