"""A puzzle: bins, knowledge items, action spaces, and the id that holds all of it; puzzles from a seed.

Source: formats/einstein.md sections 1 to 4. Example of an id: ``4_0022_2130_0010_120``.

- Bins: left and right, top and bottom are absolute; the player at the top sees no mirror image.
- Items: where one object belongs, or how the goals of two objects are related. Items are equal if their canonical forms are; only
  canonical forms are built here.
- Inference (`infer_goals`): objects are nodes, relations are edges, groundings are anchors. Every object connected to an anchor gets a goal
  bin by the composition table. Nothing else is inferred.
- Generation: starts, goals, anchors and split are drawn uniformly and independently.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from typing import Final, Literal, NamedTuple, get_args

from schemas.common.errors import BadInputError, UsageError

Bin = Literal["top_left_bin", "bottom_left_bin", "top_right_bin", "bottom_right_bin", "player1_bin", "player2_bin", "commonbin"]
RelationKind = Literal["bin", "row", "column", "diagonal"]
Player = Literal[0, 1]

PLAYERS: Final[tuple[Player, Player]] = get_args(Player)
BINS: Final[tuple[Bin, ...]] = get_args(Bin)

DESTINATIONS: Final[tuple[Bin, ...]] = BINS[:4]
"""The place of a bin in this tuple is its digit in a game id: row + 2 * column, top = left = 0."""

START_BINS: Final[tuple[Bin, Bin]] = ("player1_bin", "player2_bin")
"""Start bin of player 0 and of player 1."""

COMMON: Final[Bin] = "commonbin"

OWN_DESTINATIONS: Final[tuple[frozenset[Bin], frozenset[Bin]]] = (
    frozenset({"bottom_left_bin", "bottom_right_bin"}),
    frozenset({"top_left_bin", "top_right_bin"}),
)
"""The destination bins that each player reaches: player 0 is at the bottom."""

REACH: Final[tuple[tuple[Bin, ...], tuple[Bin, ...]]] = (
    ("bottom_left_bin", "player1_bin", "bottom_right_bin", "commonbin"),
    ("top_left_bin", "player2_bin", "top_right_bin", "commonbin"),
)
"""The bins that each player reaches, in the order in which prompts name them."""

SHOWN_BINS: Final[tuple[Bin, ...]] = (
    "top_left_bin",
    "player2_bin",
    "top_right_bin",
    "commonbin",
    "bottom_left_bin",
    "player1_bin",
    "bottom_right_bin",
)
"""All bins in the order in which prompts list them."""

_OFFSET: Final[dict[RelationKind, int]] = {"bin": 0, "row": 2, "column": 1, "diagonal": 3}
"""Bit 0: the row differs; bit 1: the column differs. The digit of a destination has the same bits."""

_KIND: Final[dict[int, RelationKind]] = {offset: kind for kind, offset in _OFFSET.items()}
_CODE: Final[dict[Bin, int]] = {name: code for code, name in enumerate(DESTINATIONS)}


def relation_between(one: Bin, other: Bin) -> RelationKind:
    """Give the one relation that holds between two destination bins.

    Raises:
        KeyError: one of them is not a destination bin.
    """
    return _KIND[_CODE[one] ^ _CODE[other]]


def bin_at_offset(start: Bin, kind: RelationKind) -> Bin:
    """Give the destination bin that lies in this relation to a destination bin.

    Raises:
        KeyError: ``start`` is not a destination bin.
    """
    return DESTINATIONS[_CODE[start] ^ _OFFSET[kind]]


class Grounding(NamedTuple):
    """The goal of an object is a bin."""

    block: int
    goal: Bin

    @property
    def text(self) -> str:
        """The item as actions and prompts write it."""
        return f"(block{self.block}, in, {self.goal})"


class Relation(NamedTuple):
    """The goals of two objects are the same bin, or share the row, the column, or neither. ``first <= second``."""

    first: int
    second: int
    kind: RelationKind

    @property
    def text(self) -> str:
        """The item as actions and prompts write it."""
        return f"(block{self.first}, block{self.second}, same, {self.kind})"


Item = Grounding | Relation


def relation(one: int, other: int, kind: RelationKind) -> Relation:
    """Give the relation in its canonical form: the smaller number first."""
    return Relation(min(one, other), max(one, other), kind)


def mentions(item: Item, block: int) -> bool:
    """Tell whether an item is about an object."""
    if isinstance(item, Grounding):
        return item.block == block
    return block in (item.first, item.second)


_Edges = dict[int, list[tuple[int, RelationKind]]]


class ContradictionError(BadInputError):
    """Two chains of items put one object into two bins."""


def infer_goals(items: Iterable[Item]) -> dict[int, Bin]:
    """Give the goal bin of every object that is connected to a grounding.

    Items of a game never contradict each other; items that a player made up can.

    Raises:
        ContradictionError: two chains of items lead to different bins for one object.
    """
    items = tuple(items)
    edges = _edges(items)
    goals: dict[int, Bin] = {}
    for item in items:
        if isinstance(item, Grounding):
            waiting = [(item.block, item.goal)]
            while waiting:
                block, goal = waiting.pop()
                if block in goals:
                    known = goals[block]
                    if known != goal:
                        raise ContradictionError(f"block{block} is led to {known} and to {goal}; drop one of the items that lead there")
                    continue
                goals[block] = goal
                for far, kind in edges.get(block, ()):
                    far_goal = bin_at_offset(goal, kind)
                    if goals.get(far) != far_goal:
                        waiting.append((far, far_goal))
    return goals


def _edges(items: Iterable[Item]) -> _Edges:
    edges: _Edges = {}
    for item in items:
        if isinstance(item, Relation):
            edges.setdefault(item.first, []).append((item.second, item.kind))
            edges.setdefault(item.second, []).append((item.first, item.kind))
    return edges


ActionMode = Literal["provide_seek", "provide", "seek", "none"]
ACTION_MODES: Final[tuple[ActionMode, ...]] = get_args(ActionMode)

Modes = tuple[ActionMode, ActionMode]
"""The action space of player 0 and of player 1; the same twice except in mixed pairs (paper, Table 3)."""


class Verbs(NamedTuple):
    """What an action space allows besides moving and passing."""

    share: bool
    """Sharing on one's own account."""
    reply: bool
    """Sharing as the answer to an ask in the step before."""
    ask: bool


ALLOWED: Final[dict[ActionMode, Verbs]] = {
    "provide_seek": Verbs(share=True, reply=True, ask=True),
    "provide": Verbs(share=True, reply=True, ask=False),
    "seek": Verbs(share=False, reply=True, ask=True),
    "none": Verbs(share=False, reply=False, ask=False),
}


def optimum_mode(modes: Modes) -> ActionMode:
    """Give the action space whose optimum is the yardstick of a pair.

    For mixed pairs the paper names none; by the decision of section 9 it is ``provide_seek``.
    """
    return modes[0] if modes[0] == modes[1] else "provide_seek"


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
    ``locator`` names in errors where the id is.

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


_Digits = tuple[str, ...]
_BIN_DIGITS: Final = "0123"
_MOST_PER_BIN: Final = 2


def generate(*, count: int, seed: int, num_objects: Sequence[int] = OBJECT_COUNTS) -> Iterator[Puzzle]:
    """Yield ``count`` puzzles, the sizes taken in turn; the same arguments give the same puzzles in every process.

    Raises:
        UsageError: a size is not 4, 5 or 6, or none is given.
    """
    if not num_objects or not set(num_objects) <= set(OBJECT_COUNTS):
        raise UsageError(f"puzzles have 4, 5 or 6 objects, not {list(num_objects)}")
    rng = random.Random(f"einstein-puzzles:{seed}")
    for number in range(count):
        yield draw_puzzle(num_objects[number % len(num_objects)], rng)


def draw_puzzle(num_objects: int, rng: random.Random) -> Puzzle:
    """Draw one puzzle of a size."""
    parts = (rng.choice(choices) for choices in _choices(num_objects))
    return parse_game_id("_".join([str(num_objects), *parts]))


@cache
def _choices(num_objects: int) -> tuple[_Digits, _Digits, _Digits, _Digits]:
    """All starts, goals, anchors and splits of a size."""
    starts = tuple(digits for digits in _strings("02", num_objects) if abs(2 * digits.count("0") - num_objects) <= num_objects % 2)
    goals = tuple(digits for digits in _strings(_BIN_DIGITS, num_objects) if _fair(digits))
    anchors = tuple("0" + "".join(map(str, tree)) for tree in product(*(range(block) for block in range(1, num_objects))))
    splits = tuple(digits for digits in _strings("012", num_objects - 1) if set(digits) == set("012"))
    return starts, goals, anchors, splits


def _strings(digits: str, length: int) -> Iterator[str]:
    return map("".join, product(digits, repeat=length))


def _fair(goals: str) -> bool:
    """All four destinations in use, none more than twice."""
    per_bin = Counter(goals)
    return len(per_bin) == len(_BIN_DIGITS) and max(per_bin.values()) <= _MOST_PER_BIN
