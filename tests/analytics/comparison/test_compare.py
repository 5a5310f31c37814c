"""Differences between teams: against independent implementations, on simulated tasks, on little stores and on the published games."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

import cotrace
from analytics.associations import correlations, effects
from analytics.comparison.compare import MeanDifference, ValueRange, compare, paired, unpaired
from analytics.comparison.game_values import game_values, short_names
from analytics.findings import LEADERBOARD, headlines
from analytics.planning import power, power_curves
from analytics.query import query
from analytics.reports import report
from analytics.scales import ability
from analytics.statistics.intervals import wilson
from analytics.statistics.shifts import exchange_p, sign_flip_p
from cotrace.cli import cli
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.masters import held_open, published_store

Floats = NDArray[np.float64]
SHARE = ValueRange(1.0)


# --- against independent implementations ------------------------------------------------------------------------------------------------


def test_paired_and_unpaired_are_those_of_scipy() -> None:
    """Student's and Welch's intervals; exact permutation tests where scipy counts all ways, too."""
    random = np.random.default_rng(1)
    a, b, c = random.random(9), random.random(9), random.random(6)
    both = stats.ttest_rel(a, b).confidence_interval(0.95)
    found = paired(a, b, SHARE)
    assert (found.low, found.high) == pytest.approx((both.low, both.high))
    counted = stats.permutation_test((a - b,), np.mean, permutation_type="samples", n_resamples=1e6)
    assert found.p == pytest.approx(counted.pvalue)
    apart = stats.ttest_ind(a, c, equal_var=False).confidence_interval(0.95)
    welch = unpaired(a, c, SHARE)
    assert (welch.low, welch.high) == pytest.approx((apart.low, apart.high))
    assert welch.p == pytest.approx(exchange_p(a, c))
    spread, close = a[:5], 0.2 + 0.1 * c[:4]
    counted = stats.permutation_test((spread, close), lambda x, y: stats.ttest_ind(x, y, equal_var=False).statistic, vectorized=False)
    assert exchange_p(spread, close) == pytest.approx(counted.pvalue)


YES_OR_NO = ValueRange(1.0, yes_or_no=True)


def test_intervals_of_yes_and_no_are_the_adjusted_ones_of_the_books() -> None:
    """Bonett and Price: 8 won, 2 lost of 20 tasks, one more of each; Agresti and Caffo: one yes and one no more on either side."""
    a, b = np.repeat([1.0, 0.0, 1.0], [8, 2, 10]), np.repeat([0.0, 1.0, 1.0], [8, 2, 10])
    won, lost = 9 / 22, 3 / 22
    half = stats.t.ppf(0.975, 21) * np.sqrt((won + lost - (won - lost) ** 2) / 22)
    found = paired(a, b, YES_OR_NO)
    assert (found.low, found.high) == pytest.approx((won - lost - half, won - lost + half))
    one, other = np.repeat([1.0, 0.0], [7, 3]), np.repeat([1.0, 0.0], [5, 15])
    sides = [np.append(side, [1.0, 0.0]) for side in (one, other)]
    variances = [side.var() / len(side) for side in sides]
    freedom = sum(variances) ** 2 / sum(v**2 / (len(side) - 1) for v, side in zip(variances, sides, strict=True))
    half, middle = stats.t.ppf(0.975, freedom) * np.sqrt(sum(variances)), sides[0].mean() - sides[1].mean()
    apart = unpaired(one, other, YES_OR_NO)
    assert (apart.low, apart.high) == pytest.approx((middle - half, middle + half))


def test_exact_signs_by_brute_force() -> None:
    """All 2^n sums listed; also with ties, with zeros, and with nothing but zeros."""
    random = np.random.default_rng(2)
    for differences in (random.normal(size=11), np.array([1.0] * 8 + [-1.0] + [0.0] * 3), np.array([0.1, 0.2, -0.3]), np.zeros(4)):
        sums = [
            abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
            for signs in product((-1, 1), repeat=len(differences))
        ]
        assert sign_flip_p(differences) == pytest.approx(np.mean(np.array(sums) >= abs(differences.sum()) - 1e-9))


def test_many_signs_are_exact_and_then_normal() -> None:
    """30 differences are counted, 31 are not: both near to each other."""
    random = np.random.default_rng(3)
    differences = random.normal(0.4, 1, 31)
    assert sign_flip_p(differences[:30]) == pytest.approx(stats.ttest_1samp(differences[:30], 0).pvalue, abs=0.01)
    assert sign_flip_p(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.02)


# --- what is planted is found, what is not is not -----------------------------------------------------------------------------------------


def tasks_of_two(random: np.random.Generator, tasks: int, ahead: float) -> tuple[Floats, Floats]:
    """Tasks of different difficulty; scores from 0 to 1, of which the first team's are so much higher."""
    ease = random.beta(2, 3, tasks)
    return np.clip(ease + ahead + random.normal(0, 0.1, tasks), 0, 1), np.clip(ease + random.normal(0, 0.1, tasks), 0, 1)


def won_or_lost(random: np.random.Generator, tasks: int, ahead: float) -> tuple[Floats, Floats]:
    """Yes or no, with the same chance for both on each task, but for what the first is ahead."""
    ease = random.beta(3, 3, tasks) * (1 - ahead)
    return (random.random(tasks) < ease + ahead).astype(float), (random.random(tasks) < ease).astype(float)


@pytest.mark.long
@pytest.mark.parametrize("tasks", [5, 10, 30])
@pytest.mark.parametrize(("drawn", "scale"), [(tasks_of_two, SHARE), (won_or_lost, ValueRange(1.0, yes_or_no=True))])
def test_equal_teams_are_told_apart_as_seldom_as_promised(
    drawn: Callable[..., tuple[Floats, Floats]], scale: ValueRange, tasks: int
) -> None:
    """In 600 pairs of equal teams at most 5 % have p below 0.05, and the interval holds 0 in 93 % or more.

    Below six tasks there is no p, and the interval holds 0 in 90 % or more: the advice says so.
    """
    random = np.random.default_rng(5)
    found = [paired(*drawn(random, tasks, 0.0), scale) for _ in range(600)]
    assert all((one.p is None) == (tasks < 6) for one in found)
    assert np.mean([one.p is not None and one.p < 0.05 for one in found]) <= 0.06
    assert np.mean([held(one, 0.0) for one in found]) >= (0.93 if tasks >= 6 else 0.90)
    assert scale.yes_or_no or np.mean([held(one, 0.0) for one in found]) <= 0.975


@pytest.mark.parametrize(("tasks", "runs", "failing"), [(6, 1, 0.2), (10, 1, 0.1), (20, 1, 0.05), (20, 4, 0.05), (10, 4, 0.2)])
def test_a_team_that_always_succeeds_leaves_room_for_what_was_not_seen(tasks: int, runs: int, failing: float) -> None:
    """The other fails so often that it may never be seen to: it was held in 65 to 90 %."""
    random = np.random.default_rng(9)
    sides = [(np.ones(tasks), random.binomial(runs, 1 - failing, tasks) / runs) for _ in range(300)]
    assert np.mean([held(paired(one, other, YES_OR_NO, runs), failing) for one, other in sides]) >= 0.93


@pytest.mark.long
@pytest.mark.parametrize(("tasks", "others", "share"), [(20, 3, 0.5), (10, 40, 0.1)])
def test_unlike_numbers_of_tasks_hold_equal_teams_as_often(tasks: int, others: int, share: float) -> None:
    """Where the smaller side happens to be all yes or all no, it has no variance of its own: equal teams were held in 67 to 77 %."""
    random = np.random.default_rng(10)
    sides = [[(random.random(n) < share).astype(float) for n in (tasks, others)] for _ in range(150)]
    assert np.mean([held(unpaired(one, other, YES_OR_NO), 0.0) for one, other in sides]) >= 0.93


@pytest.mark.long
def test_teams_on_different_tasks_are_told_apart_as_seldom() -> None:
    """The tasks differ, the teams do not."""
    random = np.random.default_rng(6)
    found = [unpaired(random.beta(2, 3, 8), random.beta(2, 3, 12), SHARE) for _ in range(300)]
    assert np.mean([(one.p or 0) < 0.05 for one in found]) <= 0.075
    assert np.mean([held(one, 0.0) for one in found]) >= 0.93


@pytest.mark.long
def test_a_team_that_is_ahead_is_found() -> None:
    """By 0.15 on twenty tasks nearly always, and the interval holds it."""
    random = np.random.default_rng(7)
    found = [paired(*tasks_of_two(random, 20, 0.15), SHARE) for _ in range(200)]
    assert np.mean([one.p is not None and one.p < 0.05 for one in found]) > 0.9
    assert np.mean([held(one, 0.145) for one in found]) > 0.9  # some scores are cut at 1


def held(found: MeanDifference, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


# --- on stores --------------------------------------------------------------------------------------------------------------------------


def team(name: str, scores: dict[str, float], *, condition: str = "c", run: int = 0, max_turns: int = 20) -> list[Game]:
    return [
        Game(
            [],
            name=f"{name}.{condition}.{task}.{run}.{max_turns}",
            model=name,
            task=task,
            score=score,
            success=score == 1.0,
            condition=condition,
            benchmark="craft",
            max_turns=max_turns,
        )
        for task, score in scores.items()
    ]


EASE = {f"t{number}": number / 20 for number in range(12)}


def ahead(by: float) -> dict[str, float]:
    return {task: ease + by + 0.01 * (number % 3) for number, (task, ease) in enumerate(EASE.items())}


def test_a_task_counts_once_however_often_it_was_played(tmp_path: Path) -> None:
    """Nine more games of one task change its mean, not its weight."""
    games = [*team("a", ahead(0.1)), *team("b", EASE), *(game for run in range(1, 10) for game in team("a", {"t0": 0.0}, run=run))]
    (row,) = compare(store_with(tmp_path, games)).to_dicts()
    assert (row["team_a"], row["tasks"], row["games_a"], row["games_b"], row["paired"]) == ("a", 12, 21, 12, True)
    expected = np.array([0.01, *(0.1 + 0.01 * (number % 3) for number in range(1, 12))])
    assert row["difference"] == pytest.approx(expected.mean())
    assert (row["wins"], row["ties"], row["losses"]) == (12, 0, 0)


def test_only_shared_tasks_count_and_none_shared_is_said(tmp_path: Path) -> None:
    """B has played two tasks more; c has played others than both."""
    others = {f"o{number}": 0.4 + number / 50 for number in range(8)}
    store = store_with(tmp_path, [*team("a", ahead(0.1)), *team("b", EASE | {"x": 1.0, "y": 1.0}), *team("c", others)])
    rows = {(row["team_a"], row["team_b"]): row for row in compare(store).to_dicts()}
    assert rows["a", "b"]["tasks"] == 12
    apart = rows["c", "a"]
    assert (apart["paired"], apart["tasks"], apart["wins"]) == (False, 20, None)
    assert "on different tasks (20 in all)" in apart["advice"]
    assert "teams and tasks cannot be distinguished" in apart["advice"]


def test_one_shared_task_is_no_pair_and_is_said(tmp_path: Path) -> None:
    """It said "on different tasks", though one is the same."""
    store = store_with(tmp_path, [*team("a", ahead(0.1)), *team("b", {"t0": 0.1, "x": 0.2})])
    (row,) = compare(store).to_dicts()
    assert (row["paired"], row["tasks"]) == (False, 13)
    assert "on tasks of which they share only one (13 in all)" in row["advice"]


def test_three_tasks_against_forty_are_few(tmp_path: Path) -> None:
    """The row has 43 tasks, and its interval rests on three of them: it was not marked."""
    many = {f"m{number}": number / 40 for number in range(40)}
    games = [*team("a", {"t0": 0.9, "t1": 0.8, "t2": 0.4}), *team("b", many)]
    (row,) = report(store_with(tmp_path, games), "compare").to_dicts()
    assert (row["paired"], row["tasks"], row["few_games"]) == (False, 43, True)


def test_one_task_of_a_team_is_told_as_such(tmp_path: Path) -> None:
    """It stated that the difference is the same on every task, of teams that share none."""
    store = store_with(tmp_path, [*team("a", {"t0": 0.9}), *team("b", {"t1": 0.1, "t2": 0.2, "t3": 0.7})])
    (row,) = compare(store).to_dicts()
    assert (row["paired"], row["low"], row["p"]) == (False, None, None)
    assert row["advice"].endswith("on different tasks (4 in all); of one of them there is one task alone, so nothing follows about others")


def test_pairs_differ_in_one_thing(tmp_path: Path) -> None:
    """Two teams under one condition, one of them under another, too: a third pair would differ in both, and has partners."""
    games = [*team("a", ahead(0.1)), *team("b", EASE), *team("b", ahead(0.2), condition="d"), *team("b", EASE, max_turns=5)]
    assert sorted(compare(store_with(tmp_path, games))["differs"]) == ["condition", "max_turns", "team"]


def test_teams_in_runs_of_their_own_are_compared_all_the_same(tmp_path: Path) -> None:
    """No pair differs in one thing only, and the sentence states so."""
    store = store_with(tmp_path, [*team("a", ahead(0.1), condition="x"), *team("b", EASE, condition="y")])
    (row,) = compare(store).to_dicts()
    assert row["differs"] == "condition and team"
    assert "differ at once" in row["advice"]


def test_corrections_are_those_of_statsmodels(tmp_path: Path) -> None:
    """Holm and Benjamini-Hochberg over the six rows of four teams."""
    random = np.random.default_rng(8)
    games = [game for name in "abcd" for game in team(name, {task: ease + random.random() / 5 for task, ease in EASE.items()})]
    rows = compare(store_with(tmp_path, games))
    assert rows.height == 6
    for column, method in (("p_holm", "holm"), ("p_bh", "fdr_bh")):
        assert rows[column].to_list() == pytest.approx(multipletests(rows["p"].to_numpy(), method=method)[1].tolist())


def test_few_tasks_are_told(tmp_path: Path) -> None:
    """Five shared tasks have an interval and no p; one task has neither; two teams that are always right are not proven equal."""
    five = {f"t{number}": 0.1 * number for number in range(5)}
    store = store_with(tmp_path, [*team("a", {task: score + 0.3 for task, score in five.items()}), *team("b", five)])
    (row,) = compare(store).to_dicts()
    assert row["p"] is None
    assert row["low"] < row["difference"] < row["high"]
    assert "cannot show a difference" in row["advice"]
    (tmp_path / "right").mkdir()
    right = dict.fromkeys(EASE, 1.0)
    alike = store_with(tmp_path / "right", [*team("a", right), *team("b", right)])
    (still,) = compare(alike, metric="turns").to_dicts()
    assert still["low"] is None
    assert "it is the same on every task, so nothing follows" in still["advice"]  # it stated that there was one task
    (same,) = compare(alike, metric="success").to_dicts()
    assert (same["difference"], same["p"]) == (0, 1)
    assert same["low"] < -0.05
    assert same["high"] > 0.05


def test_an_empty_store_has_columns_and_a_wrong_metric_is_one_line(tmp_path: Path) -> None:
    """What there is is named."""
    store = store_with(tmp_path, [])
    assert compare(store).is_empty()
    for metric, told in (
        ("suces", "metric suces: the store has no such number; there are success"),
        ("cost:craft.harm", r"metric cost:craft\.harm: the store has no measure craft\.harm: there are none"),
        ("judge:r.Q1", r"metric judge:r\.Q1: no judge has answered that"),
    ):
        with pytest.raises(UsageError, match=told):
            game_values(store, metric)


def test_teams_in_few_words() -> None:
    """What they share is left out, unless two would become the same."""
    assert short_names(["director a, builder x", "director b, builder x"]) == {"director a, builder x": "a", "director b, builder x": "b"}
    assert short_names(["a", "b"]) == {"a": "a", "b": "b"}
    assert short_names(["GPT 4o", "Claude 3"]) == {"GPT 4o": "GPT 4o", "Claude 3": "Claude 3"}
    assert short_names(["only one, seat x"]) == {"only one, seat x": "only one, seat x"}
    assert short_names(["director a, 2, builder x", "director b, builder x"]) == {
        "director a, 2, builder x": "a, 2", "director b, builder x": "b",
    }  # fmt: skip
    assert short_names(["gpt, 4o mini", "gpt, 5 mini"]) == {"gpt, 4o mini": "gpt, 4o mini", "gpt, 5 mini": "gpt, 5 mini"}
    assert short_names(["guesser a, teller x", "guesser b, teller x"]) == {"guesser a, teller x": "a", "guesser b, teller x": "b"}


# --- the published games ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine_store(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Store]:
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("engine"), "craft/engine_games"))


PUBLISHED = [("redundant", "over-remover", 0.160, 0.106, 0.213), ("clear", "vague", 0.326, 0.249, 0.403)]
"""Made independently of this code: mean difference on the 20 shared structures and its interval."""


@pytest.mark.shared
@pytest.mark.sampled(1)
@pytest.mark.parametrize("expected", PUBLISHED)
def test_differences_on_the_published_games(engine_store: Store, expected: tuple[str, str, float, float, float]) -> None:
    """In Python and from the command line."""
    a, b, *numbers = expected
    where = f"team_a = 'director {a}, builder scripted-builder' AND team_b = 'director {b}, builder scripted-builder'"
    (row,) = cotrace.open(engine_store.path).compare(where=where).pl().to_dicts()
    assert [round(row[name], 3) for name in ("difference", "low", "high")] == numbers
    assert row["tasks"] == 20
    arguments = ["report", "compare", "--store", str(engine_store.path), "--where", where, "--format", "csv"]
    (told,) = csv.DictReader(io.StringIO(CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout))
    assert float(told["difference"]) == pytest.approx(row["difference"])


@pytest.mark.shared
@pytest.mark.sampled(1)
@pytest.mark.parametrize("output_format", ["table", "csv", "json", "html"])
def test_the_command_shows_the_words_in_every_format(engine_store: Store, output_format: str) -> None:
    """And a number of another name for the same pair."""
    where = "team_a LIKE '%over-remover%' AND team_b LIKE '%redundant%'"
    arguments = [
        "report",
        "compare",
        "--metric",
        "remove_gap",
        "--store",
        str(engine_store.path),
        "--where",
        where,
        "--format",
        output_format,
    ]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "on 20 shared tasks, 20 won, 0 lost; a difference on tasks like these" in result.stdout


@pytest.mark.shared
@pytest.mark.sampled(2)
@pytest.mark.parametrize("metric", ["success", "turns", "adherence", "clarify", "spirals", "turns_wasted", "messages", "craft.iou_score"])
def test_any_number_of_the_store_can_be_compared(engine_store: Store, metric: str) -> None:
    """Each gives rows with finite numbers."""
    rows = compare(engine_store, metric=metric)
    found: list[dict[str, Any]] = rows.filter(pl.col("tasks") == 20).to_dicts()
    assert len(found) >= 6
    assert all(np.isfinite(row["difference"]) for row in found)


@pytest.mark.parametrize("span", [1.0, None])
def test_what_hides_behind_teams_that_never_vary_is_known_where_the_values_end(span: float | None) -> None:
    """Six tasks of 1 against six of .5: Wilson's bound of none of six on either side, inside the possible; nobody knows without ends."""
    found = unpaired(np.ones(6), np.full(6, 0.5), ValueRange(span))
    unseen = wilson(0, 6)
    assert unseen is not None
    if span is None:
        assert (found.low, found.high) == (None, None)
    else:
        assert found.low == pytest.approx(0.5 - unseen.high)
        assert found.high == pytest.approx(0.5 + unseen.high)


def test_a_turn_limit_that_is_not_known_is_named_so(tmp_path: Path) -> None:
    """It was printed as `None turns`."""
    games = [Game([], name=f"g{task}-{limit}", task=f"t{task}", max_turns=limit, score=0.3) for task in range(2) for limit in (None, 10)]
    (row,) = compare(store_with(tmp_path, games), metric="score").to_dicts()
    assert row["differs"] == "max_turns"
    assert "(turn limit not known)" in row["advice"]
    assert "(10 turns)" in row["advice"]


GAMES = {"hanabi": 20.0, "collab_capture": 0.0}
"""Game -> least score: points in the one, 0 or 1 in the other."""


def test_teams_are_compared_and_effects_are_found_within_one_game(tmp_path: Path) -> None:
    """Points of Hanabi were set against scores of CollabCapture: `+20`, shown by the same tasks' names."""
    played = [
        Game(
            [],
            name=f"{game}{name}{task}",
            benchmark="coordination",
            condition=f"{game} {name}",
            condition_json={"game": game, "memory": name == "a"},
            task=f"t{task}",
            score=least + (task % 3 + (name == "a")) / 4 + task % 2 / 10 * (name == "a"),
            success=None,
        )
        for game, least in GAMES.items()
        for name in "ab"
        for task in range(12)
    ]
    store = store_with(tmp_path, played)
    rows = compare(store).to_dicts()
    assert {row["game"] for row in rows} == GAMES.keys()
    assert all(row["condition_a"].startswith(row["game"]) and row["condition_b"].startswith(row["game"]) for row in rows)
    assert [row["difference"] for row in rows] == pytest.approx([0.3, 0.3])
    of_switches = effects(store).to_dicts()
    assert {row["predictor"].split("=")[0] for row in of_switches} == {"memory"}
    assert sorted(row["game"] for row in of_switches) == sorted(GAMES)
    boards = headlines(store, query(store, LEADERBOARD))["coordination"]
    assert len(boards) == len(GAMES)
    for game, board in zip(GAMES, boards, strict=True):
        assert board.game == game
        assert f"under {game} b is behind m under {game} a by .30 [" in str(board)


def test_scales_plans_and_correlations_are_of_one_game(tmp_path: Path) -> None:
    """Points of Hanabi and scores of CollabCapture were on one scale, in one spread and in one correlation."""
    played = [
        Game(
            [Step("{}", (Move("go"),), followed=step < (task + place) % 4, progress=step / 10) for step in range(4)],
            name=f"{game}{name}{task}",
            benchmark="coordination",
            condition=f"{game} {name}",
            condition_json={"game": game},
            task=f"t{task}",
            score=least + (task % 3 + place) / 4 + task % 2 / 20 * place,
        )
        for game, least in GAMES.items()
        for place, name in enumerate("ab")
        for task in range(12)
    ]
    store = store_with(tmp_path, played)
    Store.settle(store)
    scale, plans, together = ability(store), power(store), correlations(store)
    for rows in (scale, plans, power_curves(store), together):
        assert set(rows["game"]) == GAMES.keys()
    teams = scale.filter(pl.col("kind") == "team")
    assert teams.group_by("game").len()["len"].to_list() == [2, 2]
    spans = {game: [row["observed"] for row in teams.to_dicts() if row["game"] == game] for game in GAMES}
    assert min(spans["hanabi"]) > max(spans["collab_capture"]) + 10
    assert plans.filter(pl.col("sd") > 1).is_empty()
    assert set(together.filter(pl.col("unit") == "games", pl.col("kind") == "pooled")["n"]) == {24}


def test_rare_crashes_are_allowed_for() -> None:
    """One of six teams never crashes, the others in 10 % of ten tasks: by a pair alone the interval missed in 21 %."""
    random = np.random.default_rng(1)
    held = []
    for _ in range(300):
        scores = np.clip(random.uniform(0.4, 0.8, 10) + random.normal(0, 0.05, (6, 10)), 0, 1)
        scores[1:] *= random.random((5, 10)) >= 0.1
        share = (float((scores == 0).sum()) + 1) / 62
        crashes = 2 * share * (1 - share) * float(scores[scores > 0].mean()) ** 2 if (scores == 0).any() else 0.0
        found = paired(scores[0], scores[1], ValueRange(1.0, crashes=crashes))
        held.append(found.low is not None and found.high is not None and found.low <= 0.06 <= found.high)
    assert np.mean(held) >= 0.93


def test_bounded_ends_hold_what_no_task_shows_and_families_count_once(tmp_path: Path) -> None:
    """Twelve tasks of three families, all alike: Student's interval over tasks is .1 wide, of families nothing is shown by a test."""
    games = [
        Game([Step("{}")], name=f"{team}{task}", task=f"f{task % 3}_{task}", model=team, score=0.5 + (team == "a") * (0.1 + task % 3 / 50))
        for team in "ab"
        for task in range(12)
    ]
    store = store_with(tmp_path, games)
    (row,) = compare(store).to_dicts()
    assert row["p_holm"] < 0.05
    assert row["bounded_low"] < row["low"] < row["high"] < row["bounded_high"]
    (row,) = compare(store, families="split_part(task_id, '_', 1)").to_dicts()
    assert (row["tasks"], row["p"], row["games_a"]) == (3, None, 12)
    assert row["difference"] == pytest.approx(0.12)
    with pytest.raises(UsageError):
        compare(store, families="1; DROP TABLE episodes")
