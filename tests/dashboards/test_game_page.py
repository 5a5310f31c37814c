"""The page Game in a browser: one screen a turn, by mouse and by key."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from analytics.query import query
from schemas.store.store import Store

pytestmark = pytest.mark.browser

SCREEN: Final[ViewportSize] = {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def game(played: Store) -> str:
    """The game that lost most, which has several turns that lost something."""
    rows = query(played, "SELECT episode_id FROM costly_turns GROUP BY ALL HAVING count(*) > 1 ORDER BY max(lost_in_game) DESC LIMIT 1")
    return str(rows.item())


def at_turn(page: Page, turn: int) -> None:
    page.wait_for_function("turn => document.querySelector('.turn-number')?.textContent === turn", arg=str(turn))


def test_a_turn_is_one_screen(played: Store, played_site: str, game: str, page: Page) -> None:
    """Board, messages, and the sentence with the cost that the store has, all inside 1440 x 900; the decisive turn is one click away."""
    page.set_viewport_size(SCREEN)
    page.goto(f"{played_site}/game?episode={game}&turn=1")
    at_turn(page, 1)
    decisive, cost = query(played, f"SELECT turn, cost FROM decisive_turns WHERE episode_id = '{game}'").row(0)
    page.locator(".stage-verdict a").click()
    at_turn(page, decisive)
    assert f"It cost {cost:.3f}".replace(" 0.", " .") in page.locator(".why").inner_text()
    assert page.locator(".state .grid").count() == 9  # three layers before, after, and of the target
    assert page.evaluate("document.documentElement.scrollHeight") <= SCREEN["height"]
    assert page.locator(".tick").count() == query(played, f"SELECT count(*) FROM turns WHERE episode_id = '{game}'").item()


def test_negative_verdicts_come_with_their_question(played: Store, played_site: str, page: Page) -> None:
    """Those that object stand open with the question's text, PS6 where it says yes, for it asks about a fault; the rest is folded."""
    row = query(
        played,
        "SELECT episode_id, turn, count(*) AS n FROM verdicts_latest WHERE CASE question WHEN 'PS6' THEN 1 - score ELSE score END = 0 "
        "GROUP BY ALL ORDER BY count(*) FILTER (WHERE question = 'PS6') DESC, n DESC, 1, 2 LIMIT 1",
    )
    episode, turn, no = row.row(0)
    page.goto(f"{played_site}/game?episode={episode}&turn={turn}")
    at_turn(page, turn)
    assert page.locator(".happened .verdicts:not(details *) > li").count() == no
    assert page.locator(".happened .verdicts:not(details *) .ask").first.inner_text().endswith("?")
    assert page.locator(".happened details .verdicts > li").first.is_hidden()


def test_keys_step_and_nothing_jumps(played: Store, played_site: str, game: str, browser: Browser) -> None:
    """Arrows step, n goes to the next loss, play goes on by itself, / searches; scroll and focus stay."""
    page = browser.new_page(viewport={"width": 420, "height": 600})
    page.goto(f"{played_site}/game?episode={game}&turn=1")
    at_turn(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.locator("[data-key=ArrowRight]").focus()
    page.evaluate("window.scrollTo(0, 150)")
    page.keyboard.press("ArrowRight")
    at_turn(page, 2)
    assert page.evaluate("[window.scrollY, document.activeElement.dataset.key]") == [150, "ArrowRight"]
    page.keyboard.press("ArrowLeft")
    at_turn(page, 1)
    costly = query(played, f"SELECT min(turn) FROM costly_turns WHERE episode_id = '{game}' AND turn > 1").item()
    while int(page.locator(".turn-number").inner_text()) < costly:
        before = page.locator(".turn-number").inner_text()
        page.keyboard.press("n")
        page.wait_for_function("turn => document.querySelector('.turn-number').textContent !== turn", arg=before)
    at_turn(page, costly)
    page.locator("[data-play]").click()
    at_turn(page, costly + 1)
    page.locator("[data-play]").click()
    assert page.evaluate("document.documentElement.dataset.playing") is None
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search-words"
    page.close()


def test_what_is_found_in_a_game_is_marked(played_site: str, game: str, page: Page) -> None:
    """The field of the game marks the words, and the turns that have them."""
    page.goto(f"{played_site}/game?episode={game}&turn=1")
    at_turn(page, 1)
    page.keyboard.press("f")
    page.keyboard.type("block")
    page.keyboard.press("Enter")
    page.locator(".said mark").first.wait_for(state="attached")
    assert "find=block" in page.url
    assert page.locator(".tick.hit").count() > 0


def test_a_fold_stays_open_from_turn_to_turn(played_site: str, game: str, page: Page) -> None:
    """Whoever unfolds all verdicts has them all on the next turn too."""
    page.goto(f"{played_site}/game?episode={game}&turn=1")
    at_turn(page, 1)
    page.locator("details[data-fold=verdicts] > summary").click()
    page.keyboard.press("ArrowRight")
    at_turn(page, 2)
    assert page.locator("details[data-fold=verdicts]").get_attribute("open") is not None


def test_a_row_opens_by_keyboard(played_site: str, page: Page) -> None:
    """The focus is on a cell: Enter did nothing, and the list of games was for the mouse alone."""
    page.goto(f"{played_site}/game")
    page.locator(".ag-row .ag-cell a").first.wait_for()
    page.locator(".ag-row .ag-cell").nth(1).click()
    page.keyboard.press("Enter")
    page.locator(".turn-number").wait_for()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("place", ["over a network", "at home"])
def test_a_link_can_be_copied_wherever_the_page_comes_from(played: Store, played_site: str, browser: Browser, place: str) -> None:
    """Over plain HTTP from another machine browsers give no clipboard: the button did nothing, and nowhere did it say what it had done."""
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = context.new_page()
        if place != "at home":
            page.add_init_script("Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })")
        address = f"{played_site}/game?episode={query(played, 'SELECT min(episode_id) FROM games').item()}&turn=2"
        page.goto(address)
        page.get_by_role("button", name="copy link").click()
        page.get_by_role("button", name="copied").wait_for()
        page.get_by_label("Search").press("Control+v")
        assert page.get_by_label("Search").input_value() == address
