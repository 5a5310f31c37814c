"""From paths to a filled store.

Worker processes read; this process checks and writes. A file's rows go into one transaction, many files share one. Stopped at any
moment, the store holds whole files only, and the next start takes in the rest.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Final

from ingest.adapters import adapter
from ingest.files.worker import Chunk, FileToRead, FoundFile, KnownPath, SourceSearch, read_chunk, search, start_reader, unreadable
from ingest.files.writer import IngestProgress, Report, Writer, known_sources
from ingest.reading.adapter_types import Adapter
from schemas.common.cluster import cores, is_used
from schemas.common.errors import CotraceError
from schemas.common.processes import worker_pool
from schemas.common.text import printable
from schemas.store.batches import Struck
from schemas.store.store import Store

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


_PORTION_BYTES: Final = 4 << 20
_PORTION_FILES: Final = 64
_MANY_TURNS: Final = 10_000
"""Below, it costs an ingest 150 to 200 ms to find out ahead what follows from the turns, and a reader a third of that at most."""


def ingest_paths(  # noqa: PLR0913
    paths: Sequence[str | Path],
    store: Store,
    *,
    log_format: str | Adapter | None = None,
    workers: int | None = None,
    on_progress: Callable[[IngestProgress], None] | None = None,
    receipts: bool = True,
) -> Report:
    """Read logs into a store, which is made if it does not exist.

    Args:
        paths: files, and folders to search. What is named itself must be a log; other files in folders are only counted.
        store: where to.
        log_format: the only format to read, by name or as an adapter; by default formats are recognised by content.
        workers: processes that read; by default one for each core.
        on_progress: called after each portion of files.
        receipts: compare what was read with the raw file; takes two fifths of the time, and logs that this process wrote do without.

    Raises:
        UsageError: none of the paths exists, or there is no such format.
        StoreError: the store cannot be written.
        CotraceError: a worker process was killed.
    """
    started = time.perf_counter()
    if isinstance(log_format, str):
        adapter(log_format)
    found = search(paths)
    store = store.whole  # a log that has changed takes the place of its games, wherever they lie
    is_new = not store.exists()
    store.create()
    report = Report(found=len(found.files) + len(found.unreadable), missing=found.missing)
    report.others += [(printable(other.found.path), other.reason) for other in found.others]
    writer = Writer(store, report)
    progress = _Counter(found.files, on_progress)
    known = {} if is_new else _known(store)
    writer.add(Chunk([unreadable(missed, known.get(missed.found.stored_path)) for missed in found.unreadable], Struck(), 0.0, 0.0))
    files = found.files
    while files:
        jobs = [FileToRead(file, known.get(file.stored_path), receipts) for file in files]
        for chunk in read_portions(list(_portions(jobs)), log_format, workers or cores()):
            writer.add(chunk)
            progress.count(chunk)
        files = [orphan.found for orphan in writer.finish()]
        known = _known(store) if files else known
    writer.finish()
    if report.rows.get("turns", 0) >= _MANY_TURNS:
        Store.settle(store)
    else:
        store.come_to_rest()
    report.without_logs = list(_without_logs(paths, found, report))
    report.timing.wall_s = time.perf_counter() - started
    return report


def _without_logs(paths: Sequence[str | Path], found: SourceSearch, report: Report) -> Iterator[str]:
    """Named folders in which no file was read, is known already, or was refused."""
    left_alone = {path for path, _ in report.others}
    tried = [file.path for file in found.files if printable(file.path) not in left_alone]
    tried += [missed.found.path for missed in found.unreadable]
    for path in paths:
        folder = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
        if os.path.isdir(folder) and not any(Path(one).is_relative_to(folder) for one in tried):  # noqa: PTH112 - Path's raises
            yield printable(folder)


def _known(store: Store) -> dict[str, KnownPath]:
    with store.reading() as connection:
        return known_sources(connection)


def _portions(jobs: Sequence[FileToRead]) -> Iterator[list[FileToRead]]:
    portion: list[FileToRead] = []
    size = 0
    for job in jobs:
        if portion and (len(portion) == _PORTION_FILES or size + job.found.size > _PORTION_BYTES):
            yield portion
            portion, size = [], 0
        portion.append(job)
        size += job.found.size
    if portion:
        yield portion


class _Counter:
    """Tells how far the reading is."""

    def __init__(self, files: Sequence[FoundFile], on_progress: Callable[[IngestProgress], None] | None) -> None:
        self._tell = on_progress
        self._done = IngestProgress(0, len(files), 0, sum(file.size for file in files))

    def count(self, chunk: Chunk) -> None:
        """Count a portion as done."""
        self._done = replace(
            self._done,
            files_done=min(self._done.files_done + len(chunk.files), self._done.files_total),
            bytes_done=min(self._done.bytes_done + sum(file.found.size for file in chunk.files), self._done.bytes_total),
        )
        if self._tell is not None:
            self._tell(self._done)
