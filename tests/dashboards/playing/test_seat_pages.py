"""Two people at two browsers play a game to its end, by the forms that the page offers, and say what they thought of each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from analytics.query import query
from dashboards.playing.app import create_play_app
from dashboards.playing.tables import Tables
from dashboards.requests import LOCAL
from games.asympuzl.puzzle import Puzzle, generate
from games.players.running import RunTerms
from ingest.files.run import ingest_paths
from providers.provider import ModelSettings
from schemas.store.store import Store
from tests.dashboards.sites import served

pytestmark = pytest.mark.browser


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[str]:
    """The address of a server of tables."""
    app = create_play_app(Tables(tmp_path / "logs", (), RunTerms(settings=ModelSettings(model=""))), access=LOCAL)
    with served(app) as address:
        yield address


def solve(page: Page, puzzle: Puzzle) -> None:
    """Overwrite every position with what is right, by the form, and send it."""
    expect(page.locator("#form")).to_be_visible()
    page.get_by_label("message to your partner").fill('I see "all" of it')
    for place, entry in enumerate(puzzle.truth, start=1):
        page.get_by_label("position").select_option(str(place))
        page.get_by_label("shape").select_option(entry.shape)
        page.get_by_label("color").select_option(str(entry.color))
        page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Send").click()


def test_two_people_play_to_the_end_and_are_asked_what_they_thought(page: Page, browser: Browser, tables: str, tmp_path: Path) -> None:
    """From the page that opens games to labels in the store; the log is read without a disagreement."""
    page.goto(tables)
    page.get_by_role("combobox", name="Game", exact=True).select_option("asympuzl")
    for seat in ("A", "B"):
        page.get_by_label(seat, exact=True).select_option("human")
    page.get_by_label("Number of the game").fill("5")
    page.get_by_role("button", name="Begin").click()
    links = page.locator("#links a")
    expect(links).to_have_count(2)
    first, second = (str(link.get_attribute("href")) for link in links.all())
    other = browser.new_page(viewport={"width": 420, "height": 900})
    puzzle = generate(size=5, seed=5)
    page.goto(tables + first)
    other.goto(tables + second)
    expect(other.locator("#told")).to_have_text("The others are playing")
    expect(page.locator("#picture")).to_contain_text("Your clues")
    solve(page, puzzle)
    solve(other, puzzle)
    for player in (page, other):
        expect(player.locator("#waits")).to_contain_text("the goal was reached after 1 turn")
    assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")
    survey = page.locator("#survey")
    survey.get_by_label("strongly agree").first.check()
    survey.get_by_label("disagree", exact=True).nth(2).check()
    survey.get_by_role("button", name="Send").click()
    expect(survey).to_contain_text("Thank you")
    other.close()
    store = Store(tmp_path / "s.duckdb")
    assert ingest_paths([tmp_path / "logs"], store, workers=1).episodes == 1
    labels = query(store, "SELECT source, annotator, rubric, question, agent, answer, score FROM labels ORDER BY question").rows()
    assert labels == [
        ("survey", "player A", "partner_survey", "Q1", "A", "strongly_agree", 1.0),
        ("survey", "player A", "partner_survey", "Q3", "A", "disagree", 0.25),
    ]
    assert query(store, "SELECT * FROM log_disagreements").is_empty()
    (log,) = (tmp_path / "logs").rglob("*.jsonl")
    said = json.loads(log.read_text("utf-8").splitlines()[1])["utterances"]
    assert {line["text"] for line in said if line["channel"] == "public"} == {'I see "all" of it'}
