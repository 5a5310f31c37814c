"""Replaying the published games gives every row and every column of the reference files."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import get_args

import pytest

from games.einstein.engine.actions import ActionType, action_type
from games.einstein.engine.puzzle import base_game_id
from games.einstein.measures import GameMetrics, game_metrics
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
