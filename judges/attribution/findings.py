"""Failure points that a turn's loss is attributed to: links of the chain from a private view over messages to an action.

One rule is behind all of them. Replace an agent's message or action by its ideal, leave the rest as it was, and let the rules of the game
state how much of the value is then retained. An agent whose replacement retains nothing causes nothing; what no replacement retains is not
any agent's fault (`not_seen`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from judges.evidence.transcript import Transcript

NOTHING: Final = 1e-9
"""Smaller costs count as none."""

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
"""Where the chain breaks first; the table in docs/attribution.md has the meanings."""

_STATUS: Final[Mapping[Link, str]] = {
    "verifier": "harness",
    "harness": "harness",
    "not_understood": "unattributed",
    "undecided": "undecided",
}

How = Literal["fully", "partly", "differs", "no"]
"""The action is what was requested; agrees with a request that left something open; has another block, place or order; is unrelated."""


class Lost(NamedTuple):
    """The regret of a turn, by its benchmark's main measure."""

    before: float
    after: float
    cost: float
    left: int | None = None
    """Turns left before it, including its own; None if the log does not state it."""


class Ideal(NamedTuple):
    """An agent's better message or action in the game's grammar, as `cotrace replay --say` or `--do` takes it."""

    kind: Literal["say", "do"]
    text: str
    kept: tuple[str, ...] = ()
    """Agents whose reply of that turn stays the same, because they reply before they receive it."""


class Finding(NamedTuple):
    """A failure point of a turn."""

    turn: int
    agent: str | None
    """The agent at fault; None: no agent."""

    link: Link
    cost: float
    """The part of the turn's cost that is attributed to it; 0 where it had no consequence."""

    evidence: str
    regained: float | None = None
    """What the agent's ideal would have retained, by the rules of the game; None if that was not computed."""

    ideal: Ideal | None = None
    """That ideal; None where it was not computed, or the game's grammar cannot express it."""

    @property
    def status(self) -> str:
        """``answered``: an agent, or no agent, is at fault; ``harness``; ``unattributed``: a message was not understood; ``undecided``."""
        return _STATUS.get(self.link, "answered")


class Cause(NamedTuple):
    """An agent whose ideal would have retained something."""

    agent: str | None
    """None: the harness."""

    link: Link
    evidence: str
    gain: float
    """What it would have retained."""

    ideal: Ideal | None = None
    """None where the game's grammar cannot express it."""


class Follow(NamedTuple):
    """A request of a message, and how the turn's action agrees with it."""

    turn: int
    seq: int
    """The message, as in `utterances`."""

    agent: str
    actor: str
    request: str
    how: How
    right: bool | None = None
    """Whether the author's own view requires it."""


class Attributed(NamedTuple):
    """The failure points of a game."""

    findings: Sequence[Finding]
    follows: Sequence[Follow] = ()


Attribute = Callable[[Transcript, Mapping[int, Lost]], Attributed]
"""(game, turn -> its regret) -> findings. The costs of a turn's findings add up to the turn's cost where that is above 0."""


def undecided(turn: int, cost: float, why: str) -> Finding:
    """A finding that nothing is proven."""
    return Finding(turn, None, "undecided", max(cost, 0.0), why)


def not_understood(turn: int, cost: float, why: str) -> Finding:
    """A finding that attributes a loss to no agent, since a message was not understood; a cost below 0 counts as 0."""
    return Finding(turn, None, "not_understood", max(cost, 0.0), why)


def shared_out(turn: int, cost: float, causes: Sequence[Cause], otherwise: tuple[Link, str]) -> Iterator[Finding]:
    """Divide a turn's cost among its causes by what each would have retained; the rest is not any agent's.

    Args:
        turn: from 1.
        cost: above 0.
        causes: those that would have retained nothing get a finding with cost 0.
        otherwise: failure point and evidence of the part that is not any agent's.
    """
    real = [cause for cause in causes if cause.gain > NOTHING]
    together = sum(cause.gain for cause in real)
    regained = min(max((cause.gain for cause in real), default=0.0), cost)
    for cause in real:
        yield Finding(turn, cause.agent, cause.link, regained * cause.gain / together, cause.evidence, min(cause.gain, cost), cause.ideal)
    yield from (Finding(turn, cause.agent, cause.link, 0.0, cause.evidence) for cause in causes if cause.gain <= NOTHING)
    if cost - regained > NOTHING:
        link, evidence = otherwise
        yield Finding(turn, None, link, cost - regained, evidence)
