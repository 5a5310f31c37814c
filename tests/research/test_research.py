"""`python -m research`: each name can be run; two of its tables agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from games.einstein import planted
from research.__main__ import NAMES, main
from research.attribution import planted_games, proof_of
from research.null import WORLDS, fill, seen, true_mean
from research.unfound import unfound
from schemas.store.store import Store
from tests.places import DOCS, ROOT


@pytest.mark.parametrize("name", NAMES)
def test_each_name_explains_its_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` reaches the measurement itself."""
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: python -m research {name} ")


def test_the_page_lists_every_name() -> None:
    """And the names are the modules with a `main`."""
    page = (DOCS / "dev" / "research.md").read_text("utf-8")
    assert [name for name in NAMES if f"`{name}`" not in page] == []
    assert {path.stem for path in (ROOT / "research").glob("*.py") if "def main(" in path.read_text("utf-8")} == {"__main__", *NAMES}


@pytest.mark.long
def test_games_whose_fault_is_not_named_are_those_that_the_proof_counts_as_not_found(tmp_path: Path) -> None:
    """Each stands in one column; both tables of docs/dev/attribution.md are of the same games."""
    played = planted_games(planted, tmp_path, 10, 2026)
    title, costly, rest, *kinds, _, _, _ = unfound(played, "einstein")
    proof = proof_of(played)
    assert (title, int(costly), int(rest)) == ("Einstein Puzzles", proof.costly.games, proof.costly.games - proof.costly.right)
    assert sum(map(int, kinds)) == int(rest) > 0


@pytest.mark.long
@pytest.mark.parametrize("name", WORLDS)
def test_where_nothing_differs_the_ledger_and_the_headline_claim_nothing(name: str, tmp_path: Path) -> None:
    """Eight stores of equal teams a world: more than two false ones come by chance in less than 1 % of the runs, at 5 % a store."""
    store, random = Store(tmp_path / "null.duckdb"), np.random.default_rng(11)
    store.create()
    false = []
    for _ in range(8):
        fill(store, WORLDS[name], random)
        false.append(seen(store, true_mean(WORLDS[name])).false)
    assert sum(one["ledger"] for one in false) <= 2
    assert sum(one["headline"] for one in false) <= 2
