"""A puzzle: start bins, goal bins, and who is given which item. Its id holds all of it.

Source: formats/einstein.md sections 2 and 3. Example: ``4_0022_2130_0010_120``.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from games.einstein.engine.bins import DESTINATIONS, PLAYERS, START_BINS, Bin, Player, relation_between
from games.einstein.engine.items import Grounding, Item, relation
from schemas.errors import BadInputError

OBJECT_COUNTS: Final = (4, 5, 6)

_START_DIGITS: Final = {"0": 0, "2": 1}
_HOLDERS: Final[dict[str, tuple[Player, ...]]] = {"0": (0,), "1": (0, 1), "2": (1,)}
_PATTERN: Final = re.compile(r"([456])_([02]+)_([0-3]+)_([0-5]+)_([0-2]+)")


@dataclass(frozen=True)
class Puzzle:
    """One game's set-up. Built by ``parse_game_id`` or the generator, which check it."""

    game_id: str
    """``N_SSSS_GGGG_AAAA_DDD``, without suffix and folders."""

    num_objects: int
    starts: tuple[Bin, ...]
    goals: tuple[Bin, ...]
    anchors: tuple[int, ...]
    """Per object the earlier object it is related to; the first entry is unused."""

    holders: tuple[tuple[Player, ...], ...] = field(repr=False)
    """Per item who is given it at the start."""

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """All items of the game: first the grounding of block0, then the relation of block1, block2, ... to its anchor."""
        goals = self.goals
        tree = (relation(self.anchors[i], i, relation_between(goals[self.anchors[i]], goals[i])) for i in range(1, self.num_objects))
        return (Grounding(0, goals[0]), *tree)

    @cached_property
    def item_index(self) -> dict[Item, int]:
        """The place of each item in ``items``."""
        return {item: index for index, item in enumerate(self.items)}

    def given(self, player: Player) -> tuple[int, ...]:
        """Places (in ``items``) of what a player is given at the start."""
        return tuple(index for index, holders in enumerate(self.holders) if player in holders)


def base_game_id(written: str) -> str:
    """Give the id without folders, file ending and the number of a planner solution; unusable text comes back shortened likewise."""
    name = written.rsplit("/", 1)[-1].split(".", 1)[0]
    return "_".join(name.split("_")[:5])


def parse_game_id(written: str, *, locator: str = "") -> Puzzle:
    """Read a game id, with or without folders, ``_XX`` suffix and file ending.

    Ids outside the published distribution (a bin with three objects, a start that is not balanced) describe playable games and are read.
    ``locator`` says in errors where the id stands.

    Raises:
        BadInputError: the text has not the form of section 3, or an anchor is not an earlier object.
    """
    game_id = base_game_id(written)
    found = _PATTERN.fullmatch(game_id)
    if found is None:
        raise BadInputError(
            f"not a game id: {game_id[:60]!r}; wanted N_S.._G.._A.._D.., such as 4_0022_2130_0010_120",
            locator=locator,
            excerpt=written[:200],
        )
    count = int(found[1])
    starts, goals, anchors, split = found.groups()[1:]
    lengths = tuple(map(len, (starts, goals, anchors, split)))
    if lengths != (count, count, count, count - 1):
        wanted = f"{count}, {count}, {count} and {count - 1}"
        raise BadInputError(
            f"game id {game_id}: its parts must have {wanted} digits, not {lengths}", locator=locator, excerpt=written[:200]
        )
    parents = tuple(map(int, anchors))
    if parents[0] != 0 or any(parents[i] >= i for i in range(1, count)):
        raise BadInputError(f"game id {game_id}: the anchor of an object must be an earlier object", locator=locator, excerpt=written[:200])
    return Puzzle(
        game_id=game_id,
        num_objects=count,
        starts=tuple(START_BINS[_START_DIGITS[digit]] for digit in starts),
        goals=tuple(DESTINATIONS[int(digit)] for digit in goals),
        anchors=parents,
        holders=(PLAYERS, *(_HOLDERS[digit] for digit in split)),
    )
