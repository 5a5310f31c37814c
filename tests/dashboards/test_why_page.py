"""The page Why and the sentence about a turn, over attributed games."""

from __future__ import annotations

import pytest

from analytics.query import query
from dashboards.address import Address
from dashboards.document import document
from dashboards.markup import to_html
from dashboards.pages import failures, game, why
from dashboards.reader import reader
from games.einstein.planted import play_planted
from schemas.store import Store
from tests.judges.attribution.test_craft_attribution import attributed


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("why")
    play_planted(folder / "logs", 12, seed=4)
    return attributed(folder / "logs", folder)


def test_the_page_says_where_the_chain_broke(store: Store) -> None:
    with reader(store, Address(why.PATH)) as read:
        text, flow = str(why.content(read)), why.report_figure(read)
    lost = query(store, "select sum(cost) from attributions").item()
    assert f"{lost:.0f} steps were lost" in text
    assert "by what it knew" in text
    assert flow is not None
    bands = flow.data[0].link
    assert sum(bands.value) == pytest.approx(2 * lost)  # each part goes from its team to the break, and on to its link
    assert "nobody could see it" in flow.data[0].node.label


def test_a_filter_that_leaves_nothing_says_so(store: Store) -> None:
    with reader(store, Address(why.PATH, {"model": ("nobody",)})) as read:
        assert "run `cotrace attribute`" in str(why.content(read))
        assert why.report_figure(read) is None


def test_the_report_in_a_file_has_the_flow(store: Store) -> None:
    assert "it was not done right" in document(store, {"lost": query(store, "select 1 as one")})


def test_the_game_page_draws_what_was_lost_so_far(store: Store) -> None:
    episode, turn = query(
        store, "select episode_id, turn from decisive_turns where isfinite(lost_in_game) order by lost_in_game desc, episode_id limit 1"
    ).row(0)
    with reader(store, Address("/game", {"episode": (episode,), "turn": (str(turn),)})) as read:
        shown = to_html(game.content(read))
    assert "<polyline" in shown
    assert "marked: the turn shown, and the decisive one" in shown


def test_failures_weighted_by_what_their_turns_lost(store: Store) -> None:
    """A category's bar is its turns' part of what was lost in all turns that count."""
    taxonomy = query(store, "select taxonomy from failure_turns group by taxonomy order by count(*) desc, taxonomy limit 1").item()
    with reader(store, Address(failures.PATH, {"weight": ("cost",), "taxonomy": (taxonomy,)})) as read:
        rows = failures.counts(read, taxonomy, "model", "cost")
        shown = str(failures.content(read))
    expected = query(
        store,
        "select sum(cost) from (select distinct episode_id, turn, category, greatest(cost, 0) as cost from failure_turns "
        "inner join turn_costs using (episode_id, turn) where counted and isfinite(cost) and failure_turns.taxonomy = $taxonomy)",
        {"taxonomy": taxonomy},
    ).item()
    assert rows["turns"].sum() == pytest.approx(expected)
    assert expected > 0
    assert "of all that was lost" in shown
    assert "share of what was lost" in shown
