"""Checks what was read and writes it to the store, many files in one transaction."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from ingest.files.load import Loaded, load, only_episodes, without_episodes
from ingest.files.report import RejectedPart, Report
from ingest.files.worker import Chunk, FileResult, unless_known
from schemas.batches import Fault, faults
from schemas.errors import BadInputError, StoreError
from schemas.store import Store
from schemas.tables import TABLES, table
from schemas.text import excerpt, printable
from schemas.transaction import Transaction

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = ["Writer"]

_BATCH_ROWS: Final = 1_000_000
_BATCH_BYTES: Final = 128 << 20
"""Rows, and bytes in memory, after which a transaction is written. DuckDB compresses whole groups of 122,880 rows while they come in, and
rewrites the rest of each table with every transaction: half as many rows at once take half as long again, and a third more of the disk."""


class Writer:
    """Gathers portions, writes them, and keeps the report."""

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
        """Check and write what is waiting, in one transaction; ``is_last``: nobody reads meanwhile."""
        if not self._files:
            return
        import pyarrow as pa

        files, tables = self._files, {name: pa.concat_tables(parts) for name, parts in self._tables.items()}
        self._files, self._tables, self._waiting_rows, self._waiting_bytes = [], {}, 0, 0
        started = time.perf_counter()
        files, tables = self._without_unchanged(files, _checked(files, tables))
        checked = time.perf_counter()
        self._report.timing.validate_s += checked - started
        self._load(files, tables, is_last=is_last)
        self._report.timing.insert_s += time.perf_counter() - checked

    def _without_unchanged(self, files: list[FileResult], tables: dict[str, pa.Table]) -> tuple[list[FileResult], dict[str, pa.Table]]:
        """Leave out files of which the store has all that is left after the check."""
        known = [file for file in files if file.rejects and unless_known(file, file.known).status == "unchanged"]
        for file in known:
            self._sort(file)
        tables = without_episodes(tables, [game for file in known for game in file.episodes])
        return [file for file in files if file.status != "unchanged"], tables

    def _load(self, files: list[FileResult], tables: dict[str, pa.Table], *, is_last: bool) -> None:
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
                self._load([file], only_episodes(tables, file.episodes), is_last=is_last)
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
                report.rejected += [_part(file, reject) for reject in file.rejects]
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


def _load(files: Sequence[FileResult], tables: Mapping[str, pa.Table], is_last: bool, transaction: Transaction) -> Loaded:  # noqa: FBT001
    if not is_last:
        transaction.execute("SET threads = 1")  # more would share the work at twice its cost, and the other cores read
    return load(transaction, files, tables)


def _part(file: FileResult, reject: BadInputError) -> RejectedPart:
    return RejectedPart(printable(file.found.path), reject.locator, printable(reject.reason))


_ROWS_ALONE: Final = frozenset({"calls", "claims", "labels"})
"""Tables of which a wrong row costs no more than itself: no other row is understood by it."""


class _Cost(IntEnum):
    """What a wrong value costs, the dearest first."""

    GAME = 0
    ROW = 1
    VALUE = 2


_COSTS: Final = ("the game is lost", "{} left out", "{} stored without this value")


def _checked(files: Sequence[FileResult], tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
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
