"""Worker processes that end as they should: with the process that started them, and not by Ctrl-C, which is that one's to answer."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schemas.cluster import ClusterPool, is_used

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.context import BaseContext

__all__ = ["start_worker", "worker_pool"]


@contextmanager
def worker_pool(
    workers: int, context: BaseContext | None = None, *, start: Callable[[], None] | None = None
) -> Iterator[ProcessPoolExecutor | ClusterPool]:
    """A pool of processes, here or on the cluster in use. What interrupts the one that uses it ends them at once, work under way included.

    Args:
        workers: how many.
        context: how they are started; None: as the platform does.
        start: what each does first; None: `start_worker`.
    """
    if is_used():
        cluster = ClusterPool()
        try:
            yield cluster
        finally:
            cluster.cancel()
        return
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=start or start_worker)
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


def _end_with_parent() -> None:
    """A parent that was killed cannot tell its workers to stop: they would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
