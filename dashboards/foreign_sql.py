"""SQL that a visitor has written, run in child processes of limited time, memory and result.

DuckDB's own stop does not reach into a function that works for minutes, and its limit of memory does not count all that a query takes.
So such a query never runs in the process that serves the pages: a child runs it and is killed from outside. Two run at once, few wait, the
others are refused, so that pages of other visitors find threads. A child is kept for the next query: to start one takes a second.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.common.errors import CotraceError, StoreError, UsageError
from schemas.common.processes import start_worker, worker_process
from schemas.store.store import SEALED, Store
from schemas.store.stores import store_at

if TYPE_CHECKING:
    import polars as pl


_LONGEST_S: Final = 60.0
"""A query that takes longer is stopped."""
_AT_ONCE: Final = 2
_WAITING: Final = 2
"""Queries that wait for those under way; further ones are refused at once: each holds a thread of the server."""
_PATIENCE_S: Final = 3.0
"""How long they wait."""
_IDLE_S: Final = 300.0
"""A child without work ends then."""
_SPARE_S: Final = 10.0
"""Before it may end, a child is given no further query."""
_LOOK_S: Final = 0.05
"""How often the memory of a child is looked at."""
MOST_BYTES_OF_A_PAGE: Final = 16 * 2**20
"""Of the rows that a page shows."""
MOST_BYTES_OF_A_FILE: Final = 256 * 2**20
"""Of the rows that a CSV or Parquet file holds."""
_BESIDES: Final = 2**30
"""Bytes that a child may hold beside what DuckDB counts: libraries, the result, strings under way."""
_NICE: Final = 5
"""Pages of other visitors come first."""

_STOPPED: Final = "SQL: the dashboard was stopped while the query ran"
_BUSY: Final = "two queries of the SQL page are running, which is the limit: try again in a moment"


def foreign_rows(
    store: Store, sql: str, values: Mapping[str, object] | None = None, *, most_bytes: int = MOST_BYTES_OF_A_PAGE
) -> pl.DataFrame:
    """The rows of a query that has passed the gate (`schemas.store.read_only_sql.as_query`), or is made around one that has.

    Args:
        store: where to read.
        sql: the query.
        values: of its parameters.
        most_bytes: that the rows may take.

    Raises:
        UsageError: the SQL is wrong, takes too long, too much memory or gives too much; or too many queries run already.
        StoreError: the store cannot be read.
    """
    with _CHILDREN.one() as child:
        return child.rows(str(store.path), sql, values, most_bytes)


def warm_up() -> None:
    """Start a child, so that the first query need not wait for it."""
    _CHILDREN.warm_up()


def stop() -> None:
    """End the queries under way: each is answered at once with an error, so that the server's threads can end. `warm_up` begins anew."""
    _CHILDREN.stop()


def _most_memory() -> int:
    """Bytes that DuckDB may take in a child: a quarter of the machine's."""
    return max(2**30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4)


class _Child:
    """A process that runs one query after the other."""

    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        self._process = worker_process(_serve, theirs)
        self._process.start()
        theirs.close()
        self._worked_at = time.monotonic()

    @property
    def is_usable(self) -> bool:
        is_fresh = time.monotonic() - self._worked_at < _IDLE_S - _SPARE_S
        return is_fresh and self._process.is_alive() and not self._pipe.closed

    def rows(self, *asked: object) -> pl.DataFrame:
        try:
            kind, found = self._answer(asked)
        except (EOFError, OSError) as error:
            self.kill()
            raise UsageError(
                "SQL: the query ended its process, most likely because it ran out of memory: ask for fewer or shorter values"
            ) from error
        self._worked_at = time.monotonic()
        if kind is not None:
            raise kind(found)
        rows: pl.DataFrame = found
        return rows

    def _answer(self, asked: tuple[object, ...]) -> tuple[type[CotraceError] | None, Any]:
        self._pipe.send(asked)
        deadline = time.monotonic() + _LONGEST_S
        most = _most_memory() + _BESIDES
        while not self._pipe.poll(_LOOK_S):
            if time.monotonic() > deadline:
                self.kill()
                raise UsageError(f"SQL: the query was stopped after {_LONGEST_S:g} s: ask for less, or run it with `cotrace sql`")
            if self._memory() > most:
                self.kill()
                raise UsageError(f"SQL: the query was stopped, it took more than {most / 2**30:.1f} GiB: ask for fewer or shorter values")
        answer: tuple[type[CotraceError] | None, Any] = self._pipe.recv()
        return answer

    def _memory(self) -> int:
        """Bytes that it holds; 0 where that cannot be read."""
        try:
            return int(Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError, ValueError):
            return 0

    def end(self) -> None:
        """Kill the process; the thread that waits for its answer finds its end of the pipe closed."""
        self._process.kill()

    def kill(self) -> None:
        self.end()
        self._pipe.close()


class _Children:
    """Those that are there, and the places for those that work."""

    def __init__(self) -> None:
        self._idle: list[_Child] = []
        self._busy: list[_Child] = []
        self._is_stopped = False
        self._changing = threading.Lock()
        self._places = threading.Semaphore(_AT_ONCE)
        self._asking = threading.Semaphore(_AT_ONCE + _WAITING)

    @contextmanager
    def one(self) -> Iterator[_Child]:
        if not self._asking.acquire(blocking=False):
            raise UsageError(_BUSY)
        try:
            if not self._places.acquire(timeout=_PATIENCE_S):
                raise UsageError(_BUSY)
            child = None
            try:
                child = self._taken()
                yield child
            finally:
                if child is not None:
                    self._given_back(child)
                self._places.release()
        finally:
            self._asking.release()

    def warm_up(self) -> None:
        with self._changing:
            self._is_stopped = False
            self._idle = [child for child in self._idle if child.is_usable]
            if not self._idle:
                self._idle.append(_Child())

    def stop(self) -> None:
        with self._changing:
            self._is_stopped = True
            while self._idle:
                self._idle.pop().kill()
            for child in self._busy:
                child.end()

    def _taken(self) -> _Child:
        with self._changing:
            if self._is_stopped:
                raise UsageError(_STOPPED)
            child = next((child for child in iter(self._popped, None) if child.is_usable), None) or _Child()
            self._busy.append(child)
            return child

    def _popped(self) -> _Child | None:
        return self._idle.pop() if self._idle else None

    def _given_back(self, child: _Child) -> None:
        with self._changing:
            self._busy.remove(child)
            if self._is_stopped:
                child.kill()
            else:
                self._idle.append(child if child.is_usable else _Child())


_CHILDREN: Final = _Children()


# -- in the child -----------------------------------------------------------------------------------------


def _serve(pipe: Connection) -> None:
    """Answer one query after the other until the server ends, or nothing has come for a while."""
    start_worker()
    os.nice(_NICE)
    threads = max(1, (os.cpu_count() or 2) // 2)
    Store._sealed_with = SEALED | {"memory_limit": f"{_most_memory() // 2**20}MiB", "threads": threads}  # noqa: SLF001 - its own process
    from analytics.query import frame

    while pipe.poll(_IDLE_S):
        try:
            name, sql, values, most_bytes = pipe.recv()
        except EOFError:
            return
        pipe.send(_answer(frame, name, sql, values, most_bytes))


def _answer(frame: Callable[..., pl.DataFrame], name: str, sql: str, values: Any, most_bytes: int) -> tuple[type[CotraceError] | None, Any]:
    """The rows; or the class and the text of the error."""
    try:
        with store_at(name).reading() as connection:
            return None, frame(connection, sql, values, most_bytes=most_bytes)
    except StoreError as error:
        return StoreError, str(error)
    except CotraceError as error:
        return UsageError, str(error)
    except Exception as error:  # noqa: BLE001 - the boundary of the process: whatever fails in it is an answer
        return UsageError, f"SQL: {type(error).__name__}: {' '.join(str(error).split())[:500]}"
