"""What checks work out of a game, kept as long as the game is being judged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

from judges.evidence.transcript import Transcript

__all__ = ["kept_for_recent"]

T = TypeVar("T")

_GAMES: Final = 4


def kept_for_recent(prepare: Callable[[Transcript], T]) -> Callable[[Transcript], T]:
    """Keep what is prepared of the last few games, so that all checks of a game share the work.

    A game is known by being the same object: a transcript is large, and cannot be hashed.
    """
    recent: deque[tuple[Transcript, T]] = deque(maxlen=_GAMES)

    @wraps(prepare)
    def prepared(transcript: Transcript) -> T:
        for known, found in recent:
            if known is transcript:
                return found
        recent.append((transcript, prepare(transcript)))
        return recent[-1][1]

    return prepared
