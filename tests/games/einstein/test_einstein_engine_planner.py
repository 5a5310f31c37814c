"""The planner finds the optimum of every reference game, six objects included, and its plans can be played."""

from __future__ import annotations

from pathlib import Path

import pytest

from games.einstein.engine.puzzle import ACTION_MODES, ActionMode, generate, parse_game_id
from games.einstein.engine.table import RULES, Setting, advance, start_table
from games.einstein.measures import plan
from tests.games.einstein.einstein_data import reference

VECTORS = {
    "4_0202_3012_0000_102": (4, 4, 4, 4, 1),
    "4_0022_2130_0010_120": (8, 8, 10, 6, 1),
    "4_2200_2013_0001_012": (6, 6, 6, 4, 1),
    "5_20220_01032_00100_2012": (9, 9, 11, 7, 2),
    "5_22200_30231_00000_2021": (8, 8, 10, 6, 1),
    "5_02202_30120_00013_0122": (10, 10, 12, 8, 1),
    "6_200022_012031_000002_00122": (14, 14, 16, 10, 1),
    "6_220020_002231_001222_12202": (15, 15, 17, 9, 2),
}
"""Optimal steps in provide_seek, provide, seek, none, and the first player (specification, section 8)."""


@pytest.mark.parametrize("game_id", VECTORS)
def test_vectors_of_the_specification(game_id: str) -> None:
    """Length in all four modes, and who begins."""
    plans = [plan(parse_game_id(game_id), mode) for mode in ACTION_MODES]

    assert VECTORS[game_id] == (*(found.steps for found in plans), plans[0].first_player + 1)


@pytest.mark.shared
def test_optimum_of_every_reference_game(shared: Path) -> None:
    """Those that the published planner could not finish included; none needs more than 10,000 expansions."""
    for row in reference(shared, "einstein_expected.csv"):
        found = plan(parse_game_id(row["base_game_id"]), row["action_mode"])  # type: ignore[arg-type]

        assert (row["optimal_steps"], row["optimal_first_player"]) == (str(found.steps), str(found.first_player + 1)), row["game_id"]
        assert found.expansions < 10_000


@pytest.mark.parametrize("mode", ACTION_MODES)
def test_plans_solve_their_games(mode: ActionMode) -> None:
    """Every step of a plan changes something for the better in the engine; guesses of mode none count as right guesses."""
    for puzzle in generate(count=12, seed=2):
        found = plan(puzzle, mode)
        setting = Setting(puzzle, (mode, mode), RULES["sane"])
        table = start_table(puzzle)
        if found.first_player == 1:
            table = advance(setting, table, None).table
        outcomes = []
        for action in found.actions:
            outcomes.append(advance(setting, table, action))
            table = outcomes[-1].table

        assert outcomes[-1].terminated
        assert all(outcome.accepted for outcome in outcomes)
        assert found.steps == len(found.actions)


def test_sharing_alone_is_as_short_as_sharing_and_asking() -> None:
    """Section 8: asking never saves a step, and telling on one's own account is never longer than being asked."""
    for puzzle in generate(count=30, seed=8):
        both, provide, seek, none = (plan(puzzle, mode).steps for mode in ACTION_MODES)

        assert both == provide <= seek
        assert none <= provide
