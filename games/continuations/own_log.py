"""What the continuations of families have in common whose games are played again from the replies of cotrace's own log."""

from __future__ import annotations

from schemas.errors import UsageError
from schemas.game import Header, ReplyEntry, Turn


def replies(_: Header, turn: Turn) -> list[ReplyEntry]:
    """Only cotrace's own log keeps them.

    Raises:
        UsageError: always.
    """
    raise UsageError(f"turn {turn.turn} cannot be played again: its log does not keep what the agents wrote")


def written(_: str, __: str, text: str) -> str:
    """A reply word for word, in the game's grammar."""
    return text
