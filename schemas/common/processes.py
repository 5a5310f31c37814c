"""Worker processes that end as they should, and start without running the program that called.

They end with the process that started them, and not by Ctrl-C, which is that one's to answer.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.util import Finalize
from types import ModuleType
from typing import TYPE_CHECKING, Final

from schemas.common.cluster import ClusterPool, is_used

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LAST: Final = -100
"""When a worker that is done ends at once: Python would tidy up first, object by object, and the caller would wait."""


@contextmanager
def worker_pool(workers: int, *, start: Callable[[], None] | None = None) -> Iterator[ProcessPoolExecutor | ClusterPool]:
    """A pool of processes, here or on the cluster in use. What interrupts the one that uses it ends them at once, work under way included.

    They are spawned, not forked (a fork would copy the locks of the caller's threads), and what they are given must come from
    modules that can be imported: they do not know the caller's own program.
    """
    if is_used():
        cluster = ClusterPool()
        try:
            yield cluster
        finally:
            cluster.cancel()
        return
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, mp_context=_Context(), initializer=start or start_worker)
    try:
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def start_worker() -> None:
    """Prepare a worker process; an initializer for a pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):  # a forked worker has inherited what the other does
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    Finalize(None, os._exit, args=(0,), exitpriority=_LAST)


def worker_process(work: Callable[..., None], *arguments: object) -> SpawnProcess:
    """A process that runs one function, which calls `start_worker` first; not started yet. It ends with the process that starts it."""
    return _Process(target=work, args=arguments, daemon=True)


class _Process(SpawnProcess):
    """A spawned process that does not run the caller's program first, as Python would: a script of three lines has no `if __name__`."""

    def start(self) -> None:
        with _nameless_program():
            super().start()


class _Context(SpawnContext):
    Process = _Process


_STARTING = threading.Lock()


@contextmanager
def _nameless_program() -> Iterator[None]:
    """Python looks up in `__main__` what a spawned process must run first; an empty one has nothing."""
    with _STARTING:
        program = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = program


def _end_with_parent() -> None:
    """A parent that was killed cannot tell its workers to stop: they would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
