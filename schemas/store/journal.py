"""Journals and the reply cache: what was paid for is written before it counts, so that no kill loses a reply that had arrived.

A journal is a file of lines: one about the job, then one a reply. Writers wait until their line is on the disk, safe from a power cut; all
that wait at the same moment share one flush, so that a hundred replies take one. The process that writes a journal holds a lock on
it: one without its process is what a killed job has left.
"""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from pydantic import BaseModel

from schemas.common.errors import StoreError, UsageError
from schemas.store.store import Store

H = TypeVar("H")
L = TypeVar("L")


class JournalLines(NamedTuple, Generic[H, L]):
    """The content of a journal."""

    head: H | None
    """About the job; None if the first line cannot be read, or there is none."""
    lines: list[L]
    """Those that can be read, without a last line that is incomplete."""
    damage: str | None
    """What is wrong with the first line that cannot be read; None if all can."""


def read(path: Path, head: type[H], line: type[L]) -> JournalLines[H, L]:
    """The content of a journal.

    Raises:
        StoreError: the file cannot be read.
    """
    heads, rest = msgspec.json.Decoder(head, dec_hook=_model_from), msgspec.json.Decoder(line, dec_hook=_model_from)
    found: list[L] = []
    first, damage = None, None
    try:
        whole = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise StoreError(f"journal {path} cannot be read: {error.strerror}") from error
    for number, text in enumerate(whole, start=1):
        try:
            if number == 1:
                first = heads.decode(text)
            else:
                found.append(rest.decode(text))
        except msgspec.DecodeError as error:
            damage = damage or f"line {number}: {error}"
    return JournalLines(first, found, damage)


def _model_content(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise NotImplementedError(f"{type(value)} cannot be stored")


def _model_from(kind: Any, content: Any) -> Any:
    if issubclass(kind, BaseModel):
        return kind.model_validate(content)
    raise NotImplementedError(f"{kind} cannot be read from a record")


def is_held(path: Path) -> bool:
    """Whether a process is writing the journal."""
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


class Journal(Generic[H, L]):
    """A journal that is being written.

    Args:
        path: the file; one that exists is continued, without a last line that is incomplete.
        head: about the job, the first line of a new file.
        line: the kind of the others.

    Raises:
        StoreError: the file cannot be made or written.
        UsageError: another process is writing it.
    """

    def __init__(self, path: Path, head: H, line: type[L]) -> None:
        self._path = path
        self.before: list[L] = []
        """The lines that an earlier start of the job has written."""
        self._encoder = msgspec.json.Encoder(enc_hook=_model_content)
        self._forced: asyncio.Future[None] | None = None
        """Of the next flush; None: no line is waiting for one that has not begun."""
        self._forcing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise self._cannot(error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise UsageError(f"another process is writing the journal {self._path}: wait for it, or stop it first") from None
        self._begin(head)
        self.before = read(path, type(head), line).lines

    def _begin(self, head: H) -> None:
        try:
            content = self._path.read_bytes()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                os.ftruncate(self._file, whole)
            if whole == 0:
                self._append(self._encoder.encode(head) + b"\n")
                _force(self._file)
        except OSError as error:
            raise self._cannot(error) from error

    async def write(self, line: L, *, forced: bool = True) -> None:
        """Store a line: at once safe from a kill, and when this returns, from a power cut too.

        A task that is cancelled while it waits for the disk still gets this call's end, and is cancelled at its next wait: the line is
        there, and its reply can be used.

        Args:
            line: what is stored.
            forced: whether to wait for the disk; otherwise it is written soon after, and a power cut may take it.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            self._append(self._encoder.encode(line) + b"\n")
        except OSError as error:
            raise self._cannot(error) from error
        if self._forced is None:
            self._forced = asyncio.get_running_loop().create_future()
            if self._forcing is None:
                self._forcing = asyncio.create_task(self._force_all())
        if not forced:
            return
        try:
            await asyncio.shield(self._forced)
        except asyncio.CancelledError:
            if task := asyncio.current_task():
                task.uncancel()
                task.cancel()

    async def _force_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._forced is not None:
            waiting, self._forced = self._forced, None
            try:
                await loop.run_in_executor(self._thread, _force, self._file)
            except OSError as error:
                waiting.set_exception(self._cannot(error))
                waiting.exception()  # for those who wait; without any, asyncio would report an error that was never read
            else:
                waiting.set_result(None)
        self._forcing = None

    def _append(self, content: bytes) -> None:
        whole = os.fstat(self._file).st_size
        try:
            while content:
                content = content[os.write(self._file, content) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, whole)  # half a line would spoil the next one
            raise

    async def close(self, *, delete: bool = False) -> None:
        """Close the file when all is written; delete it if everything in it is stored elsewhere."""
        if self._forcing is not None:
            await self._forcing
        self._thread.shutdown()
        if delete:
            self._path.unlink(missing_ok=True)
        os.close(self._file)

    def _cannot(self, error: OSError) -> StoreError:
        return StoreError(f"journal {self._path} cannot be written: {error.strerror}; free some space, or make the folder writable")


_force = getattr(os, "fdatasync", os.fsync)
"""Where a system has no fdatasync, the times of the file are forced too."""


def made(folder: Path) -> Path:
    """A folder for journals, made if it is missing.

    Raises:
        StoreError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, error) from error
    return folder


def _unusable(folder: Path, error: OSError) -> StoreError:
    return StoreError(f"journal folder {folder} cannot be used: {error.strerror}; make it writable, or move the store")


@contextmanager
def starting(store: Store) -> Iterator[Path]:
    """The journal folder, held so that only one run at a time looks for leftovers and starts.

    Raises:
        StoreError: the folder cannot be made.
    """
    folder = made(store.journals)
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _unusable(folder, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)
