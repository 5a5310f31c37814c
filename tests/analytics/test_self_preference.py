"""Self-preference: found in a played model that likes its own style, not claimed of one whose own games are better."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from analytics.installation import ensure_installed
from analytics.judging.probes import preference_shift, self_preference_report
from cotrace.cli import cli
from judges.runs.runner import run
from schemas.records import Label
from schemas.store import batches
from schemas.store.store import Store
from tests.judges.judged_games import ask_model, store_of
from tests.masters import held_open
from tests.servers.simulated_judge import Bias, SimulatedJudge, simulated_judge

TURNS = 3
STYLE, ANOTHER = "Indeed so.", "No matter."
RIGHT = {"yes": {"yes": 1.0}, "no": {"no": 1.0}}
OFTEN_WRONG = {"yes": {"yes": 0.6, "no": 0.4}, "no": {"no": 1.0}}


def judged(
    folder: Path, judge: SimulatedJudge, *, games: int = 40, yes_of_own: int = 999, yes_of_others: int = 999, labels: bool = True
) -> Store:
    """Every second game is by the judge's own model and has its style in each message; so many of either are truly yes, as people say."""
    store = store_of(folder / "s.duckdb", games, TURNS)
    with store.writing() as connection:
        added, rows = [], []
        for number in range(games):
            own = number % 2 == 0
            truth = "yes" if number // 2 < (yes_of_own if own else yes_of_others) else "no"
            added.append((STYLE if own else "") + ("" if truth == "yes" else ANOTHER))
            rows += [_label(f"game-{number}", turn, truth) for turn in range(1, TURNS + 1)] if labels else []
        at = "split_part(episode_id, '-', 2)::INT"
        connection.execute(f"UPDATE episodes SET model = CASE WHEN {at} % 2 = 0 THEN 'Author-1' ELSE 'somebody' END")
        connection.execute(f"UPDATE utterances SET text = text || ' ' || list_extract(?, {at} + 1)", [added])
        batches.insert(connection, batches.to_arrow({"labels": rows}))
    with simulated_judge(judge) as url:
        assert run(ask_model(url, model="local/author-1"), store).failed == 0
    ensure_installed(store)
    return store


def _label(game: str, turn: int, truth: str) -> Label:
    score = 1.0 if truth == "yes" else 0.0
    return Label("people", "ann", "pragmatic_sufficiency", "PS1", f"{game}/{turn}", game, turn, None, truth, score)


def row_of(store: Store, question: str = "PS1") -> dict[str, Any]:
    return {row["question"]: row for row in self_preference_report(store).to_dicts()}[question]


def test_a_liking_for_its_own_style_is_found(tmp_path: Path) -> None:
    """It misses 40 of 100 yes, but says yes to half of what has its own style anyway: it finds 80 of 100 of its own and 60 of others'."""
    likes = Bias(pattern=STYLE, answers={"yes": 0.5})
    row = row_of(judged(tmp_path, SimulatedJudge(defect="never", confusion=OFTEN_WRONG, biases=[likes], seed=1)))
    assert (row["own_games"], row["other_games"], row["own_labels"], row["other_labels"]) == (20, 20, 60, 60)
    assert row["own_sensitivity"] == pytest.approx(0.8, abs=0.1)
    assert row["other_sensitivity"] == pytest.approx(0.6, abs=0.1)
    assert row["preference_low"] <= 0.2 <= row["preference_high"]
    assert row["sensitivity_difference"] == pytest.approx(row["preference"])
    assert row["own_specificity"] is None
    assert row["p_corrected"] < 0.05
    assert "it favours itself" in row["advice"]


@pytest.fixture(scope="module")
def fair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A judge without errors."""
    right = SimulatedJudge(defect=ANOTHER, confusion=RIGHT)
    yield from held_open(judged(tmp_path_factory.mktemp("fair"), right, yes_of_own=15, yes_of_others=5))


def test_a_fair_judge_whose_own_games_are_better_is_not_accused(fair: Store) -> None:
    """Its rates are 0.75 and 0.25, its errors none."""
    row = row_of(fair)
    assert (row["own_rate"], row["other_rate"], row["rate_difference"]) == (0.75, 0.25, 0.5)
    assert (row["preference"], row["p_corrected"]) == (0, 1)
    assert "no preference for itself shown" in row["advice"]


def test_a_judge_that_errs_alike_is_not_accused_where_its_own_model_is_worse(tmp_path: Path) -> None:
    """Wrong in one of five whoever wrote; 3 of 20 own games are right, 19 of others: the mean of score minus label differs all the same."""
    errs = SimulatedJudge(defect=ANOTHER, confusion={"yes": {"yes": 0.8, "no": 0.2}, "no": {"yes": 0.2, "no": 0.8}}, seed=2)
    row = row_of(judged(tmp_path, errs, games=40, yes_of_own=3, yes_of_others=19))
    assert row["own_sensitivity"] == pytest.approx(0.8, abs=0.2)
    assert row["other_specificity"] == pytest.approx(0.8, abs=0.2)
    assert row["p_corrected"] > 0.05
    assert "no preference for itself shown" in row["advice"]


@pytest.mark.long
def test_a_judge_that_errs_alike_is_not_accused(tmp_path: Path) -> None:
    """Its errors are the same for both, but for chance."""
    row = row_of(judged(tmp_path, SimulatedJudge(defect="never", confusion=OFTEN_WRONG, seed=4)))
    assert row["preference_low"] <= 0 <= row["preference_high"]
    assert "no preference for itself shown" in row["advice"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("author", "own_games"), [("openai/author-1", [1]), ("AUTHOR-1", [1]), ("author-10", [])])
def test_a_model_is_its_own_author_through_any_provider(tmp_path: Path, author: str, own_games: list[int]) -> None:
    """The name decides, not who serves it; a name that only begins alike is another's."""
    store = store_of(tmp_path / "s.duckdb", 6, 1)
    with store.writing() as connection:
        connection.execute("UPDATE episodes SET model = ? WHERE episode_id = 'game-0'", [author])
    with simulated_judge(SimulatedJudge(defect="never", confusion=RIGHT)) as url:
        assert run(ask_model(url, model="local/author-1"), store).failed == 0
    ensure_installed(store)
    assert self_preference_report(store)["own_games"].unique().to_list() == own_games


def test_without_labels_the_rates_are_told_and_nothing_is_claimed(tmp_path: Path) -> None:
    """The question about which there are none, and a store without any."""
    row = row_of(
        judged(tmp_path, SimulatedJudge(defect=ANOTHER, confusion=RIGHT), games=8, yes_of_own=2, yes_of_others=2, labels=False), "PS2"
    )
    assert (row["own_rate"], row["other_rate"], row["p"], row["preference"]) == (0.5, 0.5, None, None)
    assert "only labels show" in row["advice"]


def test_a_judge_without_games_of_its_own_has_no_row(tmp_path: Path) -> None:
    """There is nothing to prefer; the command says so with no rows."""
    store = store_of(tmp_path / "s.duckdb", 6, 1)
    with simulated_judge(SimulatedJudge(defect="never", confusion=RIGHT)) as url:
        run(ask_model(url, model="local/author-1"), store)
    ensure_installed(store)
    assert self_preference_report(store).is_empty()
    result = CliRunner().invoke(cli, ["report", "self-preference", "--store", str(store.path)], catch_exceptions=False)
    assert (result.exit_code, "0 rows" in result.stderr) == (0, True)


def test_the_author_of_a_directors_turn_is_its_own_model(tmp_path: Path) -> None:
    """A team of several models: D1 alone is the judge's own."""
    store = store_of(tmp_path / "s.duckdb", 4, 1)
    with store.writing() as connection:
        connection.execute("UPDATE agents SET model = CASE WHEN agent = 'D1' THEN 'openai/author-1' ELSE 'somebody' END")
    with simulated_judge(SimulatedJudge(defect="never", confusion=RIGHT)) as url:
        run(ask_model(url, "spatial_grounding", model="local/author-1"), store)
    ensure_installed(store)
    row = row_of(store, "SG1")
    assert (row["own_units"], row["other_units"], row["own_games"]) == (4, 8, 4)


def simulated(random: np.random.Generator, *, own_yes: float, other_yes: float, liking: float, wavering: float) -> pl.DataFrame:
    """20 games of either author with ten labelled units; the judge is right in 0.8, a game's share varies by the intraclass correlation."""
    rows = []
    for game in range(40):
        own = game % 2 == 0
        label = random.random(10) < random.beta(*(9 * np.array([own_yes, 1 - own_yes] if own else [other_yes, 1 - other_yes])))
        right = 0.8 if not wavering else random.beta(0.8 * (1 / wavering - 1), 0.2 * (1 / wavering - 1))
        said = np.where(random.random(10) < right, label, ~label) | (own & (random.random(10) < liking))
        rows += [("craft", f"g{game}", own, float(score), float(truth)) for score, truth in zip(said, label, strict=True)]
    return pl.DataFrame(rows, schema=["benchmark", "game", "own", "score", "label"], orient="row")


@pytest.mark.long
@pytest.mark.parametrize("wavering", [0.0, 0.2])
def test_no_preference_is_claimed_as_seldom_as_promised(wavering: float) -> None:
    """Truly yes in 0.35 of its own and 0.75 of others: of 400 data sets without a preference about 20 claim one."""
    random = np.random.default_rng(21)
    found = [preference_shift(simulated(random, own_yes=0.35, other_yes=0.75, liking=0, wavering=wavering)) for _ in range(400)]
    assert 0.02 <= np.mean([one.p < 0.05 for one in found if one and one.p is not None]) <= 0.08
    assert 0.92 <= np.mean([one.low <= 0 <= one.high for one in found if one and one.low is not None and one.high is not None]) <= 0.98


@pytest.mark.long
def test_a_planted_preference_is_found_nearly_always() -> None:
    """It says yes to a third of its own model's units whatever is true."""
    random = np.random.default_rng(22)
    found = [preference_shift(simulated(random, own_yes=0.35, other_yes=0.75, liking=0.33, wavering=0)) for _ in range(100)]
    assert np.mean([one.difference > 0 and (one.p or 0) < 0.05 for one in found if one]) > 0.9


@pytest.mark.sampled(1)
@pytest.mark.parametrize("output_format", ["table", "csv", "json", "html"])
def test_the_command_shows_it_in_every_format(fair: Store, output_format: str) -> None:
    """With the words."""
    arguments = ["report", "self-preference", "--store", str(fair.path), "--format", output_format]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "no preference for itself shown" in result.stdout
