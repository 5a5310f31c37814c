"""What a benchmark adds to cotrace's own log: the numbers that replaying its game gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from schemas.errors import BadInputError
from schemas.game import End, Header, Turn
from schemas.records import Failure
from schemas.text import excerpt

__all__ = ["BadTurnError", "Derivation", "Derived", "lost_replies", "without_lost_replies"]


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


def lost_replies(turn: Turn) -> dict[str, str]:
    """Agent -> why its answer may be lost by no fault of its own: its call failed or its reply was cut, and no whole one was unreadable."""
    found = {}
    unreadable = {call.agent for call in turn.calls if call.read == "unreadable"}
    for call in turn.calls:
        if call.agent in unreadable:
            continue
        if call.status != "answered":
            found[call.agent] = f"its call failed ({excerpt(call.error or call.status)})"
        elif call.finish_reason == "length":
            found[call.agent] = f"its reply was cut at {call.tokens_out} tokens"
    return found


def without_lost_replies(failures: Iterable[Failure], turns: Sequence[Turn], unreadable: str) -> list[Failure]:
    """The failures of a game, of which those of an answer that was lost are the harness's: `lost_reply` of `<benchmark>_harness`.

    Args:
        failures: of its turns.
        turns: its turns.
        unreadable: the category of an answer that cannot be read.
    """
    lost = {(turn.turn, agent): why for turn in turns for agent, why in lost_replies(turn).items()}
    found = []
    for failure in failures:
        why = lost.get((failure.turn, failure.agent or "")) if failure.category == unreadable else None
        harness = f"{failure.taxonomy.partition('_')[0]}_harness"
        found.append(failure if why is None else failure._replace(taxonomy=harness, category="lost_reply", evidence=why))
    return found
