"""Power and judges: what is foretold comes about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.power import TTestIndPower, TTestPower

from analytics.comparison.compare import ValueRange, paired
from analytics.estimates.needed import labels_needed_report
from analytics.planning import detectable, effective_judges, judges_needed, power, power_curves, power_of, tasks_needed
from schemas.common.errors import UsageError
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Step, store_with
from tests.analytics.test_views_judges import job, label, verdict


def test_tasks_are_those_of_statsmodels() -> None:
    """Its solver, rounded up; and its power at any number of tasks."""
    for design, test in (("paired", TTestPower()), ("unpaired", TTestIndPower())):
        for tasks in (6, 20, 300):
            assert power_of(design, 0.1, 0.25, tasks) == pytest.approx(test.power(0.4, tasks, 0.05), abs=1e-9)
        assert tasks_needed(design, 0.1, 0.25, 0.8) == int(np.ceil(test.solve_power(0.4, power=0.8, alpha=0.05)))
    assert tasks_needed("paired", 1.0, 0.1, 0.8) == 6  # fewer can show nothing
    assert tasks_needed("paired", 1e-6, 1.0, 0.8) is None
    seen = detectable("paired", 0.25, 30, 0.8)
    assert seen is not None
    assert power_of("paired", seen, 0.25, 30) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("difference", "tasks"), [(0.1, 20), (0.2, 12), (0.0, 15)])
def test_the_promised_power_is_that_of_the_permutation_test(difference: float, tasks: int) -> None:
    """Of `compare` on simulated tasks; with no difference it is the level."""
    random = np.random.default_rng(1)
    found = [paired(random.normal(difference, 0.2, tasks), np.zeros(tasks), ValueRange(None)).p for _ in range(500)]
    promised = power_of("paired", difference, 0.2, tasks) if difference else 0.05
    assert np.mean([(p or 1) < 0.05 for p in found]) == pytest.approx(promised, abs=0.05)


def test_a_plan_from_the_stores_own_games(tmp_path: Path) -> None:
    """Two teams on sixteen tasks: the spread of their differences, and what it takes."""
    random = np.random.default_rng(2)
    ease = random.random(16) / 2
    scores = {"a": ease + random.normal(0.1, 0.05, 16), "b": ease + random.normal(0.0, 0.05, 16)}
    games = [
        Game([], name=f"{team}{task}", model=team, task=f"t{task}", benchmark="craft", score=float(scores[team][task]))
        for team in "ab"
        for task in range(16)
    ]
    store = store_with(tmp_path, games)
    rows = {(row["design"], row["power"]): row for row in power(store, difference=0.05).to_dicts()}
    row = rows["paired", 0.8]
    assert row["sd"] == pytest.approx(np.std(scores["a"] - scores["b"], ddof=1))
    assert row["tasks_low"] <= row["tasks"] <= row["tasks_high"]
    assert row["tasks"] < rows["unpaired", 0.8]["tasks"] / 3
    assert "tasks that both play" in row["advice"]
    curve = {row["tasks"]: row for row in power_curves(store, difference=0.05).to_dicts() if row["design"] == "paired"}
    assert curve[20]["power"] == pytest.approx(power_of("paired", 0.05, row["sd"], 20))
    assert curve[20]["power_low"] < curve[20]["power"] < curve[20]["power_high"]
    assert [one["power"] for one in curve.values()] == sorted(one["power"] for one in curve.values())
    with pytest.raises(UsageError, match="--difference -1: give a number above 0"):
        power(store, difference=-1.0)


def test_a_metric_of_small_numbers_has_a_plan(tmp_path: Path) -> None:
    """Differences of less than half a thousandth were rounded to nothing, and nothing was planned."""
    random = np.random.default_rng(6)
    metrics = {(team, task): (("craft.small", float(random.normal(0, 0.001))),) for team in "ab" for task in range(8)}
    games = [
        Game([], f"{team}{task}", model=team, task=f"t{task}", benchmark="craft", metrics=found) for (team, task), found in metrics.items()
    ]
    rows = power(store_with(tmp_path, games), metric="craft.small")
    assert rows["difference"].n_unique() == 3
    assert 0 < rows["difference"].min() < 0.0005  # type: ignore[operator]


def test_copies_are_one_judge_and_strangers_are_as_many_as_they_are() -> None:
    """And three whose errors correlate by a half are worth one and a half."""
    random = np.random.default_rng(3)
    one, noise = random.normal(size=(5000, 1)), random.normal(size=(5000, 3))
    assert list(effective_judges(np.repeat(one, 3, axis=1))) == pytest.approx([1.0, 1.0])
    assert effective_judges(np.zeros((20, 2))) == (None, None)  # judges that never err: nothing is known of errors that go together
    assert effective_judges(noise)[1] == pytest.approx(3, abs=0.2)
    assert effective_judges(one + noise)[1] == pytest.approx(3 / 2, abs=0.1)


@pytest.mark.long
def test_a_panel_that_is_not_worth_its_price_is_told(tmp_path: Path) -> None:
    """A dear judge, a cheap copy of it, and a stranger that is right as often."""
    random = np.random.default_rng(4)
    units: list[tuple[str, int | None]] = [(f"g{number // 5}", number % 5 + 1) for number in range(300)]
    truth = random.random(300) < 0.5
    copied, strange = truth ^ (random.random(300) < 0.2), truth ^ (random.random(300) < 0.2)
    answers = {"llm:dear": copied, "llm:copy": copied, "llm:other": strange}
    jobs = {name: job(name, judge=name, cost=price) for name, price in (("llm:dear", 0.2), ("llm:copy", 0.02), ("llm:other", 0.02))}
    verdicts = [
        verdict(jobs[name], unit, "yes" if yes else "no") for name, said in answers.items() for unit, yes in zip(units, said, strict=True)
    ]
    labels = [label(unit, "yes" if yes else "no") for unit, yes in zip(units, truth, strict=True)]
    store = store_with(tmp_path, [Game([Step("{}")] * 5, name=f"g{number}") for number in range(60)])
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": list(jobs.values()), "verdicts": verdicts, "labels": labels}))
    rows = {row["panel"]: row for row in judges_needed(store).to_dicts()}
    assert len(rows) == 7
    twins = rows["llm:copy + llm:dear"]
    assert twins["effective_judges"] == pytest.approx(1)
    assert twins["accuracy"] == rows["llm:copy"]["accuracy"] == pytest.approx((copied == truth).mean())
    assert "do not pay for the panel" in twins["advice"]
    assert rows["llm:copy + llm:other"]["effective_judges"] > 1.7
    assert rows["llm:dear"]["frontier"] is False  # its copy costs a tenth
    assert rows["llm:copy"]["frontier"] is (rows["llm:copy"]["accuracy"] >= rows["llm:other"]["accuracy"])
    assert rows["llm:dear"]["cost"] == pytest.approx(10 * rows["llm:copy"]["cost"])
    _labels_are_planned_as_tasks_are(store)


def test_a_judge_is_held_against_people_alone(tmp_path: Path) -> None:
    """Not against judges among the annotators, planted truth beside people, or units that were drawn because judges disagree there."""
    run = job("one", judge="llm:one")
    units: list[tuple[str, int | None]] = [(f"g{number // 5}", number % 5 + 1) for number in range(40)]
    labels = [label(unit, "yes") for unit in units[:20]]
    others = (("llm:other#1", "people"), ("truth", "planted"), ("q", "dashboard:disagreements"))
    labels += [label(unit, "no", annotator)._replace(source=source, score=0.0) for annotator, source in others for unit in units]
    store = store_with(tmp_path, [Game([Step("{}")] * 5, name=f"g{number}") for number in range(8)])
    verdicts = [verdict(run, unit, "yes") for unit in units]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [run], "verdicts": verdicts, "labels": labels}))
    (row,) = judges_needed(store).to_dicts()
    assert (row["units"], row["labelled"], row["accuracy"]) == (40, 20, 1.0)


def test_what_is_said_of_a_panel_is_said_of_its_own_judges(tmp_path: Path) -> None:
    """Three weak judges err apart, so that the panel is better than each, not than a fourth; two that never err are not "worth 1.0"."""
    units: list[tuple[str, int | None]] = [(f"g{number // 5}", number % 5 + 1) for number in range(40)]
    wrong = {"llm:a": range(10), "llm:b": range(10, 20), "llm:c": range(20, 30), "llm:good": (), "llm:best": ()}
    jobs = {name: job(name, judge=name) for name in wrong}
    verdicts = [
        verdict(jobs[name], unit, "no" if number in errs else "yes") for name, errs in wrong.items() for number, unit in enumerate(units)
    ]
    labels = [label(unit, "yes") for unit in units[:-2]] + [label(unit, answer, answer) for unit in units[-2:] for answer in ("yes", "no")]
    store = store_with(tmp_path, [Game([Step("{}")] * 5, name=f"g{number}") for number in range(8)])
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": list(jobs.values()), "verdicts": verdicts, "labels": labels}))
    rows = {row["panel"]: row for row in judges_needed(store).to_dicts()}
    weak, sure = rows["llm:a + llm:b + llm:c"], rows["llm:best + llm:good"]
    assert (weak["labelled"], weak["accuracy"]) == (40, 1.0)
    assert "one of its judges alone" not in weak["advice"]
    assert "of 38 labelled units" in weak["advice"]  # people are undecided about two, which count in no accuracy
    assert (sure["correlation"], sure["effective_judges"]) == (None, None)
    assert "how many independent ones 2 judges are worth is not known" in sure["advice"]


def _labels_are_planned_as_tasks_are(store: Store) -> None:
    needed = {row["judge"]: row for row in labels_needed_report(store).to_dicts()}
    planned = power(store).filter(pl.col("design") == "labels").to_dicts()
    assert {row["metric"].partition("@")[2] for row in planned} == set(needed)
    for row in planned:
        told = needed[row["metric"].partition("@")[2]]
        width = f"labels_for_{row['difference']:.2f}".replace(".", "_")
        assert (row["tasks"], row["tasks_low"], row["tasks_high"]) == (told[width], told[f"{width}_low"], told[f"{width}_high"])
        assert row["tasks_now"] == told["labels"] == 300
    assert {row["difference"] for row in planned} >= {0.1}
    assert power(store, benchmark="craft").filter(pl.col("design") == "labels").is_empty()
    one = planned[0]["metric"]
    assert set(power(store, metric=one).filter(pl.col("design") == "labels")["metric"]) == {one}
