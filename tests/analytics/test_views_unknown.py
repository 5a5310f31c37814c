"""What a log does not record is unknown in views, reports and pages, and never 0."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from analytics.comparison.game_values import game_values
from analytics.courses import survival
from analytics.query import query
from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.pages import spirals
from dashboards.parts import to_html
from dashboards.reader import reader
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.masters import held_open


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games of two benchmarks: einstein records states and actions, chat only turns; and one einstein game that records no more."""
    steps = [Step('"A"', (Move("place", accepted=False),), progress=0.1)] * 4
    games = [Game(steps, name=f"{kind}{place}", benchmark=kind, start='"A"') for kind in ("einstein", "chat") for place in range(3)]
    store = store_with(tmp_path_factory.mktemp("unknown"), games)
    bare = "(episode_id LIKE 'chat%' OR episode_id = 'einstein2')"
    with store.writing() as connection:
        connection.execute(f"UPDATE turns SET state_before = NULL, state_after = NULL WHERE {bare}")
        connection.execute(f"DELETE FROM actions WHERE {bare}")
    Store.settle(store)
    yield from held_open(store)


def test_spirals_of_logs_without_states_and_actions_are_not_known(store: Store) -> None:
    """They were 0 of all turns; of a benchmark that records them in some games the others are in no denominator."""
    rows = {row["benchmark"]: row for row in query(store, "FROM families").iter_rows(named=True)}
    assert (rows["chat"]["turns"], rows["chat"]["turns_in_spirals"], rows["chat"]["spiral_share"]) == (12, None, None)
    assert (rows["einstein"]["turns"], rows["einstein"]["turns_in_spirals"], rows["einstein"]["spiral_share"]) == (12, 8, 1.0)
    board = {row["benchmark"]: row for row in query(store, "FROM leaderboard").iter_rows(named=True)}
    assert [board["chat"][name] for name in ("failed", "failed_rate", "clarify", "clarify_rate")] == [None] * 4
    assert [board["einstein"][name] for name in ("failed", "failed_rate", "clarify", "clarify_rate")] == [8, 1.0, 0, 0.0]


@pytest.mark.parametrize("metric", ["spirals", "turns_wasted", "clarify"])
def test_games_that_record_nothing_have_no_value(store: Store, metric: str) -> None:
    """A team of such games was compared with others by zeros."""
    assert set(game_values(store, metric)["episode_id"]) == {"einstein0", "einstein1"}


def test_games_that_record_nothing_are_in_no_curve(store: Store) -> None:
    """They counted as games without a refused action and without a spiral."""
    games = {(row["benchmark"], row["event"]): row["games"] for row in survival(store).iter_rows(named=True)}
    assert games == {("einstein", "first refused action"): 2, ("einstein", "first spiral"): 2}


def test_pages_say_that_it_is_not_known(store: Store) -> None:
    """The page Spirals, the card of the overview and the page Failures."""
    page = to_html(draw_page(store, Address.parse("/spirals", "?benchmark=chat")).content)
    assert "not known whether there are correction spirals" in page
    assert "0 %" not in page
    page = to_html(draw_page(store, Address.parse("/spirals", "?benchmark=einstein")).content)
    assert "100 % of turns (8 of 8) are inside spirals, in 100 % of games (2 of 2)" in page
    assert "Not known for 1 game without states or actions." in page
    overview = to_html(draw_page(store, Address.parse("/", "?benchmark=einstein")).content)
    assert "No rule has found a failure" not in overview
    assert "No rule has classified a turn" in to_html(draw_page(store, Address.parse("/failures", "")).content)
    with reader(store, Address.parse("/spirals", "?benchmark=chat")) as read:
        assert spirals.report_figure(read) is None
