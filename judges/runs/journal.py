"""The journal of a run: every answer is on record here before it counts, so that a kill at any moment loses none that had arrived.

A run writes `<store>.journal/<judge_run_id>.jsonl`: a line about the run, then a line a call. The store gets the verdicts in batches; when
all of them are in, the journal is deleted. A journal that is found without its process (it holds a lock on the file) is what a killed run
left behind: `leftovers` gives it out to be stored. One that cannot be read, or stored, is set aside: it does not stop other runs.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import TypeAdapter, ValidationError

from schemas.errors import StoreError, UsageError
from schemas.records import JudgeRun
from schemas.store import Store

__all__ = ["CallRecord", "Journal", "Leftover", "RunRecord", "folder_of", "leftovers", "set_aside", "starting"]

_LOG = logging.getLogger(__name__)


class RunRecord(NamedTuple):
    """What is needed to turn a run's calls into rows, without the rubric's file."""

    run: JudgeRun
    scores: Mapping[str, float | None]
    """Answer -> score."""
    process: int

    def is_same_job(self, other: JudgeRun) -> bool:
        """Whether both would write the same verdicts."""
        mine = self.run
        return (mine.rubric, mine.rubric_hash, mine.variant, mine.judge) == (other.rubric, other.rubric_hash, other.variant, other.judge)


class CallRecord(NamedTuple):
    """What came of one call."""

    unit_id: str
    unit_hash: str
    episode_id: str
    turn: int | None
    agent: str | None
    repeat: int
    status: str
    """answered, failed or skipped."""
    answers: list[tuple[str, str | None, str | None]]
    """(question, answer, reason); without answers, the questions with the reason why there are none."""
    requests: int
    tokens_in: int
    tokens_out: int
    flagged: str | None = None
    """As in `judges.evidence.injection.flags`."""


_RUN = TypeAdapter(RunRecord)
_CALL = TypeAdapter(CallRecord)


class Leftover(NamedTuple):
    """The journal of a run that was killed."""

    path: Path
    record: RunRecord | None
    """None: its first line cannot be read."""
    calls: list[CallRecord]
    """Those of lines that can be read."""
    damage: str | None = None
    """Why the first line that cannot be read cannot; None if all can."""


class Journal:
    """The journal of the run under way."""

    def __init__(self, path: Path, record: RunRecord) -> None:
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._append(record)

    def write(self, record: CallRecord) -> None:
        """Put the call on record; it outlives the process from here on.

        Raises:
            StoreError: the disk is full, or the like.
        """
        self._append(record)

    def close(self, *, delete: bool) -> None:
        """Close the journal; delete it if everything in it is in the store."""
        if delete:
            self._path.unlink(missing_ok=True)
        os.close(self._file)

    def _append(self, record: tuple[Any, ...]) -> None:
        line = orjson.dumps(record, default=tuple, option=orjson.OPT_APPEND_NEWLINE)
        try:
            written = os.write(self._file, line)
        except OSError as error:
            raise StoreError(f"journal {self._path} cannot be written: {error.strerror}; free some space and start again") from error
        if written < len(line):
            raise StoreError(f"journal {self._path} cannot be written in full: free some space and start again")


def folder_of(store: Store) -> Path:
    """Where the journals of runs on this store lie."""
    return Path(f"{store.path}.journal")


@contextmanager
def starting(store: Store) -> Iterator[Path]:
    """The journal folder, held so that only one run at a time looks for leftovers and starts.

    Raises:
        StoreError: the folder cannot be made.
    """
    folder = folder_of(store)
    try:
        folder.mkdir(exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreError(f"journal folder {folder} cannot be used: {error.strerror}; make it writable, or move the store") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)


def leftovers(folder: Path, about_to_start: JudgeRun) -> Iterator[Leftover]:
    """The journals of killed runs, oldest first.

    Raises:
        UsageError: a run that would write the same verdicts is under way.
    """
    for path in sorted(folder.glob("*.jsonl"), key=lambda p: p.stat().st_mtime_ns):
        file = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            record, *_ = _read(path)
            if record is not None and record.is_same_job(about_to_start):
                raise UsageError(
                    f"rubric {record.run.rubric} is being scored by {record.run.judge} on this store already (process {record.process}): "
                    "wait for it, or stop it first"
                ) from None
            continue
        else:
            found = Leftover(path, *_read(path))
            if found.record is None and found.damage is None:  # killed before it asked anything
                path.unlink(missing_ok=True)
            else:
                yield found
        finally:
            os.close(file)


def set_aside(leftover: Leftover, why: str) -> None:
    """Move a journal out of the way of later runs, and warn of it: not everything in it is in the store."""
    path = leftover.path.with_name(f"{leftover.path.name}.damaged")
    leftover.path.rename(path)
    _LOG.warning(
        "warning: the journal of an interrupted run cannot all be stored (%s); the rest is asked again, and it lies in %s", why, path
    )


def _read(path: Path) -> tuple[RunRecord | None, list[CallRecord], str | None]:
    """Everything on record, and what is wrong with the first line that is no record; a last line that was cut off is left out."""
    calls: list[CallRecord] = []
    record, damage = None, None
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        try:
            if number == 1:
                record = _RUN.validate_json(line)
            else:
                calls.append(_CALL.validate_json(line))
        except ValidationError as error:
            damage = damage or f"line {number}: {error.errors()[0]['msg']}"
    return record, calls, damage
