"""The agreement report: the published numbers of CRAFT's human validation, hand-worked stores, and its words."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats

from analytics.agreement.pairs import ALL, Comparison, score_columns
from analytics.agreement.report import agreement_report, coefficients_with_intervals
from analytics.installation import ensure_installed
from cotrace.cli import cli
from ingest.labels.load import import_labels
from schemas.common.errors import UsageError
from schemas.records import Label
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.given import Given
from tests.analytics.test_views_judges import FOUND, GAMES, TRUTH, UNITS, job, judged, label, verdict
from tests.masters import held_open

RUBRICS = {"SG": "spatial_grounding", "MM": "mind_modeling", "PS": "pragmatic_sufficiency", "ALL": ALL}

OF_THE_JUDGE = {
    "n_items": "units",
    "n_human_responses": "answers_a",
    "n_llm_responses": "answers_b",
    "human_mean": "mean_a",
    "llm_mean": "mean_b",
    "upstream_n_pairs": "mean_answer_n",
    "upstream_pearson_r": "mean_answer_pearson",
    "upstream_pearson_p": "mean_answer_pearson_p",
    "upstream_spearman_rho": "mean_answer_spearman",
    "upstream_spearman_p": "mean_answer_spearman_p",
    "itemmean_pearson_r": "mean_mean_pearson",
    "itemmean_pearson_p": "mean_mean_pearson_p",
    "itemmean_spearman_rho": "mean_mean_spearman",
    "itemmean_spearman_p": "mean_mean_spearman_p",
    "consensus_percent_agreement": "consensus_agreement",
    "consensus_cohen_kappa": "consensus_kappa",
    "allpairs_n": "pairs",
    "allpairs_percent_agreement": "agreement",
    "allpairs_cohen_kappa": "kappa",
}
"""Column of the published numbers -> column of the row judge_people."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Store]:
    """A store with nothing but the published labels."""
    store = Store(tmp_path_factory.mktemp("validation") / "s.duckdb")
    import_labels(shared / "data/craft/human_validation/craftValidationOutputs.csv", store)
    ensure_installed(store)
    yield from held_open(store)


@pytest.fixture(scope="module")
def of_published(published: Store) -> pl.DataFrame:
    """The report, N/A left out."""
    return agreement_report(published)


def rows_of(report: pl.DataFrame, kind: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["rubric"], row["question"]): row for row in report.filter(pl.col("kind") == kind).to_dicts()}


@pytest.mark.shared
def test_every_published_number_is_reproduced(published: Store, shared: Path) -> None:
    """Every row and column of the reference, to its six digits, with N/A taken for 0.5 as the published procedure does."""
    report = agreement_report(published, na_score=0.5)
    between, people, repeats = (rows_of(report, kind) for kind in ("judge_people", "people", "judge_repeats"))
    with (shared / "reference/craft_human_validation_expected.csv").open(encoding="utf-8") as file:
        expected = list(csv.DictReader(file))
    assert len(expected) == 25 == len(between)
    names = [*OF_THE_JUDGE, "human_human_pairwise_agreement", "llm_llm_pairwise_agreement"]
    assert set(expected[0]) == {"judge", "question", *names}
    for row in expected:
        key = (RUBRICS[row["judge"]], row["question"])
        found = {name: between[key][column] for name, column in OF_THE_JUDGE.items()}
        found["human_human_pairwise_agreement"] = people[key]["agreement"]
        found["llm_llm_pairwise_agreement"] = repeats[key]["agreement"]
        for name in names:
            wanted = float(row[name]) if row[name] else None
            tolerance = 6e-6 * abs(wanted) + 1e-12 if wanted is not None and name.endswith("_p") else 6e-7
            assert found[name] == (None if wanted is None else pytest.approx(wanted, abs=tolerance)), (key, name)


@pytest.mark.shared
def test_it_says_what_to_make_of_the_published_judge(of_published: pl.DataFrame) -> None:
    """The two judges that always answer the same are told apart from usable ones in words; SG3, the best question, is not condemned."""
    report = rows_of(of_published, "judge_people")
    ps4 = report["pragmatic_sufficiency", "PS4"]["advice"]
    assert ps4 == "PS4: the judge llm:published always answers No; people answer Yes in 85 %: do not use"
    assert "always answers Yes; people answer No" in report["spatial_grounding", "SG2"]["advice"]
    assert "do not use" not in report["spatial_grounding", "SG3"]["advice"]
    pooled = [report[rubric, ALL]["advice"] for rubric in RUBRICS.values()]
    assert all("do not use" in text or "weak" in text or "before you lean on it" in text for text in pooled)


def guessing(folder: Path, questions: int) -> Store:
    """A judge that guesses, against labels: so many questions, eight games of ten units."""
    random = np.random.default_rng(5)
    store = Store(folder / f"guess{questions}.duckdb")
    store.create()
    rows: list[Label] = []
    for question in range(questions):
        for place in range(80):
            unit, said, truth = f"g{place // 10}/{place}", *("yes" if random.random() < 0.5 else "no" for _ in range(2))
            for annotator, answer in (("p", truth), ("llm:x/y#1", said)):
                rows.append(Label("people", annotator, "ps", f"Q{question}", unit, None, None, None, answer, None))
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"labels": rows}))
    ensure_installed(store)
    return store


def test_among_many_rows_none_is_praised_by_chance(tmp_path: Path) -> None:
    """Seventy-five questions of a judge that guesses: some intervals of a single row leave out 0, and no advice goes by that."""
    report = agreement_report(guessing(tmp_path, 75)).filter((pl.col("kind") == "judge_people") & (pl.col("question") != ALL))
    assert len(report) == 75
    lucky = report.filter(pl.col("kappa_low") > 0)
    assert len(lucky) >= 1
    assert all("beyond chance if this were the only row, but it is one of" in advice for advice in lucky["advice"])
    assert not report["advice"].str.contains("use it").any()
    assert (report["kappa_all_low"] <= report["kappa_low"]).all()
    assert (report["kappa_all_high"] >= report["kappa_high"]).all()


@pytest.mark.shared
def test_intervals_hold_their_value(of_published: pl.DataFrame) -> None:
    """Every coefficient with an interval lies in it, and all lie in -1..1."""
    for name in ("agreement", "kappa", "ac1", "alpha_nominal"):
        told = of_published.drop_nulls(f"{name}_low")
        assert len(told) > 20
        assert told.filter((pl.col(name) < pl.col(f"{name}_low")) | (pl.col(name) > pl.col(f"{name}_high"))).is_empty()
        assert told.filter((pl.col(f"{name}_low") < -1) | (pl.col(f"{name}_high") > 1)).is_empty()


GIVEN = Given()
ONE, MODEL = job("a"), job("b", judge="llm:x/y")


@pytest.fixture(scope="module")
def of_given(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The report of all that tests were given."""
    return agreement_report(GIVEN.store_in(tmp_path_factory.mktemp("given"), GAMES))


@pytest.fixture
def found(of_given: pl.DataFrame, request: pytest.FixtureRequest) -> pl.DataFrame:
    """Its rows about the test's own answers."""
    return of_given.filter(rubric=request.function.__name__)


@GIVEN([MODEL], [verdict(MODEL, *one) for one in zip(UNITS, FOUND, strict=True)], [label(*one) for one in zip(UNITS, TRUTH, strict=True)])
def test_a_judge_against_people_by_hand(found: pl.DataFrame) -> None:
    """Nine answers: six agree; of four yes three are found; of three no (an unclear left out) two are."""
    (row,) = found.to_dicts()
    assert (row["kind"], row["rater_a"], row["rater_b"], row["units"], row["games"]) == ("judge_people", "people", "llm:x/y", 9, 3)
    assert row["agreement"] == pytest.approx(6 / 9)
    assert row["sensitivity"] == pytest.approx(3 / 4)
    assert row["specificity"] == pytest.approx(2 / 3)
    assert row["confusion"] == '{"no":{"no":2,"unclear":1,"yes":1},"yes":{"no":1,"yes":3},"na":{"na":1}}'


ALWAYS, AGAIN = job("c", judge="llm:x/y"), job("d", judge="llm:z")


@GIVEN(
    [ALWAYS, AGAIN],
    [verdict(ALWAYS, unit, "yes", repeat=repeat) for repeat in (1, 2) for unit in UNITS]
    + [verdict(AGAIN, *one, repeat=repeat) for repeat in (1, 2) for one in zip(UNITS, FOUND, strict=True)],
    [label(*one, who) for who in ("p", "q") for one in zip(UNITS, TRUTH, strict=True)],
)
def test_a_few_units_show_nothing(found: pl.DataFrame) -> None:
    """Nine units tell neither whether a judge that always answers alike errs, nor whether people agree, nor whether it is steady."""
    assert set(found["kind"]) == {"judge_people", "judge_repeats", "judge_judge", "people"}
    assert all("only 9 units: too few for a conclusion about" in advice for advice in found["advice"])


SURE = [(unit, answer) for unit, answer in zip(UNITS, TRUTH, strict=True) if answer != "N/A"]


@GIVEN([ONE], [verdict(ONE, unit, answer.lower()) for unit, answer in SURE], [label(*one) for one in SURE])
def test_full_agreement_is_not_taken_for_certainty(found: pl.DataFrame) -> None:
    """Eight answers in three games without a difference: intervals for all coefficients, that reach 1 and down to about a half.

    By hand: with half an answer added each way the log odds are log(8.5 / 0.5) = 2.833, the variance of what was added
    0.5 / 8.5^2 + 0.5 / 0.5^2 = 2.007, so at most 1 / (1 + exp(-2.833 + 1.96 * 1.417)) = 0.51; unequal games widen it a little.
    """
    (row,) = found.to_dicts()
    assert 0.43 < row["agreement_low"] < 0.514
    assert row["agreement_high"] == row["agreement"] == 1.0
    for name in ("kappa", "alpha_nominal", "ac1"):
        assert row[name] == 1.0
        assert -0.5 < row[f"{name}_low"] < 0.6
        assert row[f"{name}_high"] == pytest.approx(1.0, abs=0.02)


@GIVEN(
    [ONE],
    [verdict(ONE, unit, "no")._replace(question="FM-1.1") for unit in UNITS[:4]],
    [label(unit, "Yes")._replace(question="FM-1.1", score=1.0) for unit in UNITS[:4]],
    rubric="mast",
)
def test_numbers_of_answers_are_the_rubrics(of_given: pl.DataFrame) -> None:
    """In MAST the yes is the failure, so its number is 0, whatever a label file takes for granted."""
    (row,) = of_given.filter(rubric="mast", question="FM-1.1").to_dicts()
    assert (row["mean_a"], row["mean_b"], row["sensitivity"]) == (0.0, 1.0, 0.0)


@GIVEN(
    [ONE],
    [verdict(ONE, UNITS[0], "yes"), verdict(ONE, UNITS[1], None, status="undecided")],
    [label(unit, "Yes") for unit in UNITS[:3]],
)
def test_what_is_not_answered_is_told_and_in_no_coefficient(found: pl.DataFrame) -> None:
    """Three labels, one answer, one undecided, one never asked."""
    (row,) = found.to_dicts()
    assert (row["units"], row["unanswered"], row["agreement"], row["kappa"]) == (1, 1, 1.0, None)


@GIVEN(
    [ONE, MODEL, AGAIN],
    [
        verdict(ONE, UNITS[0], "yes"),
        verdict(AGAIN, UNITS[0], "yes"),
        verdict(MODEL, UNITS[0], "yes"),
        verdict(MODEL, UNITS[0], "no", repeat=2),
    ],
    [label(UNITS[0], "Yes", "p"), label(UNITS[0], "No", "q")],
)
def test_everybody_is_compared_with_everybody(found: pl.DataFrame) -> None:
    """People among themselves, repeats, engine and judge against people, the judge against the engine, and two judges."""
    pairs = found.select("kind", "rater_a", "rater_b", "pairs", "agreement").sort("kind", "rater_a", "rater_b")
    assert pairs.rows() == [
        ("judge_engine", "engine", "llm:x/y", 2, 0.5),
        ("judge_engine", "engine", "llm:z", 1, 1.0),
        ("judge_judge", "llm:x/y", "llm:z", 2, 0.5),
        ("judge_people", "people", "engine", 2, 0.5),
        ("judge_people", "people", "llm:x/y", 4, 0.5),
        ("judge_people", "people", "llm:z", 2, 0.5),
        ("judge_repeats", "llm:x/y", "llm:x/y", 1, 0.0),
        ("people", "people", "people", 1, 0.0),
    ]


def test_only_raters_of_several_questions_are_pooled(tmp_path: Path) -> None:
    """The engine answered two questions, the model one: the row of all questions is the engine's alone."""
    engine, model = job("a"), job("b", judge="llm:x/y")
    labels = [label(UNITS[0], "Yes"), label(UNITS[0], "Yes")._replace(question="PS2")]
    rows = [verdict(engine, UNITS[0], "yes"), verdict(engine, UNITS[0], "no")._replace(question="PS2"), verdict(model, UNITS[0], "yes")]
    report = agreement_report(judged(tmp_path, [engine, model], rows, labels)).filter(pl.col("question") == ALL)
    assert report.select("rubric", "rater_a", "rater_b", "pairs", "agreement").rows() == [("ps", "people", "engine", 2, 0.5)]


def test_a_store_without_answers_gives_an_empty_report(tmp_path: Path) -> None:
    """No rows, but all columns."""
    report = agreement_report(judged(tmp_path, [], []))
    assert report.is_empty()
    assert {"kappa_low", "advice", "consensus_kappa"} <= set(report.columns)


# --- the command ------------------------------------------------------------------------------------------------------------------------


def reported(store: Store, *options: str) -> str:
    """What `cotrace report agreement` prints."""
    result = CliRunner().invoke(cli, ["report", "agreement", "--store", str(store.path), *options], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.sampled(1)
@pytest.mark.shared
@pytest.mark.parametrize("output_format", ["table", "csv", "json", "html"])
def test_the_command_shows_the_words_in_every_format(published: Store, output_format: str) -> None:
    """A filtered report has the row it was filtered to and no other."""
    shown = reported(published, "--format", output_format, "--where", "question = 'PS4' and kind = 'judge_people'")
    assert "people answer Yes in 85 %: do not use" in shown
    assert "PS5" not in re.sub(r"base64,[^)]*", "", shown), "the letters of an embedded font are no text"


@pytest.mark.shared
def test_the_command_reproduces_the_published_means(published: Store, of_published: pl.DataFrame) -> None:
    """With N/A as 0.5 the mean of PS6 is the published one, without it is that of the answers with a number."""
    where = ("--format", "json", "--where", "question = 'PS6' and kind = 'judge_people'")
    assert json.loads(reported(published, *where, "--na-score", "0.5"))[0]["mean_b"] == pytest.approx(0.725)
    assert rows_of(of_published, "judge_people")["pragmatic_sufficiency", "PS6"]["mean_b"] == pytest.approx(1.0)


def test_a_wrong_condition_is_one_line(tmp_path: Path) -> None:
    """It names the column that there is not."""
    store = judged(tmp_path, [], [])
    with pytest.raises(UsageError, match="nothing_of_the_kind"):
        CliRunner().invoke(
            cli, ["report", "agreement", "--store", str(store.path), "--where", "nothing_of_the_kind"], catch_exceptions=False
        )


def test_units_that_look_alike_stand_in_one_row() -> None:
    """What a million units say is worked out of the few ways in which they differ: the same as of each unit, and as SciPy says."""
    random = np.random.default_rng(3)
    a, b = random.integers(0, 3, (60, 3)), random.integers(0, 3, (60, 3))
    times, games = random.integers(1, 6, 60), np.sort(np.arange(60) % 9)

    def compared(repeats: Any, weights: Any) -> Comparison:
        counts = [np.repeat(counts.astype(float), repeats, axis=0) for counts in (a + 1, b + 1)]
        return Comparison(
            rubric="r",
            question="q",
            kind="judge_people",
            rater_a="people",
            rater_b="judge",
            answers=("no", "unclear", "yes"),
            scores=np.array([0, 0.5, 1]),
            counts_a=counts[0],
            counts_b=counts[1],
            clusters=np.repeat(games, repeats),
            weights=weights,
            unanswered=0,
        )

    apart, alike = compared(times, np.ones(times.sum())), compared(1, times.astype(float))
    assert alike.units == apart.units == times.sum()
    found, expected = (score_columns(one, None) | coefficients_with_intervals(one) for one in (alike, apart))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    means = [np.repeat((counts + 1) @ np.array([0, 0.5, 1]) / (counts + 1).sum(axis=1), times) for counts in (a, b)]
    for name, reference in (("pearson", stats.pearsonr(*means)), ("spearman", stats.spearmanr(*means))):
        assert found[f"mean_mean_{name}"] == pytest.approx(reference.statistic)
        assert found[f"mean_mean_{name}_p"] == pytest.approx(reference.pvalue)


SAID = [("yes", "yes"), ("no", "yes"), ("yes", "no"), ("no", "no"), ("yes", "yes"), ("yes", "yes")]
"""By people and by a judge."""


@GIVEN(
    [MODEL],
    [verdict(MODEL, unit, answer) for unit, (_, answer) in zip(UNITS, SAID, strict=False)],
    [label(unit, answer) for unit, (answer, _) in zip(UNITS, SAID, strict=False)],
    rubric="pragmatic_sufficiency",
)
def test_ac1_is_over_the_scale_of_the_rubric(of_given: pl.DataFrame) -> None:
    """Of a rubric with yes, unclear and no, to one question of which nobody said unclear: three answers could have been given."""
    (row,) = of_given.filter(rubric="pragmatic_sufficiency", kind="judge_people", question="PS1").to_dicts()
    n = len(SAID)
    observed = sum(a == b for a, b in SAID) / n
    share = sum((a == "yes") + (b == "yes") for a, b in SAID) / (2 * n)
    chance = 2 * share * (1 - share) / 2
    assert row["ac1"] == pytest.approx((observed - chance) / (1 - chance))


def test_games_that_are_alike_count_as_so_many() -> None:
    """Of games with the same counts one is looked at: every coefficient and interval is that of all of them, one by one."""
    random = np.random.default_rng(4)
    a, b = random.integers(0, 3, (24, 3)).astype(float), random.integers(0, 3, (24, 3)).astype(float)
    games, times = np.arange(24) // 4, np.array([1, 5, 2, 1, 3, 4])

    def compared(rows: Any, clusters: Any, alike: Any) -> Comparison:
        return Comparison(
            rubric="r",
            question="q",
            kind="judge_people",
            rater_a="people",
            rater_b="judge",
            answers=("no", "unclear", "yes"),
            scores=np.array([0, 0.5, 1]),
            counts_a=a[rows] + 1,
            counts_b=b[rows] + 1,
            clusters=clusters,
            weights=np.ones(len(rows)),
            unanswered=0,
            alike=alike,
        )

    copies = [game for game, n in enumerate(times) for _ in range(n)]
    apart = compared(np.concatenate([np.flatnonzero(games == game) for game in copies]), np.repeat(np.arange(times.sum()), 4), None)
    together = compared(np.arange(24), games, times.astype(float))
    assert together.units == apart.units == 4 * times.sum()
    found, expected = (score_columns(one, None) | coefficients_with_intervals(one, 7) for one in (together, apart))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
