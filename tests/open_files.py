"""While a test reads the same store again and again, its file stays open in between.

To open a store takes DuckDB longer than most queries of a small one. So the last few files that were opened for reading stay open until
this process writes to them, they change, or another process is started that might.
"""

from __future__ import annotations

import multiprocessing.process
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

_MOST = 4
"""Files that stay open at once."""
_HARMLESS = ("chrom", "playwright", "tests.servers")
"""Programs that open no store, by a part of their command."""


class _OpenFiles:
    """What is open in this process."""

    def __init__(self) -> None:
        self._connect = duckdb.connect
        self._files: OrderedDict[str, tuple[Any, duckdb.DuckDBPyConnection]] = OrderedDict()
        """Path -> the file's state and settings, with a connection for it alone."""
        self._children: list[Callable[[], bool]] = []
        """Whether each process that might write is still running."""
        self._lock = threading.RLock()

    def connect(self, database: Any = ":memory:", *arguments: Any, **options: Any) -> duckdb.DuckDBPyConnection:
        """As `duckdb.connect`, in whose place this is called."""
        path = str(database)
        if path == ":memory:" or not Path(path).exists():
            return self._connect(database, *arguments, **options)
        is_alone = options.get("config", {}).get("enable_external_access") == "false"  # a lake's file reads others
        if not is_alone or options.get("read_only") is not True or any(is_running() for is_running in self._children):
            self.close(path)
            return self._connect(database, *arguments, **options)
        with self._lock:
            state = (_state(path), repr(options))
            if path not in self._files or self._files[path][0] != state:
                self.close(path)
                self._files[path] = (state, self._connect(database, **options))
                if len(self._files) > _MOST:
                    self.close(next(iter(self._files)))
            self._files.move_to_end(path)
            return self._connect(database, **options)

    def close(self, *paths: str) -> None:
        """Close these files; without a path, all."""
        with self._lock:
            for path in paths or tuple(self._files):
                if path in self._files:
                    self._files.pop(path)[1].close()

    def started(self, is_running: Callable[[], bool]) -> None:
        """A process begins that might write to any store."""
        self.close()
        self._children = [known for known in self._children if known()] + [is_running]


def _state(path: str) -> tuple[int, ...]:
    found = Path(path).stat()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


@contextmanager
def staying_open() -> Iterator[None]:
    """Meanwhile files stay open."""
    files = _OpenFiles()
    begin, start = subprocess.Popen.__init__, multiprocessing.process.BaseProcess.start

    def popen(self: subprocess.Popen[Any], args: Any, *others: Any, **options: Any) -> None:
        command = args if isinstance(args, str | bytes) else " ".join(map(str, args))
        if not any(name in str(command) for name in _HARMLESS):
            files.started(lambda: getattr(self, "returncode", 0) is None and self.poll() is None)
        begin(self, args, *others, **options)

    def process(self: multiprocessing.process.BaseProcess) -> None:
        files.started(lambda: not getattr(self, "_closed", False) and self.is_alive())
        start(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(duckdb, "connect", files.connect)
        patched.setattr(subprocess.Popen, "__init__", popen)
        patched.setattr(multiprocessing.process.BaseProcess, "start", process)
        try:
            yield
        finally:
            files.close()
