"""What a turn's loss is put down to: links of the chain from a private view over messages to an action."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from judges.evidence.transcript import Transcript

__all__ = ["LINKS", "Attribute", "Attributed", "Finding", "Follow", "How", "Link", "Lost", "undecided"]

Link = Literal[
    "not_seen",
    "not_said",
    "said_wrong",
    "said_unclear",
    "said_too_late",
    "not_heard",
    "misread",
    "acted_alone",
    "conflict",
    "rule_forgotten",
    "verifier",
    "needless_question",
    "format",
    "better_existed",
    "acted_wrong",
    "luck",
    "undecided",
]

LINKS: Final[Mapping[Link, str]] = {
    "not_seen": "nobody could know: every view that bears on it showed something else",
    "not_said": "an agent's view entails a better action, and nothing that it says asks for it",
    "said_wrong": "asked for what the author's own view, or the state that everybody sees, contradicts",
    "said_unclear": "asked for in words that more than one action fits",
    "said_too_late": "told after it was needed",
    "not_heard": "asked for clearly, and the actor did something else",
    "misread": "the actor followed the message with another block, place or order",
    "acted_alone": "nobody asked for it",
    "conflict": "two asked for different things, and both by their views",
    "rule_forgotten": "refused by a rule that the actor had been told",
    "verifier": "a better sampled answer was turned down",
    "needless_question": "asked back although a clear request was there",
    "format": "an answer that its form makes unreadable",
    "better_existed": "right by all that was asked and seen, but another action was worth more",
    "acted_wrong": "the actor knew better by its own view",
    "luck": "a draw of the game decided",
    "undecided": "nothing can be proven",
}
"""Link -> what it means; the agent is null where a link is nobody's."""

How = Literal["fully", "partly", "differs", "no"]
"""The action is what was asked for; fits what was left open; fits but for a block, place or order; has nothing to do with it."""


class Lost(NamedTuple):
    """What a turn cost, by its benchmark's main measure."""

    before: float
    after: float
    cost: float
    left: int | None = None
    """Turns left before it, its own included; None if the log does not say."""


class Finding(NamedTuple):
    """A broken link."""

    turn: int
    agent: str | None
    """Whose; None: nobody's."""

    link: Link
    cost: float
    """Of the turn, the part that is put down to it; 0 where it had no consequence."""

    evidence: str

    @property
    def status(self) -> str:
        """``answered``, or ``undecided`` where nothing can be proven."""
        return "undecided" if self.link == "undecided" else "answered"


class Follow(NamedTuple):
    """A request of a message, and what became of it in the turn's action."""

    turn: int
    seq: int
    """The message, as in `utterances`."""

    agent: str
    actor: str
    request: str
    how: How


class Attributed(NamedTuple):
    """What came of a game."""

    findings: Sequence[Finding]
    follows: Sequence[Follow] = ()


Attribute = Callable[[Transcript, Mapping[int, Lost]], Attributed]
"""(game, turn -> what it cost) -> findings. The costs of a turn's findings add up to the turn's cost where that is above 0."""


def undecided(turn: int, lost: Lost, why: str) -> Finding:
    """A finding that nothing is proven."""
    return Finding(turn, None, "undecided", max(lost.cost, 0.0), why)
