"""The dashboard in a real browser: what a person sees, chooses and clicks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from analytics.query import query
from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.parts import to_html
from schemas.store.store import Store
from tests.dashboards.sites import serve
from tests.played import HOSTILE_TEXT, played_store

pytestmark = pytest.mark.browser

PAGES = {
    "/": "9 games, 108 turns.",
    "/why": "Which step failed: seeing, saying, understanding, acting",
    "/failures": "What went wrong",
    "/remove-gap": "Turn by turn",
    "/spirals": "Games, turn by turn",
    "/judges": "By question",
    "/labelling": "Who labels?",
    "/asympuzl": "No AsymPuzl game in this store.",
    "/overcooked": "No Collab-Overcooked game in this store.",
    "/game": "Games",
    "/turns?outcome=not_followed": "Turns: not followed",
}


ROWS = "document.querySelectorAll('.cotrace-grid .ag-row').length"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Games with a hostile message and a hostile model name planted among them."""
    store = played_store(tmp_path_factory.mktemp("pages"))
    with store.writing() as connection:
        connection.execute("UPDATE utterances SET text = ? WHERE turn = 1 AND channel = 'public'", [HOSTILE_TEXT])
        connection.execute("UPDATE episodes SET model = ? WHERE model = 'clear'", ["<b>clear</b>"])
    return store


@pytest.fixture(scope="module")
def site(store: Store) -> Iterator[str]:
    """The address of the dashboard over the played games."""
    with serve(store) as address:
        yield address


def choose(page: Page, facet: str, value: str) -> None:
    """Set a filter as a person does."""
    page.locator("#filters summary").click()
    page.locator(".facet", has_text=facet).locator("a", has_text=value).click()


@pytest.mark.long
@pytest.mark.parametrize("path", PAGES)
def test_page_shows_its_content_without_console_errors(path: str, site: str, page: Page) -> None:
    """Every page draws, and the browser has nothing to complain about; the others are visited by other tests too."""
    page.goto(site + path)

    page.locator("main").get_by_text(PAGES[path], exact=True).first.wait_for()


def test_filter_changes_what_is_shown_and_lives_in_the_address(site: str, page: Page) -> None:
    """Choosing a model narrows the page, and the address alone brings the same page back."""
    page.goto(f"{site}/game")
    page.locator("main").get_by_text("over_remover", exact=True).first.wait_for()
    page.wait_for_function(f"{ROWS} === 9")

    choose(page, "Team", "layer_confused")
    page.wait_for_url("**model=layer_confused**")
    page.wait_for_function(f"{ROWS} === 3", timeout=9000)
    page.goto(page.url)
    page.wait_for_function(f"{ROWS} === 3", timeout=9000)

    assert set(page.locator(".ag-row [col-id=model]").all_inner_texts()) == {"layer_confused"}


def test_filter_that_fits_no_game_shows_none_and_can_be_taken_back(site: str, page: Page) -> None:
    """A value from a colleague's address that this store does not know stays a filter; it is not dropped, which would show everything."""
    page.goto(f"{site}/spirals?model=somebody_else")
    page.get_by_text("under these filters", exact=False).first.wait_for()

    page.locator(".chip", has_text="somebody_else").get_by_label("remove filter Team").click()
    page.get_by_text("44 of 108", exact=False).first.wait_for()


def test_click_on_a_bar_leads_to_exactly_the_turns_behind_it(site: str, store: Store, page: Page) -> None:
    """The bar of a category opens the turns of that category and model, as many as the store has."""
    expected = query(
        store,
        "SELECT count(*) AS n FROM failure_turns WHERE taxonomy = 'craft_published' AND model = 'over_remover' AND category = 'correct'",
    ).item()
    page.goto(f"{site}/failures?taxonomy=craft_published&model=over_remover")
    page.locator(".js-plotly-plot .bars .point path").first.wait_for()

    bar = page.locator(".js-plotly-plot .bars .point path").last.bounding_box()  # what went right is last
    assert bar is not None
    page.mouse.click(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    page.wait_for_url("**/turns?**")

    page.get_by_text(f"{expected} turns", exact=False).first.wait_for()
    assert "category=correct" in page.url
    assert "model=over_remover" in page.url


@pytest.mark.long
def test_cell_of_a_spiral_opens_the_game_at_that_turn(site: str, page: Page) -> None:
    """A click into the heat map opens the game page of that episode and turn."""
    page.goto(f"{site}/spirals")
    cells = page.locator(".js-plotly-plot", has=page.locator(".heatmaplayer image"))
    cells.first.wait_for()

    cells.first.locator(".nsewdrag").first.click(position={"x": 30, "y": 14})
    page.wait_for_url("**/game?episode=**turn=1")

    page.get_by_text("Turn 1 of 12", exact=False).wait_for()


def test_turn_that_is_not_there_is_said(store: Store) -> None:
    """An address with a turn beyond the end says which turns there are."""
    episode = query(store, "SELECT min(episode_id) FROM games").item()
    assert "This game has turns 1 to" in content_of(store, "/game", f"?episode={episode}&turn=99")


def content_of(store: Store, path: str, search: str = "") -> str:
    """A page as the server sends it, without its menu."""
    return to_html(draw_page(store, Address.parse(path, search)).content)


def test_very_long_message_is_folded(store: Store) -> None:
    """A message of 100,000 characters shows its beginning; the whole is one click away."""
    row = query(store, "SELECT episode_id, text FROM utterances WHERE turn = 2 AND channel = 'public' ORDER BY ALL LIMIT 1").row(0)
    with store.writing() as connection:
        connection.execute("UPDATE utterances SET text = ? WHERE episode_id = ? AND turn = 2", ["word " * 20_000, row[0]])
    shown = content_of(store, "/game", f"?episode={row[0]}&turn=2")
    folded = re.findall(r'<details><summary>all 100000 characters</summary><div class="text">([^<]*)</div></details>', shown)
    assert {text.count("word") for text in folded} == {20_000}
    assert "word " * 1000 not in shown.replace("word " * 20_000, "")


def test_text_from_logs_cannot_become_markup(site: str, page: Page) -> None:
    """Markup in a message or a model's name is shown as the text it is."""
    page.goto(f"{site}/turns?turn=1")
    page.get_by_text(HOSTILE_TEXT, exact=False).first.wait_for()
    assert page.locator("#planted").count() == 0

    page.goto(f"{site}/failures")
    page.locator(".js-plotly-plot .ytick").first.wait_for()

    assert page.locator(".js-plotly-plot .ytick").first.text_content() == "<b>clear</b>36 turns"


def test_unknown_page_and_unknown_game_say_what_to_do(store: Store) -> None:
    """A wrong address gives a line and a link, not an error."""
    assert '<p>There is no page /nowhere.</p><a href="./">' in content_of(store, "/nowhere")
    assert '<p>The store has no game nothing.</p><a href="./game">' in content_of(store, "/game", "?episode=nothing&turn=x")


def test_empty_store_gives_a_helpful_page(tmp_path: Path) -> None:
    """A store without games says how to get some."""
    store = Store(tmp_path / "empty.duckdb")
    store.create()
    shown = content_of(store, "/")
    assert "has no games yet" in shown
    assert f"cotrace ingest path/to/logs --store {store.path}" in shown


def test_store_that_is_gone_gives_a_page_that_says_so(tmp_path: Path, browser: Browser) -> None:
    """A store that cannot be read is named, with the mend."""
    with serve(Store(tmp_path / "gone.duckdb")) as site:
        page = browser.new_page()
        page.goto(site)
        page.get_by_text("no store at", exact=False).wait_for()
        page.close()


def test_links_of_a_page_lead_to_each_benchmark_and_back(mixed: Store) -> None:
    """Without a filter the first benchmark is drawn, and the other can be chosen."""
    for chosen, search in (("craft", ""), ("asympuzl", "?benchmark=asympuzl")):
        drawn = to_html(draw_page(mixed, Address.parse("/spirals", search)).content)
        links = re.findall(r'<a href="./spirals[?]benchmark=(\w+)" class="choice( chosen)?"', drawn)
        assert links == [(name, " chosen" if name == chosen else "") for name in ("craft", "asympuzl")]


@pytest.mark.long
@pytest.mark.parametrize("path", ["/failures", "/spirals"])
def test_benchmarks_are_shown_one_at_a_time(path: str, mixed: Store, page: Page) -> None:
    """A click shows the other, and the way back stays open."""
    with serve(mixed) as site:
        _chooses_benchmarks(page, site + path)
        page.goto("about:blank")


def _chooses_benchmarks(page: Page, address: str) -> None:
    page.goto(address)
    page.locator(".choice.chosen", has_text="craft").first.wait_for()

    page.locator(".choice", has_text="asympuzl").first.click()
    page.wait_for_url("**benchmark=asympuzl**")
    page.locator(".choice.chosen", has_text="asympuzl").first.wait_for()
    page.locator(".choice", has_text="craft").first.click()

    page.wait_for_url("**benchmark=craft**")
