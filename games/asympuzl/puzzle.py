"""Puzzles: the truth, and what each agent knows of it.

Format description: sections 1 and 2. Positions count from 1 for agents and logs, from 0 in sequences.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from schemas.common.errors import UsageError

Agent = Literal["A", "B"]
"""``A`` (Alice) knows the order of the shapes, ``B`` (Bob) knows the color of each shape."""

AGENTS: Final[tuple[Agent, ...]] = get_args(Agent)

SHAPES: Final = (
    *("square", "triangle", "rectangle", "circle", "pentagon", "hexagon", "heptagon", "octagon"),
    *("star", "heart", "diamond", "oval", "crescent", "cross", "arrow", "cube"),
    *("cone", "cylinder", "sphere", "pyramid", "trapezoid", "ring", "spiral", "teardrop"),
)
"""In the order that generation depends on."""

COLORS: Final = (
    *("blue", "red", "cyan", "green", "yellow", "orange", "purple", "pink"),
    *("brown", "black", "white", "gray", "magenta", "lime", "teal", "navy"),
    *("maroon", "olive", "gold", "silver", "violet", "indigo", "beige", "turquoise"),
)
"""In the order that generation depends on; no word is in both lists."""

MAX_SIZE: Final = len(SHAPES)


class Entry(NamedTuple):
    """The true or supposed entry at a position."""

    shape: str
    color: str | None
    """None: unknown."""


class Vocabulary(NamedTuple):
    """The words that a message can be about."""

    shapes: frozenset[str]
    colors: frozenset[str]
    size: int
    """Number of positions."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A puzzle: all shapes are different, and all colors are."""

    truth: tuple[Entry, ...]
    clues_a: tuple[Entry, ...]
    """The right shapes, no colors."""
    clues_b: tuple[Entry, ...]
    """The right entries, in an order without information."""

    @property
    def size(self) -> int:
        """Number of positions, 1 to 24."""
        return len(self.truth)

    @property
    def vocabulary(self) -> Vocabulary:
        """The shapes and colors of this puzzle."""
        colors = frozenset(entry.color for entry in self.truth if entry.color is not None)
        return Vocabulary(frozenset(entry.shape for entry in self.truth), colors, self.size)

    @property
    def spoken(self) -> Vocabulary:
        """All shapes and colors that a message can name: those of other puzzles are wrong here, and no less named."""
        shapes, colors, size = self.vocabulary
        return Vocabulary(shapes | frozenset(SHAPES), colors | frozenset(COLORS), size)

    def clues(self, agent: Agent) -> tuple[Entry, ...]:
        """What the agent knows, which is also its first working hypothesis."""
        return self.clues_a if agent == "A" else self.clues_b


def other(agent: Agent) -> Agent:
    """The partner."""
    return "B" if agent == "A" else "A"


def wrong_positions(hypothesis: Sequence[Entry], truth: Sequence[Entry]) -> tuple[int, ...]:
    """Positions, from 1, at which the hypothesis differs in shape or color."""
    return tuple(place for place, pair in enumerate(zip(hypothesis, truth, strict=True), start=1) if pair[0] != pair[1])


def generate(*, size: int, seed: int, allow_identity: bool = False) -> Puzzle:
    """Draw a puzzle of 1 to 24 positions, the same on every Python from 3.9 on (format description, section 2); B may draw the right order.

    Raises:
        UsageError: no puzzle has that size.
    """
    if not 1 <= size <= MAX_SIZE:
        raise UsageError(f"asympuzl: size {size} is out of range; give 1 to {MAX_SIZE}, there are only so many shapes and colors")
    rng = random.Random(seed)
    truth = tuple(map(Entry, rng.sample(SHAPES, size), rng.sample(COLORS, size)))
    right = list(range(size))
    order = right.copy()
    rng.shuffle(order)
    while order == right and size > 1 and not allow_identity:
        rng.shuffle(order)
    return Puzzle(truth, tuple(Entry(entry.shape, None) for entry in truth), tuple(truth[place] for place in order))
