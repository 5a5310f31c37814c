"""The state of a game: where the objects are, what each player was told, who acts.

Sets of objects and of items are bit masks: bit i is ``block{i}``, or item i of ``Puzzle.items``.
Source: formats/einstein.md section 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from games.einstein.engine.actions import Action, Ask
from games.einstein.engine.bins import SHOWN_BINS, Bin, Player
from games.einstein.engine.items import Item
from games.einstein.engine.modes import ALLOWED, Modes
from games.einstein.engine.puzzle import Puzzle


@dataclass(frozen=True, slots=True)
class Table:
    """What stands before a step. Immutable; a step gives a new one."""

    positions: tuple[Bin, ...]
    """Per object the bin it is in."""

    placed: int
    """Objects that were ever moved into their goal bin: both players saw where they belong."""

    held: tuple[tuple[int, ...], tuple[int, ...]]
    """Per player the items it was given or told, in order of arrival."""

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

    def asked(self, modes: Modes) -> int | None:
        """Give the object of the preceding step if that was an ask in a mode that has asking; None otherwise.

        Whether the ask was accepted does not matter (section 10).
        """
        if not isinstance(self.previous, Ask) or not ALLOWED[modes[1 - self.player]].ask:
            return None
        return self.previous.block

    def correct(self, puzzle: Puzzle) -> int:
        """Count the objects in their goal bins."""
        return sum(position == goal for position, goal in zip(self.positions, puzzle.goals, strict=True))


def start_table(puzzle: Puzzle) -> Table:
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


def closure(puzzle: Puzzle, items: int, placed: int) -> int:
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


def items_of(puzzle: Puzzle, table: Table, player: Player) -> list[Item]:
    """Give a player's explicit items as prompts show them: groundings first, each kind in order of arrival."""
    held = table.held[player]
    return [puzzle.items[index] for index in (*(i for i in held if i == 0), *(i for i in held if i != 0))]


def bin_contents(table: Table) -> dict[Bin, tuple[str, ...]]:
    """Give the objects in every bin, bins in the order of the prompts, objects by number."""
    return {name: tuple(f"block{block}" for block, place in enumerate(table.positions) if place == name) for name in SHOWN_BINS}
