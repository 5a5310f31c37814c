"""What the player to move may sensibly do: the expected actions (formats/einstein.md section 5)."""

from typing import NamedTuple

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share
from games.einstein.engine.bins import COMMON, DESTINATIONS, OWN_DESTINATIONS, REACH, Bin, Player
from games.einstein.engine.items import Item, mentions
from games.einstein.engine.modes import ALLOWED, ActionMode, Modes
from games.einstein.engine.puzzle import Puzzle
from games.einstein.engine.rules import Rules
from games.einstein.engine.table import Table, bits, closure, items_mask


class Options(NamedTuple):
    """The options of a player, whatever its mode allows."""

    known: int
    """Objects whose goals the player can infer."""

    moves: tuple[Move, ...]
    """For each known object that is not where it belongs and can be reached: into its bin, or to the common bin."""

    shares: tuple[Item, ...]
    """Explicit items that are worth telling: not told before, not obsolete."""

    asks: tuple[int, ...]
    """Objects that the player does not know."""

    flags: int
    """The player's flags, obsolete items included."""


def options(puzzle: Puzzle, table: Table, player: Player | None = None) -> Options:
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


def _current_flags(puzzle: Puzzle, table: Table, player: Player) -> int:
    """A player's flags with those items added that became obsolete since."""
    flags = table.flags[player]
    for index in table.held[player]:
        blocks = (0,) if index == 0 else (index, puzzle.anchors[index])
        if all(table.positions[block] in DESTINATIONS for block in blocks):
            flags |= 1 << index
    return flags


def _may_reply(item: Item, table: Table, modes: Modes, rules: Rules) -> bool:
    """Whether sharing an item now is a reply: the step before was an ask, and the item is about the object asked for."""
    if modes[0] != modes[1] and not rules.replies_in_mixed_pairs:
        return False
    return isinstance(table.previous, Ask) and mentions(item, table.previous.block)


def expected(now: Options, table: Table, modes: Modes, rules: Rules) -> tuple[Action, ...]:
    """List the expected actions. Passing is accepted by some rules, but never expected."""
    mode = modes[table.player]
    shares = (item for item in now.shares if _may_share(item, mode, table, modes, rules))
    asks = now.asks if ALLOWED[mode].ask else ()
    return (*now.moves, *map(Share, shares), *map(Ask, asks))


def is_expected(action: Action | None, now: Options, table: Table, modes: Modes, rules: Rules) -> bool:
    """Tell whether an action is accepted on the ground of what the player knows."""
    if isinstance(action, Pass):
        return rules.passes_accepted
    return action is not None and action in expected(now, table, modes, rules)


def _may_share(item: Item, mode: ActionMode, table: Table, modes: Modes, rules: Rules) -> bool:
    verbs = ALLOWED[mode]
    return verbs.share or (verbs.reply and _may_reply(item, table, modes, rules))


def _useful_move(block: int, place: Bin, goal: Bin, player: Player) -> Move | None:
    if place == goal or place not in REACH[player]:
        return None
    if goal in OWN_DESTINATIONS[player]:
        return Move(block, place, goal)
    return None if place == COMMON else Move(block, place, COMMON)
