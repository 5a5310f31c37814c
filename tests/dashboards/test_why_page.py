"""The page Why and the sentence about a turn, over attributed games."""

from __future__ import annotations

import pytest

from analytics.query import query
from dashboards.address import Address
from dashboards.document import document
from dashboards.pages import why
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
