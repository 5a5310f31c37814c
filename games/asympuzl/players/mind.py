"""What a scripted player knows: its clues, and what it has read in the partner's messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from games.asympuzl.facts import Facts, read_facts
from games.asympuzl.game import PuzzleView
from games.asympuzl.puzzle import COLORS, Agent, Entry, Vocabulary, other


class Mind:
    """The knowledge of one player: it learns only from what it is shown."""

    def __init__(self, agent: Agent, clues: Sequence[Entry]) -> None:
        self.agent: Agent = agent
        self.size = len(clues)
        self.shapes = tuple(entry.shape for entry in clues)
        self.order: dict[int, str] = dict(enumerate(self.shapes, start=1)) if agent == "A" else {}
        """Position from 1 -> shape, as far as known."""

        self.colors: dict[str, str] = {entry.shape: entry.color for entry in clues if entry.color is not None}
        """Shape -> color, as far as known."""

        own = frozenset(self.colors.values())
        self._words = Vocabulary(frozenset(self.shapes), own or frozenset(COLORS), self.size)  # A cannot know which colors are in play

    def hear(self, seen: PuzzleView) -> Facts:
        """What the partner's latest message states; nothing where there is none."""
        partner = other(self.agent)
        said = [heard.text for heard in seen.conversation if heard.agent == partner]
        return read_facts(said[-1], self._words, partner) if said else Facts()

    def learn(self, order: Mapping[int, str], colors: Mapping[str, str]) -> None:
        """Take statements over; an earlier one gives way. Nobody is talked out of what its clues say."""
        if self.agent == "A":
            self.colors |= colors
        else:
            self.order |= order

    def entry(self, place: int) -> Entry | None:
        """What stands at a position, from 1; None as long as shape and color are not both known."""
        shape = self.order.get(place)
        color = None if shape is None else self.colors.get(shape)
        return None if shape is None or color is None else Entry(shape, color)
