"""Leaderboard, outcomes, conditions and failure shares, on games small enough to check by eye."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from analytics.query import query
from analytics.reports import report
from analytics.statistics.intervals import mean_interval, wilson
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.masters import held_open

DONE = Move("place")
REFUSED = Move("place", accepted=False)
BACK = Move("back")
ASK = Move("clarify", accepted=None)


def scored(
    team: str, score: float | None, *, success: bool | None = False, max_turns: int = 20, ceiling: float | None = None, game: int = 0
) -> Game:
    metrics = () if ceiling is None or score is None else (("einstein.progress_share_of_ceiling", score / ceiling),)
    return Game([], name=f"{team} {game}", model=team, score=score, success=success, max_turns=max_turns, metrics=metrics)


def classified(benchmark: str, name: str, *categories: str, model: str = "m") -> Game:
    steps = [Step("1", categories=((f"of {benchmark}", category),)) for category in categories]
    return Game(steps, name=f"{benchmark} {name}", benchmark=benchmark, model=model)


RATED = [
    Step('"B"', (DONE,), followed=True),
    Step('"B"', (REFUSED,), followed=False),
    Step('"B"', (ASK,)),
    Step('"A"', (BACK,), oracle=()),
    Step('"A"', ()),
    Step('"C"', (DONE, REFUSED), followed=False),
]
"""Followed, not followed by a refused move, asked, undone without a candidate, nothing done, and two moves at once."""
COUNTS = [(2, 3), (0, 3), (1, 4), (3, 5)]
"""Turns of a category, of so many."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Teams of the tests of the leaderboard; a benchmark for each test of shares."""
    games = [
        scored("means", 0.2),
        scored("means", 0.4, game=1),
        scored("means", 0.9, success=True, game=2),
        scored("means", None, success=None, game=3),
        scored("one game", 0.2),
        scored("ceilings", 0.2, ceiling=0.4),
        scored("ceilings", 0.6, ceiling=0.6, game=1),
        scored("ceilings", 0.7, game=2),
        scored("limits", 0.1, max_turns=5),
        scored("limits", 0.9, game=1),
        Game(RATED, model="rates"),
        classified("shares", "a", "correct", "wrong", "correct", "no_oracle_or_attempt"),
        classified("shares", "b", "lost", model="other"),
        *(classified("intervals", str(at), *["wrong"] * hits, *["correct"] * (n - hits)) for at, (hits, n) in enumerate(COUNTS)),
        classified("counted", "a", "wrong"),
        classified("counted", "b", "correct"),
        classified("counted", "c", "no_oracle_or_attempt"),
        replace(classified("no level", "a", "wrong"), level=None),
        Game([Step("1", categories=(("einstein_published", "wrong"), ("mine", "slow"), ("mine", "late")))], name="several"),
    ]
    yield from held_open(store_with(tmp_path_factory.mktemp("teams"), games))


@pytest.fixture(scope="module")
def leaderboard(store: Store) -> pl.DataFrame:
    return query(store, "select * from leaderboard")


@pytest.fixture(scope="module")
def breakdown(store: Store) -> pl.DataFrame:
    return query(store, "select * from failure_breakdown order by benchmark, taxonomy, category")


def team(leaderboard: pl.DataFrame, name: str, columns: str) -> tuple[Any, ...]:
    """These columns of the only row of a team."""
    (row,) = leaderboard.filter(model=name).select(columns.split(", ")).rows()
    return row


# --- leaderboard ------------------------------------------------------------------------------------------------------------------------


def test_means_errors_and_intervals_of_a_team(leaderboard: pl.DataFrame) -> None:
    """Three scores and one game that broke: the broken one is counted, and in no other number."""
    columns = "games, broken, n, score_mean, score_sem, score_low, score_high, successes, success_rate, success_low, success_high"
    found = team(leaderboard, "means", columns)
    spread = math.sqrt((0.3**2 + 0.1**2 + 0.4**2) / 2)
    share = wilson(1, 3)
    assert share is not None
    ends = mean_interval(np.array([0.2, 0.4, 0.9]), np.ones(3))
    assert found == pytest.approx((4, 1, 3, 0.5, spread / math.sqrt(3), float(ends.low), float(ends.high), 1, 1 / 3, *share), abs=1e-6)


def test_one_game_has_a_mean_but_no_interval(leaderboard: pl.DataFrame) -> None:
    """An error needs two games."""
    assert team(leaderboard, "one game", "score_mean, score_sem, score_low, score_high") == (0.2, None, None, None)


def test_share_of_the_ceiling_is_the_mean_of_the_games_shares(leaderboard: pl.DataFrame) -> None:
    """0.2 of 0.4 and 0.6 of 0.6: not 0.8 of 1.0. A game without a known ceiling is left out and the count says so."""
    found = team(leaderboard, "ceilings", "n, ceiling_n, ceiling_share_mean, ceiling_share_sem")
    assert found == pytest.approx((3, 2, 0.75, 0.25))


def test_turn_limits_are_not_pooled(leaderboard: pl.DataFrame) -> None:
    """A game of five turns is another experiment than one of twenty."""
    assert sorted(leaderboard.filter(model="limits").select("max_turns", "score_mean").rows()) == [(5, 0.1), (20, 0.9)]


def test_rates_stand_beside_their_counts(leaderboard: pl.DataFrame) -> None:
    columns = "turns, attempted, failed, failed_rate, clarify, clarify_rate, oracle_turns, followed, adherence, undoing, undoing_rate, "
    columns += "followed_action_position_layer, adherence_action_position_layer"
    assert team(leaderboard, "rates", columns) == (6, 5, 2, 0.4, 1, 1 / 6, 3, 1, 1 / 3, 1, 0.25, None, None)


# --- outcomes ---------------------------------------------------------------------------------------------------------------------------


def test_outcome_of_a_turn(tmp_path: Path) -> None:
    """Every turn has exactly one."""
    expected = {
        "followed": (Step("1", (DONE,), followed=True), "followed"),
        "the flag does not ask for acceptance": (Step("1", (REFUSED,), followed=True), "followed"),
        "not followed": (Step("1", (DONE,), followed=False), "not_followed"),
        "nothing to follow": (Step("1", (DONE,), oracle=()), "no_oracle"),
        "asked": (Step("1", (ASK,)), "clarify"),
        "asked without candidates": (Step("1", (ASK,), oracle=()), "clarify"),
        "one asked, one acted": (Step("1", (ASK, DONE), followed=True), "followed"),
        "nobody acted": (Step("1", ()), "no_move"),
    }
    store = store_with(tmp_path, [Game([step], name=name) for name, (step, _) in expected.items()])
    found = query(store, "select episode_id, outcome from outcomes").rows()
    assert sorted(found) == sorted((name, outcome) for name, (_, outcome) in expected.items())


# --- conditions -------------------------------------------------------------------------------------------------------------------------

FULL = {"use_oracle": True, "num_oracle": 5, "builder_tool_use": False, "run": 3, "start_board": "empty"}


def test_condition_of_a_craft_run(tmp_path: Path) -> None:
    """From the folder if it has the published form, else from what the log says, else the run's name."""
    expected: dict[str, tuple[str, dict[str, object], str]] = {
        "published folder": ("api/oracle5_no_tools_run3/a_b", FULL, "api/oracle5_no_tools"),
        "the folder goes first": ("local/no_oracle_tools_run12/a_b", FULL, "local/no_oracle_tools"),
        "from the log": ("mine/a_b", FULL, "oracle5_no_tools"),
        "no oracle, tools": ("mine", FULL | {"use_oracle": False, "builder_tool_use": True}, "no_oracle_tools"),
        "start board": ("mine", FULL | {"start_board": "D1Wall"}, "oracle5_no_tools_D1Wall"),
        "the log does not say": ("mine", {}, "mine"),
        "the log says nonsense": ("mine", FULL | {"use_oracle": "perhaps"}, "mine"),
    }
    games = [
        Game([], name=why, model=why, benchmark="craft", condition=name, condition_json=said) for why, (name, said, _) in expected.items()
    ]
    found = query(store_with(tmp_path, games), "select e.model, c.condition from run_conditions c join episodes e using (run_id)").rows()
    assert sorted(found) == sorted((why, condition) for why, (*_, condition) in expected.items())


# --- failure shares ---------------------------------------------------------------------------------------------------------------------


def test_shares_are_of_the_turns_that_count(breakdown: pl.DataFrame) -> None:
    """Three classified turns and one without candidate: thirds, and no share for the one outside; a category of the other model is 0."""
    columns = ("category", "turns", "denominator", "share", "share_low", "share_high")
    found = breakdown.filter(benchmark="shares", model="m").select(columns)
    expected = [("correct", 2, 3, 2 / 3), ("lost", 0, 3, 0.0), ("no_oracle_or_attempt", 1, 3, None), ("wrong", 1, 3, 1 / 3)]
    assert found.rows() == [(*row[:3], row[3] and pytest.approx(row[3]), None, None) for row in expected]  # one game: no interval


def test_a_report_of_categories_can_be_about_one_taxonomy(tmp_path: Path) -> None:
    """`--per` printed all of them: its condition is on columns of games."""
    both = Step("1", categories=(("t", "correct"), ("u", "wrong")))
    store = store_with(tmp_path, [Game([both], name=name, model=name) for name in "ab"])
    (row,) = report(store, "failures", "model = 'a'", per="model", taxonomy="u").to_dicts()
    assert (row["model"], row["taxonomy"], row["category"], row["share"]) == ("a", "u", "wrong", 1)
    assert report(store, "failures", taxonomy="u")["taxonomy"].to_list() == ["u", "u"]
    with pytest.raises(UsageError, match="no turn of the store is classified by it"):
        report(store, "failures", taxonomy="x")


def test_shares_have_intervals_over_games(breakdown: pl.DataFrame) -> None:
    """The interval is that of the games' counts, games without the category included."""
    wrong = breakdown.filter(benchmark="intervals", category="wrong")
    (row,) = wrong.select("turns", "denominator", "share_low", "share_high").rows()
    hits, sizes = np.array(COUNTS, dtype=float).T
    expected = mean_interval(hits, sizes)
    assert row == (6, 15, pytest.approx(float(expected.low), abs=1e-6), pytest.approx(float(expected.high), abs=1e-6))


def test_games_with_a_turn_that_counts_are_counted(breakdown: pl.DataFrame) -> None:
    """One such turn is enough; a game without any is none of those that the share is of."""
    found = breakdown.filter(benchmark="counted").select("category", "games")
    assert found.rows() == [("correct", 2), ("no_oracle_or_attempt", 2), ("wrong", 2)]


def test_tasks_without_a_level_have_their_own_row(breakdown: pl.DataFrame) -> None:
    """A null level is a group like any other, with its counts."""
    assert breakdown.filter(benchmark="no level").select("level", "turns", "share").rows() == [(None, 1, 1.0)]


def test_one_taxonomy_of_a_benchmark_is_shown_where_none_is_asked_for(breakdown: pl.DataFrame) -> None:
    """The published one, also where another says more."""
    found = breakdown.filter(benchmark="einstein").select("taxonomy", "is_default").unique().sort("taxonomy")
    assert found.rows() == [("einstein_published", True), ("mine", False)]
