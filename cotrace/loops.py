"""Work that starts an event loop of its own, where one may be running already, as in notebooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")


def outside_of_loops(work: Callable[[], _Result]) -> _Result:
    """Run what starts an event loop of its own; in a thread where one is running already, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    done: list[_Result] = []
    failed: list[BaseException] = []

    def in_thread() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            failed.append(error)

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
