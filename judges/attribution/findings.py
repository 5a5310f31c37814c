"""What a turn's loss is put down to: links of the chain from a private view over messages to an action.

The rule behind all links is a replacement. Put an agent's ideal message or action in the place of its own, leave everything else as it
was, and ask the rules of the game what is then kept: an agent whose replacement keeps nothing is not the cause. What no replacement keeps
is nobody's (`not_seen`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from judges.evidence.transcript import Transcript

NOTHING: Final = 1e-9
"""Costs below it are none."""

Link = Literal[
    "not_seen",
    "not_said",
    "wrong_instruction",
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
    "acted_wrong",
    "idle",
    "luck",
    "harness",
    "not_understood",
    "undecided",
]

LINKS: Final[Mapping[Link, str]] = {
    "not_seen": "nobody's: no view, message or list showed that anything else was worth more",
    "not_said": "an agent's view entails a better action, and its messages do not ask for it",
    "wrong_instruction": "asked for, or told, what the author's own view or the state that everybody sees contradicts",
    "said_unclear": "asked for in words that more than one action fits",
    "said_too_late": "told after it was needed",
    "not_heard": "asked for clearly, and the actor did something else",
    "misread": "the actor followed the message with another block, place or order",
    "acted_alone": "nobody asked for it, and nobody could ask for anything better; whose it is cannot be told from messages",
    "conflict": "nobody's: two asked for, or did, what does not fit together, both right by what they see",
    "rule_forgotten": "refused by a rule that the actor had been told",
    "verifier": "the harness: its verifier turned a better sampled answer down",
    "needless_question": "asked back although a clear request was there",
    "format": "an answer that its form makes unreadable",
    "acted_wrong": "the actor could know better by what it saw and had been told",
    "idle": "the actor could do something useful by what it knew, and did nothing",
    "luck": "nobody's: a draw of the game decided",
    "harness": "the harness: a call failed, a reply was cut at its token limit, or the harness dropped or misread it",
    "not_understood": "unattributed: a message that bears on the turn was not understood in every clause",
    "undecided": "nothing can be proven",
}
"""Link -> what it means."""

_STATUS: Final[Mapping[Link, str]] = {
    "verifier": "harness",
    "harness": "harness",
    "not_understood": "unattributed",
    "undecided": "undecided",
}

How = Literal["fully", "partly", "differs", "no"]
"""The action is what was asked for; fits what was left open; fits but for a block, place or order; has nothing to do with it."""


class Lost(NamedTuple):
    """What a turn cost, by its benchmark's main measure."""

    before: float
    after: float
    cost: float
    left: int | None = None
    """Turns left before it, its own included; None if the log does not say."""


class Ideal(NamedTuple):
    """What an agent could have given in its place, in the game's grammar: what `cotrace replay --say` or `--do` takes."""

    kind: Literal["say", "do"]
    text: str
    kept: tuple[str, ...] = ()
    """Who gives what they gave in that turn all the same: they do not hear of it before."""


class Finding(NamedTuple):
    """A broken link."""

    turn: int
    agent: str | None
    """Whose; None: nobody's."""

    link: Link
    cost: float
    """Of the turn, the part that is put down to it; 0 where it had no consequence."""

    evidence: str
    regained: float | None = None
    """What the agent's ideal in its place would have kept, by the rules of the game; None if that was not worked out."""

    ideal: Ideal | None = None
    """That ideal; None where it was not worked out, or the game has no words for it."""

    @property
    def status(self) -> str:
        """Whether an agent, or no agent, is at fault (``answered``), the ``harness``, or nothing can be said.

        That is ``unattributed`` where a message was not understood, and else ``undecided``.
        """
        return _STATUS.get(self.link, "answered")


class Cause(NamedTuple):
    """An agent whose ideal in its place would have kept something."""

    agent: str | None
    """None: the harness, which took part in it."""

    link: Link
    evidence: str
    gain: float
    """What it would have kept."""

    ideal: Ideal | None = None
    """That, in the game's grammar; None where the game has no words for it."""


class Follow(NamedTuple):
    """A request of a message, and what became of it in the turn's action."""

    turn: int
    seq: int
    """The message, as in `utterances`."""

    agent: str
    actor: str
    request: str
    how: How
    right: bool | None = None
    """Whether the author's own view asks for it."""


class Attributed(NamedTuple):
    """What came of a game."""

    findings: Sequence[Finding]
    follows: Sequence[Follow] = ()


Attribute = Callable[[Transcript, Mapping[int, Lost]], Attributed]
"""(game, turn -> what it cost) -> findings. The costs of a turn's findings add up to the turn's cost where that is above 0."""


def undecided(turn: int, cost: float, why: str) -> Finding:
    """A finding that nothing is proven."""
    return Finding(turn, None, "undecided", max(cost, 0.0), why)


def not_understood(turn: int, cost: float, why: str) -> Finding:
    """A finding that a loss is attributed to no agent: a message was not understood, so what it says cannot be held against anyone.

    Args:
        turn: from 1.
        cost: of the turn; below 0 counts as 0.
        why: whose message, and the words that were not understood.
    """
    return Finding(turn, None, "not_understood", max(cost, 0.0), why)


def shared_out(turn: int, cost: float, causes: Sequence[Cause], otherwise: tuple[Link, str]) -> Iterator[Finding]:
    """Share a turn's cost out among its causes by what each would have kept, and leave to nobody what no cause would.

    Args:
        turn: from 1.
        cost: above 0.
        causes: those who would have kept nothing are told with a cost of 0.
        otherwise: link and evidence of the part that is nobody's.
    """
    real = [cause for cause in causes if cause.gain > NOTHING]
    together = sum(cause.gain for cause in real)
    kept = min(max((cause.gain for cause in real), default=0.0), cost)
    for cause in real:
        yield Finding(turn, cause.agent, cause.link, kept * cause.gain / together, cause.evidence, min(cause.gain, cost), cause.ideal)
    yield from (Finding(turn, cause.agent, cause.link, 0.0, cause.evidence) for cause in causes if cause.gain <= NOTHING)
    if cost - kept > NOTHING:
        link, evidence = otherwise
        yield Finding(turn, None, link, cost - kept, evidence)
