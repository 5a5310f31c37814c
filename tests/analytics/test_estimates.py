"""Estimates from a judge's answers and labels: weighted samples, differences, effects, against published packages and known truths."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analytics.agreement.pairs import Scale, coincidences, krippendorff_alpha
from analytics.comparison.compare import compare
from analytics.estimates.corrected import corrected_rates, judged_units, rate_row
from analytics.estimates.design import drawn_units, number_of
from analytics.estimates.effects import Sums, fisher_z, judged_effects, powered, slope
from analytics.estimates.needed import labels_needed_report
from analytics.estimates.raters import latent_rates, two_classes
from analytics.estimates.rates import possible_truth
from analytics.estimates.replacement import alt_test, calibrated, of_one_judge, risk_bound, selective
from analytics.estimates.units import Asked, Counted
from analytics.statistics.intervals import Floats
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Step, store_with
from tests.analytics.test_views_judges import job, label, verdict

TASKS, TURNS = 15, 10
SCALES: tuple[Scale, ...] = ("nominal", "interval", "ordinal")


@pytest.fixture(scope="module")
def biased(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, dict[tuple[str, int], bool]]:
    """Teams with the same share of true yes on shared tasks; the judge answers yes to what is long, and one team writes long messages."""
    random = np.random.default_rng(5)
    models = ("chatty", "terse")
    steps = [Step(f'"{turn}"') for turn in range(TURNS)]
    games = [
        Game(steps, name=f"{one}{task:02}", task=f"t{task}", model=one, score=random.random()) for task in range(TASKS) for one in models
    ]
    store, run, truths, verdicts = store_with(tmp_path_factory.mktemp("biased"), games), job("a", judge="llm:x/y"), {}, []
    for game in games:
        level = random.beta(4, 5)
        for turn in range(1, TURNS + 1):
            unit = (game.name, turn)
            truths[unit] = bool(random.random() < level)
            is_long = random.random() < (0.75 if game.model == "chatty" else 0.25)
            predicted = truths[unit] if random.random() < 0.6 else is_long
            verdicts.append(verdict(run, unit, "yes" if predicted else "no")._replace(probability=0.6 if is_long else 0.9))
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [run], "verdicts": verdicts}))
    return store, truths


def difference(truths: dict[tuple[str, int], bool]) -> float:
    chatty, terse = (np.mean([truth for (game, _), truth in truths.items() if game.startswith(one)]) for one in ("chatty", "terse"))
    return float(chatty - terse)


def relabelled(store: Store, truths: dict[tuple[str, int], bool], chances: dict[str, float]) -> None:
    """The store with labels of these units alone."""
    labels = []
    for unit, chance in chances.items():
        game, _, turn = unit.partition("/")
        truth = truths[game, int(turn)]
        labels.append(
            label((game, int(turn)), "yes" if truth else "no")._replace(score=float(truth), sampling_probability=chance, source="file")
        )
    with store.writing() as connection:
        connection.execute("DELETE FROM labels")
        batches.insert(connection, batches.to_arrow({"labels": labels}))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("design", ["active", "stratified"])
def test_120_labels_take_the_bias_of_a_judge_out_of_a_difference(biased: tuple[Store, dict[Any, bool]], design: str) -> None:
    """The judge alone finds a difference that is not there; the labels that a design draws give the true one, with a narrower interval."""
    store, truths = biased
    relabelled(store, truths, {})
    (plain,) = compare(store, metric="judge:ps.PS1").to_dicts()
    assert plain["p_holm"] < 0.05
    assert abs(plain["difference"] - difference(truths)) > 0.1
    relabelled(store, truths, drawn_units(store, "ps", 120, design))
    (row,) = compare(store, metric="judge:ps.PS1").to_dicts()
    true = difference(truths) * (1 if row["team_a"].startswith("chatty") else -1)
    assert row["corrected_low"] < true < row["corrected_high"]
    assert row["corrected_low"] < 0 < row["corrected_high"]
    assert row["corrected_high"] - row["corrected_low"] < 0.5
    assert "no difference shown" in row["advice"]
    for rate in corrected_rates(store).to_dicts():
        assert rate["unbalanced"] is None
        assert 0 < rate["effective_labels"] <= rate["labels"]
        assert (
            rate["rate_low"] < np.mean([truth for (game, _), truth in truths.items() if game.startswith(rate["model"])]) < rate["rate_high"]
        )


def test_the_difference_on_shared_tasks_is_paired(biased: tuple[Store, dict[Any, bool]]) -> None:
    """Tasks of unlike level move both teams alike: the interval of their difference is narrower than that of two independent rates."""
    store, truths = biased
    relabelled(store, truths, {f"{game}/{turn}": 1.0 for game, turn in truths})
    with store.writing() as connection:  # the truth of a task's games is the same but for a turn
        connection.execute("UPDATE labels SET score = (hash(episode_id[-2:]) % 10 < turn)::INT")
        connection.execute("UPDATE labels SET answer = CASE score WHEN 1 THEN 'yes' ELSE 'no' END")
    (row,) = compare(store, metric="judge:ps.PS1").to_dicts()
    apart = [rate["rate_high"] - rate["rate_low"] for rate in corrected_rates(store).to_dicts()]
    assert row["corrected_high"] - row["corrected_low"] < 0.9 * np.hypot(*apart)


def test_a_larger_budget_continues_a_smaller_one(biased: tuple[Store, dict[Any, bool]]) -> None:
    """So that labels that are there are not lost; each unit has a chance above 0, and the chances of all add up to the budget."""
    store, _ = biased
    few, many = (drawn_units(store, "ps", budget, "active") for budget in (40, 120))
    assert list(few) == list(many)[:40]
    assert all(0 < chance <= 1 for chance in many.values())
    assert len(set(many.values())) > 1


def test_effects_are_corrected_too(biased: tuple[Store, dict[Any, bool]]) -> None:
    """The score of a game was drawn without regard to the truth, so no effect is there."""
    store, truths = biased
    relabelled(store, truths, {f"{game}/{turn}": 1.0 for game, turn in truths})
    rows = {row["predictor"]: row for row in judged_effects(store).to_dicts()}
    of_score = rows["the score of the game"]
    assert of_score["low"] < 0 < of_score["high"]
    assert of_score["correlation_low"] < of_score["correlation"] < of_score["correlation_high"]
    assert "no effect shown" in of_score["advice"]


@pytest.mark.parametrize("is_warned", [True, pytest.param(False, marks=pytest.mark.long)])
def test_labels_not_drawn_as_they_state_are_warned_of_wherever_they_correct(
    biased: tuple[Store, dict[Any, bool]], *, is_warned: bool
) -> None:
    """`compare` and `judged-effects` printed a difference and an effect as shown, and the page of labels that one may stop."""
    store, truths = biased
    units = np.random.default_rng(1).permutation([f"{game}/{turn}" for game, turn in truths])
    relabelled(store, truths, dict.fromkeys(units[:150] if is_warned else drawn_units(store, "ps", 150, "active"), 0.5))
    rows = [*corrected_rates(store).to_dicts(), *labels_needed_report(store).to_dicts()]
    corrected = [row for row in judged_effects(store).to_dicts() if row["effect"] is not None]
    pairs = compare(store, metric="judge:ps.PS1").to_dicts()
    advice = [row["advice"] for row in (*rows, *corrected, *pairs)]
    assert len(advice) == 7
    assert [("cotrace labels template draws first" in text) for text in advice] == [is_warned] * len(advice), advice
    if is_warned:
        assert {row["p"] for row in corrected} == {None}
        assert "difference shown" not in pairs[0]["advice"]
        assert not any(row["may_stop"] for row in rows if "may_stop" in row)


def world(random: np.random.Generator, design: str, **changes: float) -> Asked:
    """Units of 40 games of 15 turns; the judge is right in .8, and unsure (.5) of a third of the units, where it is right in half."""
    games, turns, rate = 40, 15, changes.get("rate", 0.3)
    levels = random.beta(rate * 9, (1 - rate) * 9, (games, 1)).repeat(turns, axis=1).ravel()
    truth = random.random(len(levels)) < levels
    unsure = random.random(len(levels)) < 1 / 3
    predicted = np.where(random.random(len(levels)) < np.where(unsure, 0.5, 0.9), truth, ~truth)
    p_yes = np.where(unsure, 0.5, np.where(predicted, 0.9, 0.1))
    chance = np.full(len(levels), 0.2) if design == "random" else np.clip(0.2 * np.where(unsure, 1.8, 0.6), 0, 1)
    labelled = random.random(len(levels)) < chance
    wrong = random.random((2, len(levels))) < changes.get("wrong", 0.0)
    both = np.where(wrong, ~truth, truth)
    columns = {
        "unit": np.arange(len(levels)),
        "game": np.arange(games).repeat(turns),
        "score": predicted.astype(float),
        "p_yes": p_yes,
        "label": np.where(labelled, both.mean(axis=0), np.nan),
        "place": np.tile(np.arange(turns) / turns, games),
        "differ": np.where(labelled, (both[0] != both[1]).astype(float), np.nan),
        "drawn": np.where(labelled, chance, np.nan),
    }
    same = {
        "is_answered": pl.lit(value=True),
        "is_sample": pl.lit(value=True),
        "model": pl.lit("m"),
        "n": pl.lit(1),
        "squared_place": pl.col("place") ** 2,
        "agent": pl.lit(None, pl.String),
        "reached": pl.lit(0.0),
        "long": pl.lit(0.0),
        "task": pl.lit(None, pl.String),
        "people": pl.lit(None),
    }
    units = pl.DataFrame(columns).with_columns(pl.col("label", "differ", "drawn").fill_nan(None), **same)
    if "wrong" not in changes:
        units = units.with_columns(differ=pl.lit(None, pl.Float64))
    return Asked(rubric="r", question="q", judge="llm:j", reference="people", units=Counted.of(units))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("design", "data_sets"), [("active", 60), ("active", 150), ("random", 150)])
def test_intervals_of_weighted_labels_cover(design: str, data_sets: int) -> None:
    """Chances of a unit that go with how unsure the judge is: 95 % of the intervals hold the truth, and they are no wider for it."""
    random = np.random.default_rng(3)
    rows = [rate_row(judged) for _ in range(data_sets) for judged in judged_units(world(random, design))]
    held = [row["rate_low"] <= 0.3 <= row["rate_high"] for row in rows if row["rate"] is not None]
    assert len(held) > 0.93 * data_sets
    assert 0.91 <= np.mean(held) <= 0.99
    widths = [row["rate_high"] - row["rate_low"] for row in rows if row["rate"] is not None]
    assert np.mean(widths) < 0.2


@pytest.mark.parametrize("data_sets", [30, pytest.param(60, marks=pytest.mark.long)])
def test_labels_that_are_wrong_leave_a_range_that_holds_the_truth(data_sets: int) -> None:
    """Labels wrong in 10 % of the units and a true rate of .1: the interval of the rate missed it in 86 %; two labels of a unit show it."""
    random = np.random.default_rng(9)
    rows = [rate_row(judged) for _ in range(data_sets) for judged in judged_units(world(random, "random", rate=0.1, wrong=0.1))]
    held = [row["least_possible"] <= 0.1 <= row["most_possible"] for row in rows if row["least_possible"] is not None]
    assert len(held) > 50 / 60 * data_sets
    assert np.mean(held) >= 0.95
    assert np.mean([row["label_disagreement"] for row in rows]) == pytest.approx(0.18, abs=0.02)
    assert "if labels are wrong as often" in str(rows[0]["advice"])


FAMILIES = "task_id[-1]::INT % 5"


def test_families_of_tasks_are_the_clusters_of_corrected_rates(biased: tuple[Store, dict[Any, bool]]) -> None:
    """Games of five families: so many count."""
    store, truths = biased
    relabelled(store, truths, {f"{game}/{turn}": 1.0 for game, turn in truths})
    assert set(corrected_rates(store, families=FAMILIES)["labelled_games"]) == {5}


@pytest.mark.long
def test_families_of_tasks_are_the_clusters_of_all_reports_of_the_engine(biased: tuple[Store, dict[Any, bool]]) -> None:
    """And the corrected difference is less sure for it."""
    store, truths = biased
    relabelled(store, truths, {f"{game}/{turn}": 1.0 for game, turn in truths})
    family = FAMILIES
    assert set(labels_needed_report(store, families=family)["games"]) == {5}
    assert set(judged_effects(store, families=family)["tasks"]) == {5}
    of_tasks, of_families = (compare(store, metric="judge:ps.PS1", families=one).row(0, named=True) for one in ("task_id", family))
    assert of_families["corrected"] == pytest.approx(of_tasks["corrected"], abs=0.02)
    assert (of_tasks["tasks"], of_families["tasks"]) == (TASKS, 5)


def test_people_who_label_are_a_sample_of_people() -> None:
    """Three people label a third of the games each, and take some no for yes, each in another share: games as clusters miss the truth."""
    random = np.random.default_rng(8)
    held = []
    for _ in range(80):
        asked = world(random, "random", rate=0.3)
        units = asked.units.rows()
        person = units["game"].to_numpy() % 3
        errs = random.random(len(person)) < random.beta(0.5, 4.5, 3)[person]
        given = pl.Series(np.where(errs, 1.0, units["label"].fill_null(np.nan).to_numpy())).fill_nan(None)
        given = pl.select(pl.when(units["label"].is_not_null()).then(given)).to_series()
        by = pl.DataFrame({"rater": person.astype(str), "given": given}).select(pl.struct("rater", "given")).to_series()
        people = pl.DataFrame({"by": by}).select(pl.when(given.is_not_null()).then(pl.concat_list("by"))).to_series()
        units = units.with_columns(label=given, people=people)
        held += [rate_row(judged) for judged in judged_units(asked.with_units(units))]
    assert all(row["raters"] == 3 and "3 people who labelled" in row["advice"] for row in held if row["rate"] is not None)
    rows = [row for row in held if row["rate"] is not None]
    of_games, of_people = (
        np.mean([row[f"{end}_low"] <= 0.3 <= row[f"{end}_high"] for row in rows if row["rate"] is not None]) for end in ("rate", "rater")
    )
    assert of_games < 0.7
    assert of_people >= 0.93


@pytest.mark.parametrize("data_sets", [30, pytest.param(60, marks=pytest.mark.long)])
def test_a_rate_where_the_judge_abstains_needs_a_stated_model(data_sets: int) -> None:
    """Late turns are answered half as often and are less often yes: bounds hold the truth, and weights give it if the turn is named."""
    random = np.random.default_rng(2)
    plain, held = [], []
    for _ in range(data_sets):
        asked = world(random, "random", rate=0.4)
        rows = asked.units.rows()
        late = rows["place"].to_numpy() > 0.6
        truth = random.random(len(late)) < np.where(late, 0.2, 0.5)
        answered = random.random(len(late)) < np.where(late, 0.5, 1.0)
        labelled = answered & (random.random(len(late)) < 0.4)
        units = rows.with_columns(
            is_answered=pl.Series(answered),
            score=pl.Series(np.where(answered, truth ^ (random.random(len(late)) < 0.1), np.nan)).fill_nan(None),
            label=pl.Series(np.where(labelled, truth, np.nan)).fill_nan(None),
            **{name: pl.lit(None, pl.Float64) for name in ("p_yes", "drawn")},
        )
        (judged,) = judged_units(asked.with_units(units))
        row, stated = rate_row(judged), rate_row(judged, "turn")
        if row["unbalanced"] is None:
            plain.append(row["rate"] is None and row["least_possible"] <= 0.4 <= row["most_possible"])
            held.append(stated["rate_low"] <= 0.4 <= stated["rate_high"])
            assert "depends on the turn alone, which nothing shows" in stated["advice"]
            assert stated["least_possible"] == row["least_possible"]
    assert len(held) > 50 / 60 * data_sets
    assert all(plain)
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize(("rate", "no_wrong", "yes_wrong"), [(0.1, 0.1, 0.1), (0.3, 0.0, 0.2), (0.3, 0.2, 0.0), (0.5, 0.3, 0.1)])
def test_the_range_of_possible_truths_holds_it_and_is_reached(rate: float, no_wrong: float, yes_wrong: float) -> None:
    """Exactly, with the shares that infinitely many labels would have; it ends at the truth if one answer alone is mistaken."""
    seen = rate * (1 - yes_wrong) + (1 - rate) * no_wrong
    differ = 2 * (rate * yes_wrong * (1 - yes_wrong) + (1 - rate) * no_wrong * (1 - no_wrong))
    found = possible_truth(seen, differ)
    assert found.low - 1e-9 <= rate <= found.high + 1e-9
    if not no_wrong:
        assert found.high == pytest.approx(rate)
    if not yes_wrong:
        assert found.low == pytest.approx(rate)


def test_slopes_on_what_a_game_has_once_are_claimed_as_seldom_as_stated() -> None:
    """The score of a game is one number for all of its turns: of twelve tasks few lie far out, and a slope rests on these."""
    random, tasks, covered, claimed = np.random.default_rng(3), 12, [], []
    for _ in range(1500):
        level, x = random.beta(2, 2, (2 * tasks, 1)), np.repeat(random.beta(3, 3, (2 * tasks, 1)), 6, axis=1)
        truth = random.random(x.shape) < level
        judge, weight = np.where(random.random(x.shape) < 0.8, truth, ~truth), 2.0 * (random.random(x.shape) < 0.5)
        parts = ((np.ones(x.shape), judge), (weight, truth), (weight, judge))
        moments = [np.stack([w, w * x, w * y, w * x**2, w * x * y, w * y**2], -1) for w, y in parts]
        found = powered(slope, Sums(*(one.reshape(tasks, -1, 6).sum(axis=1) for one in moments)))
        covered.append(found.low <= 0 <= found.high)
        claimed.append(found.p < 0.05 / 6)
    assert 0.94 <= np.mean(covered) <= 0.97
    assert np.mean(claimed) <= 0.05 / 6


class Published(NamedTuple):
    """What ppi_py (mean, its interval's ends, ends of a slope) and statsmodels (least squares of labels alone, HC3) give."""

    mean: float
    mean_ends: tuple[float, float]
    slope_ends: tuple[float, float]
    alone: float
    alone_ends: tuple[float, float]


PUBLISHED = Published(0.07571404, (-0.02951075, 0.18015796), (0.17613509, 0.39067101), 0.28822839, (0.13530315, 0.44115364))
"""Of `drawn_numbers`."""
LABELLED = 200


def drawn_numbers() -> tuple[Floats, Floats, Floats]:
    """A predictor, the truth and the score of a judge, of units of which the first `LABELLED` have labels."""
    random = np.random.default_rng(2)
    x = random.normal(size=LABELLED + 2000)
    truth = 0.3 * x + random.normal(size=len(x))
    return x, truth, truth + random.normal(size=len(x)) + 0.5


@pytest.mark.long
def test_published_packages_give_the_numbers_that_stand_here() -> None:
    """Both packages, called with the same data."""
    import ppi_py
    import statsmodels.api as sm

    x, truth, predicted = drawn_numbers()
    n = LABELLED
    y, f, rest = truth[:n], predicted[:n], predicted[n:]
    low, high = ppi_py.ppi_mean_ci(y, f, rest, alpha=0.05)
    weight = 1 / (1 + n / len(rest)) * np.cov(y, f)[0, 1] / np.var(predicted, ddof=1)
    mean = float(ppi_py.ppi_mean_pointestimate(y, f, rest, lam=weight)[0])
    design = sm.add_constant(x)
    slope_low, slope_high = ppi_py.ppi_ols_ci(design[:n], y, f, design[n:], rest, alpha=0.05)
    fitted = sm.OLS(y, design[:n]).fit(cov_type="HC3")
    found = (mean, low[0], high[0], slope_low[1], slope_high[1], fitted.params[1], *fitted.conf_int()[1])
    wanted = PUBLISHED
    assert found == pytest.approx((wanted.mean, *wanted.mean_ends, *wanted.slope_ends, wanted.alone, *wanted.alone_ends), abs=1e-8)


def test_numbers_are_those_of_ppi_py_and_statsmodels() -> None:
    """One unit a game, so that games are units: the mean and slope of PPI++ without clusters, and least squares of labels alone."""
    x, truth, predicted = drawn_numbers()
    n = LABELLED

    def sums(values: Floats, of: Floats, size: int) -> Floats:
        table = np.zeros((len(x), 6))
        table[:size] = np.column_stack([np.ones(size), of, values, of**2, of * values, values**2])
        return table

    parts = Sums(sums(predicted, x, len(x)), sums(truth[:n], x[:n], n), sums(predicted[:n], x[:n], n))
    mean = powered(lambda each: each[..., 2] / each[..., 0], parts)
    low, high = PUBLISHED.mean_ends
    assert mean.value == pytest.approx(PUBLISHED.mean, abs=0.02)
    assert mean.high - mean.low == pytest.approx(high - low, rel=0.1)
    effect = powered(slope, parts)
    assert (effect.low, effect.high) == pytest.approx(PUBLISHED.slope_ends, abs=0.03)
    alone = powered(slope, parts._replace(judged=parts.labelled_judged))
    assert alone.value == pytest.approx(PUBLISHED.alone)
    assert (alone.low, alone.high) == pytest.approx(PUBLISHED.alone_ends, abs=0.01)
    correlation = np.corrcoef(x[:n], truth[:n])[0, 1]
    assert np.tanh(powered(fisher_z, parts._replace(judged=parts.labelled_judged)).value) == pytest.approx(correlation)


def raters(random: np.random.Generator, rates: tuple[float, ...], n: int, errors: list[tuple[float, float]]) -> tuple[Floats, Any, Floats]:
    """Answers of raters of these sensitivities and specificities about n units of each population, the populations, and the truth."""
    populations = np.arange(len(rates)).repeat(n)
    truth = random.random(len(populations)) < np.array(rates)[populations]
    chances = np.array([np.where(truth, sensitivity, 1 - specificity) for sensitivity, specificity in errors]).T
    return (random.random(chances.shape) < chances).astype(float), populations, truth.astype(float)


def test_two_populations_tell_of_two_raters_what_one_cannot() -> None:
    """As Hui and Walter found."""
    answers, populations, _ = raters(np.random.default_rng(1), (0.2, 0.7), 6000, [(0.9, 0.8), (0.7, 0.95)])
    found = two_classes(answers, populations)
    assert found.rates == pytest.approx([0.2, 0.7], abs=0.05)
    assert found.sensitivity == pytest.approx([0.9, 0.7], abs=0.05)


@pytest.mark.long
def test_the_model_of_two_classes_is_dawid_and_skenes() -> None:
    """The same posterior and rate as crowd-kit's."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    random = np.random.default_rng(1)
    answers, populations, truth = raters(random, (0.3,), 1500, [(0.9, 0.8), (0.7, 0.95), (0.8, 0.85)])
    rows = [(unit, rater, int(answer)) for (unit, rater), answer in np.ndenumerate(answers)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it calls pandas in a way that is deprecated
        fitted = DawidSkene(n_iter=500, tol=1e-10).fit_predict_proba(pd.DataFrame(rows, columns=["task", "worker", "label"]))
    theirs = fitted.sort_index()[1].to_numpy()
    found = two_classes(answers, populations)
    assert np.abs(found.posterior - theirs).max() < 0.01
    assert found.rates[0] == pytest.approx(truth.mean(), abs=0.05)


def test_alpha_is_that_of_the_package_krippendorff() -> None:
    """With missing answers, nominal and by the numbers of the answers."""
    import krippendorff

    random = np.random.default_rng(3)
    given = np.where(random.random((4, 60)) < 0.2, np.nan, (random.random(60) * 3).astype(int) + (random.random((4, 60)) < 0.2))
    counts = np.array([(given == answer).sum(axis=0) for answer in range(4)]).T.astype(float)
    for scale in SCALES:
        expected = krippendorff.alpha(given, level_of_measurement=scale, value_domain=[0, 1, 2, 3])
        assert float(krippendorff_alpha(coincidences(counts).sum(axis=0), scale, np.arange(4.0))) == pytest.approx(expected)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Three judges and three people on the units of twelve games; the third judge guesses, and the first has token probabilities."""
    random = np.random.default_rng(6)
    store = store_with(
        tmp_path_factory.mktemp("several"), [Game([Step(f'"{turn}"') for turn in range(TURNS)], name=f"g{n:02}") for n in range(12)]
    )
    accuracies = {"llm:a": 0.95, "llm:b": 0.85, "llm:c": 0.5}
    runs = {judge: job(judge, judge=judge) for judge in accuracies}
    verdicts, labels = [], []
    for game, turn in [(f"g{n:02}", turn) for n in range(12) for turn in range(1, TURNS + 1)]:
        truth = bool(random.random() < 0.4)
        for judge, accuracy in accuracies.items():
            given = truth if random.random() < accuracy else not truth
            sure = None if judge != "llm:a" else 0.99 if given == truth else 0.6
            verdicts.append(verdict(runs[judge], (game, turn), "yes" if given else "no")._replace(probability=sure))
        people = {person: truth == (random.random() < 0.85) for person in ("ann", "bob", "cem")}
        labels += [label((game, turn), "yes" if answer else "no", person) for person, answer in people.items()]
    labels = [one._replace(score=float(one.answer == "yes")) for one in labels]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": list(runs.values()), "verdicts": verdicts, "labels": labels}))
    return store


@pytest.mark.sampled(1)
@pytest.mark.parametrize("judge", ["llm:a", "llm:b", "llm:c", "llm:d"])
def test_what_labels_show_of_one_judge_is_what_the_reports_have_of_it(several: Store, judge: str) -> None:
    """Of a judge that is not there, what they have of the first."""
    found, shown = of_one_judge(several, rubric="ps", judge=judge), "llm:a" if judge == "llm:d" else judge
    assert found.judges == ["llm:a", "llm:b", "llm:c"]
    assert_frame_equal(found.rates, corrected_rates(several, rubric="ps").filter(judge=shown))
    assert_frame_equal(found.thresholds, selective(several, rubric="ps").filter(judge=shown))


def test_a_good_judge_may_take_the_place_of_people_and_a_guessing_one_may_not(several: Store) -> None:
    """By the alternative annotator test; with an epsilon of nearly 1 anybody may."""
    rows = {row["judge"]: row for row in alt_test(several).to_dicts()}
    assert {judge: row["passes"] for judge, row in rows.items()} == {"llm:a": True, "llm:b": True, "llm:c": False}
    assert all(row["annotators"] == 3 and row["epsilon"] == 0.15 for row in rows.values())
    assert rows["llm:c"]["advantage"] < rows["llm:b"]["advantage"] < rows["llm:a"]["advantage"]
    assert alt_test(several, epsilon=0.9)["passes"].all()


def test_a_judge_that_answers_only_what_it_is_sure_of_is_wrong_less_often(several: Store) -> None:
    """The curve falls with coverage, and the threshold that is chosen holds the wished risk."""
    rows = selective(several, risk=0.2).filter(judge="llm:a").sort("threshold").to_dicts()
    assert rows[0]["coverage"] == 1
    assert rows[-1]["risk"] < rows[0]["risk"]
    assert [row["wrong_of_all"] for row in rows] == sorted((row["wrong_of_all"] for row in rows), reverse=True)
    (chosen,) = [row for row in rows if row["is_chosen"]]
    assert chosen["held_below"] <= 0.2
    assert all(row["held_below"] > 0.2 for row in rows if row["threshold"] < chosen["threshold"])


def test_the_promise_of_risk_control_holds() -> None:
    """The expected loss of one more game is at most the bound on average, however unlike games are; with one game nothing is promised."""
    random = np.random.default_rng(4)
    levels = random.beta(0.5, 4, (400, 11))
    bounds = [risk_bound(random.binomial(10, row[:10]).astype(float), np.full(10, 10.0)) for row in levels]
    assert np.mean(levels[:, 10]) <= np.mean(bounds)
    assert risk_bound(np.array([0.0]), np.array([5.0])) == 0.5


def test_probabilities_of_tokens_are_calibrated_by_other_games() -> None:
    """A model that is sure of everything and right in seven of ten is right in seven of ten."""
    random = np.random.default_rng(4)
    right = random.random(600) < 0.7
    found = calibrated(random.uniform(0.97, 1, 600), right, np.arange(600) // 10)
    assert found.mean() == pytest.approx(0.7, abs=0.05)
    assert found.std() < 0.1


def test_without_labels_the_rate_needs_judges_that_err_independently(several: Store) -> None:
    """Three judges, one of which guesses: the rate is found without labels, with an interval, and the sentence names the assumption."""
    (row,) = latent_rates(several).to_dicts()
    assert row["low"] < 0.4 < row["high"]
    assert row["judges"] == "llm:a, llm:b, llm:c"
    assert "if judges err independently" in row["advice"]


def test_a_single_judge_has_no_rate_without_labels(biased: tuple[Store, dict[Any, bool]]) -> None:
    """One judge about two models is not identified: no row, and no crash."""
    assert latent_rates(biased[0]).is_empty()


@pytest.mark.parametrize(("chosen", "is_warned"), [("drawn", False), ("skipped", True), ("others", True)])
def test_labels_that_state_a_drawing_are_compared_with_the_order_of_the_template(chosen: str, is_warned: bool) -> None:  # noqa: FBT001
    """A poor judge, and labels where the truth is yes, with a chance in their file: the rate was printed as corrected."""
    random = np.random.default_rng(5)
    asked = world(random, "random")
    rows = asked.units.rows()
    n = len(rows)
    truth = random.random(n) < 0.4
    order = np.argsort([number_of(f"r/{unit}") for unit in range(n)])
    if chosen == "skipped":  # every second no
        order = np.array([unit for unit in order if truth[unit] or unit % 2])
    if chosen == "others":
        order = random.permutation(n)
    labelled = np.isin(np.arange(n), order[:150])
    columns = {"label": np.where(labelled, truth, np.nan), "drawn": np.where(labelled, 150 / n, np.nan)}
    units = rows.with_columns(
        pl.DataFrame(columns).fill_nan(None),
        score=pl.Series((truth == (random.random(n) < 0.55)).astype(float)),
        p_yes=pl.lit(None, pl.Float64),
        differ=pl.lit(None, pl.Float64),
    )
    (found,) = judged_units(asked.with_units(units))
    advice = str(rate_row(found)["advice"])
    assert ("cotrace labels template draws first" in advice) == is_warned, advice
