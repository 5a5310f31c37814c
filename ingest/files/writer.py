"""Checks what was read and writes it to the store, many files in one transaction."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from ingest.files.worker import Chunk, FileResult, KnownPath, unless_known
from schemas.common.errors import BadInputError, StoreError
from schemas.common.text import excerpt, printable
from schemas.records import Reject, Source
from schemas.store.batches import Fault, Struck, faults, to_arrow
from schemas.store.store import Store, Transaction
from schemas.tables import TABLES, table

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    import pyarrow as pa

_RETAINED: Final = frozenset({"verdicts", "labels", "notes", "claims"})
"""Verdicts and what models read hang on what they were shown, labels on people: they outlive a game's rows."""

_DERIVED: Final = tuple(spec.name for spec in TABLES if "episode_id" in spec.column_names and spec.name not in _RETAINED)


@dataclass(slots=True)
class Loaded:
    """What became of the files of one transaction."""

    ingested: list[FileResult] = field(default_factory=list)
    replaced: list[FileResult] = field(default_factory=list)
    duplicates: list[tuple[FileResult, str]] = field(default_factory=list)
    """Files whose bytes the store has from another path, and that path."""
    rows: dict[str, int] = field(default_factory=dict)
    """Rows added to each table."""


def known_sources(connection: duckdb.DuckDBPyConnection) -> dict[str, KnownPath]:
    """What the store has of each path."""
    rows = connection.execute("SELECT path, source_id, format, adapter_version, episodes FROM sources").fetchall()
    rejects: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for source, locator, reason in connection.execute("SELECT source_id, locator, reason FROM rejects").fetchall():
        rejects[source].add((locator, reason))
    return {
        path: KnownPath(
            source_id=source, format=log_format, adapter_version=version, episodes=episodes, rejects=frozenset(rejects.get(source, ()))
        )
        for path, source, log_format, version, episodes in rows
    }


def load(transaction: Transaction, files: Sequence[FileResult], tables: Struck[pa.Table]) -> Loaded:
    """Put files into the store, as part of a transaction.

    A file replaces what the store had from its path. A file whose bytes the store has from another path is left out.
    """
    loaded = Loaded()
    outdated = _sort(transaction, files, loaded)
    unwanted = [episode for file, _ in loaded.duplicates for episode in file.episodes]
    tables = without_episodes(tables, unwanted)
    if outdated:
        _delete(transaction, outdated)
    taken = loaded.ingested + loaded.replaced
    rejects = [
        Reject(file.source_id, file.found.stored_path, reject.locator, printable(reject.reason), reject.excerpt)
        for file in taken
        for reject in file.rejects
    ]
    own = to_arrow(
        {"sources": [_source(file) for file in taken], "rejects": rejects, "receipts": [row for file in taken for row in file.receipt]}
    )
    runs = tables.get("runs")
    own.update({name: table for name, table in tables.items() if name != "runs" and len(table)})
    transaction.insert(own)
    loaded.rows = {name: len(table) for name, table in own.items()}
    if runs is not None:
        transaction.connection.register("runs_read", runs)
        new = transaction.connection.sql(
            "SELECT DISTINCT ON (run_id) * FROM runs_read "
            "WHERE run_id NOT IN (SELECT run_id FROM runs) AND run_id IN (SELECT run_id FROM episodes)"
        ).to_arrow_table()
        transaction.insert(Struck({"runs": new}))
        transaction.update(
            "runs", f"started_at = {_START}", f"run_id IN (SELECT run_id FROM runs_read) AND started_at IS DISTINCT FROM {_START}"
        )
        transaction.connection.unregister("runs_read")
        loaded.rows["runs"] = int(new.num_rows)
    return loaded


def _sort(transaction: Transaction, files: Sequence[FileResult], loaded: Loaded) -> list[str]:
    """Tell new, changed and doubled files apart; gives the ids of sources that are to be deleted."""
    stored = transaction.execute(
        "SELECT source_id, path, format, adapter_version FROM sources "
        "WHERE path IN (SELECT unnest($1::VARCHAR[])) OR source_id IN (SELECT unnest($2::VARCHAR[]))",
        [[file.found.stored_path for file in files], [file.source_id for file in files]],
    ).fetchall()
    by_path = {path: source_id for source_id, path, _, _ in stored}
    by_bytes = {source_id: (path, log_format, version) for source_id, path, log_format, version in stored}
    outdated: list[str] = []
    for file in files:
        path = file.found.stored_path
        before = by_path.pop(path, None)
        if before is not None:
            outdated.append(before)
            del by_bytes[before]
        twin = by_bytes.get(file.source_id)
        if twin is not None and twin[1:] == (file.format, file.adapter_version):
            loaded.duplicates.append((file, twin[0]))
            continue
        if twin is not None:  # the same bytes, read by an older adapter from another path
            outdated.append(file.source_id)
            del by_path[twin[0]]
        (loaded.ingested if before is None and twin is None else loaded.replaced).append(file)
        by_path[path], by_bytes[file.source_id] = file.source_id, (path, file.format, file.adapter_version)
    return outdated


def _delete(transaction: Transaction, source_ids: Sequence[str]) -> None:
    """Remove what came from sources: their episodes with all derived rows, rejects, labels they bring, and runs left without episodes."""
    transaction.execute(
        "CREATE OR REPLACE TEMP TABLE outdated AS SELECT episode_id FROM episodes WHERE source_id IN (SELECT unnest($1::VARCHAR[]))",
        [list(source_ids)],
    )
    transaction.delete("labels", "source = 'planted' AND episode_id IN (SELECT episode_id FROM outdated)")
    transaction.delete("claims", "reader NOT LIKE 'llm:%' AND episode_id IN (SELECT episode_id FROM outdated)")
    paths = "SELECT path FROM sources WHERE source_id IN (SELECT unnest($1::VARCHAR[]))"
    transaction.delete("labels", f"source IN ({paths})", [list(source_ids)])
    for name in _DERIVED:
        transaction.delete(name, "episode_id IN (SELECT episode_id FROM outdated)")
    for name in ("sources", "rejects", "receipts"):
        transaction.delete(name, "source_id IN (SELECT unnest($1::VARCHAR[]))", [list(source_ids)])
    transaction.delete("runs", "run_id NOT IN (SELECT run_id FROM episodes)")


_START: Final = "(SELECT min(started_at) FROM episodes WHERE episodes.run_id = runs.run_id)"


def without_episodes(tables: Struck[pa.Table], episodes: Sequence[str]) -> Struck[pa.Table]:
    """The tables without the rows of some episodes; runs all stay."""
    return _filtered(tables, episodes, keep=False) if episodes else Struck(tables)


def _filtered(tables: Struck[pa.Table], episodes: Sequence[str], *, keep: bool) -> Struck[pa.Table]:
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(episodes, pa.string())

    def rows(table: pa.Table) -> pa.Table:
        found = pc.is_in(table["episode_id"], value_set=wanted)
        return table.filter(found if keep else pc.invert(found))

    return Struck({name: table if name == "runs" else rows(table) for name, table in tables.items()})


def _source(file: FileResult) -> Source:
    return Source(
        source_id=file.source_id,
        path=file.found.stored_path,
        file=printable(file.found.file),
        format=file.format,
        adapter_version=file.adapter_version,
        bytes=file.size,
        episodes=len(file.episodes),
        rejected=len(file.rejects),
        ingested_at=datetime.now(UTC).replace(tzinfo=None),
    )


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """How far an ingest is."""

    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int


@dataclass(frozen=True, slots=True)
class RejectedPart:
    """A part of a file, or a whole file, that could not be used. All texts can be printed as they are."""

    path: str
    locator: str
    """Where in the file; empty for the whole file."""
    reason: str


@dataclass(slots=True)
class Timing:
    """Where the time went, in seconds. The first two are added up over all worker processes."""

    read_s: float = 0.0
    """Reading, decoding and building tables."""
    replay_s: float = 0.0
    validate_s: float = 0.0
    """Checking the rows with Pandera."""
    insert_s: float = 0.0
    """Writing to the store, opening and closing it included."""
    wall_s: float = 0.0
    """From start to end."""


@dataclass(slots=True)
class Report:
    """What an ingest did. Every file found is counted once: ingested, replaced, unchanged, duplicate, other or refused."""

    found: int = 0
    """Files, and folders that could not be looked into."""
    ingested: int = 0
    """Files new in the store that gave at least one episode."""
    replaced: int = 0
    """Files that had changed, grown or were read by an older cotrace, and gave at least one episode."""
    unchanged: int = 0
    """Files that the store has already as they are."""
    refused: int = 0
    """Files that gave no episode."""
    duplicates: list[tuple[str, str]] = field(default_factory=list)
    """Paths whose bytes the store has from another path, and that path."""
    others: list[tuple[str, str]] = field(default_factory=list)
    """Paths that are no game logs, and what they are."""
    missing: list[str] = field(default_factory=list)
    """Named paths where nothing is; the others were read."""
    without_logs: list[str] = field(default_factory=list)
    """Named folders in which there is not a single log."""
    rejected: list[RejectedPart] = field(default_factory=list)
    """Everything that could not be used, that of unchanged files included."""
    notes: list[tuple[str, str]] = field(default_factory=list)
    """Paths of files that were read, and what is reported of each though nothing was lost."""
    episodes: int = 0
    """Episodes added."""
    turns: int = 0
    """Turns added."""
    rows: dict[str, int] = field(default_factory=dict)
    """Rows added to each table."""
    timing: Timing = field(default_factory=Timing)

    @property
    def left_alone(self) -> list[tuple[str, str]]:
        """Paths that are no game logs or whose bytes the store has already, and why."""
        return [*self.others, *((path, f"has the bytes of {same}") for path, same in self.duplicates)]

    @property
    def is_clean(self) -> bool:
        """Whether nothing had to be rejected, and every named path was there and held a log."""
        return not self.rejected and not self.missing and not self.without_logs


_BATCH_ROWS: Final = 1_000_000
_BATCH_BYTES: Final = 128 << 20
"""Rows, and bytes in memory, after which a transaction is written. DuckDB compresses whole groups of 122,880 rows while they come in, and
rewrites the rest of each table with every transaction: half as many rows at once take half as long again, and a third more of the disk."""


class Writer:
    """Gathers portions, writes them, and makes the report."""

    def __init__(self, store: Store, report: Report) -> None:
        self._store = store
        self._report = report
        self._files: list[FileResult] = []
        self._tables: dict[str, list[pa.Table]] = {}
        self._waiting_rows = self._waiting_bytes = 0
        self._unchanged: list[str] = []
        self._duplicates: list[tuple[FileResult, str]] = []

    def add(self, chunk: Chunk) -> None:
        """Take a portion over; it is in the store at the latest after `flush`."""
        self._report.timing.read_s += chunk.read_s
        self._report.timing.replay_s += chunk.replay_s
        for file in chunk.files:
            self._sort(file)
        for name, rows in chunk.tables.items():
            self._tables.setdefault(name, []).append(rows)
            self._waiting_rows += len(rows)
            self._waiting_bytes += rows.nbytes
        if self._waiting_rows >= _BATCH_ROWS or self._waiting_bytes >= _BATCH_BYTES:
            self.flush()

    def _sort(self, file: FileResult) -> None:
        if file.status == "read":
            self._files.append(file)
        elif file.status == "unchanged":
            self._report.unchanged += 1
            self._unchanged.append(file.source_id)
        else:
            self._report.others.append((printable(file.found.path), file.note))

    def flush(self, *, is_last: bool = False) -> None:
        """Check and write what is waiting, in one transaction; ``is_last``: no other process reads meanwhile."""
        if not self._files:
            return
        import pyarrow as pa

        files, tables = self._files, Struck({name: pa.concat_tables(parts) for name, parts in self._tables.items()})
        self._files, self._tables, self._waiting_rows, self._waiting_bytes = [], {}, 0, 0
        started = time.perf_counter()
        files, tables = self._without_unchanged(files, _checked(files, tables))
        checked = time.perf_counter()
        self._report.timing.validate_s += checked - started
        self._load(files, tables, is_last=is_last)
        self._report.timing.insert_s += time.perf_counter() - checked

    def _without_unchanged(self, files: list[FileResult], tables: Struck[pa.Table]) -> tuple[list[FileResult], Struck[pa.Table]]:
        """Leave out files of which the store has all that is left after the check."""
        known = [file for file in files if file.rejects and unless_known(file, file.known).status == "unchanged"]
        for file in known:
            self._sort(file)
        tables = without_episodes(tables, [game for file in known for game in file.episodes])
        return [file for file in files if file.status != "unchanged"], tables

    def _load(self, files: list[FileResult], tables: Struck[pa.Table], *, is_last: bool) -> None:
        """Write files in one transaction; where their rows are refused, each in one of its own: only the faulty file is lost."""
        import duckdb

        try:
            loaded = self._store.transact(partial(_load, files, tables, is_last))
        except (duckdb.DataError, duckdb.IntegrityError) as error:
            if not any(file.episodes for file in files):
                raise StoreError(f"store {self._store.path} refuses the list of files ({excerpt(str(error))}): please report it") from error
            if len(files) == 1:
                files[0].refuse(BadInputError(f"the store refuses its rows ({excerpt(str(error))}): please report it"))
            for file in files:
                self._load([file], _filtered(tables, file.episodes, keep=True), is_last=is_last)
        except duckdb.Error as error:
            raise StoreError(f"store {self._store.path} cannot be written ({excerpt(str(error))}): is the disk full?") from error
        else:
            self._tell(loaded)

    def _tell(self, loaded: Loaded) -> None:
        report = self._report
        self._duplicates += loaded.duplicates
        for files, is_new in ((loaded.ingested, True), (loaded.replaced, False)):
            for file in files:
                report.refused += bool(file.rejects) and not file.episodes
                report.others += [] if file.episodes or file.rejects else [(printable(file.found.path), file.note)]
                report.ingested += bool(file.episodes) and is_new
                report.replaced += bool(file.episodes) and not is_new
                report.episodes += len(file.episodes)
                report.turns += file.turns
                report.notes += [(printable(file.found.path), printable(note)) for note in file.notes]
                report.rejected += [
                    RejectedPart(printable(file.found.path), reject.locator, printable(reject.reason)) for reject in file.rejects
                ]
        for name, rows in loaded.rows.items():
            report.rows[name] = report.rows.get(name, 0) + rows

    def finish(self) -> list[FileResult]:
        """Write what is waiting and complete the report.

        Returns:
            Files that were left out as duplicates of a file that was then replaced: they have to be read once more.
        """
        self.flush(is_last=True)
        if not self._unchanged and not self._duplicates:
            return []
        with self._store.reading() as connection:
            ids = {source_id for (source_id,) in connection.execute("SELECT source_id FROM sources").fetchall()}
            unchanged = connection.execute(
                "SELECT path, locator, reason FROM rejects WHERE source_id IN (SELECT unnest($1::VARCHAR[])) ORDER BY ALL",
                [self._unchanged],
            ).fetchall()
        self._report.rejected += [RejectedPart(*row) for row in unchanged]
        self._report.duplicates += [(printable(file.found.path), twin) for file, twin in self._duplicates if file.source_id in ids]
        orphans = [file for file, _ in self._duplicates if file.source_id not in ids]
        self._unchanged, self._duplicates = [], []
        return orphans


def _load(files: Sequence[FileResult], tables: Struck[pa.Table], is_last: bool, transaction: Transaction) -> Loaded:  # noqa: FBT001
    if not is_last:
        transaction.execute("SET threads = 1")  # more would share the work at twice its cost, and the other cores read
    return load(transaction, files, tables)


_ROWS_ALONE: Final = frozenset({"calls", "claims", "labels"})
"""Tables of which a wrong row costs no more than itself: no other row is understood by it."""


class _Cost(IntEnum):
    """What a wrong value costs, the dearest first."""

    GAME = 0
    ROW = 1
    VALUE = 2


_COSTS: Final = ("the game is lost", "{} left out", "{} stored without this value")


def _checked(files: Sequence[FileResult], tables: Struck[pa.Table]) -> Struck[pa.Table]:
    """The tables without what their Pandera schemas refuse; each such part becomes a reject of its file.

    Raises:
        StoreError: a wrong row is of a game that no file brings.
    """
    import polars as pl
    import pyarrow as pa

    frames = {spec.name: pl.DataFrame(tables.get(spec.name, spec.arrow_schema().empty_table())) for spec in TABLES}
    found = [part for fault in faults({name: frames[name] for name in tables}, frames) for part in _by_game(fault, frames["episodes"])]
    owners = {episode: file for file in files for episode in file.episodes}
    lost: set[str] = set()
    left_out: dict[str, set[int]] = defaultdict(set)
    for game, fault, cost in sorted(found, key=lambda part: part[2]):
        if game not in owners:
            raise StoreError(f"{fault.reason}; no file brings its game {game}: report it to the author of the format's reader")
        if game in lost:
            continue
        rows = fault.rows["row"].to_list()
        owners[game].rejects.append(_as_reject(owners[game].places.get(game, ""), fault, cost))
        if cost is _Cost.GAME:
            lost.add(game)
        elif cost is _Cost.ROW:
            left_out[fault.table].update(rows)
        else:
            tables[fault.table] = _blanked(tables[fault.table], fault.column, rows)
    for name, places in left_out.items():
        tables[name] = tables[name].filter(pa.array(place not in places for place in range(len(tables[name]))))
    for file in files:
        if not lost.isdisjoint(file.episodes):
            file.turns -= int(frames["turns"]["episode_id"].is_in(lost.intersection(file.episodes)).sum())
            file.episodes = [game for game in file.episodes if game not in lost]
    return without_episodes(tables, list(lost))


def _by_game(fault: Fault, episodes: pl.DataFrame) -> Iterator[tuple[str | None, Fault, _Cost]]:
    """The wrong rows of each game; those of a run are of all its games."""
    column = next(column for column in table(fault.table).columns if column.name == fault.column)
    cost = _Cost.VALUE if column.optional else _Cost.ROW if fault.table in _ROWS_ALONE else _Cost.GAME
    rows = fault.rows if "episode_id" in fault.rows.columns else fault.rows.join(episodes.select("run_id", "episode_id"), on="run_id")
    for (game,), part in rows.group_by("episode_id", maintain_order=True):
        yield game, fault._replace(rows=part), cost


def _as_reject(place: str, fault: Fault, cost: _Cost) -> BadInputError:
    count = len(fault.rows)
    what = _COSTS[cost].format("the row is" if count == 1 else f"it and {count - 1} other rows of the game are")
    where = ", ".join(part for part in (place, fault.locator) if part)
    return BadInputError(f"{fault.reason}; {what}: correct the log, or report it if the log is right", locator=where)


def _blanked(rows: pa.Table, column: str, places: Sequence[int]) -> pa.Table:
    """The rows with null in a column at some places."""
    import pyarrow as pa
    import pyarrow.compute as pc

    at, wrong = rows.schema.get_field_index(column), set(places)
    mask = pa.array(place in wrong for place in range(len(rows)))
    return rows.set_column(at, rows.schema.field(at), pc.if_else(mask, pa.scalar(None, rows[column].type), rows[column]))
