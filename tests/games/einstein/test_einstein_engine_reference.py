"""Replaying the published games gives every row and every column of the reference files."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import get_args

import pytest

from games.einstein.engine.actions import ActionType, action_type
from games.einstein.engine.puzzle import base_game_id
from games.einstein.measures.metrics import GameMetrics, RunMetrics, error_rates, game_metrics, run_metrics
from games.einstein.replay import Step
from tests.games.einstein.einstein_data import PublishedGame, Row, cell, published_games, reference

pytestmark = pytest.mark.shared

NOT_IN_THE_LOGS = {"policy_p1", "policy_p2", "optimal_checked"}
"""Names of the scripted players, and whether the reference planner confirmed an optimum: neither logs nor manifest say."""

ACTION_COLUMNS: tuple[ActionType, ...] = get_args(ActionType)


@pytest.fixture(scope="module")
def games(shared: Path) -> list[PublishedGame]:
    """All published games, replayed once."""
    return list(published_games(shared))


@pytest.fixture(scope="module")
def measured(games: list[PublishedGame]) -> dict[tuple[str, str], GameMetrics]:
    """The metrics of every game."""
    return {(game.run, game.file_id): game_metrics(game.setting.puzzle, game.setting.modes, game.steps) for game in games}


def step_cells(game: PublishedGame, step: Step) -> Row:
    outcome, choice, action = step.outcome, step.choice, step.answer.action
    values = {
        "run": game.run,
        "game_id": game.file_id,
        "step": step.number,
        "player": step.before.player,
        "action_type": action_type(action),
        "action": action.text if action else "",
        "accepted": outcome.accepted,
        "state_changed": outcome.state_changed,
        "history_ok": outcome.history_ok,
        "terminated": outcome.terminated,
        "truncated": outcome.truncated,
        "correct_objects": outcome.table.correct(game.setting.puzzle),
        "deducible_move_available": bool(outcome.options.moves),
        "labels": "|".join(step.labels),
        "ext_labels": "|".join(step.ext_labels),
        "executed_sample": choice.executed if choice else 0,
        "used_trials": choice.used_trials if choice else None,
        "sum_err": choice.sum_err if choice else None,
        "actions_err": "|".join(map(str, choice.costs)) if choice else None,
        "corrected": choice.corrected if choice else None,
    }
    return {name: cell(value) for name, value in values.items()}


def game_cells(game: PublishedGame, found: GameMetrics, labels: list[str]) -> Row:
    values: dict[str, object] = {
        "run": game.run,
        "game_id": game.file_id,
        "base_game_id": base_game_id(game.log["pkl_path"]),
        "action_mode": game.dialog.modes[0],
        "use_cot": game.dialog.reasoning,
        "verifier": game.manifest["verifier"],
        **{name: getattr(found, name) for name in ("num_objects", "step_count", "terminated", "truncated", "success", "correct_objects")},
        **{name: getattr(found, name) for name in ("sub_r", "optimal_steps", "optimal_first_player", "step_ratio")},
        **{
            name: getattr(found, name) for name in ("total_used_trials", "avg_used_trials", "total_sum_err", "avg_sum_err", "avg_corrected")
        },
        **{f"n_{kind}": found.actions[kind] for kind in ACTION_COLUMNS},
        "n_accepted": found.n_accepted,
        "n_state_changed": found.n_state_changed,
        "no_error_steps": found.labels["no_error"],
        **{label: found.ext_labels[label.removeprefix("ext_")] if label.startswith("ext_") else found.labels[label] for label in labels},
    }
    return {name: cell(value) for name, value in values.items()}


def run_cells(run: str, manifest: Row, found: RunMetrics) -> Row:
    values: dict[str, object] = {
        "run": run,
        **{name: manifest[name] for name in ("action_mode", "use_cot", "verifier")},
        "games": found.games,
        "successes": found.successes,
        "sr_pct": found.sr_pct.value,
        "sr_se": found.sr_pct.error,
        "subr_pct": found.subr_pct.value,
        "subr_se": found.subr_pct.error,
        "stepr": found.stepr.value,
        "stepr_se": found.stepr.error,
        "corrr_pct": found.corrr_pct.value,
        "corrr_se": found.corrr_pct.error,
        "total_steps": found.total_steps,
        **{f"n_{kind}": found.actions[kind] for kind in ACTION_COLUMNS},
        "mean_steps_success": found.mean_steps_success,
    }
    return {name: cell(value) for name, value in values.items()}


def error_cells(scope: str, manifest: Row, games: list[GameMetrics]) -> list[Row]:
    fixed = {"scope": scope, "verifier": manifest["verifier"], "action_mode": manifest["action_mode"]}
    names = ("category", "count", "total_steps", "pct_of_total", "relevant_action_type", "relevant_count", "pct_of_relevant")
    return [fixed | {name: cell(getattr(rate, name)) for name in names} for rate in error_rates(games)]


def test_every_step_equals_the_reference(games: list[PublishedGame], shared: Path) -> None:
    """All columns of all 2,477 steps, in the order of the file inside each game."""
    wanted = defaultdict(list)
    for row in reference(shared, "einstein_expected_steps.csv"):
        wanted[row["run"], row["game_id"]].append(row)

    found = {(game.run, game.file_id): [step_cells(game, step) for step in game.steps] for game in games}

    assert dict(wanted) == found


def test_every_game_equals_the_reference(games: list[PublishedGame], measured: dict[tuple[str, str], GameMetrics], shared: Path) -> None:
    """All columns of all 125 games, save those that no log holds."""
    wanted = reference(shared, "einstein_expected.csv")
    columns = list(wanted[0])
    labels = [*columns[columns.index("format_following") : columns.index("no_error_steps")], *(c for c in columns if c.startswith("ext_"))]

    found = {(game.run, game.file_id): game_cells(game, measured[game.run, game.file_id], labels) for game in games}

    assert {name for row in found.values() for name in row} == set(columns) - NOT_IN_THE_LOGS
    assert {(row["run"], row["game_id"]): {k: v for k, v in row.items() if k not in NOT_IN_THE_LOGS} for row in wanted} == found


def test_every_run_equals_the_reference(games: list[PublishedGame], measured: dict[tuple[str, str], GameMetrics], shared: Path) -> None:
    """Success, subgoal, step and correction rates with their errors, and the totals by type."""
    wanted = reference(shared, "einstein_expected_runs.csv")

    found = []
    for run, group in groupby(games, key=lambda game: game.run):
        members = list(group)
        found.append(run_cells(run, members[0].manifest, run_metrics([measured[run, game.file_id] for game in members])))

    assert wanted == found


def test_every_error_rate_equals_the_reference(
    games: list[PublishedGame], measured: dict[tuple[str, str], GameMetrics], shared: Path
) -> None:
    """Both denominators, per run and pooled over verifier and mode."""
    wanted = reference(shared, "einstein_expected_errors.csv")
    by_scope: dict[tuple[str, str, str], tuple[Row, list[GameMetrics]]] = {}
    for game in games:
        pooled = ("pooled", game.manifest["verifier"], game.manifest["action_mode"])
        for scope in ((f"run:{game.run}", "", ""), pooled):
            by_scope.setdefault(scope, (game.manifest, []))[1].append(measured[game.run, game.file_id])

    found = [row for (scope, _, _), (manifest, members) in by_scope.items() for row in error_cells(scope, manifest, members)]

    def order(row: Row) -> tuple[str, str, str]:
        return row["scope"], row["verifier"], row["action_mode"]

    assert sorted(wanted, key=order) == sorted(found, key=order)
