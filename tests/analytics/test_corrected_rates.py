"""The reports of corrected rates: by model and question, from whichever labels there are, never from too few."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal
from scipy import stats

from analytics.comparison.compare import compare
from analytics.estimates.corrected import corrected_rates
from analytics.estimates.effects import judged_effects
from analytics.estimates.needed import labels_needed_report
from analytics.estimates.rates import Labelled, Units, prediction_powered
from cotrace.cli import cli
from research.claims import WORLDS, claimed
from schemas.records import Label
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.analytics.test_views_judges import job, label, verdict
from tests.masters import held_open

TURNS = 10
GAMES = 30
RATE, FINDS, CLEARS = 0.3, 0.8, 0.9


def simulated(folder: Path, *, labels_a_game: int, source: str = "dashboard") -> tuple[Store, dict[str, float]]:
    """Games of two models with known truth, a judge that errs, labels on turns drawn at random; gives the true rate of each model."""
    random = np.random.default_rng(4)
    steps = [Step(f'"{turn}"', (Move("place"),)) for turn in range(TURNS)]
    store = store_with(folder, [Game(steps, name=f"g{number:02}") for number in range(GAMES)])
    run = job("a", judge="llm:x/y")
    verdicts, labels, truths = [], [], {"m": RATE, "n": 0.7}
    with store.writing() as connection:
        connection.execute("UPDATE episodes SET model = CASE WHEN episode_id < 'g15' THEN 'm' ELSE 'n' END")
        for number in range(GAMES):
            labelled_turns = 1 + random.choice(TURNS, labels_a_game, replace=False)
            for turn in range(1, TURNS + 1):
                truth = random.random() < truths["m" if number < GAMES / 2 else "n"]
                given = random.random() < (FINDS if truth else 1 - CLEARS)
                verdicts.append(verdict(run, (f"g{number:02}", turn), "yes" if given else "no"))
                if turn in labelled_turns:
                    unit = f"g{number:02}/{turn}"
                    answer, score = ("Yes", 1.0) if truth else ("No", 0.0)
                    labels.append(Label(source, "p", "ps", "PS1", unit, f"g{number:02}", turn, None, answer, score))
        batches.insert(connection, batches.to_arrow({"judge_runs": [run], "verdicts": verdicts, "labels": labels}))
    return store, truths


@pytest.fixture(scope="module")
def many_labels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, dict[str, float]]]:
    store, truths = simulated(tmp_path_factory.mktemp("many_labels"), labels_a_game=5)
    with store.reading():
        yield store, truths


@pytest.fixture(scope="module")
def few_labels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from held_open(simulated(tmp_path_factory.mktemp("few_labels"), labels_a_game=2)[0])


def test_each_model_gets_its_corrected_rate(many_labels: tuple[Store, dict[str, float]]) -> None:
    """Estimate and interval are those of the formula over the games of that model, and hold the truth."""
    store, truths = many_labels
    rows = {row["model"]: row for row in corrected_rates(store).to_dicts()}
    assert rows.keys() == truths.keys()
    for model, row in rows.items():
        assert (row["units"], row["games"], row["labels"], row["labelled_games"], row["reference"]) == (150, 15, 75, 15, "people")
        assert row["rate_low"] <= truths[model] <= row["rate_high"]
        assert row["rogan_gladen_low"] <= truths[model] <= row["rogan_gladen_high"]
        assert row["sensitivity"] == pytest.approx(FINDS, abs=0.15)
        assert row["error_labels"] == 150
        assert f"corrected {row['rate']:.2f}" in row["advice"]


def test_the_estimate_is_that_of_the_formula(few_labels: Store) -> None:
    """A second computation from the store's rows gives the same numbers."""
    store = few_labels
    with store.reading() as connection:
        sums = connection.execute(
            "select sum(v.score), count(*), coalesce(sum(l.score), 0), coalesce(sum(v.score) filter (l.score is not null), 0), "
            "count(l.score) from verdicts v "
            "join episodes using (episode_id) left join labels l on l.unit_key = v.unit_id where model = 'm' group by episode_id"
        ).fetchall()
    judged, units, *labelled = np.array(sums, dtype=float).T
    expected = prediction_powered(Units(judged, units), Labelled(*labelled))
    row = corrected_rates(store).filter(pl.col("model") == "m").row(0, named=True)
    assert (row["rate"], row["rate_low"], row["rate_high"]) == pytest.approx(tuple(map(float, expected)))


@pytest.mark.parametrize("labels_a_game", [3, pytest.param(0, marks=pytest.mark.long)])
def test_without_labels_nothing_is_corrected(tmp_path: Path, labels_a_game: int) -> None:
    """The judge's own rate stands there, with the advice to label; labels drawn by disagreement, no random sample, are as good as none."""
    store, _ = simulated(tmp_path, labels_a_game=labels_a_game, source="dashboard:disagreements")
    for row in corrected_rates(store).to_dicts():
        assert row["judge_rate"] > 0
        assert (row["rate"], row["rogan_gladen"], row["labels"]) == (None, None, 0)
        assert "too few labels" in row["advice"]


def test_planted_truth_serves_where_no_person_labelled(tmp_path: Path) -> None:
    """The reference is named."""
    store, _ = simulated(tmp_path, labels_a_game=3, source="planted")
    assert corrected_rates(store)["reference"].unique().to_list() == ["planted truth"]


def test_a_model_with_one_game_is_not_corrected(tmp_path: Path) -> None:
    """Labels of other models tell how the judge errs, but one game does not tell how games differ: no estimate, and no crash."""
    store, _ = simulated(tmp_path, labels_a_game=5)
    with store.writing() as connection:
        connection.execute("UPDATE episodes SET model = 'alone' WHERE episode_id = 'g00'")
    row = corrected_rates(store).filter(pl.col("model") == "alone").row(0, named=True)
    assert (row["games"], row["rate"], row["rogan_gladen"]) == (1, None, None)
    assert "too few" in row["advice"]


def test_more_labels_are_needed_for_narrower_intervals(many_labels: tuple[Store, dict[str, float]]) -> None:
    """Numbers grow with the precision; what the store cannot give is null; today's half-width is told."""
    store, _ = many_labels
    for row in labels_needed_report(store).to_dicts():
        assert 0 < row["half_width"] < 0.3
        assert row["design_effect"] >= 1
        assert row["labels_for_0_10"] is None or 0 < row["labels_for_0_10"] <= row["units"]
        assert row["labels_for_0_02"] is None
        assert row["model"] in row["advice"]
        low, needed, high = (row[f"labels_for_0_10{end}"] for end in ("_low", "", "_high"))
        assert low is not None
        assert low < (needed or row["units"] + 1)
        assert high is None or needed < high
        assert f"as sure as labels of few games are: {low} to " in row["advice"] or needed is None or row["labels_for_0_05"] is not None


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Games of two models, m and n, with a true rate of .4 and a judge that is right in .9; `inverted`: of this model in .1.

    What the judge says and the turn give the probability of a label, the truth (no, yes) that of an answer of the judge.
    """

    labelled_if: Callable[[bool, int], float]
    answered_if: tuple[float, float] = (1.0, 1.0)
    decided_only: bool = False
    inverted: str = ""
    games: int = 40
    source: str = "dashboard"

    def rows(self, rubric: str) -> dict[str, list[Any]]:
        """Verdicts of a job and labels."""
        random, run = np.random.default_rng(8), job(f"a job of {rubric}", judge="llm:x/y")._replace(rubric=rubric)
        verdicts, labels = [], []
        for number in range(self.games):
            model = "m" if number % 2 else "n"
            for turn in range(1, TURNS + 1):
                unit, truth = (f"g{number:03}", turn), random.random() < 0.4
                given = truth == (random.random() < (0.1 if model == self.inverted else 0.9))
                is_answered = random.random() < self.answered_if[truth]
                answer = ("yes" if given else "no") if is_answered else None
                verdicts.append(verdict(run, unit, answer, status="answered" if is_answered else "undecided")._replace(rubric=rubric))
                if random.random() < self.labelled_if(given, turn) and (is_answered or not self.decided_only):
                    found = label(unit, "yes" if truth else "no")
                    labels.append(found._replace(score=float(truth), source=self.source, rubric=rubric))
        return {"judge_runs": [run], "verdicts": verdicts, "labels": labels}


def store_of(folder: Path, worlds: Mapping[str, Drawn]) -> Store:
    """A store with what is drawn, by its rubric."""
    games = range(max(world.games for world in worlds.values()))
    steps = [Step(f'"{turn}"') for turn in range(TURNS)]
    store = store_with(folder, [Game(steps, name=f"g{number:03}", task=f"t{number // 2}") for number in games])
    with store.writing() as connection:
        connection.execute("UPDATE episodes SET model = CASE WHEN episode_id[-1]::INT % 2 = 1 THEN 'm' ELSE 'n' END")
        for rubric, world in worlds.items():
            batches.insert(connection, batches.to_arrow(world.rows(rubric)))
    return store


def drawn(folder: Path, **options: Any) -> Store:
    return store_of(folder, {"ps": Drawn(**options)})


TOGETHER = {
    "early": Drawn(labelled_if=lambda _, turn: float(turn < 4)),
    "more early": Drawn(labelled_if=lambda _, turn: 0.8 if turn < 4 else 0.2),
    "of all units": Drawn(labelled_if=lambda *_: 0.5, answered_if=(0.5, 0.9)),
    "of its answers": Drawn(labelled_if=lambda *_: 0.5, answered_if=(0.5, 0.9), decided_only=True),
    "random": Drawn(labelled_if=lambda *_: 0.5),
    "not recorded": Drawn(labelled_if=lambda *_: 0.5, source="sheet.csv"),
    "not recorded, all": Drawn(labelled_if=lambda *_: 1.0, source="sheet.csv"),
    "contradictory": Drawn(labelled_if=lambda *_: 0.6, inverted="m", games=120),
    "three games": Drawn(labelled_if=lambda given, _: 0.9 if given else 0.1, games=6),
    "two games": Drawn(labelled_if=lambda given, _: 0.9 if given else 0.1, games=4),
    "few games": Drawn(labelled_if=lambda *_: 1.0, games=6),
}
"""Rubric -> what is drawn."""


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """All of them."""
    store = store_of(tmp_path_factory.mktemp("together"), TOGETHER)
    with store.writing() as connection:  # most labels are of n, so that the pooled error rates are informed
        odd = "episode_id[-1]::INT % 2 = 1 AND hash(unit_key) % 4 > 0"
        connection.execute(f"DELETE FROM labels WHERE rubric = 'contradictory' AND {odd}")
    yield from held_open(store)


Rates = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def rates(together: Store) -> Rates:
    """Rubric -> the rows of both models."""
    rows = corrected_rates(together)

    def of(rubric: str) -> list[dict[str, Any]]:
        found = rows.filter(rubric=rubric).to_dicts()
        assert {row["model"] for row in found} == {"m", "n"}
        return found

    return of


def test_labels_of_what_the_judge_says_yes_to_correct_nothing(tmp_path: Path) -> None:
    """They made a right rate wrong, and were printed as the corrected one; also in the terminal and on one page."""
    store = drawn(tmp_path, labelled_if=lambda given, _: 0.6 if given else 0.1)
    for row in corrected_rates(store).iter_rows(named=True):
        assert (row["rate"], row["rate_low"], row["rogan_gladen"], row["judge_weight"]) == (None, None, None, None)
        assert row["unbalanced"] == "the judge's answer"
        assert row["unbalanced_p"] < 0.001
        assert row["least_possible"] < 0.4 < row["most_possible"]
        assert "not corrected, because the labelled units are no random sample (the judge's answer is 0." in row["advice"]
        assert "use the corrected one" not in row["advice"]
        assert f"in {row['least_possible']:.2f} to {row['most_possible']:.2f}" in row["advice"]
    for output_format in ("table", "html"):
        command = ["report", "corrected-rates", "--store", str(store.path), "--format", output_format]
        assert "not corrected, because the labelled units" in html.unescape(CliRunner().invoke(cli, command).stdout)


def test_labels_of_early_turns_correct_nothing(rates: Rates) -> None:
    """Here the truth does not change with the turn, but that is not known: also where all games have labels on the same turns."""
    rows = [*rates("more early"), *rates("early")]
    assert [(row["rate"], row["unbalanced"]) for row in rows] == [(None, "the turn")] * 4


def test_a_judge_that_does_not_answer_is_corrected_by_labels_of_what_it_left(rates: Rates) -> None:
    """It answers 90 % of the true yes and half of the true no: right if labels are random among all units, bounds if among its answers."""
    for name in ("of all units", "of its answers"):
        for row in rates(name):
            assert (row["units"] + row["abstained"], row["rogan_gladen"], row["unbalanced"]) == (200, None, None)
            if name == "of all units":
                assert row["rate_low"] < 0.4 < row["rate_high"]
                assert row["rate_high"] - row["rate_low"] < 0.3
                continue
            assert row["rate"] is None
            assert f"the judge left {row['abstained']} of 200 units without an answer, none of which is labelled" in row["advice"]
            assert row["least_possible"] < 0.4 < row["most_possible"]
            assert row["most_possible"] - row["least_possible"] < 0.65  # what was answered is known by labels


def test_units_that_are_counted_give_the_numbers_of_units_one_by_one(tmp_path: Path) -> None:
    """Also where few units are without an answer: few of the units, though many of the ways in which units of a game were answered."""
    store = drawn(tmp_path, labelled_if=lambda *_: 1.0, answered_if=(0.983, 0.983), games=60)
    counted = corrected_rates(store)
    assert (counted["abstained"] > 0).all()
    assert (counted["abstained"] < 0.02 * counted["units"]).all()
    assert counted["rogan_gladen"].is_not_null().all()
    assert_frame_equal(counted, corrected_rates(store, answers_by="turn"))


def test_random_labels_still_correct(rates: Rates) -> None:
    """Nothing differs, and the sentence names what the number rests on."""
    for row in rates("random"):
        assert (row["unbalanced"], row["least_possible"], row["abstained"]) == (None, None, 0)
        assert row["unbalanced_p"] > 0.01
        assert row["rate_low"] < 0.4 < row["rate_high"]
        assert "not corrected" not in row["advice"]


def test_labels_of_which_nobody_recorded_how_they_were_chosen_correct_nothing(together: Store, rates: Rates) -> None:
    """A judge that guesses hides that people label what is a yes: no test finds it, so bounds are all there is, and they hold the truth."""
    effects = judged_effects(together)
    for name in ("not recorded", "not recorded, all"):
        for row in rates(name):
            if name == "not recorded, all":  # there are no others
                assert row["rate"] == pytest.approx(row["label_rate"])
                continue
            assert (row["rate"], row["rogan_gladen"], row["judge_weight"]) == (None, None, None)
            assert row["least_possible"] < 0.4 < row["most_possible"]
            assert "not corrected, because it is not recorded how the labelled units were chosen" in row["advice"]
            assert "sampling_probability" in row["advice"]
        for row in effects.filter(rubric=name).iter_rows(named=True):
            assert (row["effect"] is None) == (name == "not recorded")


def test_two_corrections_that_contradict_each_other_are_no_advice(rates: Rates) -> None:
    """Error rates over both models hold for neither: the intervals exclude each other, and nothing given so."""
    (row,) = (one for one in rates("contradictory") if one["model"] == "m")
    assert row["rogan_gladen_low"] > row["rate_high"] or row["rogan_gladen_high"] < row["rate_low"]
    assert "the correction by error rates contradicts it" in row["advice"]
    assert "use the corrected one" not in row["advice"]


def test_a_judge_that_prefers_one_team_is_no_difference_between_teams(tmp_path: Path) -> None:
    """Equal teams on shared tasks, a judge that is wrong about one of them: without labels nothing follows, with them the bias is gone."""
    store = drawn(tmp_path, labelled_if=lambda *_: 0.5, inverted="m")
    for has_labels in (True, False):
        if not has_labels:
            with store.writing() as connection:
                connection.execute("DELETE FROM labels")
        (row,) = compare(store, metric="judge:ps.PS1").to_dicts()
        assert (row["paired"], row["tasks"]) == (True, 20)
        assert row["p_holm"] < 0.05
        assert "a difference on tasks like these" not in row["advice"]
        assert "these are the answers of llm:x/y" in row["advice"]
        if not has_labels:
            assert (row["corrected"], row["corrected_low"]) == (None, None)
            assert "cannot be separated from judge bias" in row["advice"]
            continue
        assert row["corrected_low"] < 0 < row["corrected_high"]
        assert row["corrected_high"] - row["corrected_low"] < 0.4
        assert "no difference shown" in row["advice"]
        rates = {found["model"]: found["rate"] for found in corrected_rates(store).to_dicts()}
        assert abs(row["corrected"]) == pytest.approx(abs(rates["m"] - rates["n"]))


@pytest.mark.parametrize(
    ("name", "corrected", "data_sets"),
    [
        ("random labels", True, 60),
        pytest.param("random labels, 10 games", True, 60, marks=pytest.mark.long),
        ("labels where the judge says yes, 3 to 1", False, 20),
        pytest.param("labels on early turns, 4 to 1", False, 20, marks=pytest.mark.long),
        pytest.param("answers 90 % of true yes and 50 % of true no", True, 60, marks=pytest.mark.long),
        pytest.param("the same, labels where the judge answered", False, 20, marks=pytest.mark.long),
        pytest.param("chosen where the truth is yes, accuracy .6", False, 20, marks=pytest.mark.long),
    ],
)
def test_claims_of_corrected_rates_hold_the_truth(name: str, corrected: bool, data_sets: int) -> None:  # noqa: FBT001
    """With random labels the rate is corrected and right as often as promised; else it is refused, and the bounds hold the truth."""
    found = claimed(WORLDS[name], data_sets)
    assert found.corrected >= 0.9 if corrected else found.corrected <= 0.1
    assert stats.binomtest(round(found.false * data_sets), data_sets, 0.05, alternative="greater").pvalue > 0.01
    assert np.isnan(found.bounds) or found.bounds >= 0.9


def labelled(folder: Path, games: int, answers: tuple[str, ...]) -> Store:
    """Games of four turns that are all judged and labelled, with these answers by turn of judge and people alike."""
    run = job("a", judge="llm:x/y")
    units: list[tuple[str, int | None]] = [(f"g{game}", turn) for game in range(games) for turn in range(1, 5)]
    given = [(unit, answers[place % 4]) for place, unit in enumerate(units)]
    store = store_with(folder, [Game([Step("{}")] * 4, name=f"g{game}") for game in range(games)])
    verdicts = [verdict(run, unit, answer) for unit, answer in given]
    labels = [label(unit, answer)._replace(score=float(answer == "yes")) for unit, answer in given]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [run], "verdicts": verdicts, "labels": labels}))
    return store


@pytest.mark.sampled(1)
@pytest.mark.parametrize("games", [6, 12, 30])
@pytest.mark.parametrize("answers", [("yes",) * 4, ("yes", "no", "no", "no")])
def test_no_plan_contradicts_the_interval_that_is_there(tmp_path: Path, games: int, answers: tuple[str, ...]) -> None:
    """Games that are all alike: it promised plus or minus .02 with the labels that there were, beside 1.00 (0.77 to 1.00)."""
    store = labelled(tmp_path, games, answers)
    (row,) = labels_needed_report(store).to_dicts()
    (rate,) = corrected_rates(store).to_dicts()
    assert row["half_width"] == pytest.approx((rate["rate_high"] - rate["rate_low"]) / 2)
    for name, half in (("labels_for_0_10", 0.10), ("labels_for_0_05", 0.05), ("labels_for_0_02", 0.02)):
        assert row[name] is None or row["half_width"] <= half


def test_what_cannot_be_known_of_one_game_is_no_plan(tmp_path: Path) -> None:
    """Four labels of its four turns were told to give plus or minus .02, where corrected-rates has no rate."""
    store = labelled(tmp_path, 1, ("yes",) * 4)
    (row,) = labels_needed_report(store).to_dicts()
    assert row["labels_for_0_10"] is None
    assert "have more games judged" in row["advice"]
    (rate,) = corrected_rates(store).to_dicts()
    assert rate["advice"].endswith("too few labels to correct it: cotrace report labels-needed")


def test_where_all_is_labelled_more_labels_are_no_advice(tmp_path: Path) -> None:
    """More games are; and one game is told as one."""
    store = labelled(tmp_path, 3, ("yes", "no", "yes", "no"))
    with store.writing() as connection:
        connection.execute("UPDATE labels SET answer = 'yes', score = 1 WHERE episode_id <> 'g0'")
        connection.execute("UPDATE verdicts SET answer = 'yes', score = 1 WHERE episode_id <> 'g0'")
    (row,) = corrected_rates(store).to_dicts()
    assert "too wide for a conclusion, all is labelled: have more games judged; only 1 labelled game shows a no" in row["advice"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["corrected-rates", "labels-needed"])
@pytest.mark.parametrize("output_format", ["table", "csv", "json", "html"])
def test_the_commands_show_them_in_every_format(few_labels: Store, name: str, output_format: str) -> None:
    """Both models, and the words."""
    store = few_labels
    result = CliRunner().invoke(cli, ["report", name, "--store", str(store.path), "--format", output_format], catch_exceptions=False)
    assert result.exit_code == 0
    assert "PS1, n: " in result.stdout


@pytest.mark.parametrize(("name", "games"), [("three games", 3), ("two games", 2)])
def test_labels_that_cannot_be_tested_correct_nothing(rates: Rates, name: str, games: int) -> None:
    """Below four games nothing shows whether labels are a random sample: a rate from the judge's yes was printed as the corrected one."""
    for row in rates(name):
        assert (row["rate"], row["rate_low"], row["rogan_gladen"]) == (None, None, None)
        assert 0 <= row["least_possible"] < 0.4 < row["most_possible"] <= 1
        assert row["unbalanced_p"] is None
        assert f"not corrected, because {games} labelled games cannot show whether the labelled units are a random sample" in row["advice"]
        assert f"in {row['least_possible']:.2f} to {row['most_possible']:.2f}; label units of more games in random order" in row["advice"]


def test_a_few_games_that_are_labelled_in_whole_need_no_test(rates: Rates) -> None:
    """There are no other units, so the rate is known as well as the games allow."""
    for row in rates("few games"):
        assert row["rate"] == pytest.approx(row["label_rate"])
        assert (row["least_possible"], row["unbalanced_p"]) == (None, None)
