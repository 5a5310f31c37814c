"""The table: its state, the expected actions, and one step of the game, by one of two readings of the rules.

Sets of objects and of items are bit masks: bit i is ``block{i}``, or item i of ``Puzzle.items``. Each field of `Rules` is one point where
the paper's words and the published code differ (docs/dev/benchmark_rules.md has a line for each).
Source: formats/einstein.md sections 2, 5 and 13.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from games.einstein.engine import puzzle as puzzles
from games.einstein.engine.actions import Action, Ask, Move, Pass, Share
from games.einstein.engine.puzzle import Player

RulesName = Literal["sane", "published"]

STEP_LIMIT: Final = 30
"""Steps in a game, both players together (section 4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One reading. True is always the paper's reading."""

    solved_at_limit_succeeds: bool
    """A game solved in the very last step is a success."""
    right_guesses_accepted: bool
    """A move of an unknown object that the table carries out is accepted, not shown as failed."""
    passes_accepted: bool
    """Passing is a regular action, not shown as failed."""
    replies_in_mixed_pairs: bool
    """A seek-only player may reply also when its partner plays another mode."""
    unreadable_is_infeasible: bool
    """The affordance verifier rejects answers that the grammar does not read."""
    useless_talk_rejected: bool
    """The communication verifier rejects asks about placed objects, items that have just become obsolete, and what the mode does not
    allow; it also works in mode none."""
    replies_are_reasonable: bool
    """The reasoning verifier counts replies of a seek-only player among the expected actions."""
    history_is_clear: bool
    """The history distinguishes an unreadable answer from a pass, and hides the content of a failed share from the partner."""


RULES: Final[dict[RulesName, Rules]] = {
    "sane": Rules(**dict.fromkeys(Rules.__slots__, True)),
    "published": Rules(**dict.fromkeys(Rules.__slots__, False)),
}


@dataclass(frozen=True, slots=True)
class Table:
    """The state before a step. Immutable; a step gives a new one."""

    positions: tuple[puzzles.Bin, ...]
    """Per object the bin it is in."""
    placed: int
    """Objects that were ever moved into their goal bin: both players saw where they belong."""
    held: tuple[tuple[int, ...], tuple[int, ...]]
    """Per player the items it was given or received, in order of arrival."""
    flags: tuple[int, int]
    """Per player the items it need not share any more, as of its last options."""
    shared: int
    """Items that were shared successfully."""
    step: int
    """Steps made."""
    player: Player
    """Who acts next."""
    previous: Action | None
    """The action of the step before; None at the start and after an unreadable answer."""
    previous_ok: bool
    """Whether the step before is shown to the players as successful; True at the start."""

    def asked(self, modes: puzzles.Modes) -> int | None:
        """Give the object of the preceding step if that was an ask in a mode that has asking; None otherwise.

        Whether the ask was accepted does not matter (section 10).
        """
        if not isinstance(self.previous, Ask) or not puzzles.ALLOWED[modes[1 - self.player]].ask:
            return None
        return self.previous.block

    def correct(self, puzzle: puzzles.Puzzle) -> int:
        """Count the objects in their goal bins."""
        return sum(position == goal for position, goal in zip(self.positions, puzzle.goals, strict=True))


def start_table(puzzle: puzzles.Puzzle) -> Table:
    """Give the state before the first step."""
    return Table(
        positions=puzzle.starts,
        placed=0,
        held=(puzzle.given(0), puzzle.given(1)),
        flags=(0, 0),
        shared=0,
        step=0,
        player=0,
        previous=None,
        previous_ok=True,
    )


def closure(puzzle: puzzles.Puzzle, items: int, placed: int) -> int:
    """Give the objects whose goals follow from items of the game and from the objects seen placed.

    The same as ``knowledge.infer_goals`` for true items, on bit masks: no two items of a game contradict each other.
    """
    known = placed | items & 1
    edges = [(1 << block) | (1 << puzzle.anchors[block]) for block in bits(items & ~1)]
    before = -1
    while known != before:
        before = known
        for edge in edges:
            if known & edge:
                known |= edge
    return known


def items_mask(indices: tuple[int, ...]) -> int:
    """Give the mask of items."""
    return sum(1 << index for index in indices)


def bits(mask: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, from the lowest."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def items_of(puzzle: puzzles.Puzzle, table: Table, player: Player) -> list[puzzles.Item]:
    """Give a player's explicit items as prompts show them: groundings first, each kind in order of arrival."""
    held = table.held[player]
    return [puzzle.items[index] for index in (*(i for i in held if i == 0), *(i for i in held if i != 0))]


def bin_contents(table: Table) -> dict[puzzles.Bin, tuple[str, ...]]:
    """Give the objects in every bin, bins in the order of the prompts, objects by number."""
    return {name: tuple(f"block{block}" for block, place in enumerate(table.positions) if place == name) for name in puzzles.SHOWN_BINS}


class Options(NamedTuple):
    """The options of a player, whatever its mode allows."""

    known: int
    """Objects whose goals the player can infer."""
    moves: tuple[Move, ...]
    """For each known object that is not where it belongs and can be reached: into its bin, or to the common bin."""
    shares: tuple[puzzles.Item, ...]
    """Explicit items that are worth sharing: not shared before, not obsolete."""
    asks: tuple[int, ...]
    """Objects that the player does not know."""
    flags: int
    """The player's flags, obsolete items included."""


def options(puzzle: puzzles.Puzzle, table: Table, player: Player | None = None) -> Options:
    """Compute the options of a player, by default of the one to move."""
    who = table.player if player is None else player
    held = items_mask(table.held[who])
    known = closure(puzzle, held, table.placed)
    flags = _current_flags(puzzle, table, who)
    everything = (1 << puzzle.num_objects) - 1
    moves = (_useful_move(block, table.positions[block], puzzle.goals[block], who) for block in bits(known))
    return Options(
        known=known,
        moves=tuple(move for move in moves if move),
        shares=tuple(puzzle.items[index] for index in table.held[who] if not flags >> index & 1),
        asks=tuple(bits(everything & ~known)),
        flags=flags,
    )


def _current_flags(puzzle: puzzles.Puzzle, table: Table, player: Player) -> int:
    """A player's flags with those items added that became obsolete since."""
    flags = table.flags[player]
    for index in table.held[player]:
        blocks = (0,) if index == 0 else (index, puzzle.anchors[index])
        if all(table.positions[block] in puzzles.DESTINATIONS for block in blocks):
            flags |= 1 << index
    return flags


def expected(now: Options, table: Table, modes: puzzles.Modes, rules: Rules) -> tuple[Action, ...]:
    """List the expected actions. Passing is accepted by some rules, but never expected."""
    verbs, previous = puzzles.ALLOWED[modes[table.player]], table.previous
    replies = verbs.reply and (modes[0] == modes[1] or rules.replies_in_mixed_pairs)
    asked = previous.block if replies and isinstance(previous, Ask) else None
    shares = (item for item in now.shares if verbs.share or (asked is not None and puzzles.mentions(item, asked)))
    return (*now.moves, *map(Share, shares), *map(Ask, now.asks if verbs.ask else ()))


def is_expected(action: Action | None, now: Options, table: Table, modes: puzzles.Modes, rules: Rules) -> bool:
    """Tell whether an action is accepted on the ground of what the player knows."""
    if isinstance(action, Pass):
        return rules.passes_accepted
    return action is not None and action in expected(now, table, modes, rules)


def _useful_move(block: int, place: puzzles.Bin, goal: puzzles.Bin, player: Player) -> Move | None:
    if place == goal or place not in puzzles.REACH[player]:
        return None
    if goal in puzzles.OWN_DESTINATIONS[player]:
        return Move(block, place, goal)
    return None if place == puzzles.COMMON else Move(block, place, puzzles.COMMON)


def table_json(puzzle: puzzles.Puzzle, table: Table) -> dict[str, Any]:
    """Give bins and knowledge: what each player was given or received, and which goals it can infer.

    ``{"bins": {"top_left_bin": ["block0"], ...}, "knowledge": {"Player1": {"items": [...], "infers": {"block0": "top_left_bin"}}, ...}}``
    """
    return {
        "bins": {name: list(blocks) for name, blocks in bin_contents(table).items()},
        "knowledge": {
            f"Player{player + 1}": {
                "items": [item.text for item in items_of(puzzle, table, player)],
                "infers": {f"block{block}": puzzle.goals[block] for block in bits(options(puzzle, table, player).known)},
            }
            for player in puzzles.PLAYERS
        },
    }


def goal_json(puzzle: puzzles.Puzzle) -> dict[str, Any]:
    """Give the bins as they are when the game is solved: ``{"bins": {"top_left_bin": ["block0"], ...}}``."""
    return {"bins": {name: [f"block{block}" for block, goal in enumerate(puzzle.goals) if goal == name] for name in puzzles.SHOWN_BINS}}


def private_view_json(puzzle: puzzles.Puzzle, player: Player) -> dict[str, Any]:
    """Give what a player knows at the start: its items and what they imply."""
    items = [puzzle.items[index] for index in puzzle.given(player)]
    goals = puzzles.infer_goals(items)
    return {"items": [item.text for item in items], "infers": {f"block{block}": goals[block] for block in sorted(goals)}}


class Setting(NamedTuple):
    """What does not change in a game."""

    puzzle: puzzles.Puzzle
    modes: puzzles.Modes
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
    """Let the player to move do something; None is an unreadable answer."""
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
    received = puzzle.item_index[action.item] if isinstance(action, Share) and accepted else None
    shared = 0 if received is None else 1 << received
    own, partner = now.flags | shared, table.flags[1 - table.player] | shared
    after = Table(
        positions=positions,
        placed=table.placed | (1 << action.block if changed and isinstance(action, Move) and action.target in puzzles.DESTINATIONS else 0),
        held=_held_after(table, received),
        flags=(own, partner) if table.player == 0 else (partner, own),
        shared=table.shared if received is None else table.shared | 1 << received,
        step=step,
        player=0 if table.player else 1,
        previous=action,
        previous_ok=history_ok,
    )
    success = terminated and (rules.solved_at_limit_succeeds or not truncated)
    return Outcome(now, accepted, changed, history_ok, terminated, truncated, success, after)


def carried_out(puzzle: puzzles.Puzzle, table: Table, move: Move) -> bool:
    """Tell whether the table carries a move out: object there, both bins in reach, into the common or the object's goal bin.

    Expected moves always are; others are guesses or detours.
    """
    reach = puzzles.REACH[table.player]
    return (
        move.block < puzzle.num_objects
        and table.positions[move.block] == move.source
        and move.source in reach
        and move.target in reach
        and move.target in (puzzles.COMMON, puzzle.goals[move.block])
    )


def _positions_after(puzzle: puzzles.Puzzle, table: Table, action: Action | None) -> tuple[puzzles.Bin, ...]:
    if not isinstance(action, Move) or not carried_out(puzzle, table, action):
        return table.positions
    return (*table.positions[: action.block], action.target, *table.positions[action.block + 1 :])


def _held_after(table: Table, received: int | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    first, second = table.held
    if received is None or received in table.held[1 - table.player]:
        return table.held
    return (first, (*second, received)) if table.player == 0 else ((*first, received), second)
