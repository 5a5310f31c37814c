"""Reads portions of files in worker processes, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Final

from ingest.files.worker import Chunk, FileToRead, read_chunk, start_reader
from ingest.reading.adapter_types import Adapter
from schemas.cluster import is_used
from schemas.errors import CotraceError
from schemas.processes import worker_pool

__all__ = ["read_portions"]

_AHEAD: Final = 2
_AHEAD_BYTES: Final = 32 << 20
"""So many portions, and so much of small ones, wait for each worker: enough to keep it busy while a transaction is written, few enough to
stay in memory."""

_POOL_FROM_BYTES: Final = 16 << 20
"""Below this much input a pool takes longer to start than it saves."""


def read_portions(portions: Sequence[Sequence[FileToRead]], reader: str | Adapter | None, workers: int) -> Iterator[Chunk]:
    """Read portions one after the other, as many at once as there are workers; `reader`: the only format, by name or as an adapter.

    Raises:
        CotraceError: a worker process was killed.
    """
    size = sum(job.found.size for portion in portions for job in portion)
    if not is_used() and (workers == 1 or len(portions) == 1 or size < _POOL_FROM_BYTES):
        return (read_chunk(portion, reader) for portion in portions)
    return _in_processes(portions, reader, max(1, min(workers, len(portions))))


def _in_processes(portions: Sequence[Sequence[FileToRead]], reader: str | Adapter | None, workers: int) -> Iterator[Chunk]:
    waiting: deque[tuple[Future[Chunk], int]] = deque()
    ahead = 0
    try:
        with worker_pool(workers, start=start_reader) as pool:
            for portion in portions:
                size = sum(job.found.size for job in portion)
                waiting.append((pool.submit(read_chunk, portion, reader), size))
                ahead += size
                while len(waiting) >= workers * _AHEAD and ahead >= workers * _AHEAD_BYTES:
                    ahead -= waiting[0][1]
                    yield waiting.popleft()[0].result()
            while waiting:
                yield waiting.popleft()[0].result()
    except BrokenProcessPool as error:
        raise CotraceError(
            "a process that read logs was killed, perhaps for lack of memory: what was read before is in the store; "
            "start again with one worker, and leave out very large files"
        ) from error
