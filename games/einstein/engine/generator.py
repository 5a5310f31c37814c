"""Puzzles from a seed: starts, goals, anchors and split drawn uniformly and independently (formats/einstein.md section 3)."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Final

from games.einstein.engine.puzzle import OBJECT_COUNTS, Puzzle, parse_game_id
from schemas.errors import UsageError

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
