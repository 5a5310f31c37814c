"""Search in a browser: what is found is what the store holds, marked, and one click from its turn."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from analytics.query import query
from schemas.store.store import Store

pytestmark = pytest.mark.browser


def found(store: Store, *words: str) -> int:
    """Texts of the store that hold all of the words."""
    texts = query(store, "SELECT text FROM utterances UNION ALL SELECT reason FROM verdicts WHERE reason IS NOT NULL")["text"]
    return sum(all(word in text.lower() for word in words) for text in texts)


def test_words_are_found_marked_and_lead_to_their_turn(played: Store, played_site: str, page: Page) -> None:
    """From any page: /, words, Enter; facets narrow; the turn opens with the words marked."""
    page.goto(f"{played_site}/")
    page.locator("main h1").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("BLUE block")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=BLUE+block")
    page.locator(".hit mark").first.wait_for()
    number = found(played, "blue", "block")
    assert number > 30
    assert page.locator(".lead").inner_text().replace("\u202f", "").startswith(f"{number} texts")
    assert {mark.lower() for mark in page.locator(".hit mark").all_inner_texts()} == {"blue", "block"}
    page.locator("main .choice", has_text="thoughts").click()
    page.wait_for_url("**kind=thoughts**")
    page.locator(".hit a").first.click()
    page.locator(".stage .said mark").first.wait_for(state="attached")


def test_a_name_is_found_and_nothing_says_so(played_site: str, page: Page) -> None:
    """Teams and tasks by name; a phrase that nobody said finds nothing."""
    page.goto(f"{played_site}/search?q=over_remover")
    page.get_by_text("Games by name").wait_for()
    page.goto(f"{played_site}/search?q=%22blue+yesterday%22")
    page.get_by_text("Nothing was found").wait_for()
