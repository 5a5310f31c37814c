"""What a benchmark adds to cotrace's own log: the numbers that replaying its game gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from schemas.errors import BadInputError
from schemas.game import End, Header, Turn

__all__ = ["BadTurnError", "Derivation", "Derived"]


class BadTurnError(BadInputError):
    """A turn that the benchmark's rules cannot read; the locator is relative to its line."""

    def __init__(self, error: BadInputError, index: int) -> None:
        super().__init__(error.reason, locator=error.locator, excerpt=error.excerpt)
        self.index = index
        """Which of the turns, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What a benchmark's rules give for a logged game."""

    progress: Sequence[float | None]
    """Progress after each turn, 0 to 1; None where it is not known."""

    success: bool | None
    """The goal was reached: as the log's end says or, without one, as the rules ended the game. None: the end is not known."""

    score: float | None
    """The benchmark's main metric at the end; None if no turn was played or the end is not known."""

    rows: Mapping[str, list[tuple[object, ...]]]
    """Table name -> records: metrics, failures, candidates, disagreements. What is measured at the end is there only if that is known."""

    details: Mapping[str, object] = field(default_factory=dict)
    """What else the episode has, for `episodes.details`."""


class Derivation(Protocol):
    """Replays a game of one benchmark."""

    def __call__(self, header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
        """Replay a game; ``end`` is None while it runs or if it was cut.

        Raises:
            BadTurnError: a turn cannot be read by the benchmark's rules; those before it can.
            BadInputError: the game cannot be replayed at all.
        """
        ...
