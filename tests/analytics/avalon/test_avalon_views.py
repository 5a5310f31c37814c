"""The Avalon views equal the reference tables, which an independent solver made: every row, every column."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.query import query
from schemas.store.store import Store
from tests.analytics.test_views_reference import reference
from tests.dashboards.test_overview import figures_of
from tests.masters import held_open, published_store


@pytest.fixture(scope="module")
def published(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with all published Avalon games."""
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("avalon"), "avalon"))


@pytest.mark.shared
@pytest.mark.parametrize("name", ["games", "missions", "proposals", "votes", "knowledge"])
def test_views_equal_the_reference(published: Store, shared: Path, name: str) -> None:
    """Rows as text; an empty cell is an empty list, or not known."""
    expected = [tuple(row.values()) for row in reference(shared, f"avalon_expected_{name}.csv")]
    columns = list(reference(shared, f"avalon_expected_{name}.csv")[0])
    found = query(published, f"select {', '.join(columns)} from avalon_{name}")
    rows = [tuple("" if cell is None else str(cell) for cell in row) for row in found.iter_rows()]
    assert sorted(rows) == sorted(expected)


@pytest.mark.shared
def test_every_text_of_the_published_games_is_in(published: Store) -> None:
    """No part is rejected, no text is missing, and nothing in the logs contradicts the rules."""
    (lost,) = query(published, "select count(*) from receipts where stored is distinct from counted").row(0)
    (texts,) = query(published, "select sum(counted)::bigint from receipts where kind = 'keys'").row(0)
    (bad,) = query(published, "select (select count(*) from rejects) + (select count(*) from log_disagreements)").row(0)
    assert (lost, bad, texts > 0) == (0, 0, True)


@pytest.mark.long  # the same figure of played games is looked at in test_avalon_accusations
@pytest.mark.shared
def test_what_leaders_would_draw_at_random_is_marked_on_the_page(published: Store) -> None:
    """Each mission has the share of evil players among those drawn, without an interval, as it is not an estimate."""
    (drawn,) = [figure for figure in figures_of(published, "/avalon") if any("by drawing" in (trace.name or "") for trace in figure.data)]
    chance = {trace.name: trace for trace in drawn.data if "by drawing" in (trace.name or "")}
    (expected,) = query(published, "select avg(evil_chance) from avalon_trust where chosen > 0 and mission = 1 and side = 'evil'").row(0)
    assert set(chance) == {"by drawing"}
    assert expected in [pytest.approx(value) for value in chance["by drawing"].x]
    assert not any(length for trace in chance.values() for length in trace.error_x.array)
