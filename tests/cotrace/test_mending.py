"""`cotrace replay --mend N`: the links that a cost was put down to are mended one by one, and what comes back is told."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from analytics.losses.accuracy import ALL, Counterfactual, costs_by_turn, counterfactual_report
from cotrace.cli import main
from schemas.store.store import Store
from tests.masters import held_open
from tests.played import played_store


def run(*words: str) -> tuple[int, str, str]:
    """Call `cotrace` in this process."""
    with CliRunner().isolation() as (out, err, _):
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        return int(ended.value.code or 0), out.getvalue().decode(), err.getvalue().decode()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """CRAFT games of scripts, two of them with faults."""
    yield from held_open(played_store(tmp_path_factory.mktemp("mending"), judged=False))


def test_what_a_clear_request_would_have_kept_comes_back(store: Store, tmp_path: Path) -> None:
    """The mended turn loses less by what the attribution says, and everything before it is what it was."""
    code, out, _ = run("replay", "--mend", "6", "--where", "model = 'layer_confused'", "--store", str(store.path), "--out", str(tmp_path))
    assert code == 0
    assert out.splitlines()[2].split()[:2] == ["craft", ALL]
    with (tmp_path / "mended.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    before, after = costs_by_turn(store), costs_by_turn(Store(tmp_path / "mended.duckdb"))
    assert len(after) == 6
    for row in rows:
        turn, costs = int(row["turn"]), before[row["episode_id"]]
        again = next(found for found in after.values() if max(found) == turn and all(found[when] == costs[when] for when in range(1, turn)))
        assert float(row["back"]) == pytest.approx(costs[turn] - again[turn])
    assert sum(float(row["back"]) for row in rows) > 0.5 * sum(float(row["promised"]) for row in rows) > 0
    with store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM episodes WHERE origin IS NOT NULL").fetchall() == [(0,)]


def test_shares_are_of_what_was_promised_and_clustered_by_game() -> None:
    """Pooled by charge, less than half counted by turn; no interval where more came back than was promised."""
    turns = [
        ("a", 1, "wrong_instruction", 1.0, 1.0),
        ("a", 2, "wrong_instruction", 1.0, 0.2),
        ("b", 1, "misread", 2.0, 2.0),
        ("c", 4, "misread", 1.0, 1.5),
    ]
    found = [Counterfactual("craft", game, turn, "D1", link, "", promised, promised, back) for game, turn, link, promised, back in turns]
    rows = {row["link"]: row for row in counterfactual_report(found).to_dicts()}
    assert [rows[ALL][name] for name in ("turns", "games", "came_back", "little")] == [4, 3, pytest.approx(0.94), 0.25]
    assert rows[ALL]["came_back_low"] is None
    assert rows[ALL]["little_low"] < 0.25 < rows[ALL]["little_high"]
    assert (rows["wrong_instruction"]["games"], rows["wrong_instruction"]["came_back_low"]) == (1, None)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--mend", "3", "craft-1"), "--mend chooses games, turns and words itself"),
        (("craft-1",), "give the game and the turn"),
        (("--mend", "3", "--where", "model = 'clear'", "--turns", "1", "--to-end"), "contradict each other"),
        (("--mend", "3", "--where", "task_id = 'none'"), "no turn can be corrected"),
        (("--mend", "3", "--where", "nonsense"), "--where"),
    ],
)
def test_what_cannot_be_mended_is_refused_in_one_line(words: tuple[str, ...], told: str, store: Store, tmp_path: Path) -> None:
    """Exit code 2, and what to do."""
    code, _, err = run("replay", *words, "--store", str(store.path), "--out", str(tmp_path))
    assert (code, err.count("\n"), told in err) == (2, 1, True), err
