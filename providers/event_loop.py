"""Work that waits for models, from code that does not: a command, a program, or a notebook, where an event loop runs already."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["run_to_end"]

T = TypeVar("T")


def run_to_end(going: Coroutine[Any, Any, T]) -> T:
    """What the coroutine gives; where an event loop runs already, in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(going)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_run, going).result()


def _run(going: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, which libraries for notebooks exchange for one that leaves every loop open."""
    with asyncio.Runner() as runner:
        return runner.run(going)
