"""Drift: found where a played model turns into another, not claimed where it stays; the statistics on games with a known truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from analytics.drift import drift_report
from analytics.installation import ensure_installed
from analytics.query import query
from analytics.statistics.intervals import clustered_share, wilson
from analytics.statistics.shifts import Cells, Shift, group_shift, holm, paired_shift
from cotrace.cli import cli
from judges.rubric_files.load import find
from judges.runs.runner import run
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Step, store_with
from tests.analytics.test_views_judges import UNITS, job, judged, verdict
from tests.judges.judged_games import ask_model, store_of
from tests.servers.simulated_judge import Drift, Shares, SimulatedJudge, simulated_judge

GAMES, TURNS = 30, 3
MOSTLY: dict[str, Shares] = {"yes": {"yes": 0.8, "no": 0.2}}
RARELY: dict[str, Shares] = {"yes": {"yes": 0.4, "no": 0.6}}
QUESTIONS = [f"PS{number}" for number in range(1, 7)]


def asked(store: Store, judge: SimulatedJudge, *, repeats: int, where: str | None = None, model: str = "local/x") -> None:
    """Have a played model judge what is not answered yet, in a job of its own."""
    with simulated_judge(judge) as url:
        assert run(ask_model(url, repeats=repeats, where=where, model=model), store).failed == 0
    ensure_installed(store)


def rows_of(store: Store, compared: str) -> dict[str, dict[str, Any]]:
    """Row of the answer yes by question."""
    rows = drift_report(store).filter((pl.col("compared") == compared) & (pl.col("answer") == "yes")).to_dicts()
    assert [row["question"] for row in rows] == QUESTIONS
    return {row["question"]: row for row in rows}


# --- with a model that drifts, and one that does not ------------------------------------------------------------------------------------


def test_a_model_that_changed_between_two_jobs_is_found(tmp_path: Path) -> None:
    """From 80 to 40 % yes on the same units: every question says so, and its interval holds the truth."""
    store = store_of(tmp_path / "s.duckdb", GAMES, TURNS)
    asked(store, SimulatedJudge(defect="never", confusion=MOSTLY, seed=1), repeats=1)
    asked(store, SimulatedJudge(defect="never", confusion=RARELY, seed=2), repeats=2)
    rows = rows_of(store, "again")
    assert all(row["drifted"] for row in rows.values())
    assert sum(row["low"] <= -0.4 <= row["high"] for row in rows.values()) >= 5
    for row in rows.values():
        assert (row["units"], row["games"]) == (GAMES * TURNS, GAMES)
        assert row["rate_before"] == pytest.approx(0.8, abs=0.13)
        assert row["rate_after"] == pytest.approx(0.4, abs=0.15)
        assert row["agreement"] == pytest.approx(0.8 * 0.4 + 0.2 * 0.6, abs=0.15)
        assert "it has drifted" in row["advice"]
    assert not drift_report(store).filter(pl.col("compared") == "within")["drifted"].any()


@pytest.mark.long  # that no drift is claimed of it is simulated below
def test_a_model_that_stays_what_it_is_is_left_alone(tmp_path: Path) -> None:
    """Its answers change at random from job to job, in both directions: no question claims a drift, and repeats differ as often."""
    store = store_of(tmp_path / "s.duckdb", 20, TURNS)
    asked(store, SimulatedJudge(defect="never", confusion=MOSTLY, seed=1), repeats=2)
    asked(store, SimulatedJudge(defect="never", confusion=MOSTLY, seed=2), repeats=4)
    report = drift_report(store)
    assert set(report["compared"]) == {"again", "within"}
    assert not report["drifted"].any()
    for row in rows_of(store, "again").values():
        assert row["repeats_agree"] == pytest.approx(0.68, abs=0.1)
        assert row["agreement"] == pytest.approx(row["repeats_agree"], abs=0.1)
        assert "it has drifted" not in row["advice"]
    assert sum("no drift shown" in advice for advice in report["advice"]) >= len(report) - 2


def test_a_model_that_changes_in_the_middle_of_a_job_is_found(tmp_path: Path) -> None:
    """By the order in which its answers came, however their rows lie: in a lake by run, a half was some of the teams."""
    store = store_of(tmp_path / "s.duckdb", GAMES, TURNS)
    drift = Drift(after=GAMES * TURNS // 2, confusion=RARELY)
    asked(store, SimulatedJudge(defect="never", confusion=MOSTLY, drift=drift, seed=2), repeats=1)
    rows = rows_of(store, "within")
    assert all(row["drifted"] for row in rows.values())
    assert all(row["difference"] == pytest.approx(-0.4, abs=0.2) for row in rows.values())
    assert "ask the same units again" in rows["PS1"]["advice"]
    before = drift_report(store)
    with store.writing() as connection:
        connection.execute("CREATE TEMP TABLE mixed AS SELECT * FROM verdicts ORDER BY hash(unit_id), question")
        connection.execute("DELETE FROM verdicts")
        connection.execute("INSERT INTO verdicts SELECT * FROM mixed")
    assert drift_report(store).equals(before)


def test_new_units_are_compared_with_earlier_ones(tmp_path: Path) -> None:
    """Games that came later: a changed model shows, with the caution that the games differ."""
    store = store_of(tmp_path / "s.duckdb", GAMES, TURNS)
    asked(store, SimulatedJudge(defect="never", confusion=MOSTLY, seed=4), repeats=1, where="episode_id < 'game-22'")
    asked(store, SimulatedJudge(defect="never", confusion=RARELY, seed=5), repeats=1)
    rows = rows_of(store, "new")
    assert all(row["drifted"] for row in rows.values())
    assert {row["games"] for row in rows.values()} == {GAMES}
    assert "the games differ too" in rows["PS1"]["advice"]


def test_few_games_are_told_and_not_tested(tmp_path: Path) -> None:
    """Four units on a side prove nothing."""
    store = store_of(tmp_path / "s.duckdb", 4, 2)
    asked(store, SimulatedJudge(defect="never", confusion=MOSTLY), repeats=1)
    report = drift_report(store)
    assert len(report)
    assert report["p"].null_count() == report["drifted"].null_count() == len(report)
    assert all("too few to tell a drift from chance" in advice for advice in report["advice"])


def test_the_sentence_counts_what_is_tested(tmp_path: Path) -> None:
    """Six games that all moved, p = 2 / 2^6; seven that did not; and two, of which there is no test, though it was counted as one."""
    early, late = job("early", judge="llm:x/y"), job("late", judge="llm:x/y", hours=24)
    games = {"moved": 6, "stayed": 7, "few": 2}
    verdicts = [
        verdict(run, (f"g{game}", 1), "yes" if run == late and question == "moved" else "no", repeat=repeat)._replace(question=question)
        for repeat, run in enumerate((early, late), start=1)
        for question, number in games.items()
        for game in range(number)
    ]
    store = store_with(tmp_path, [Game([Step("{}")], name=f"g{game}") for game in range(7)])
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [early, late], "verdicts": verdicts}))
    rows = {row["question"]: row for row in drift_report(store).to_dicts() if row["compared"] == "again"}
    assert (rows["moved"]["p"], rows["moved"]["p_corrected"], rows["few"]["p"]) == (2 / 2**6, 2 * 2 / 2**6, None)
    assert "but this is one of 2 tests" in rows["moved"]["advice"]


def test_without_model_judges_there_are_columns_and_no_rows(tmp_path: Path) -> None:
    """The engine does not drift."""
    run = job("a")
    report = drift_report(judged(tmp_path, [run], [verdict(run, unit, "yes") for unit in UNITS]))
    assert report.is_empty()
    assert {"difference", "p_corrected", "advice"} <= set(report.columns)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("output_format", ["table", "csv", "json", "html"])
def test_the_command_shows_it_in_every_format(tmp_path: Path, output_format: str) -> None:
    """With the words."""
    first, second = job("a", judge="llm:x/y"), job("b", judge="llm:x/y", hours=24)
    rows = [verdict(run, unit, answer, repeat=n) for n, (run, answer) in enumerate([(first, "yes"), (second, "no")], 1) for unit in UNITS]
    store = judged(tmp_path, [first, second], rows)
    result = CliRunner().invoke(cli, ["report", "drift", "--store", str(store.path), "--format", output_format], catch_exceptions=False)
    assert result.exit_code == 0
    assert "asked again on 2026-01-02: yes in 100 % before, 0 % after" in result.stdout


# --- the view ---------------------------------------------------------------------------------------------------------------------------


def test_answer_rates_by_hand(tmp_path: Path) -> None:
    """Three games of three units: 6 of 9 yes, whose games have 3, 2 and 1; the other answer mirrors it."""
    run = job("a", judge="llm:x/y")
    answers = ["yes", "yes", "yes", "yes", "yes", "no", "yes", "no", "no"]
    store = judged(tmp_path, [run], [verdict(run, unit, answer) for unit, answer in zip(UNITS, answers, strict=True)])
    ensure_installed(store)
    no, yes = query(store, "SELECT answer, n, answered, games, rate, rate_low, rate_high FROM answer_rates ORDER BY answer").to_dicts()
    assert (yes["n"], yes["answered"], yes["games"], yes["rate"]) == (6, 9, 3, pytest.approx(2 / 3))
    assert (no["rate_low"], no["rate_high"]) == (pytest.approx(1 - yes["rate_high"]), pytest.approx(1 - yes["rate_low"]))
    whole = clustered_share([1.0, 1, 1, 1, 1, 0, 1, 0, 0], ["a"] * 3 + ["b"] * 3 + ["c"] * 3)
    assert whole is not None
    assert yes["rate_low"] == pytest.approx(whole.low, abs=0.1)
    assert yes["rate_high"] == pytest.approx(whole.high, abs=0.1)


def test_answer_rates_count_variants_and_leave_probes_out(tmp_path: Path) -> None:
    """A job on evidence that was changed for good is one of its own; one that probes the judge is none."""
    runs = [job("plain"), job("opened", variant="published"), job("probe", variant="probe:order")]
    store = judged(tmp_path, runs, [verdict(run, UNITS[0], "yes") for run in runs])
    ensure_installed(store)
    assert set(query(store, "SELECT judge_run_id FROM answer_rates")["judge_run_id"]) == {"plain", "opened"}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("games", [5, 10])
def test_answer_rates_hold_the_truth_with_few_games(tmp_path: Path, games: int) -> None:
    """Games of 1 to 60 answers whose rates differ (intraclass correlation 0.2): 300 jobs, each with its interval, in at least 93 %."""
    random = np.random.default_rng(8)
    store = Store(tmp_path / "s.duckdb")
    store.create()
    rows = [
        (f"j{number}", f"g{game}", "yes" if random.random() < share else "no", place)
        for number in range(300)
        for game in range(games)
        for share in [random.beta(0.4 * 4, 0.6 * 4)]
        for place in range(min(random.geometric(0.1), 60))
    ]
    import pyarrow as pa

    said = pa.table(dict(zip(("job", "game", "answer", "place"), map(list, zip(*rows, strict=True)), strict=True)))
    with store.writing() as connection:
        connection.register("said", said)
        connection.execute(
            "INSERT INTO judge_runs BY NAME SELECT DISTINCT job AS judge_run_id, job AS rubric, 'h' AS rubric_hash, 'llm:x' AS judge, "
            "'x' AS model, '{}' AS parameters, "
            "TIMESTAMP '2026-01-01' AS started_at, 1 AS units, 1 AS calls, 0 AS tokens_in, 0 AS tokens_out, "
            "'finished' AS status FROM said"
        )
        connection.execute(
            "INSERT INTO verdicts BY NAME SELECT job AS judge_run_id, job AS rubric, 'h' AS rubric_hash, 'q' AS question, game || place AS "
            "unit_id, 'u' AS unit_hash, game AS episode_id, 'llm:x' AS judge, 1 AS repeat, answer, 'answered' AS status FROM said"
        )
    ensure_installed(store)
    found = query(store, "SELECT 0.4 BETWEEN rate_low AND rate_high AS held FROM answer_rates WHERE answer = 'yes'")["held"]
    assert len(found) == 300
    assert found.sum() >= 0.93 * 300


# --- the statistics ---------------------------------------------------------------------------------------------------------------------


def test_mcnemar_by_hand() -> None:
    """Nine games of one unit that changed, eight up and one down: 2 (1 + 9) / 2^9; without any change there is no evidence."""
    moved = np.array([1.0] * 8 + [-1.0] + [0.0] * 11)
    found = paired_shift(moved, np.ones(20))
    assert found.difference == pytest.approx(7 / 20)
    assert found.p == pytest.approx(20 / 512)
    still = paired_shift(np.zeros(20), np.ones(20))
    assert still.difference == 0
    assert still.p == 1
    assert still.high == pytest.approx(0.161, abs=0.001)


@pytest.mark.parametrize(("games", "p"), [(5, None), (6, 2 / 64)])
def test_five_games_can_show_no_drift_and_have_no_p(games: int, p: float | None) -> None:
    """All moved alike: the least that signs of five can give is 0.0625, so there is no test to correct others for."""
    assert paired_shift(np.ones(games), np.ones(games)).p == (None if p is None else pytest.approx(p))
    assert paired_shift(np.zeros(games), np.ones(games)).p == (None if p is None else 1)


def test_the_sum_of_many_games_is_that_of_mcnemars_statistic() -> None:
    """Above thirty games: (b - c)^2 / (b + c) of single units."""
    moved = np.array([1.0] * 26 + [-1.0] * 14)
    from scipy import stats

    assert paired_shift(moved, np.ones(40)).p == pytest.approx(stats.chi2.sf(12**2 / 40, 1))


def test_holm_by_hand() -> None:
    """The smallest times their number, never falling, and what was not tested is not counted."""
    assert holm([0.01, None, 0.04, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.06), pytest.approx(0.06)]


def test_strata_keep_models_apart() -> None:
    """The later side has more of the better model: inside each model nothing differs, so there is no shift."""
    strata = np.array([0] * 10 + [1] * 10)
    late = np.array([False] * 8 + [True] * 2 + [False] * 2 + [True] * 8)
    sums = np.where(strata == 0, 2.0, 8.0)
    found = group_shift(Cells(strata, np.arange(20), late, np.full(20, 10.0), sums))
    assert found is not None
    assert found.difference == pytest.approx(0, abs=1e-12)


def test_a_shift_is_the_slope_and_its_error_that_of_leaving_games_out() -> None:
    """Refitted by least squares on single units, with all games and without each."""
    from scipy import stats

    random = np.random.default_rng(14)
    games = np.repeat(np.arange(16), 2)  # each has units on both sides
    strata, late = games % 2, np.tile([False, True], 16)
    sizes = random.integers(1, 6, 32).astype(float)
    sums = random.binomial(sizes.astype(int), 0.5).astype(float)
    found = group_shift(Cells(strata, games, late, sizes, sums))

    def slope(kept: np.ndarray[Any, Any]) -> float:
        design = np.column_stack([late, strata == 0, strata == 1])[kept]
        values, weights = (sums / sizes)[kept], np.sqrt(sizes)[kept]
        return float(np.linalg.lstsq(design * weights[:, None], values * weights, rcond=None)[0][0])

    whole = slope(np.ones(32, dtype=bool))
    error = np.sqrt(15 / 16 * sum((slope(games != game) - whole) ** 2 for game in range(16)))
    assert found is not None
    assert found.difference == pytest.approx(whole)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(whole) / error, 16 - 2 - 1))


@pytest.mark.parametrize(("strata", "known"), [(3, True), (4, False)])
def test_an_interval_of_a_shift_takes_a_degree_of_freedom(strata: int, known: bool) -> None:  # noqa: FBT001 - a column of the table
    """Five games on both sides of three strata leave one, of four none."""
    random = np.random.default_rng(2)
    stratum, game, side = (part.ravel() for part in np.indices((strata, 5, 2)))
    found = group_shift(Cells(stratum, game, side == 1, np.full(len(game), 10.0), random.binomial(10, 0.5, len(game)).astype(float)))
    assert found is not None
    assert (found.low is not None, found.p is not None) == (known, known)


def clustered(random: np.random.Generator, games: int, rate: float) -> np.ndarray[Any, Any]:
    """Yes of ten units of each game whose own rate varies (intra-game correlation 0.2)."""
    own = random.beta(4 * rate, 4 * (1 - rate), games)
    return random.binomial(10, own).astype(float)


def new_units(random: np.random.Generator, games: int, shift: float) -> Shift | None:
    late = np.arange(games) % 2 == 1
    sums = np.where(late, clustered(random, games, 0.6 + shift), clustered(random, games, 0.6))
    return group_shift(Cells(np.zeros(games, dtype=np.int64), np.arange(games), late, np.full(games, 10.0), sums))


def same_units(random: np.random.Generator, games: int, shift: float) -> Shift | None:
    own = random.beta(2.4, 1.6, games)
    later, earlier = (random.binomial(10, np.clip(own + more, 0, 1)).astype(float) for more in (shift, 0.0))
    return paired_shift(later - earlier, np.full(games, 10.0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("simulated", [new_units, same_units])
@pytest.mark.parametrize("games", [12, 40])
def test_no_drift_is_claimed_as_seldom_as_promised(simulated: Callable[..., Shift | None], games: int) -> None:
    """In 1,000 data sets without drift, p is below 0.05 in about 50 and the interval holds 0 in about 950."""
    random = np.random.default_rng(11)
    found = [shift for _ in range(1000) if (shift := simulated(random, games, 0.0))]
    assert 0.025 <= np.mean([(shift.p or 0) < 0.05 for shift in found]) <= 0.07
    assert 0.92 <= np.mean([(shift.low or 0) <= 0 <= (shift.high or 0) for shift in found]) <= 0.975


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("games", "models", "rate"), [(12, 3, 0.6), (30, 3, 0.6), (12, 1, 0.05), (30, 3, 0.05)])
def test_several_models_and_rare_answers_claim_no_more(games: int, models: int, rate: float) -> None:
    """Where little is known the test may be careful, never rash."""
    random = np.random.default_rng(13)
    found = []
    for _ in range(600):
        strata = np.unique(random.integers(0, models, games), return_inverse=True)[1]
        late = random.permutation(games) < games // 2
        shift = group_shift(Cells(strata, np.arange(games), late, np.full(games, 10.0), clustered(random, games, rate)))
        found += [shift.p] if shift is not None and shift.p is not None else []
    assert len(found) > 300
    assert np.mean(np.array(found) < 0.05) <= 0.07


@pytest.mark.parametrize("simulated", [new_units, same_units])
def test_a_real_drift_is_seen(simulated: Callable[..., Shift | None]) -> None:
    """Thirty points in forty games nearly always."""
    random = np.random.default_rng(12)
    assert np.mean([(shift.p or 1) < 0.05 for _ in range(200) if (shift := simulated(random, 40, -0.3))]) > 0.9


def test_a_shift_between_games_that_are_all_alike_ends_at_the_possible() -> None:
    """Five games of no, nine of yes: what may hide behind the five is taken off, and nothing is above 1."""
    late = np.array([False] * 5 + [True] * 9)
    found = group_shift(Cells(np.zeros(14, dtype=np.int64), np.arange(14), late, np.full(14, 3.0), np.where(late, 3.0, 0.0)))
    few = wilson(0, 5)
    assert found is not None
    assert few is not None
    assert found.low == pytest.approx(1 - few.high)
    assert found.high == 1.0


def test_an_answer_that_a_later_run_never_gives_has_the_rate_zero_without_spread(tmp_path: Path) -> None:
    """Its interval is as narrow at the end as that of the answer given always."""
    first, later = job("a", judge="llm:x/y"), job("b", judge="llm:x/y")
    answers = ["yes", "yes", "yes", "yes", "yes", "no", "yes", "no", "no"]
    given = [verdict(first, unit, answer) for unit, answer in zip(UNITS, answers, strict=True)]
    store = judged(tmp_path, [first, later], [*given, *(verdict(later, unit, "yes") for unit in UNITS)])
    ensure_installed(store)
    asked = "SELECT rate, rate_low, rate_high FROM answer_rates WHERE judge_run_id = 'b' ORDER BY answer"
    no, yes = query(store, asked).to_dicts()
    assert (no["rate"], no["rate_low"], yes["rate"], yes["rate_high"]) == (0, 0, 1, 1)
    assert no["rate_high"] == pytest.approx(1 - yes["rate_low"])


CHANGES: list[dict[str, Any]] = [{"temperature": 0.7}, {"model": "local/y"}, {"max_tokens": 700}, {"variant": "published"}]


@pytest.mark.parametrize("changes", [CHANGES[:1], pytest.param(CHANGES, marks=pytest.mark.long)], ids=["one", "all"])
def test_another_model_temperature_wording_or_reply_length_is_no_drift(tmp_path: Path, changes: list[dict[str, Any]]) -> None:
    """They are other judges; nor is other visible evidence: only the judge may have changed between two jobs that are compared."""
    store = store_of(tmp_path / "s.duckdb", 4, 1)
    with simulated_judge(SimulatedJudge(defect="never", confusion=MOSTLY)) as url:
        plain, *others = (ask_model(url, repeats=1, **{"model": "local/x", **change}) for change in ({}, *changes))
        reworded = replace(plain, rubric=find("pragmatic_sufficiency").model_copy(update={"version": 99}))
        for request in (plain, *others, reworded):
            assert run(request, store).failed == 0
    ensure_installed(store)
    assert query(store, "SELECT count(DISTINCT judge_run_id) AS n FROM verdicts")["n"].to_list() == [2 + len(changes)]
    assert set(drift_report(store)["compared"]) == {"within"}
