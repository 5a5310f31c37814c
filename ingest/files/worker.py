"""Which files there are, named ones and those in named folders, and reading them into Arrow tables; runs in the worker processes."""

from __future__ import annotations

import errno
import gc
import hashlib
import os
import stat
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ingest.adapters import LAST_FORMAT, adapter, companions, recognise
from ingest.files.recognition import HEAD_BYTES, MOST_BYTES, by_contents, judge_unknown, readable, unpacked, why_no_log
from ingest.reading.adapter_types import Adapter, Place, Reading, unexpected
from ingest.reading.text import is_whole, utf8
from ingest.receipts import family_receipts, losses, receipts
from schemas.common.errors import BadInputError, UsageError
from schemas.common.processes import start_worker
from schemas.common.text import excerpt, printable, use_secrets_of_environment, without_secrets
from schemas.records import Receipt
from schemas.store.batches import Coded, Struck, to_arrow

if TYPE_CHECKING:
    import pyarrow as pa


_JOURNAL: Final = ".journal"
"""Next to the logs of a run that was not finished: what players have answered, so that nothing is paid twice."""
_IRREGULAR: Final = "neither a file nor a folder (a pipe, socket or device): name a log file"
_LEADS_OUT: Final = "a link that leads out of the folder, not followed: name the link itself to have it read"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file."""

    path: str
    """Absolute path; links are not resolved."""
    file: str
    """Path relative to the named folder; the name alone where the file itself was named."""
    size: int
    """Bytes."""
    named: bool
    """The user named this very file."""

    @property
    def stored_path(self) -> str:
        """The path as the store holds it: printable, and where that changes it, distinguished from others by a hash."""
        shown = printable(self.path)
        if shown == self.path:
            return shown
        return f"{shown} #{hashlib.sha256(self.path.encode(errors='surrogateescape')).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Missed:
    """Something that is there but cannot be read as a log, and why."""

    found: FoundFile
    reason: str


@dataclass(slots=True)
class SourceSearch:
    """What a search found, each list sorted by path."""

    files: list[FoundFile] = field(default_factory=list)
    others: list[Missed] = field(default_factory=list)
    """Not logs: hidden folders, pipes, folders that were already searched under another name."""
    unreadable: list[Missed] = field(default_factory=list)
    """Could hold logs, but cannot be looked at."""
    missing: list[str] = field(default_factory=list)
    """Named paths where nothing is, printable."""


def search(paths: Sequence[str | Path]) -> SourceSearch:
    """Find the files under paths. Named links are followed, and in a named folder those that stay in it; each folder is searched once.

    Raises:
        UsageError: none of the paths exists.
    """
    found = SourceSearch()
    seen_folders: set[tuple[int, int]] = set()
    for path in paths:
        _named(os.path.abspath(path), found, seen_folders)  # noqa: PTH100  # resolve() would follow links
    if found.missing and len(found.missing) == len(paths):
        raise UsageError(f"no file or folder {', '.join(found.missing)}: check the path")
    found.files = list({file.path: file for file in reversed(found.files)}.values())
    found.files.sort(key=lambda file: file.path)
    return found


def _named(path: str, found: SourceSearch, seen_folders: set[tuple[int, int]]) -> None:
    this = FoundFile(path=path, file=Path(path).name, size=0, named=True)
    try:
        status = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        found.missing.append(printable(path))
        return
    except OSError as error:
        found.unreadable.append(Missed(this, cannot_read(error)))
        return
    if stat.S_ISDIR(status.st_mode):
        _folder(path, found, seen_folders)
    elif stat.S_ISREG(status.st_mode):
        found.files.append(replace(this, size=status.st_size))
    else:
        found.unreadable.append(Missed(this, _IRREGULAR))


def _folder(top: str, found: SourceSearch, seen: set[tuple[int, int]]) -> None:
    """Search a folder and those in it; not recursive, since a tree may be deeper than Python's stack."""
    waiting = [FoundFile(path=top, file=".", size=0, named=True)]
    while waiting:
        folder = waiting.pop()
        try:
            status = Path(folder.path).stat()
            entries = sorted(os.scandir(folder.path), key=lambda entry: entry.name)
        except OSError as error:
            found.unreadable.append(Missed(folder, cannot_read(error)))
            continue
        if (status.st_dev, status.st_ino) in seen:
            found.others.append(Missed(folder, "a folder that was already searched"))
            continue
        seen.add((status.st_dev, status.st_ino))
        waiting.extend(_inner_folders(top, entries, found))


def _inner_folders(top: str, entries: Sequence[os.DirEntry[str]], found: SourceSearch) -> Iterator[FoundFile]:
    inside = os.path.join(os.path.realpath(top), "")  # noqa: PTH118 - with a separator at the end
    for entry in entries:
        this = FoundFile(path=entry.path, file=os.path.relpath(entry.path, top), size=0, named=False)
        try:
            status = entry.stat()
        except OSError as error:
            found.unreadable.append(Missed(this, cannot_read(error)))
            continue
        if entry.is_symlink() and not os.path.join(os.path.realpath(entry.path), "").startswith(inside):  # noqa: PTH118
            found.unreadable.append(Missed(this, _LEADS_OUT))
        elif entry.name == _JOURNAL:
            found.others.append(Missed(this, "replies that cotrace has stored of games that were not finished"))
        elif stat.S_ISREG(status.st_mode):
            found.files.append(replace(this, size=status.st_size))
        elif not stat.S_ISDIR(status.st_mode):
            found.others.append(Missed(this, _IRREGULAR))
        elif entry.name.startswith("."):
            found.others.append(Missed(this, "a hidden folder, not searched: name it to have it searched"))
        else:
            yield this


def cannot_read(error: OSError) -> str:
    """Why a file or folder cannot be read, and the fix."""
    if isinstance(error, FileNotFoundError):
        return "a link that leads nowhere: fix or remove it"
    if error.errno == errno.ELOOP:
        return "a link that leads back to itself: remove it"
    return f"cannot be read ({error.strerror or error}): make it readable (chmod u+r)"


Status = Literal["read", "unchanged", "other"]

_LISTED_KEYS: Final = 8
_MOST_FAULTY_LINES: Final = 20
"""Lines on which a reader fails unforeseen, each of which costs some twelve readings of the file to find."""
_LEFT_OVER: Final = 2_000_000
"""So many unreleased objects are looked through for cycles: more than a portion's rows and what is stored between portions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPath:
    """What the store has of a path."""

    source_id: str
    format: str | None
    adapter_version: int | None
    episodes: int = 0
    rejects: frozenset[tuple[str, str]] = frozenset()
    """Locator and reason of each part that was refused: such a file is read again at every ingest, since its reader may be fixed."""


@dataclass(frozen=True, slots=True)
class FileToRead:
    """A file to read."""

    found: FoundFile
    known: KnownPath | None
    receipts: bool = True


@dataclass(slots=True, kw_only=True)
class FileResult:
    """What became of one file."""

    found: FoundFile
    status: Status
    source_id: str = ""
    """sha256 of the bytes; of the path where the file could not be read; empty for other files."""
    format: str | None = None
    adapter_version: int | None = None
    size: int | None = None
    """Bytes; None if the file could not be read."""
    known: KnownPath | None = None
    """What the store had of its path before."""
    episodes: list[str] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    """As in `Reading`."""
    turns: int = 0
    rejects: list[BadInputError] = field(default_factory=list)
    note: str = ""
    """What other file it is, where it gives no episode and no reject."""
    notes: list[str] = field(default_factory=list)
    """What is reported of it though nothing is lost."""
    receipt: list[Receipt] = field(default_factory=list)
    """What it holds against what is stored, of a file of conversations."""

    def refuse(self, reason: BadInputError) -> None:
        """Take nothing from the file after all."""
        self.episodes, self.turns, self.rejects = [], 0, [reason]


@dataclass(slots=True)
class Chunk:
    """What became of some files, and their rows."""

    files: list[FileResult]
    tables: Struck[pa.Table]
    """Store table -> rows of all files of the chunk; `sources` and `rejects` are not among them."""
    read_s: float
    """Time spent on reading, decoding and building tables, in seconds."""
    replay_s: float
    """Time spent on replaying, in seconds."""


def start_reader() -> None:
    """Prepare a worker process: cycles are looked for seldom, and OpenBLAS, which nothing here needs, starts no threads."""
    start_worker()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.freeze()
    gc.set_threshold(_LEFT_OVER)


def read_chunk(jobs: Sequence[FileToRead], forced_reader: str | Adapter | None) -> Chunk:
    """Read some files, with the only adapter or that of a format. No fault of a file reaches the others: it becomes a reject."""
    forced = adapter(forced_reader) if isinstance(forced_reader, str) else forced_reader
    with _without_collector():
        started = time.perf_counter()
        use_secrets_of_environment()
        results: list[FileResult] = []
        readings: list[Reading] = []
        for job in jobs:
            result, reading = _read(job, forced)
            results.append(result)
            readings.append(reading)
        tables = _tables(results, readings)
        replay_s = sum(reading.replay_s for reading in readings)
        return Chunk(results, tables, time.perf_counter() - started - replay_s, replay_s)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Rows hold no cycles, yet so many live at once that looking for cycles takes as long as the reading itself."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def unreadable(missed: Missed, known: KnownPath | None) -> FileResult:
    """What becomes of something that cannot be opened: a reject, distinguished by its path since there are no bytes."""
    path_hash = hashlib.sha256(missed.found.path.encode(errors="surrogateescape")).hexdigest()
    result = FileResult(found=missed.found, status="read", source_id=path_hash, rejects=[BadInputError(missed.reason)])
    return unless_known(result, known)


def _read(job: FileToRead, forced: Adapter | None) -> tuple[FileResult, Reading]:
    try:
        return _opened(job, forced)
    except OSError as error:
        return unreadable(Missed(job.found, cannot_read(error)), job.known), Reading()


def _opened(job: FileToRead, forced: Adapter | None) -> tuple[FileResult, Reading]:
    found = job.found
    with Path(found.path).open("rb") as file:
        head = file.read(HEAD_BYTES)
        data = unpacked(head if found.size > MOST_BYTES else head + file.read())
    head = readable(data[:HEAD_BYTES])
    contents = cache(partial(by_contents, readable(data)))  # looks at all of the file
    reader, inner = recognise(head) if forced is None else forced if found.named or forced.sniff(head) else None, None
    if (reader is None or (forced is None and reader.FORMAT == LAST_FORMAT)) and found.size <= MOST_BYTES:
        other, inside = contents()
        if other is not None and forced in {None, other}:
            reader, inner = other, inside
    if reader is None or found.size > MOST_BYTES:
        return _unread(job, data, reader), Reading()
    result, reading = _decoded(job, data, reader, inner)
    if forced is None and inner is None and result.rejects and not reading.episodes:  # the beginning looked like another format
        other, inner = contents()
        if other is not None and other.FORMAT != LAST_FORMAT and (inner is not None or other is not reader):
            return _decoded(job, data, other, inner)
    return result, reading


def _unread(job: FileToRead, data: bytes, reader: Adapter | None) -> FileResult:
    found = job.found
    if reader is not None:
        reason = f"{found.size:,} bytes are more than cotrace reads at once ({MOST_BYTES:,}): split the file by games"
        return unreadable(Missed(found, reason), job.known)
    verdict = judge_unknown(readable(data), found.file, is_all=found.size <= MOST_BYTES)
    if not verdict.is_log and not found.named:
        return FileResult(found=found, status="other", size=found.size, note=verdict.reason)
    reason = why_no_log(verdict.reason, found.file) if found.named else verdict.reason
    reject = BadInputError(reason, excerpt=excerpt(data[:200].decode(errors="replace")))
    with Path(found.path).open("rb") as file:
        source_id = hashlib.file_digest(file, "sha256").hexdigest()
    return unless_known(FileResult(found=found, status="read", source_id=source_id, size=found.size, rejects=[reject]), job.known)


def unless_known(result: FileResult, known: KnownPath | None) -> FileResult:
    """The result, or that nothing has changed since the store took the file in: the same bytes, reader, and refused parts."""
    result.known = known
    refused = frozenset((reject.locator, printable(reject.reason)) for reject in result.rejects)
    if _is_same_file(result, known) and known is not None and (known.episodes, known.rejects) == (len(result.episodes), refused):
        result.status, result.rejects = "unchanged", []
    return result


_OWN_FORMAT: Final = "cotrace"
"""cotrace's own log of any family: messages of players are all in it, and counted. Published logs of families are checked by replay."""
_RAW_OF_OWN: Final = ("replies", "raw", "goal")
"""Its keys for a model's reply before it was taken apart into thought, message and action, and for the score that a game could reach."""


def _is_same_file(result: FileResult, known: KnownPath | None) -> bool:
    same = (result.source_id, result.format, result.adapter_version)
    return known is not None and (known.source_id, known.format, known.adapter_version) == same


def _decoded(job: FileToRead, data: bytes, reader: Adapter, inner: bytes | None = None) -> tuple[FileResult, Reading]:
    found = job.found
    last: int = getattr(reader, "PATH_PARTS", 0)
    parts = Path(found.path).parts[-last:] if last else ()
    result = FileResult(
        found=found,
        status="read",
        source_id=hashlib.sha256(data + "/".join(parts).encode(errors="surrogateescape") + _companions(found, reader)).hexdigest(),
        format=reader.FORMAT,
        adapter_version=reader.VERSION,
        size=len(data),
    )
    if _is_same_file(result, job.known) and job.known is not None and not job.known.rejects:
        result.status = "unchanged"
        return result, Reading()
    place = Place(path=found.stored_path, file=printable(found.file), source_id=result.source_id)
    reading = _guarded(data if inner is None else inner, reader, place)
    is_own = reader.FORMAT == _OWN_FORMAT
    if job.receipts and reading.episodes and not reading.messages and not is_own:
        result.receipt = family_receipts(utf8(data), reading, result.source_id, place.path)
        reading.rejects += (
            () if reading.rejects else losses(result.receipt)
        )  # a game that was refused has lost its messages, as is reported
    elif job.receipts and (reading.messages or is_own):
        others = companions(reader, Path(found.path)) if getattr(reader, "READS_COMPANIONS", False) else ()
        for raw, path in ((data, place.path), *((other.read_bytes(), printable(str(other))) for other in others)):
            text = b""
            with suppress(BadInputError):  # bytes that do not decode: the reject of the file tells that
                text = utf8(raw)
            if text:
                result.receipt += receipts(text, reading, result.source_id, path, _RAW_OF_OWN if is_own else ())
        is_known = is_own and bool(reading.rejects)  # what a damaged line of our own log held is lost with it
        reading.rejects += [*_unread_messages(reading)] or ([] if is_known else [*losses(result.receipt)])
    result.turns, result.rejects, result.note, result.notes = reading.turns, reading.rejects, reading.note, reading.notes
    result.episodes = [str(episode) for episode in without_secrets(reading.episodes)]  # as they stand in the tables
    result.places = dict(zip(map(str, without_secrets(list(reading.places))), reading.places.values(), strict=True))
    return (result, Reading()) if unless_known(result, job.known).status == "unchanged" else (result, reading)


def _unread_messages(reading: Reading) -> Iterator[BadInputError]:
    """That messages came out empty although the log has something under other keys, or that most of a file's did."""
    if reading.unread or reading.empty * 2 > reading.messages > 1:
        keys = ", ".join(excerpt(key, 40) for key, _ in reading.unread.most_common(_LISTED_KEYS))
        left = f"; keys not read: {keys}" if keys else ""
        yield BadInputError(
            f"{reading.empty} of {reading.messages} messages have no text and no call{left}; the rest of the file was read; a mapping can "
            "name the keys of rows of your own (docs/formats/chat_lines.md)"
        )


def _companions(found: FoundFile, reader: Adapter) -> bytes:
    """Hashes of the files that this one is read with: one that comes later, or changes, makes it another source."""
    files = companions(reader, Path(found.path))
    return b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)


def _guarded(data: bytes, reader: Adapter, place: Place) -> Reading:
    """Read one file; the boundary at which anything that goes wrong becomes a reject of this file."""
    try:
        return reader.read(utf8(data), place)
    except BadInputError as error:
        return Reading(rejects=[error])
    except RecursionError:
        return Reading(rejects=[BadInputError("nested deeper than any game log: this is not a log, or it is damaged")])
    except OverflowError:  # of numbers so large no part can be taken
        return Reading(rejects=[BadInputError("a number so large that nothing can be reckoned with it: is the log damaged?")])
    except Exception as error:  # noqa: BLE001  # one file's surprise must not cost the others
        return _without_faulty_lines(utf8(data), reader, place, error)


def _without_faulty_lines(data: bytes, reader: Adapter, place: Place, error: Exception) -> Reading:
    """What a reader takes from the lines on which it does not fail unforeseen; each of the others is a reject with its place.

    The first faulty line is found by reading the beginning of the file, halved again and again. A document that is not of lines is lost as
    a whole: its reader has to guard its games (`Reading.take`).
    """
    lines = data.split(b"\n")
    rejects: list[BadInputError] = []
    is_text = b"\0" not in data[:HEAD_BYTES] and data.lstrip()[:1] not in {b"{", b"["}
    while len(rejects) < _MOST_FAULTY_LINES and (is_text or any(map(is_whole, lines[:2]))):
        good, bad = 0, len(lines)
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (good, middle) if isinstance(_try(lines[:middle], reader, place), Exception) else (middle, bad)
        rejects.append(unexpected(error, f"line {bad}"))
        lines[bad - 1] = b""
        found = _try(lines, reader, place)
        if isinstance(found, Reading):
            found.rejects = found.rejects + rejects if found.episodes else rejects
            return found
        error = found
    return Reading(rejects=[unexpected(error)])


def _try(lines: Sequence[bytes], reader: Adapter, place: Place) -> Reading | Exception:
    """What a reader takes from some lines, or the exception that it did not foresee."""
    try:
        return reader.read(b"\n".join(lines), place)
    except BadInputError as error:
        return Reading(rejects=[error])
    except Exception as error:  # noqa: BLE001  # it is looked for
        return error


def _tables(results: Sequence[FileResult], readings: Sequence[Reading]) -> Struck[pa.Table]:
    """The rows of all readings; where they do not fit the tables' types, the files whose rows do not are rejected."""
    try:
        return to_arrow(*_rows(readings))
    except Exception:  # noqa: BLE001  # the faulty file is found below
        for result, reading in zip(results, readings, strict=True):
            try:
                to_arrow(reading.rows, reading.coded)
            except Exception as error:  # noqa: BLE001  # becomes the file's reject
                reading.rows.clear()
                reading.coded.clear()
                result.refuse(error if isinstance(error, BadInputError) else unexpected(error))
        return to_arrow(*_rows(readings))


def _rows(readings: Sequence[Reading]) -> tuple[dict[str, list[tuple[object, ...]]], dict[str, list[Coded]]]:
    rows: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    coded: dict[str, list[Coded]] = defaultdict(list)
    for reading in readings:
        for table, records in reading.rows.items():
            rows[table] += records
        for table, parts in reading.coded.items():
            coded[table] += parts
    return rows, coded
