"""How fast requests go out: a gate that closes when the server says 429, and limits a minute.

The gate never collapses: all calls share one pause, the calls that were under way when a pause began cannot lengthen the next one more
than once, its length is capped, and every success shortens it. A stray 429 among many answers so costs a tenth of a second; a
server that turns most calls down makes the pauses longer until some two dozen calls get through between them.
"""

from __future__ import annotations

import asyncio
import random
import time

__all__ = ["Gate", "MinuteLimit"]

_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 15.0
_SHORTER_BY_A_SUCCESS = 0.97
"""0.97 ** 23 is one half: two dozen successes undo one doubling."""
_SPREAD_S = 0.1
"""Calls that waited do not all start in the same instant."""


class Gate:
    """Holds all requests back while the server wants fewer."""

    def __init__(self) -> None:
        self._opens_at = 0.0
        self._closed_at = float("-inf")
        self._next_pause_s = _FIRST_PAUSE_S

    async def wait(self) -> float:
        """Wait until the gate is open; returns the time to give to `limited` if it comes to that."""
        while (left := self._opens_at - time.monotonic()) > 0:  # noqa: ASYNC110 - it may have been moved on meanwhile
            await asyncio.sleep(left + random.uniform(0, _SPREAD_S))
        return time.monotonic()

    def limited(self, sent_at: float, retry_after_s: float | None) -> None:
        """The server answered 429 to a request sent at that time; it may have said how long to wait."""
        now = time.monotonic()
        if retry_after_s is not None:
            self._opens_at = max(self._opens_at, now + retry_after_s)
            self._closed_at = now
        elif sent_at >= self._closed_at:
            self._opens_at = max(self._opens_at, now + self._next_pause_s)
            self._closed_at = now
            self._next_pause_s = min(2 * self._next_pause_s, _LONGEST_PAUSE_S)

    def succeeded(self) -> None:
        """A request was answered."""
        self._next_pause_s = max(_FIRST_PAUSE_S, self._next_pause_s * _SHORTER_BY_A_SUCCESS)


class MinuteLimit:
    """Spreads an amount a minute (requests or tokens) evenly."""

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60.0 / per_minute if per_minute else 0.0
        self._free_at = 0.0

    async def take(self, amount: float) -> None:
        """Wait until that much may be used."""
        if self._seconds_each == 0.0:
            return
        now = time.monotonic()
        starts_at = max(now, self._free_at)
        self._free_at = starts_at + amount * self._seconds_each
        if starts_at > now:
            await asyncio.sleep(starts_at - now)
