"""The calibrated combination of raters against simulated judges, whose best possible score is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from analytics.estimates.calibration import QuestionData, _row, calibrated_answers, calibration_report
from analytics.query import query
from cotrace.cli import cli
from schemas.records import Label
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.analytics.test_views_judges import job, verdict

GAMES, TURNS, RATE = 60, 10, 0.3


def simulated(folder: Path, *judges: tuple[float, float], source: str = "people") -> Store:
    """Games with known truth and judges, each with its probability of yes where the truth is yes and where it is no."""
    random = np.random.default_rng(7)
    steps = [Step(f'"{turn}"', (Move("place"),)) for turn in range(TURNS)]
    store = store_with(folder, [Game(steps, name=f"g{number:02}") for number in range(GAMES)])
    runs = [job(f"run{number}", judge=f"llm:x/{number}") for number in range(len(judges))]
    verdicts, labels = [], []
    for game in (f"g{number:02}" for number in range(GAMES)):
        for turn in range(1, TURNS + 1):
            truth = bool(random.random() < RATE)
            for run, (if_yes, if_no) in zip(runs, judges, strict=True):
                said = random.random() < (if_yes if truth else if_no)
                verdicts.append(verdict(run, (game, turn), "yes" if said else "no"))
            answer, score = ("Yes", 1.0) if truth else ("No", 0.0)
            labels.append(Label(source, "p", "ps", "PS1", f"{game}/{turn}", game, turn, None, answer, score))
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": runs, "verdicts": verdicts, "labels": labels}))
    return store


def weak(folder: Path, *, questions: int) -> Store:
    """Twelve games: to PS1 the judge gives the right answer in three of four, to all others it tosses a coin."""
    steps = [Step(f'"{turn}"', (Move("place"),)) for turn in range(TURNS)]
    store = store_with(folder, [Game(steps, name=f"g{number:02}") for number in range(12)])
    run = job("a", judge="llm:x/0")
    verdicts, labels = [], []
    for number in range(1, questions + 1):
        random = np.random.default_rng(number)
        name = f"PS{number}"
        for game, turn in ((f"g{place // TURNS:02}", place % TURNS + 1) for place in range(12 * TURNS)):
            truth = bool(random.random() < 0.5)
            said = truth if random.random() < (0.76 if number == 1 else 0.5) else not truth
            verdicts.append(verdict(run, (game, turn), "yes" if said else "no")._replace(question=name))
            labels.append(Label("people", "p", "ps", name, f"{game}/{turn}", game, turn, None, "Yes" if truth else "No", float(truth)))
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [run], "verdicts": verdicts, "labels": labels}))
    return store


def only_row(store: Store) -> dict[str, Any]:
    (row,) = calibration_report(store).to_dicts()
    return row


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The row of a judge of sensitivity 0.8 and specificity 0.9."""
    return only_row(simulated(tmp_path_factory.mktemp("usual"), (0.8, 0.1)))


def test_one_judge_reaches_what_its_confusion_allows(usual: dict[str, Any]) -> None:
    """Sensitivity 0.8, specificity 0.9, rate 0.3: P(yes | yes) = 0.24/0.31, P(yes | no) = 0.06/0.69; the best Brier score is 0.109."""
    row = usual
    best = 0.24 * 0.07 / 0.31 + 0.06 * 0.63 / 0.69
    assert row["brier"] == pytest.approx(best, abs=0.015)
    assert row["brier_base"] == pytest.approx(RATE * (1 - RATE), abs=0.015)
    assert row["low"] < 1 - best / 0.21 < row["high"]
    assert row["informative"]
    assert row["brier"] < row["brier_raw"]
    assert (row["units"], row["games"], row["reference"], row["raters"]) == (GAMES * TURNS, GAMES, "people", "llm:x/0")


def test_the_probabilities_can_be_believed(tmp_path: Path) -> None:
    """In every group of the reliability curve the share of yes is what was foretold."""
    row = only_row(simulated(tmp_path, (0.8, 0.1), (0.7, 0.3)))
    groups = json.loads(row["reliability"])
    assert len(groups) >= 2
    assert sum(group["units"] for group in groups) == row["units"]
    for group in groups:
        assert group["share"] == pytest.approx(group["mean"], abs=0.12)


@pytest.mark.parametrize("judge", [(0.5, 0.5), pytest.param((1.0, 1.0), marks=pytest.mark.long)], ids=["coin", "constant"])
def test_a_coin_carries_no_information(tmp_path: Path, judge: tuple[float, float]) -> None:
    """Neither does a judge that always answers yes."""
    row = only_row(simulated(tmp_path, judge))
    assert not row["informative"]
    assert row["skill"] == pytest.approx(0, abs=0.03)
    assert "do not use" in row["advice"]


def test_a_judge_that_is_always_wrong_is_informative(tmp_path: Path) -> None:
    """What counts is what can be learned from an answer, not the answer; taken at face value it is as bad as can be."""
    row = only_row(simulated(tmp_path, (0.0, 1.0)))
    assert row["skill"] > 0.9
    assert row["brier_raw"] == 1


def test_two_judges_know_more_than_one(tmp_path: Path) -> None:
    """Errors that are independent are averaged out."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one = only_row(simulated(tmp_path / "one", (0.8, 0.2)))
    two = only_row(simulated(tmp_path / "two", (0.8, 0.2), (0.8, 0.2)))
    assert two["skill"] > one["skill"] + 0.05


def test_planted_truth_serves_where_nobody_labelled(tmp_path: Path) -> None:
    """The reference is named; without any label there is no row, and the command shows it."""
    store = simulated(tmp_path, (0.8, 0.1), source="planted")
    assert only_row(store)["reference"] == "planted truth"
    shown = CliRunner().invoke(cli, ["report", "calibration", "--store", str(store.path)], catch_exceptions=False)
    assert "they carry information" in shown.output
    with store.writing() as connection:
        connection.execute("DELETE FROM labels")
    assert calibration_report(store).is_empty()


@pytest.mark.long
def test_among_many_questions_chance_is_not_taken_for_information(tmp_path: Path) -> None:
    """A judge that is right in three of four is informative alone; among twenty questions, chance gives as much."""
    alone = only_row(weak(tmp_path, questions=1))
    assert alone["informative"]
    assert 0.025 / 20 < alone["p_value"] < 0.025
    (tmp_path / "many").mkdir()
    found = calibration_report(weak(tmp_path / "many", questions=20))
    first = found.filter(pl.col("question") == "PS1").row(0, named=True)
    assert first["p_value"] == pytest.approx(alone["p_value"])
    assert first["p_corrected"] == pytest.approx(20 * alone["p_value"])
    assert not first["informative"]
    assert "among so many questions" in first["advice"]


@pytest.mark.long
def test_a_coin_is_hardly_ever_called_informative() -> None:
    """In 100 sets of twelve games whose truth clusters, with a coin for a judge that leaves out every tenth answer: in at most 6."""
    random = np.random.default_rng(2)
    hits = 0
    for _ in range(100):
        truth = (random.random(96) < np.repeat(random.beta(1, 1.5, 12), 8)).astype(int)
        yes = np.where(random.random(96) < 0.1, np.nan, random.integers(0, 2, 96).astype(float))
        said = np.column_stack([1 - yes, yes])[:, None, :]
        games = [f"g{number}" for number in range(12) for _ in range(8)]
        hits += _row(QuestionData("people", ["coin"], ("no", "yes"), games, games, said, truth))["p_value"] < 0.025
    assert hits <= 6


def test_the_interval_holds_the_skill(usual: dict[str, Any]) -> None:
    """The Brier score has an interval, too, and both hold the best that the confusion allows."""
    row = usual
    best = 0.24 * 0.07 / 0.31 + 0.06 * 0.63 / 0.69
    assert row["brier_low"] < best < row["brier_high"]
    assert row["brier_low"] < row["brier"] < row["brier_high"]
    assert row["p_value"] < 1e-6


def test_every_unit_gets_the_probability_of_each_answer(tmp_path: Path) -> None:
    """P(yes | said yes) = 0.24 / 0.31, P(yes | said no) = 0.06 / 0.69; units without a label too, and a unit's answers add up to 1."""
    store = simulated(tmp_path, (0.8, 0.1))
    with store.writing() as connection:
        connection.execute("DELETE FROM labels WHERE episode_id >= 'g40'")
    found = calibrated_answers(store)
    assert found.columns == ["rubric", "question", "unit", "game", "label", "answer", "probability"]
    assert len(found) == 2 * GAMES * TURNS
    assert found["label"].null_count() == 2 * 20 * TURNS
    sums = found.group_by("unit").agg(pl.col("probability").sum())["probability"]
    assert sums.min() == pytest.approx(1) == sums.max()
    said = query(store, "SELECT unit_id AS unit, answer AS said FROM verdicts")
    mean = found.filter(pl.col("answer") == "yes").join(said, on="unit").group_by("said").agg(pl.col("probability").mean()).rows()
    assert dict(mean) == pytest.approx({"yes": 0.24 / 0.31, "no": 0.06 / 0.69}, abs=0.06)


def test_categories_have_probabilities_too(tmp_path: Path) -> None:
    """Three categories, a judge that names the right one in 0.8, a wrong one in 0.1 each: the best Brier score is 0.34, without it 2/3."""
    random = np.random.default_rng(5)
    names = ("conflict", "format", "none")
    steps = [Step(f'"{turn}"', (Move("place"),)) for turn in range(TURNS)]
    store = store_with(tmp_path, [Game(steps, name=f"g{number:02}") for number in range(GAMES)])
    run = job("a", judge="llm:x/0")
    verdicts, labels = [], []
    for game in (f"g{number:02}" for number in range(GAMES)):
        for turn in range(1, TURNS + 1):
            truth = int(random.integers(3))
            said = truth if random.random() < 0.8 else (truth + int(random.integers(1, 3))) % 3
            verdicts.append(verdict(run, (game, turn), "yes")._replace(answer=names[said], score=None))
            labels.append(Label("people", "p", "ps", "PS1", f"{game}/{turn}", game, turn, None, names[truth], None))
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [run], "verdicts": verdicts, "labels": labels}))
    row = only_row(store)
    assert (row["answers"], row["share_yes"]) == ("conflict, format, none", None)
    assert row["brier"] == pytest.approx(0.8 * (0.04 + 0.02) + 0.2 * (0.81 + 0.64 + 0.01), abs=0.04)
    assert row["brier_base"] == pytest.approx(2 / 3, abs=0.02)
    assert row["informative"]


def test_a_judge_that_was_not_asked_is_no_no(tmp_path: Path) -> None:
    """A second judge with half the units: the others' probabilities come from the first alone, and nothing is lost."""
    store = simulated(tmp_path, (0.8, 0.1), (0.9, 0.1))
    with store.writing() as connection:
        connection.execute("DELETE FROM verdicts WHERE judge = 'llm:x/1' AND episode_id >= 'g30'")
    row = only_row(store)
    assert (row["units"], row["raters"]) == (GAMES * TURNS, "llm:x/0, llm:x/1")
    found = calibrated_answers(store).filter((pl.col("answer") == "yes") & (pl.col("label") == "yes") & (pl.col("game") >= "g30"))
    assert float(found["probability"].to_numpy().mean()) > 0.5


@pytest.mark.parametrize(("kept", "rows"), [(4, 0), pytest.param(5, 1, marks=pytest.mark.long)])
def test_a_question_whose_rarer_answer_hardly_occurs_has_no_row(tmp_path: Path, kept: int, rows: int) -> None:
    """Below five units of one of two answers nothing can be foretold; five are enough to say how little it is."""
    store = simulated(tmp_path, (0.8, 0.1))
    with store.writing() as connection:
        connection.execute(
            "DELETE FROM labels WHERE answer = 'Yes' AND unit_key NOT IN "
            f"(SELECT unit_key FROM labels WHERE answer = 'Yes' ORDER BY unit_key LIMIT {kept})"
        )
    assert len(calibration_report(store)) == rows
