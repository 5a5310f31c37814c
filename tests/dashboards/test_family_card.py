"""Families: what their cards say leads to what it is about, and their pages are about their games alone."""

from __future__ import annotations

import re
from html import unescape

from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.pages import turns
from dashboards.pages.overview import family_card
from dashboards.parts import to_html
from dashboards.reader import reader
from schemas.store.store import Store


def test_the_commonest_failure_leads_to_its_turns(played: Store) -> None:
    """It led to a breakdown by other categories, in which neither its name nor its number occurred."""
    with reader(played, Address.parse("/", "")) as read:
        card = to_html(family_card(read, "craft"))
    said = re.search(r'Most often: <a href="([^"]+)">([^<]+)</a>, on (\d+) of', card)
    assert said is not None, card
    path, _, search = unescape(said[1]).partition("?")
    assert path == f".{turns.PATH}"  # relative: the pages may lie under a path of a proxy
    with reader(played, Address.parse(turns.PATH, search)) as read:
        page = to_html(turns.content(read))
    assert f"<h1>Turns: {said[2]}</h1>" in page
    assert f"{said[3]} turns" in page


def test_a_family_s_page_counts_its_games_and_is_not_reached_under_another(mixed: Store) -> None:
    """It told of the games of all families; from a page that was filtered to another family its link led to an empty page.

    The Overview of several families answered none of the questions about their teams without a click.
    """
    overview = to_html(draw_page(mixed, Address.parse("/", "")).content)
    for asked in ("Highest score", "Most correction spirals", "Loses most", "How sure"):
        assert overview.count(f"<dt>{asked}</dt>") == 2, asked
    assert overview.count("<dt>Removes too much</dt>") == 1
    assert "9 games" in to_html(draw_page(mixed, Address.parse("/remove-gap", "")).filters)
    assert "10 games" in to_html(draw_page(mixed, Address.parse("/spirals", "")).filters)
    head = to_html(draw_page(mixed, Address.parse("/spirals", "?benchmark=asympuzl&level=3")).head)
    assert 'href="./remove-gap?benchmark=craft&amp;level=3"' in head
