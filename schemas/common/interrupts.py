"""Ctrl-C during a long query: DuckDB runs in C++, where Python hears nothing of signals."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

_LOOK_S = 0.1
_INTERRUPTED = "Query interrupted"


def interruptible(connection: duckdb.DuckDBPyConnection, work: Callable[[], T]) -> T:
    """Do work with the connection in another thread, so that this one hears Ctrl-C at once and can stop the query.

    Raises:
        KeyboardInterrupt: it came; the work has ended.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(work)
        try:
            while not wait([done], timeout=_LOOK_S).done:
                pass  # without a limit it would sleep through signals that another thread was given
            return done.result()
        except KeyboardInterrupt:
            while not done.done():  # a query that has not begun yet does not notice it: repeat until it ends
                connection.interrupt()
                wait([done], timeout=_LOOK_S)
            raise


def is_interrupt(error: BaseException) -> bool:
    """Whether that is how DuckDB reports that Ctrl-C came during one of its shorter queries."""
    return isinstance(error, KeyboardInterrupt) or (isinstance(error, RuntimeError) and str(error) == _INTERRUPTED)
