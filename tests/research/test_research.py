"""`python -m research`: each name can be run; two of its tables agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import research.null
from analytics.losses.effects import Effect
from games.einstein import experiment as planted
from research import judged
from research.__main__ import NAMES, main
from research.attribution import planted_games, proof_of
from research.effects import WORLDS as EFFECT_WORLDS
from research.effects import Measured, counted, table
from research.null import COUNTED, WORLDS, extend, found, lines, part
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


def test_the_page_of_effects_has_what_was_counted() -> None:
    """The tables follow from the file."""
    page = (DOCS / "dev" / "planted_effects.md").read_text("utf-8")
    assert [world for world in EFFECT_WORLDS if table(world) not in page] == []


def test_an_agent_is_named_by_its_shown_effect() -> None:
    """One faulty player: it is named in the first game, another agent in the second. All faulty: by the further repeats, which differ."""

    def one(game: str, agent: str, effect: float, price: float = 0.0) -> Effect:
        return Effect("craft", game, 1, agent, None, price, "", 5, 1.0, effect, effect, effect, None, None, None)

    first = [one("a", "D1", 2, 1), one("a", "D2", 0), one("b", "D1", 0, 1), one("b", "D2", -1), one("c", "D1", 0, 1)]
    again = [one("a", "D1", 3), one("a", "D2", 0), one("b", "D1", 2), one("b", "D2", 1)]
    found = counted(Measured(first, again, {"a": "D1", "b": "D1"}))
    assert [found[name] for name in ("games", "shown", "named", "sign", "gain", "blamed", "unshown")] == [3, 2, 1, 1, 1, 3, 2]
    assert counted(Measured(first, again, {}))["near"] == 1
    assert counted(Measured(first, again, {}))["named_near"] == 0


@pytest.mark.long
def test_games_whose_fault_is_not_named_are_those_that_the_proof_counts_as_not_found(tmp_path: Path) -> None:
    """Each stands in one column; both tables of docs/dev/attribution.md are of the same games."""
    played = planted_games(planted, tmp_path, 10, 2026)
    title, costly, rest, *kinds, _, _, _ = unfound(played, "einstein")
    proof = proof_of(played)
    assert (title, int(costly), int(rest)) == ("Einstein Puzzles", proof.costly.games, proof.costly.games - proof.costly.right)
    assert sum(map(int, kinds)) == int(rest) > 0


@pytest.mark.long
@pytest.mark.timeout(1800)  # forty teams have 780 pairs on each of ten boards: 22 s of one core, more than 300 s on a busy machine
@pytest.mark.parametrize("name", [*WORLDS, *judged.WORLDS])
def test_where_nothing_differs_reports_claim_nothing(name: str, tmp_path: Path) -> None:
    """Ten stores of equal teams a world, or of a judge without merit: more than two false ones of a report come by chance in 1 %."""
    store = Store(tmp_path / "null.duckdb")
    store.create()
    counts = COUNTED if name in WORLDS else tuple(judged.CLAIMED)
    false = {counted: hits for _, _, counted, _, hits, _ in part(name, 0, store) if counted in counts}
    assert set(false) == set(counts)
    assert max(false.values()) <= 2


def test_the_page_of_the_null_certificate_has_what_was_counted_and_no_cell_that_a_report_conceals() -> None:
    """Where coverage is surely outside .93 to .97 the report itself states it: its least, or that intervals are wide."""
    table = "\n".join(lines())
    assert table in (DOCS / "dev" / "research.md").read_text("utf-8")
    assert re.findall(r"\S+ of \d+!", table) == []


def test_the_null_certificate_is_drawn_in_parts_that_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that is in the file is not drawn again; its rows are of the world, and are the same at each drawing."""
    monkeypatch.setattr(research.null, "CSV", tmp_path / "null.csv")
    monkeypatch.setattr(research.null, "AT_ONCE", 2)
    null, power = "3 teams, unequal tasks", "4 words longer, .03 a word"
    extend(2, [null, power])
    before = (tmp_path / "null.csv").read_bytes()
    extend(2, [null, power])
    assert (tmp_path / "null.csv").read_bytes() == before
    rows = {(world, counted): (n, hits) for world, _, counted, n, hits, _ in found().iter_rows()}
    n, held = rows[null, "interval: mean score"]
    table = "\n".join(lines())
    assert n == 6
    assert re.search(rf"mean score +{held / n:.3f} of 6", table)
    assert re.search(rf"{power} +mediation +2 +{rows[power, 'mediation'][1] / 2:.3f}", table)
