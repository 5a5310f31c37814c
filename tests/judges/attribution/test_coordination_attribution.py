"""Whose cost a turn was in the games of LLM-Coordination: published logs, and a play that nothing told to be safe."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.query import query
from schemas.store.store import Store
from tests.judges.attribution.test_craft_attribution import attributed
from tests.masters import held_open

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def games(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("coordination")
    (folder / "logs").mkdir()
    for name in ("collab_games", "hanabi"):
        shutil.copytree(shared / "data/coordination" / name, folder / "logs" / name)
    yield from held_open(attributed(folder / "logs", folder))


def test_all_costs_are_shared_out(games: Store) -> None:
    """The totals that the reference names (formats/values.md)."""
    rows = query(games, "select unit, sum(cost) as cost from attributed_costs group by unit order by unit").rows()
    assert dict(rows) == {"points": 103, "probability": 5, "turns": 102}
    assert query(games, "select count(*) from attributions where link = 'undecided'").item() == 0


def test_one_player_alone_could_have_kept_what_is_put_down_to_it(games: Store) -> None:
    found = query(games, "select agent, link, evidence from attributed_costs where unit = 'probability' and agent is not null").rows()
    assert {agent for agent, *_ in found} <= {"Alice", "Bob"}
    assert all("would have left the chance of escape at 1.00 in place of 0.00" in evidence for *_, evidence in found)
    captures = query(games, "select cost, regained from attributed_costs where unit = 'turns' and agent is not null").rows()
    assert all(0 < cost <= regained for cost, regained in captures)


def test_hints_decide_whose_a_lost_card_is(games: Store) -> None:
    rows = query(games, "select link, agent is null, evidence from attributed_costs where unit = 'points'").rows()
    for link, nobody, evidence in rows:
        assert nobody == (link == "not_seen")
        assert ("no hint showed that it fits" in evidence or "last copy of a card" in evidence) == (link == "acted_wrong")
        assert ("had a hint to give" in evidence and "no hint" not in evidence) == (link == "not_said")
