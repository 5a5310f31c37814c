"""What an agent is asked, and who answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from games.overcooked.engine.world import World

QueryKind = Literal["turn", "answer", "closing", "format", "validator", "reflect"]
"""Own turn; answer to the partner; the opener's next message; retry after an unreadable output; retry after a refused action; the lesson
of a corrected one."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a player is asked."""

    agent: int
    kind: QueryKind
    world: World
    """The true state; players that only read `text` do not see it."""

    text: str
    """The state text, with conversation and error where there are any."""

    said: Sequence[tuple[int, str]]
    """The conversation so far: speaker and say."""

    error: str | None
    """The refusal, or the output that could not be read."""


class AgentPlayer(Protocol):
    """Whoever plays an agent."""

    def answer(self, query: Query) -> str:
        """Give a whole output with its three labelled fields."""
        ...
