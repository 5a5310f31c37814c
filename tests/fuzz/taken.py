"""Gives variants of a file to the command that reads such files, each in a folder of its own, and tells what became of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from ingest.files.run import ingest_paths
from ingest.files.writer import Report
from ingest.foreign.chat_lines import MappedChat
from ingest.labels.load import import_labels
from ingest.reading.adapter_types import Adapter
from judges.rubric_files.load import known_answers
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.fuzz.specimens import ReadAs, Specimen
from tests.judges.judged_games import store_of

_OWN_FAULT: Final = "please report"


class Became(NamedTuple):
    """What became of files, by their numbers."""

    rejected: frozenset[int]
    """In part or whole."""

    stored: frozenset[int]
    """Of which the store has anything in the end."""

    own_fault: str | None = None
    """A reject that cotrace calls its own fault."""

    def outcome(self, number: int) -> str:
        """In two words, of one file."""
        return "rejected" if number in self.rejected else "read" if number in self.stored else "left alone"


def became_of(specimen: Specimen, variants: Sequence[bytes], folder: Path) -> Became:
    """Read variants of a specimen, in an empty folder, which is used up."""
    return _READ[specimen.read_as](specimen, variants, folder)


def _written(specimen: Specimen, variants: Sequence[bytes], folder: Path) -> list[Path]:
    """The paths of the variants. A log beside a damaged file gets its number of blank lines: equal logs are read once."""
    return [
        replace(specimen, beside={name: _padded(other, number) for name, other in specimen.beside.items()}).write(
            folder / f"{number:04}", data
        )
        for number, data in enumerate(variants)
    ]


def _padded(data: bytes, number: int) -> bytes:
    return data + b"\n" * number if data.startswith(b"{") else data


def _number(path: str | Path, folder: Path) -> int:
    return int(Path(path).relative_to(folder).parts[0])


def _logs(specimen: Specimen, variants: Sequence[bytes], folder: Path) -> Became:
    logs, store = folder / "logs", Store(folder / "store.duckdb")
    _written(specimen, variants, logs)
    for name, data in specimen.above.items():
        (logs / name).write_bytes(data)
    report = ingest_paths([logs], store, log_format=_reader(specimen, folder), workers=1)
    with store.reading() as connection:
        rows = connection.execute("SELECT DISTINCT split_part(file, '/', 1) FROM episodes").fetchall()
    rejected = frozenset(_number(reject.path, logs) for reject in report.rejected)
    return Became(rejected, frozenset(int(place) for (place,) in rows), _own_fault(report))


def _reader(specimen: Specimen, folder: Path) -> Adapter | None:
    if not specimen.mapping:
        return None
    path = folder / "map.yaml"
    path.write_text(specimen.mapping, encoding="utf-8")
    return MappedChat.of(path)


def _own_fault(report: Report) -> str | None:
    return next((reject.reason for reject in report.rejected if _OWN_FAULT in reject.reason), None)


def _labels(specimen: Specimen, variants: Sequence[bytes], folder: Path) -> Became:
    """Each file is imported into the store of two games; a line of its own says why one cannot be, or what of it."""
    store = store_of(folder / "store.duckdb", games=2)
    rejected: set[int] = set()
    known = known_answers()
    for number, path in enumerate(_written(specimen, variants, folder / "labels")):
        try:
            report = import_labels(path, store, known)
        except UsageError:
            rejected.add(number)
        else:
            rejected |= {number} if report.refused else set()
    with store.reading() as connection:
        rows = connection.execute("SELECT DISTINCT source FROM labels WHERE contains(source, '/')").fetchall()
    home = (folder / "labels").resolve()
    return Became(frozenset(rejected), frozenset(_number(source.removeprefix("planted:"), home) for (source,) in rows))


def _mappings(specimen: Specimen, variants: Sequence[bytes], folder: Path) -> Became:
    """Each variant is a mapping, by which the files beside it are read."""
    rejected: set[int] = set()
    stored: set[int] = set()
    own_fault = None
    for number, path in enumerate(_written(specimen, variants, folder / "maps")):
        logs = [path.parent / name for name in specimen.beside]
        store = Store(folder / f"{number}.duckdb")
        try:
            report = ingest_paths(logs, store, log_format=MappedChat.of(path), workers=1)
        except UsageError:
            rejected.add(number)
            continue
        own_fault = own_fault or _own_fault(report)
        rejected |= {number} if report.rejected else set()
        stored |= {number} if report.episodes else set()
    return Became(frozenset(rejected), frozenset(stored), own_fault)


_READ: Final[Mapping[ReadAs, Callable[[Specimen, Sequence[bytes], Path], Became]]] = {
    "log": _logs,
    "labels": _labels,
    "mapping": _mappings,
}
