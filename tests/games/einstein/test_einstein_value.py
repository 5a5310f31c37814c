"""Steps left in Einstein positions: against search over everything the engine lets happen, and against the published planner."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pytest

from analytics.comparison.game_values import game_values
from analytics.installation import ensure_installed
from analytics.query import query
from games.einstein.engine.actions import Action, Move, Pass
from games.einstein.engine.puzzle import ACTION_MODES, BINS, DESTINATIONS, PLAYERS, ActionMode, Bin, Puzzle, generate
from games.einstein.engine.table import RULES, Setting, Table, advance, carried_out, expected, options, start_table
from games.einstein.game import GameSettings
from games.einstein.measures import plan
from games.einstein.value import Distances, hands, values
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from schemas.store.store import Store
from tests.scripted import EinsteinRequest as PlayRequest
from tests.scripted import play

PUZZLES = sorted(generate(count=12, seed=7), key=lambda puzzle: puzzle.num_objects)


def by_trying(puzzle: Puzzle, table: Table) -> int:
    """Breadth first over all moves that the table carries out, and passes."""
    seen: set[tuple[tuple[Bin, ...], int]] = {(table.positions, table.player)}
    waiting = deque([(table, 0)])
    while waiting:
        now, steps = waiting.popleft()
        if now.positions == puzzle.goals:
            return steps
        moves = (Move(b, now.positions[b], target) for b in range(puzzle.num_objects) for target in BINS)
        after = [now.positions]
        after += [(*now.positions[: m.block], m.target, *now.positions[m.block + 1 :]) for m in moves if carried_out(puzzle, now, m)]
        for positions in after:
            if (positions, 1 - now.player) not in seen:
                seen.add((positions, 1 - now.player))
                waiting.append((replace(now, positions=positions, player=PLAYERS[1 - now.player]), steps + 1))
    raise AssertionError("no way to the goal")


def carried(puzzle: Puzzle, table: Table) -> list[Move]:
    """The moves that the table carries out, right or not."""
    moves = [Move(b, table.positions[b], target) for b in range(puzzle.num_objects) for target in BINS]
    return [move for move in moves if carried_out(puzzle, table, move)]


@pytest.mark.parametrize("puzzle", PUZZLES[:8], ids=lambda puzzle: puzzle.game_id)
def test_hands_equals_search_over_all_moves(puzzle: Puzzle) -> None:
    """From positions that random moves lead to, right objects taken out again among them."""
    rng, table = random.Random(puzzle.game_id), start_table(puzzle)
    for _ in range(12):
        assert hands(puzzle, table) == by_trying(puzzle, table)
        options = carried(puzzle, table)
        move = rng.choice(options) if options else None
        table = advance(Setting(puzzle, ("none", "none"), RULES["published"]), table, move).table


@pytest.mark.parametrize("mode", ACTION_MODES)
@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.game_id)
def test_the_planners_solution_is_as_long_as_the_value_says_and_costs_nothing(puzzle: Puzzle, mode: ActionMode) -> None:
    """At the start the planner's length; along its solution, played by the engine, no step costs anything."""
    setting, solution = Setting(puzzle, (mode, mode), RULES["published"]), plan(puzzle, mode)
    table = replace(start_table(puzzle), player=solution.first_player)
    found = [*played(setting, table, solution.actions)]
    assert found[0].plan == solution.steps
    known = [now.know for now in found if now.know is not None]
    assert [1 + later - now for now, later in pairwise(known)] == [0] * solution.steps
    assert found[-1] == Distances(0, 0, 0)
    assert all(now.know is not None and now.plan is not None and now.hands <= now.know <= now.plan for now in found)


def played(setting: Setting, table: Table, actions: tuple[Action, ...]) -> list[Distances]:
    tables = [table]
    for action in actions:
        tables.append(advance(setting, tables[-1], action).table)
    return list(values(setting, tables))


@pytest.mark.parametrize("mode", ["provide_seek", "provide", "seek"])
@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.game_id)
def test_no_step_beats_the_best_the_team_could_do(puzzle: Puzzle, mode: ActionMode) -> None:
    """Of all steps that the rules accept, and passing, the best one costs exactly nothing, wherever random steps, undone ones too, led."""
    setting, rng = Setting(puzzle, (mode, mode), RULES["published"]), random.Random(puzzle.game_id)
    table = start_table(puzzle)
    while table.step < 16 and table.positions != puzzle.goals:
        sensible = expected(options(puzzle, table), table, setting.modes, setting.rules)
        tables = [advance(setting, table, action).table for action in (Pass(), *sensible)]
        now, *later = values(setting, [table, *tables])
        assert now.know is not None
        assert min(1 + after.know - now.know for after in later if after.know is not None) == 0
        out = [move for move in carried(puzzle, table) if move.source in DESTINATIONS and rng.random() < 0.5]
        table = advance(setting, table, rng.choice(out)).table if out else rng.choice(tables)


def test_where_no_player_can_tell_what_the_other_has_to_know_there_is_no_value() -> None:
    """A value is a count of steps that some play takes, or none; no step that the rules accept gives one to what has none."""
    rng, found = random.Random(1), set()
    for modes in product(ACTION_MODES, ACTION_MODES):
        for puzzle in PUZZLES[:6]:
            setting, table = Setting(puzzle, modes, RULES["sane"]), start_table(puzzle)
            while table.step < 8 and table.positions != puzzle.goals:
                sensible = expected(options(puzzle, table), table, setting.modes, setting.rules)
                tables = [advance(setting, table, action).table for action in (Pass(), *sensible)]
                now, *later = values(setting, [table, *tables])
                found.add((modes, now.know is None))
                if now.know is None:
                    assert now.plan is None
                    assert all(after.know is None for after in later)
                else:
                    assert now.know < 40
                    assert modes == ("none", "none") or min(1 + after.know - now.know for after in later if after.know is not None) == 0
                table = rng.choice(tables)
    without = {modes for modes, is_none in found if is_none}
    assert {modes for modes in without if modes[0] == modes[1]} == set()
    assert {modes for modes in product(ACTION_MODES, ACTION_MODES) if "none" in modes} - {("none", "none")} <= without
    assert ("provide", "provide_seek") in {modes for modes, is_none in found if not is_none}


def test_a_turn_without_a_value_is_null_in_the_store_and_nothing_is_attributed_for_it(tmp_path: Path) -> None:
    """No stand-in for "far" is in a sum: not in costs, not in what a game lost, not in what an agent is charged with."""
    conditions = tuple(GameSettings(modes=modes) for modes in (("none", "provide_seek"), ("provide_seek", "provide_seek")))
    play(PlayRequest(out=tmp_path, games=3, seed=5, conditions=conditions))
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path], store, workers=1)
    ensure_installed(store)
    attribute_games(store)
    rows = query(store, "SELECT kind, value_before, value_after, cost FROM turn_values WHERE measure <> 'einstein.hands'").rows()
    assert {kind for kind, *_ in rows} == {"exact", "none"}
    for kind, before, after, cost in rows:
        assert (kind == "none") == (cost is None) == (before is None or after is None)
        assert all(number is None or abs(number) < 40 for number in (before, after, cost))
    charged = "SELECT count(*) AS n FROM attributions INNER JOIN turn_costs USING (episode_id, turn) WHERE turn_costs.kind = 'none'"
    assert query(store, charged)["n"].item() == 0
    unknown = query(store, "SELECT DISTINCT episode_id FROM turn_costs WHERE kind = 'none'")["episode_id"].to_list()
    assert len(unknown) == 3
    last = "SELECT * FROM cost_curve QUALIFY row_number() OVER (PARTITION BY episode_id ORDER BY turn DESC) = 1"
    assert set(query(store, f"SELECT episode_id FROM ({last}) WHERE lost_so_far IS NULL")["episode_id"]) == set(unknown)
    assert not set(unknown) & set(game_values(store, "cost:einstein.know")["episode_id"])
