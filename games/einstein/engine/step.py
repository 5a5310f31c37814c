"""One step of the game (formats/einstein.md section 5)."""

from typing import NamedTuple

from games.einstein.engine.actions import Action, Move, Share
from games.einstein.engine.bins import COMMON, DESTINATIONS, REACH, Bin
from games.einstein.engine.modes import Modes
from games.einstein.engine.options import Options, is_expected, options
from games.einstein.engine.puzzle import Puzzle
from games.einstein.engine.rules import STEP_LIMIT, Rules
from games.einstein.engine.table import Table


class Setting(NamedTuple):
    """What does not change in a game."""

    puzzle: Puzzle
    modes: Modes
    rules: Rules
    step_limit: int = STEP_LIMIT


class Outcome(NamedTuple):
    """What a step did."""

    options: Options
    """The options of the acting player before the step."""

    accepted: bool
    """The action was among the expected ones (or the rules accept it anyhow)."""

    state_changed: bool
    """Positions differ after the step. A lucky guess can be refused and change them all the same."""

    history_ok: bool
    """The step is shown to the players as successful."""

    terminated: bool
    """All objects are in their goal bins."""

    truncated: bool
    """The step limit is reached."""

    success: bool
    """Solved in time; at the limit itself it depends on the rules."""

    table: Table
    """The state after the step."""


def advance(setting: Setting, table: Table, action: Action | None) -> Outcome:
    """Let the player to move do something; None stands for an unreadable answer."""
    puzzle, modes, rules, step_limit = setting
    now = options(puzzle, table)
    expected = is_expected(action, now, table, modes, rules)
    positions = _positions_after(puzzle, table, action)
    changed = positions != table.positions
    guessed = changed and isinstance(action, Move) and not now.known >> action.block & 1
    accepted = expected or (guessed and rules.right_guesses_accepted)
    terminated = positions == puzzle.goals
    history_ok = accepted or terminated
    step = table.step + 1
    truncated = step >= step_limit
    told = puzzle.item_index[action.item] if isinstance(action, Share) and accepted else None
    after = Table(
        positions=positions,
        placed=table.placed | _placed_by(action, changed=changed),
        held=_held_after(table, told),
        flags=_flags_after(table, now.flags, told),
        shared=table.shared if told is None else table.shared | 1 << told,
        step=step,
        player=0 if table.player else 1,
        previous=action,
        previous_ok=history_ok,
    )
    success = terminated and (rules.solved_at_limit_succeeds or not truncated)
    return Outcome(now, accepted, changed, history_ok, terminated, truncated, success, after)


def carried_out(puzzle: Puzzle, table: Table, move: Move) -> bool:
    """Tell whether the table carries a move out: object there, both bins in reach, into the common or the object's goal bin.

    Expected moves always are; others are guesses or detours.
    """
    reach = REACH[table.player]
    return (
        move.block < puzzle.num_objects
        and table.positions[move.block] == move.source
        and move.source in reach
        and move.target in reach
        and move.target in (COMMON, puzzle.goals[move.block])
    )


def _positions_after(puzzle: Puzzle, table: Table, action: Action | None) -> tuple[Bin, ...]:
    if not isinstance(action, Move) or not carried_out(puzzle, table, action):
        return table.positions
    return (*table.positions[: action.block], action.target, *table.positions[action.block + 1 :])


def _placed_by(action: Action | None, *, changed: bool) -> int:
    return 1 << action.block if changed and isinstance(action, Move) and action.target in DESTINATIONS else 0


def _held_after(table: Table, told: int | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    first, second = table.held
    if told is None or told in table.held[1 - table.player]:
        return table.held
    return (first, (*second, told)) if table.player == 0 else ((*first, told), second)


def _flags_after(table: Table, refreshed: int, told: int | None) -> tuple[int, int]:
    shared = 0 if told is None else 1 << told
    own, partner = refreshed | shared, table.flags[1 - table.player] | shared
    return (own, partner) if table.player == 0 else (partner, own)
