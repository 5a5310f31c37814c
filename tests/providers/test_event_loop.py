"""Loops of asynchronous work end with it, whoever called and whatever libraries did to asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import pytest

from providers.asker import run_to_end


async def loop_of_work() -> asyncio.AbstractEventLoop:
    """The loop that the work runs on."""
    return asyncio.get_running_loop()


def test_the_loop_is_closed_even_where_a_library_patched_asyncio_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """As nest_asyncio2 does, which inspect_ai brings."""
    left: list[asyncio.AbstractEventLoop] = []

    def patched(going: Coroutine[object, object, object], **_: object) -> object:
        left.append(asyncio.new_event_loop())
        return left[-1].run_until_complete(going)

    monkeypatch.setattr(asyncio, "run", patched)
    used = run_to_end(loop_of_work())

    async def called_from_a_notebook() -> asyncio.AbstractEventLoop:
        return run_to_end(loop_of_work())

    with asyncio.Runner() as runner:
        nested = runner.run(called_from_a_notebook())
    for loop in left:
        loop.close()
    assert used.is_closed()
    assert nested.is_closed()
    assert not left
