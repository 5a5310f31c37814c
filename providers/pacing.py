"""How fast requests go out to a server, and how many are there at once.

After 429 all calls share one pause. It never collapses: the calls that were under way when a pause began cannot lengthen the next one more
than once, its length is capped, and every success shortens it. A stray 429 among many answers so costs a tenth of a second; a
server that turns most calls down makes the pauses longer until some two dozen calls get through between them.

A server that works on four calls at once lets the others wait in a queue of its own, where they time out: after a request that timed out
while others were there, half as many are sent at once. The limit never rises again, since the queue would only fill anew. Where nothing
but failures comes back, requests go out one at a time, with pauses, until one is answered or enough calls have given up.
"""

import asyncio
import math
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from providers.faults import Fault, HopelessError, NodeLost

_FIRST_LIMIT_PAUSE_S = 0.1
_LONGEST_LIMIT_PAUSE_S = 15.0
_SHORTER_BY_A_SUCCESS = 0.97
"""0.97 ** 23 is one half: two dozen successes undo one doubling."""
_SPREAD_S = 0.1
"""Calls that waited do not all start in the same instant."""
_REQUESTS_TO_BE_ILL: Final = 12
_CALLS_TO_GIVE_UP: Final = 8
_ILL_PAUSE_S: Final = 0.25
"""How much longer each failure makes it."""
_LONGEST_ILL_PAUSE_S: Final = 1.0
_TRIES_WHILE_ILL: Final = 2


class Gate:
    """Holds requests back while the server wants fewer, times out or fails.

    What has gone wrong counts since the last completion; refusals, limits and faults of one request alone do not count.
    """

    def __init__(self) -> None:
        self._opens_at = 0.0
        self._closed_at = self._lowered_at = float("-inf")
        self._next_pause_s = _FIRST_LIMIT_PAUSE_S
        self._limit = math.inf
        """Of requests that are at the server at once."""
        self._there = 0
        self._left = asyncio.Condition()
        self._failed = self._given_up = 0
        """Requests that came to nothing, and calls that have used up their tries."""

    @property
    def _is_ill(self) -> bool:
        """Nothing but failures for a while."""
        return self._failed >= _REQUESTS_TO_BE_ILL

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place at the server, and hold it."""
        async with self._left:
            await self._left.wait_for(lambda: self._there < (1 if self._is_ill else self._limit))
            self._there += 1
        try:
            yield
        finally:
            self._there -= 1
            async with self._left:
                self._left.notify_all()

    async def wait(self) -> float:
        """Wait until the gate is open; returns the time to give to `limited` or `timed_out` if it comes to that."""
        while (left := self._opens_at - time.monotonic()) > 0:  # noqa: ASYNC110 - it may have been moved on meanwhile
            await asyncio.sleep(left + random.uniform(0, _SPREAD_S))
        return time.monotonic()

    def tries(self, usual: int) -> int:
        """How many requests a call may take now."""
        return min(usual, _TRIES_WHILE_ILL) if self._is_ill else usual

    def limited(self, sent_at: float, retry_after_s: float | None) -> None:
        """The server answered 429 to a request sent at that time; it may have named a pause; one of 0 s is none.

        Requests that were sent before the gate last closed name the same pause: it counts from then, or each reply that comes late, out of
        the server's queue, would close the gate anew.
        """
        is_new = sent_at >= self._closed_at
        if is_new:
            self._closed_at = time.monotonic()
        if retry_after_s:
            self._opens_at = max(self._opens_at, self._closed_at + retry_after_s)
        elif is_new:
            self._opens_at = max(self._opens_at, self._closed_at + self._next_pause_s)
            self._next_pause_s = min(2 * self._next_pause_s, _LONGEST_LIMIT_PAUSE_S)

    def timed_out(self, sent_at: float) -> None:
        """A request that was sent at that time has had no reply in time; those sent before the last halving do not halve again."""
        if self._there > 1 and sent_at >= self._lowered_at:
            self._limit = self._there // 2
            self._lowered_at = time.monotonic()

    def succeeded(self) -> None:
        """A completion came."""
        self._next_pause_s = max(_FIRST_LIMIT_PAUSE_S, self._next_pause_s * _SHORTER_BY_A_SUCCESS)
        self._failed = self._given_up = 0

    def failed(self, fault: Fault) -> None:
        """A request came to nothing."""
        self._failed += _counts(fault)
        if self._is_ill:
            pause = min(_LONGEST_ILL_PAUSE_S, _ILL_PAUSE_S * (1 + self._failed - _REQUESTS_TO_BE_ILL))
            self._opens_at = max(self._opens_at, time.monotonic() + pause)

    def gave_up(self, fault: Fault) -> None:
        """A call has used up its tries.

        Raises:
            HopelessError: so have enough before it, with no completion in between.
        """
        self._given_up += _counts(fault)
        if self._given_up >= _CALLS_TO_GIVE_UP:
            said = f"the server fails at everything, {self._given_up} calls in a row ({fault.reason})"
            raise HopelessError(f"{said}: start the same command again when it is well")


def _counts(fault: Fault) -> bool:
    return fault.again and not fault.limited and not isinstance(fault, NodeLost)


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
