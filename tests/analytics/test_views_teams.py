"""Leaderboard, outcomes, conditions and failure shares, on games small enough to check by eye."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from analytics.query import query
from analytics.reports import report
from analytics.statistics.intervals import mean_interval, wilson
from schemas.common.errors import UsageError
from tests.analytics.little_games import Game, Move, Step, store_with

DONE = Move("place")
REFUSED = Move("place", accepted=False)
BACK = Move("back")
ASK = Move("clarify", accepted=None)


def scored(name: str, score: float | None, *, success: bool | None = False, max_turns: int = 20, ceiling: float | None = None) -> Game:
    metrics = () if ceiling is None or score is None else (("einstein.progress_share_of_ceiling", score / ceiling),)
    return Game([], name=name, score=score, success=success, max_turns=max_turns, metrics=metrics)


# --- leaderboard ------------------------------------------------------------------------------------------------------------------------


def test_means_errors_and_intervals_of_a_team(tmp_path: Path) -> None:
    """Three scores and one game that broke: the broken one is counted, and in no other number."""
    games = [scored("a", 0.2), scored("b", 0.4), scored("c", 0.9, success=True), scored("d", None, success=None)]
    found = query(
        store_with(tmp_path, games),
        "select games, broken, n, score_mean, score_sem, score_low, score_high, successes, success_rate, success_low, success_high "
        "from leaderboard",
    ).row(0)
    spread = math.sqrt((0.3**2 + 0.1**2 + 0.4**2) / 2)
    share = wilson(1, 3)
    assert share is not None
    ends = mean_interval(np.array([0.2, 0.4, 0.9]), np.ones(3))
    assert found == pytest.approx((4, 1, 3, 0.5, spread / math.sqrt(3), float(ends.low), float(ends.high), 1, 1 / 3, *share), abs=1e-6)


def test_one_game_has_a_mean_but_no_interval(tmp_path: Path) -> None:
    """An error needs two games."""
    found = query(store_with(tmp_path, [scored("a", 0.2)]), "select score_mean, score_sem, score_low, score_high from leaderboard")
    assert found.rows() == [(0.2, None, None, None)]


def test_share_of_the_ceiling_is_the_mean_of_the_games_shares(tmp_path: Path) -> None:
    """0.2 of 0.4 and 0.6 of 0.6: not 0.8 of 1.0. A game without a known ceiling is left out and the count says so."""
    games = [scored("a", 0.2, ceiling=0.4), scored("b", 0.6, ceiling=0.6), scored("c", 0.7)]
    found = query(store_with(tmp_path, games), "select n, ceiling_n, ceiling_share_mean, ceiling_share_sem from leaderboard")
    assert found.row(0) == pytest.approx((3, 2, 0.75, 0.25))


def test_turn_limits_are_not_pooled(tmp_path: Path) -> None:
    """A game of five turns is another experiment than one of twenty."""
    found = query(
        store_with(tmp_path, [scored("a", 0.1, max_turns=5), scored("b", 0.9)]),
        "select max_turns, score_mean from leaderboard order by all",
    )
    assert found.rows() == [(5, 0.1), (20, 0.9)]


def test_rates_stand_beside_their_counts(tmp_path: Path) -> None:
    """Six turns: followed, not followed by a refused move, asked, undone without a candidate, nothing done, and two moves at once."""
    steps = [
        Step('"B"', (DONE,), followed=True),
        Step('"B"', (REFUSED,), followed=False),
        Step('"B"', (ASK,)),
        Step('"A"', (BACK,), oracle=()),
        Step('"A"', ()),
        Step('"C"', (DONE, REFUSED), followed=False),
    ]
    found = query(
        store_with(tmp_path, [Game(steps)]),
        "select turns, attempted, failed, failed_rate, clarify, clarify_rate, oracle_turns, followed, adherence, undoing, undoing_rate, "
        "followed_action_position_layer, adherence_action_position_layer from leaderboard",
    )
    assert found.row(0) == (6, 5, 2, 0.4, 1, 1 / 6, 3, 1, 1 / 3, 1, 0.25, None, None)


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


def classified(name: str, model: str, *categories: str) -> Game:
    return Game([Step("1", categories=(("t", category),)) for category in categories], name=name, model=model)


def test_shares_are_of_the_turns_that_count(tmp_path: Path) -> None:
    """Three classified turns and one without candidate: thirds, and no share for the one outside; a category of the other model is 0."""
    games = [classified("a", "m", "correct", "wrong", "correct", "no_oracle_or_attempt"), classified("b", "other", "lost")]
    found = query(
        store_with(tmp_path, games),
        "select category, turns, denominator, share, share_low, share_high from failure_breakdown where model = 'm' order by category",
    )
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


def test_shares_have_intervals_over_games(tmp_path: Path) -> None:
    """The interval is that of the games' counts, games without the category included."""
    counts = [(2, 3), (0, 3), (1, 4), (3, 5)]
    games = [classified(f"g{place}", "m", *["wrong"] * hits, *["correct"] * (size - hits)) for place, (hits, size) in enumerate(counts)]
    (row,) = query(
        store_with(tmp_path, games), "select turns, denominator, share_low, share_high from failure_breakdown where category = 'wrong'"
    ).rows()
    hits, sizes = np.array(counts, dtype=float).T
    expected = mean_interval(hits, sizes)
    assert row == (6, 15, pytest.approx(float(expected.low), abs=1e-6), pytest.approx(float(expected.high), abs=1e-6))


def test_games_with_a_turn_that_counts_are_counted(tmp_path: Path) -> None:
    """One such turn is enough; a game without any is none of those that the share is of."""
    games = [classified("a", "m", "wrong"), classified("b", "m", "correct"), classified("c", "m", "no_oracle_or_attempt")]
    found = query(store_with(tmp_path, games), "select category, games from failure_breakdown order by category")
    assert found.rows() == [("correct", 2), ("no_oracle_or_attempt", 2), ("wrong", 2)]


def test_tasks_without_a_level_have_their_own_row(tmp_path: Path) -> None:
    """A null level is a group like any other, with its counts."""
    game = Game([Step("1", categories=(("t", "wrong"),))], level=None)
    assert query(store_with(tmp_path, [game]), "select level, turns, share from failure_breakdown").rows() == [(None, 1, 1.0)]


def test_one_taxonomy_of_a_benchmark_is_shown_where_none_is_asked_for(tmp_path: Path) -> None:
    """The published one, also where another says more."""
    step = Step("1", categories=(("einstein_published", "wrong"), ("mine", "slow"), ("mine", "late")))
    found = query(store_with(tmp_path, [Game([step])]), "select distinct taxonomy, is_default from failure_breakdown order by taxonomy")
    assert found.rows() == [("einstein_published", True), ("mine", False)]
