"""The moments at which a command can be killed: where it has done, or is about to do, something that another process can see."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
_MOVES: Final = frozenset({"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate"})


class Phases:
    """Counts the moments of a process, and kills it at one of them.

    Args:
        folder: only what happens to files below it counts.
        last: the number of the moment, from 0, at which the process dies; None: it lives.
    """

    def __init__(self, folder: Path, last: int | None) -> None:
        self._folder, self._last = str(folder), last
        self.seen: list[str] = []

    def happen(self, what: str) -> None:
        """A moment."""
        self.seen.append(what)
        if len(self.seen) - 1 == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """From now on: files that are opened for writing, made, moved or removed; transactions; lines of journals."""
        sys.addaudithook(self._audited)
        self._watch_store()
        self._watch_lake()
        self._watch_journals()

    def _audited(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = any(sign in mode for sign in "wax+") if isinstance(mode, str) else bool((flags or 0) & _WRITES)
            if writes and self._is_below(path):
                self.happen("file opened for writing")
        elif event in _MOVES and self._is_below(arguments[0]):
            self.happen(f"before {event}")

    def _is_below(self, path: object) -> bool:
        return isinstance(path, str | os.PathLike) and os.path.realpath(path).startswith(self._folder)

    def _watch_store(self) -> None:
        from schemas.store.store import Store

        writing = Store.writing

        @contextmanager
        def watched(store: Store, **options: bool) -> Iterator[Any]:
            with writing(store, **options) as connection:
                yield connection
                self.happen("before a commit")
            self.happen("after a commit")

        patch.object(Store, "writing", watched).start()

    def _watch_lake(self) -> None:
        from schemas.store.lake.store import LakeStore

        committed = LakeStore._committed

        def watched(store: LakeStore, version: int, actions: Any) -> bool:
            self.happen("before a commit")
            done = committed(store, version, actions)
            self.happen("after a commit")
            return done

        patch.object(LakeStore, "_committed", watched).start()

    def _watch_journals(self) -> None:
        from schemas.store.journal import Journal

        append = Journal._append

        def watched(journal: Journal[Any, Any], content: bytes) -> None:
            self.happen("before a journal's line")
            append(journal, content)
            self.happen("after a journal's line")

        patch.object(Journal, "_append", watched).start()
