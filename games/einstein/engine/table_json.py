"""The state of a game as JSON, for logs and pages."""

from typing import Any

from games.einstein.engine.bins import PLAYERS, SHOWN_BINS, Player
from games.einstein.engine.knowledge import infer_goals
from games.einstein.engine.options import options
from games.einstein.engine.puzzle import Puzzle
from games.einstein.engine.table import Table, bin_contents, bits, items_of


def table_json(puzzle: Puzzle, table: Table) -> dict[str, Any]:
    """Give bins and knowledge: what each player was given or told, and which goals it can infer.

    ``{"bins": {"top_left_bin": ["block0"], ...}, "knowledge": {"Player1": {"items": [...], "infers": {"block0": "top_left_bin"}}, ...}}``
    """
    return {
        "bins": {name: list(blocks) for name, blocks in bin_contents(table).items()},
        "knowledge": {f"Player{player + 1}": _knowledge(puzzle, table, player) for player in PLAYERS},
    }


def goal_json(puzzle: Puzzle) -> dict[str, Any]:
    """Give the bins as they are when the game is solved: ``{"bins": {"top_left_bin": ["block0"], ...}}``."""
    return {"bins": {name: [f"block{block}" for block, goal in enumerate(puzzle.goals) if goal == name] for name in SHOWN_BINS}}


def private_view_json(puzzle: Puzzle, player: Player) -> dict[str, Any]:
    """Give what a player knows at the start: its items and what they imply."""
    items = [puzzle.items[index] for index in puzzle.given(player)]
    goals = infer_goals(items)
    return {"items": [item.text for item in items], "infers": {f"block{block}": goals[block] for block in sorted(goals)}}


def _knowledge(puzzle: Puzzle, table: Table, player: Player) -> dict[str, Any]:
    known = bits(options(puzzle, table, player).known)
    return {
        "items": [item.text for item in items_of(puzzle, table, player)],
        "infers": {f"block{block}": puzzle.goals[block] for block in known},
    }
