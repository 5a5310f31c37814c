"""Compare in a browser: the report's numbers, the tasks behind them, and two games up to where they part."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import Page

from analytics.comparison.compare import compare
from analytics.query import query
from dashboards.pages.compare import first_divergence
from judges.evidence.transcript import load
from schemas.common import wording
from schemas.store.store import Store

pytestmark = pytest.mark.browser


def test_the_pair_its_tasks_and_two_games(played: Store, played_site: str, page: Page) -> None:
    """From the paired difference to the turn on which two games part, by clicks; then on by key."""
    first = compare(played).row(0, named=True)
    page.goto(f"{played_site}/compare")
    page.locator(".card-lead", has_text=f"{wording.score(first['difference'])} [").wait_for()
    page.locator(".fold .ag-row a").first.click()
    page.wait_for_url("**left=**right=**")
    page.locator(".pair .card").nth(1).wait_for()
    ids = [page.evaluate(f"new URLSearchParams(location.search).get('{side}')") for side in ("left", "right")]
    parting = first_divergence(*load(played, ids))
    assert parting is not None
    page.locator("h1", has_text=f"turn {parting} of").wait_for()
    assert page.locator(".pair .tried").count() == 2
    page.keyboard.press("ArrowRight")
    page.locator("h1", has_text=f"turn {parting + 1} of").wait_for()


def test_a_game_does_not_part_from_itself(played: Store) -> None:
    """Nothing differs; without its last turn, it parts after that."""
    (game,) = load(played, [query(played, "SELECT min(episode_id) FROM games").item()])
    assert first_divergence(game, game) is None
    assert first_divergence(game, replace(game, turns=game.turns[:-1])) == len(game.turns)
