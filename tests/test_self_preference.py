"""Self-preference: found in a played model that likes its own style, not claimed of one whose own games are better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analytics.self_preference import self_preference_report
from analytics.views import ensure_installed
from cotrace.cli import cli
from judges.runner import run
from schemas import batches
from schemas.records import Label
from schemas.store import Store
from tests.judged_games import ask_model, store_of
from tests.model_server import Bias, Player, played_model

GAMES, TURNS = 40, 3
STYLE, ANOTHER = "Indeed so.", "No matter."
RIGHT = {"yes": {"yes": 1.0}, "no": {"no": 1.0}}
OFTEN_WRONG = {"yes": {"yes": 0.6, "no": 0.4}, "no": {"no": 1.0}}


def judged(folder: Path, player: Player, *, truth_of_others: str = "yes", labels: bool = True) -> Store:
    """Every second game is by the judge's own model and has its style in each message; people's labels are the truth."""
    store = store_of(folder / "s.duckdb", GAMES, TURNS)
    own = "ascii(right(episode_id, 1)) % 2 = 0"
    with store.writing() as connection:
        connection.execute(f"UPDATE episodes SET model = CASE WHEN {own} THEN 'Author-1' ELSE 'somebody' END")
        connection.execute(f"UPDATE utterances SET text = text || CASE WHEN {own} THEN ' {STYLE}' ELSE ' {ANOTHER}' END")
        if labels:
            games = connection.execute(f"SELECT episode_id, {own} FROM episodes").fetchall()
            truths = {game: "yes" if is_own else truth_of_others for game, is_own in games}
            rows = [_label(game, turn, truth) for game, truth in truths.items() for turn in range(1, TURNS + 1)]
            batches.insert(connection, batches.to_arrow({"labels": rows}))
    with played_model(player) as url:
        assert run(ask_model(url, model="local/author-1"), store).failed == 0
    ensure_installed(store)
    return store


def _label(game: str, turn: int, truth: str) -> Label:
    score = 1.0 if truth == "yes" else 0.0
    return Label("people", "ann", "pragmatic_sufficiency", "PS1", f"{game}/{turn}", game, turn, None, truth, score)


def row_of(store: Store, question: str = "PS1") -> dict[str, Any]:
    return {row["question"]: row for row in self_preference_report(store).to_dicts()}[question]


def test_a_liking_for_its_own_style_is_found(tmp_path: Path) -> None:
    """It misses 40 of 100 yes, but says yes to half of what has its own style anyway: errors of -0.2 and -0.4."""
    likes = Bias(pattern=STYLE, answers={"yes": 0.5})
    row = row_of(judged(tmp_path, Player(defect="never", confusion=OFTEN_WRONG, biases=[likes], seed=1)))
    assert (row["own_games"], row["other_games"], row["own_labels"], row["other_labels"]) == (20, 20, 60, 60)
    assert row["own_error"] == pytest.approx(-0.2, abs=0.1)
    assert row["other_error"] == pytest.approx(-0.4, abs=0.1)
    assert row["error_low"] <= 0.2 <= row["error_high"]
    assert row["p_corrected"] < 0.05
    assert "it favours itself" in row["advice"]


def test_a_fair_judge_whose_own_games_are_better_is_not_accused(tmp_path: Path) -> None:
    """Its rates are 1 and 0, its errors none."""
    row = row_of(judged(tmp_path, Player(defect=ANOTHER, confusion=RIGHT), truth_of_others="no"))
    assert (row["own_rate"], row["other_rate"], row["rate_difference"]) == (1, 0, 1)
    assert (row["error_difference"], row["p_corrected"]) == (0, 1)
    assert "no preference for itself shown" in row["advice"]


@pytest.fixture(scope="module")
def erring(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Errors at random, of either author's games."""
    return judged(tmp_path_factory.mktemp("erring"), Player(defect="never", confusion=OFTEN_WRONG, seed=2))


def test_a_judge_that_errs_alike_is_not_accused(erring: Store) -> None:
    """Its errors are the same for both, but for chance."""
    row = row_of(erring)
    assert row["error_low"] <= 0 <= row["error_high"]
    assert "no preference for itself shown" in row["advice"]


def test_without_labels_the_rates_are_told_and_nothing_is_claimed(tmp_path: Path) -> None:
    """The question about which there are none, and a store without any."""
    row = row_of(judged(tmp_path, Player(defect=ANOTHER, confusion=RIGHT), labels=False), "PS2")
    assert (row["own_rate"], row["other_rate"], row["p"], row["error_difference"]) == (1, 0, None, None)
    assert "only labels can tell" in row["advice"]


def test_a_judge_without_games_of_its_own_has_no_row(tmp_path: Path) -> None:
    """There is nothing to prefer; the command says so with no rows."""
    store = store_of(tmp_path / "s.duckdb", 6, 1)
    with played_model(Player(defect="never", confusion=RIGHT)) as url:
        run(ask_model(url, model="local/author-1"), store)
    ensure_installed(store)
    assert self_preference_report(store).is_empty()
    result = CliRunner().invoke(cli, ["report", "self-preference", "--store", str(store.path)], catch_exceptions=False)
    assert (result.exit_code, "0 rows" in result.stderr) == (0, True)


def test_the_author_of_a_directors_turn_is_its_own_model(tmp_path: Path) -> None:
    """A team of several models: D1 alone is the judge's own."""
    store = store_of(tmp_path / "s.duckdb", 12, 1)
    with store.writing() as connection:
        connection.execute("UPDATE agents SET model = CASE WHEN agent = 'D1' THEN 'openai/author-1' ELSE 'somebody' END")
    with played_model(Player(defect="never", confusion=RIGHT)) as url:
        run(ask_model(url, "spatial_grounding", model="local/author-1"), store)
    ensure_installed(store)
    row = row_of(store, "SG1")
    assert (row["own_units"], row["other_units"], row["own_games"]) == (12, 24, 12)


@pytest.mark.parametrize("output_format", ["table", "csv", "json", "html"])
def test_the_command_shows_it_in_every_format(erring: Store, output_format: str) -> None:
    """With the words."""
    arguments = ["report", "self-preference", "--store", str(erring.path), "--format", output_format]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "no preference for itself shown" in result.stdout
