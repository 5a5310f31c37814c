"""What ingest does to the store: once is enough, changed files are replaced, nothing is ever half in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import astuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from ingest.craft import adapter as craft
from ingest.files import run, worker, writer
from ingest.files.run import ingest_paths
from ingest.files.worker import Chunk, FileToRead, FoundFile
from ingest.files.writer import IngestProgress
from ingest.reading.adapter_types import Place, Reading
from schemas.common.errors import StoreError
from schemas.common.processes import worker_pool
from schemas.records import Json, Label, Verdict
from schemas.store.batches import Struck, insert, to_arrow
from schemas.store.store import Store, Transaction
from schemas.tables import TABLES
from tests.ingest.asked import rows
from tests.ingest.craft.craft_logs import MOVES, published, write
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with three games of one run, told apart by their time."""
    for number in range(3):
        write(tmp_path / "logs" / f"game{number}.json", published(timestamp=f"20260406_13484{number}"))
    return tmp_path / "logs"


def everything(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables."""
    with store.reading() as connection:
        return {spec.name: connection.execute(f"SELECT * FROM {spec.name} ORDER BY ALL").fetchall() for spec in TABLES}


def test_second_ingest_changes_nothing(store: Store, logs: Path) -> None:
    """The same bytes at the same place are left alone, rejected ones included; the report counts what was new."""
    (logs / "bad.json").write_text("{")
    first = ingest_paths([logs], store)
    before = everything(store)
    assert (first.ingested, first.episodes, first.turns) == (3, len(before["episodes"]), len(before["turns"]))
    assert first.others == []
    assert min(astuple(first.timing)) > 0
    report = ingest_paths([logs], store)
    assert (report.unchanged, report.ingested, report.replaced, report.rows) == (4, 0, 0, {})
    assert [Path(reject.path).name for reject in report.rejected] == ["bad.json"]
    assert everything(store) == before


def test_games_of_one_experiment_share_a_run(store: Store, logs: Path) -> None:
    """The run starts with its earliest game."""
    ingest_paths([logs], store)
    assert rows(store, "SELECT count(*), min(started_at)::VARCHAR FROM runs") == [(1, "2026-04-06 13:48:40")]


def test_copy_elsewhere_is_a_duplicate(store: Store, logs: Path, tmp_path: Path) -> None:
    """The same bytes count once, in one ingest or in two; the report says of which file."""
    shutil.copy(logs / "game1.json", logs / "copy_of_game1.json")
    report = ingest_paths([logs], store)
    assert report.ingested == 3
    assert report.duplicates == [(str(logs / "game1.json"), str(logs / "copy_of_game1.json"))]
    shutil.copytree(logs, tmp_path / "again")
    report = ingest_paths([tmp_path / "again"], store)
    assert (report.ingested, len(report.duplicates)) == (0, 4)
    assert rows(store, "SELECT count(*), count(DISTINCT episode_id) FROM episodes") == [(3, 3)]


def test_duplicate_of_a_file_that_then_changes_goes_in(store: Store, logs: Path) -> None:
    """When the original is replaced in the same ingest, its copy is no copy any more."""
    ingest_paths([logs], store)
    shutil.copy(logs / "game2.json", logs / "a_copy.json")
    write(logs / "game2.json", published(MOVES[:2]))
    report = ingest_paths([logs], store)
    assert (report.ingested, report.replaced, report.unchanged, report.duplicates) == (1, 1, 2, [])
    assert rows(store, "SELECT file, turns_taken FROM episodes ORDER BY file") == [
        ("a_copy.json", 5),
        ("game0.json", 5),
        ("game1.json", 5),
        ("game2.json", 2),
    ]


def test_changed_file_is_replaced_whole(store: Store, logs: Path) -> None:
    """The episode keeps its id; every row that came from the old bytes is gone, every other row stays."""
    ingest_paths([logs], store)
    before = everything(store)
    (episode,) = rows(store, "SELECT episode_id FROM episodes WHERE file = 'game1.json'")[0]
    write(logs / "game1.json", published(MOVES[:2]))
    report = ingest_paths([logs], store)
    assert (report.replaced, report.unchanged, report.turns) == (1, 2, 2)
    after = everything(store)
    for name, records in after.items():
        columns = next(spec.column_names for spec in TABLES if spec.name == name)
        if "episode_id" in columns and records:
            place = columns.index("episode_id")
            assert [row for row in records if row[place] != episode] == [row for row in before[name] if row[place] != episode]
    assert rows(store, f"SELECT max(turn), count(*) FROM turns WHERE episode_id = '{episode}'") == [(2, 2)]
    assert rows(store, f"SELECT max(turn) FROM turn_metrics WHERE episode_id = '{episode}'") == [(2,)]


def test_result_does_not_depend_on_the_way(store: Store, logs: Path, tmp_path: Path) -> None:
    """A file that changed leaves the store as if it had never been different."""
    ingest_paths([logs], store)
    write(logs / "game1.json", published(MOVES[:2], run=8))
    ingest_paths([logs], store)
    fresh = Store(tmp_path / "fresh.duckdb")
    ingest_paths([logs], fresh)
    ours, theirs = everything(store), everything(fresh)
    for name in set(ours) - {"sources", "store_info"}:
        assert ours[name] == theirs[name], name


def test_file_that_became_unreadable_loses_its_episode_and_says_so(store: Store, logs: Path) -> None:
    """What a path holds now is what counts."""
    ingest_paths([logs], store)
    (logs / "game1.json").write_text("{")
    report = ingest_paths([logs], store)
    assert (report.refused, len(report.rejected)) == (1, 1)
    assert rows(store, "SELECT file FROM episodes ORDER BY file") == [("game0.json",), ("game2.json",)]


def test_newer_adapter_reads_again(store: Store, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes are replaced when the adapter's version has been raised."""
    ingest_paths([logs], store)
    monkeypatch.setattr(craft, "VERSION", craft.VERSION + 1)
    report = ingest_paths([logs], store)
    assert (report.replaced, report.unchanged) == (3, 0)
    assert rows(store, "SELECT DISTINCT adapter_version FROM sources") == [(craft.VERSION,)]
    assert rows(store, "SELECT count(*) FROM episodes") == [(3,)]


def test_verdicts_and_labels_of_people_stay(store: Store, logs: Path) -> None:
    """They hang on what was judged, not on the file; planted labels come from the file and go with it."""
    ingest_paths([logs], store)
    (episode,) = rows(store, "SELECT episode_id FROM episodes WHERE file = 'game1.json'")[0]
    verdict = Verdict("run", "ps", "hash", None, "PS1", f"{episode}/1", "unit", episode, 1, None, "engine", 1, "yes", 1.0, None, "answered")
    labels = [Label(source, "who", "ps", "PS1", f"{episode}/1", episode, 1, None, "Yes", 1.0) for source in ("people.csv", "planted")]
    with store.writing() as connection:
        insert(connection, to_arrow({"verdicts": [verdict], "labels": labels}))
    write(logs / "game1.json", published(MOVES[:2]))
    ingest_paths([logs], store)
    assert rows(store, "SELECT count(*) FROM verdicts") == [(1,)]
    assert rows(store, "SELECT source FROM labels") == [("people.csv",)]


@pytest.mark.long  # a pool of two also reads what is killed and compared below
def test_workers_give_what_one_process_gives(store: Store, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool changes the speed and nothing else."""
    monkeypatch.setattr("ingest.files.run._POOL_FROM_BYTES", 0)
    monkeypatch.setattr("ingest.files.run._PORTION_FILES", 1)
    (logs / "bad.json").write_text("{")
    seen: list[IngestProgress] = []
    report = ingest_paths([logs], store, workers=2, on_progress=seen.append)
    assert (report.ingested, report.refused) == (3, 1)
    assert [progress.files_done for progress in seen] == [1, 2, 3, 4]
    assert seen[-1].bytes_done == seen[-1].bytes_total == sum(path.stat().st_size for path in logs.iterdir())
    alone = Store(tmp_path / "alone.duckdb")
    ingest_paths([logs], alone, workers=1)
    ours, theirs = everything(store), everything(alone)
    for name in set(ours) - {"sources", "store_info"}:
        assert ours[name] == theirs[name], name


@pytest.mark.parametrize(("megabytes", "submitted"), [(1, 64), (100, 4)])
def test_workers_have_work_waiting_while_a_transaction_is_written(megabytes: int, submitted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small portions, few large ones: what was read must fit into memory until it is written."""
    given: list[Future[Chunk]] = []

    def submit(*_: object) -> Future[Chunk]:
        given.append(Future())
        given[-1].set_result(Chunk([], Struck(), 0.0, 0.0))
        return given[-1]

    monkeypatch.setattr(run, "worker_pool", lambda *_, **__: nullcontext(SimpleNamespace(submit=submit)))
    file = FoundFile(path="/logs/a", file="a", named=False, size=megabytes << 20)
    chunks = run.read_portions([[FileToRead(file, None)]] * 80, None, workers=2)
    next(chunks)
    assert len(given) == submitted
    assert len([*chunks]) == 79


@pytest.mark.parametrize(("set_by_user", "threads"), [(None, "1"), ("2", "2")])
def test_readers_start_no_threads_for_linear_algebra(monkeypatch: pytest.MonkeyPatch, set_by_user: str | None, threads: str) -> None:
    """Unless the user wants them; the process that called keeps what it had."""
    name = "OPENBLAS_NUM_THREADS"
    monkeypatch.delenv(name, raising=False)
    if set_by_user:
        monkeypatch.setenv(name, set_by_user)
    with worker_pool(1, start=worker.start_reader) as readers:
        assert readers.submit(os.getenv, name).result() == threads
    assert os.environ.get(name) == set_by_user


def test_reader_of_own_logs_imports_no_other_adapter_and_no_pandas_which_arrow_still_finds(tmp_path: Path) -> None:
    """Importing all adapters takes a worker longer than reading fifty games; Arrow imports pandas when it needs it."""
    play(PlayRequest(out=tmp_path, personas=("clear",), builders=("literal",), structures=1, turns=2, processes=1))
    code = """
import sys
from ingest.files.worker import search
from ingest.files.worker import FileToRead, read_chunk
chunk = read_chunk([FileToRead(file, None) for file in search(sys.argv[1:]).files], None)
adapters = {name for name in sys.modules if name.startswith("ingest.") and name.endswith((".adapter", ".native"))}
known = sorted(adapters | {name for name in sys.modules if name.startswith("ingest.foreign.")})
print(len(chunk.tables["turns"]), *known)
print("pandas" in sys.modules)
frame = chunk.tables["turns"].to_pandas()
import pyarrow
print(type(frame).__module__, pyarrow.array(frame["turn"]).to_pylist())
"""
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True).stdout.splitlines()
    assert told[0].split() == ["2", "ingest.cotrace_log.adapter", "ingest.craft.native"]
    assert told[1] == "False"
    assert told[2].startswith("pandas")
    assert told[2].endswith("[1, 2]")


def test_interrupt_leaves_whole_files_and_the_next_start_goes_on(store: Store, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of writing: nothing of the transaction is in; afterwards everything goes in."""
    monkeypatch.setattr("ingest.files.run._PORTION_FILES", 1)
    monkeypatch.setattr("ingest.files.writer._BATCH_ROWS", 1)
    loads: list[int] = []
    load = writer.load

    def interrupted(transaction: Transaction, files: Sequence[worker.FileResult], tables: Struck[pa.Table]) -> writer.Loaded:
        loaded = load(transaction, files, tables)
        loads.append(len(files))
        if len(loads) == 2:
            raise KeyboardInterrupt
        return loaded

    with monkeypatch.context() as patched:
        patched.setattr(writer, "load", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ingest_paths([logs], store)
    assert rows(store, "SELECT count(*), (SELECT count(*) FROM sources) FROM episodes") == [(1, 1)]
    report = ingest_paths([logs], store)
    assert (report.unchanged, report.ingested) == (1, 2)


_SMALL_STEPS = """
import sys
import ingest.files.run, ingest.files.writer
from schemas.store.store import Store
ingest.files.run._POOL_FROM_BYTES, ingest.files.run._PORTION_FILES, ingest.files.writer._BATCH_ROWS = 0, 8, 1
tell = lambda progress: print(progress.files_done, flush=True)
ingest.files.run.ingest_paths([sys.argv[1]], Store(sys.argv[2]), workers=2, on_progress=tell)
"""


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are found through /proc")
@pytest.mark.parametrize(("kills", "files"), [(1, 80), pytest.param(2, 120, marks=pytest.mark.long)])
def test_killed_ingest_goes_on_where_it_was_and_leaves_no_process(store: Store, tmp_path: Path, kills: int, files: int) -> None:
    """`kill -9` at some moments of reading: what is in stays in, whole; in the end all is as if nothing had happened."""
    for number in range(files):
        write(tmp_path / "logs" / f"game{number}.json", published(timestamp=f"20260406_{number:06}"))
    command = [sys.executable, "-c", _SMALL_STEPS, str(tmp_path / "logs"), str(store.path)]
    before = 0
    for _ in range(kills):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ingesting:
            assert ingesting.stdout is not None
            while int(ingesting.stdout.readline()) < before + 30:
                pass
            workers = _children(ingesting.pid)
            ingesting.kill()
        (whole, sources, turns), *_ = rows(
            store, "SELECT count(DISTINCT episode_id), (SELECT count(*) FROM sources), (SELECT count(*) FROM turns) FROM episodes"
        )
        assert before < whole == sources < files
        assert turns == rows(store, "SELECT sum(turns_taken) FROM episodes")[0][0]
        before = whole
        assert workers
        deadline = time.monotonic() + 20
        while any(map(_is_alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(_is_alive, workers))
    report = ingest_paths([tmp_path / "logs"], store)
    assert (report.unchanged, report.ingested, report.is_clean) == (before, files - before, True)
    untouched = Store(tmp_path / "untouched.duckdb")
    ingest_paths([tmp_path / "logs"], untouched)
    ours, theirs = everything(store), everything(untouched)
    for name in set(ours) - {"sources", "store_info"}:
        assert ours[name] == theirs[name], name


def breaking(column: str, value: object) -> Any:
    """An adapter's `read` that gives game1 one impossible value."""

    def read(data: bytes, place: Place) -> Reading:
        reading = craft.read(data, place)
        if place.file == "game1.json":
            turn: Any = reading.rows["turns"][0]
            reading.rows["turns"][0] = turn._replace(**{column: value})
        return reading

    return read


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(("progress", 7.0), "table turns, column progress", id="refused by the schema"),
        pytest.param(("progress", "much"), "report it to the author of the reader", id="refused by the type"),
        pytest.param(("state_before", Json("{no json")), "please report it", id="refused by the store"),
    ],
)
def test_faulty_rows_of_one_file_cost_only_that_file(
    store: Store, logs: Path, monkeypatch: pytest.MonkeyPatch, fault: tuple[str, object], reason: str
) -> None:
    """A bug of an adapter becomes a reject of the file that met it; files that share its transaction go in, one without a game is told."""
    whole = (logs / "game0.json").read_text("utf-8")
    (logs / "cut.json").write_text(whole[: len(whole) // 2], encoding="utf-8")

    class Broken:
        FORMAT, VERSION = craft.FORMAT, craft.VERSION
        sniff = staticmethod(craft.sniff)
        read = staticmethod(breaking(*fault))

    monkeypatch.setattr(worker, "recognise", lambda head: Broken())  # noqa: ARG005
    report = ingest_paths([logs], store)
    assert (report.ingested, report.refused) == (2, 2)
    reasons = {Path(reject.path).name: reject.reason for reject in report.rejected}
    assert set(reasons) == {"game1.json", "cut.json"}
    assert reason in reasons["game1.json"]
    assert rows(store, "SELECT file FROM episodes ORDER BY file") == [("game0.json",), ("game2.json",)]
    assert rows(store, "SELECT count(*) FROM turns") == [(10,)]


def test_crash_of_an_adapter_becomes_a_reject(store: Store, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that an adapter raises reaches the user as a traceback."""

    class Crashing:
        FORMAT, VERSION = craft.FORMAT, craft.VERSION
        sniff = staticmethod(craft.sniff)

        @staticmethod
        def read(data: bytes, place: Place) -> Reading:
            return craft.read(data, place) if place.file != "game1.json" else Reading({"turns": [(1 / 0,)]})

    monkeypatch.setattr(worker, "recognise", lambda head: Crashing())  # noqa: ARG005
    report = ingest_paths([logs], store)
    assert (report.ingested, report.refused) == (2, 1)
    assert "ZeroDivisionError" in report.rejected[0].reason


def test_store_that_cannot_be_written_is_one_clear_error(store: Store, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is told as such, with the store's name."""

    def full(*_: object) -> writer.Loaded:
        raise duckdb.IOException("Could not write file: No space left on device")

    monkeypatch.setattr(writer, "load", full)
    with pytest.raises(StoreError, match=r"test\.duckdb cannot be written .*No space left"):
        ingest_paths([logs], store)


def test_report_counts_the_rows_of_the_store(store: Store, logs: Path) -> None:
    """What the report says went in is what is there."""
    report = ingest_paths([logs], store)
    found = {name: len(records) for name, records in everything(store).items() if records and name != "store_info"}
    assert report.rows == found
    assert report.timing.wall_s > 0
