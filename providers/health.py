"""Whether a server answers at all.

A server that has failed at a dozen requests in a row, whoever sent them, is taken for ill: one request at a time goes out then, each after
a longer pause, and calls give up after two. The first completion ends it. Where eight calls in a row have come to nothing, the run stops:
the others would only be told the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from providers.faults import Fault, HopelessError, NodeLost

__all__ = ["Health"]

_REQUESTS_TO_BE_ILL: Final = 12
_CALLS_TO_GIVE_UP: Final = 8
_FIRST_PAUSE_S: Final = 0.25
_LONGEST_PAUSE_S: Final = 1.0
_TRIES_WHILE_ILL: Final = 2


class Health:
    """Counts what has gone wrong since the last completion; refusals, limits and faults of one request alone do not count."""

    def __init__(self) -> None:
        self._requests = 0
        self._calls = 0
        self._one_at_a_time = asyncio.Lock()

    @property
    def is_ill(self) -> bool:
        """Nothing but failures for a while."""
        return self._requests >= _REQUESTS_TO_BE_ILL

    def tries(self, usual: int) -> int:
        """How many requests a call may take now."""
        return min(usual, _TRIES_WHILE_ILL) if self.is_ill else usual

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a request back until it may go out."""
        if self.is_ill:
            async with self._one_at_a_time:
                if self.is_ill:
                    await asyncio.sleep(min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (self._requests - _REQUESTS_TO_BE_ILL)))
                    yield
                    return
        yield

    def succeeded(self) -> None:
        """A completion came."""
        self._requests = self._calls = 0

    def failed(self, fault: Fault) -> None:
        """A request came to nothing."""
        self._requests += _counts(fault)

    def gave_up(self, fault: Fault) -> None:
        """A call has used up its tries.

        Raises:
            HopelessError: so have enough before it, with no completion in between.
        """
        self._calls += _counts(fault)
        if self._calls >= _CALLS_TO_GIVE_UP:
            said = f"the server fails at everything, {self._calls} calls in a row ({fault.reason})"
            raise HopelessError(f"{said}: start the same command again when it is well")


def _counts(fault: Fault) -> bool:
    return fault.again and not fault.limited and not isinstance(fault, NodeLost)
