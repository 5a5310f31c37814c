"""A lake holds what a DuckDB store would, whoever writes at once, and whoever is killed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from analytics.query import query
from cotrace.cli import cli
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from judges.rubric.files import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.batches import to_arrow
from schemas.errors import StoreError, UsageError
from schemas.lake.layout import LAKE_TABLES
from schemas.lake.store import LakeStore
from schemas.lake.upkeep import compact
from schemas.records import EpisodeMetric
from schemas.store import Store
from schemas.stores import store_at
from schemas.transaction import Transaction
from tests.ingest.craft.craft_logs import published, write

_BY_CHANCE = {"ingested_at", "started_at", "finished_at", "judge_run_id", "call_id"}
"""Columns that differ from one job to the next."""

INGEST = """
import sys
from ingest.files import run, writer
from schemas.stores import store_at
run._PORTION_FILES = writer._BATCH_ROWS = 1
run.ingest_paths(sys.argv[2:], store_at(sys.argv[1]), workers=1)
"""
KILLED = """
import os, signal
from schemas.lake.store import LakeStore
LakeStore._committed = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
"""


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, but for what differs from one job to the next."""
    with store.reading() as connection:
        return {
            spec.name: connection.execute(f"SELECT {', '.join(_told(spec.column_names))} FROM {spec.name} ORDER BY ALL").fetchall()
            for spec in LAKE_TABLES
        }


def _told(columns: tuple[str, ...]) -> list[str]:
    return [f'"{column}"' for column in columns if column not in _BY_CHANCE]


def logs_in(folder: Path, names: str, **experiment: Any) -> Path:
    """A folder of little games of one run, one for each letter."""
    for name in names:
        write(folder / f"{name}.json", published(timestamp=f"20260406_1348{ord(name):02}", **experiment))
    return folder


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    logs_in(folder / "one", "abc")
    return logs_in(folder / "two", "de", num_oracle=3).parent


@pytest.fixture(scope="module")
def filled(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[LakeStore, Store]:
    """A lake and a DuckDB store that the same was done to: games read, one of them changed, judged twice, attributed."""
    home = tmp_path_factory.mktemp("filled")
    mine = shutil.copytree(logs, home / "logs")
    lake, store = store_at(f"lake:{home / 'lake'}"), Store(home / "s.duckdb")
    assert isinstance(lake, LakeStore)
    for each in (lake, store):
        logs_in(mine / "one", "a")
        ingest_paths([mine], each, workers=1)
        write(mine / "one" / "a.json", published(timestamp="20260406_999999", models={"director": "another", "builder": "other-model"}))
        ingest_paths([mine], each, workers=1)
        for _ in range(2):
            run(JudgeRequest(rubric=find("spatial_grounding")), each)
        attribute_games(each)
    return lake, store


def test_a_lake_holds_what_a_store_holds(filled: tuple[LakeStore, Store]) -> None:
    """Row by row in every table, in columns of the same types, after replacing, judging anew and attributing."""
    lake, store = filled
    assert contents(lake) == contents(store)
    assert len(contents(lake)["verdicts"]) > 20
    with lake.reading() as ours, store.reading() as theirs:
        for spec in LAKE_TABLES:
            assert ours.execute(f"DESCRIBE {spec.name}").fetchall()[0][:2] == theirs.execute(f"DESCRIBE {spec.name}").fetchall()[0][:2]


def test_reports_and_queries_run_on_a_lake(filled: tuple[LakeStore, Store]) -> None:
    """The commands take `--store lake:`; views give the same rows."""
    lake, store = filled
    printed = [
        CliRunner().invoke(cli, ["report", "failures", "--format", "csv", "--store", str(each.path)], catch_exceptions=False)
        for each in filled
    ]
    assert printed[0].stdout == printed[1].stdout
    assert printed[0].stdout.count("\n") > 2
    for view in ("outcomes", "correction_spirals", "judge_scores"):
        sql = f"SELECT * FROM {view} ORDER BY ALL"
        assert query(lake, sql).equals(query(store, sql)), view


def test_ingesting_again_writes_nothing(filled: tuple[LakeStore, Store]) -> None:
    """The lake's version stays: not even an empty commit."""
    lake, _ = filled
    before = lake.snapshot().version
    ingest_paths([Path(lake.place.uri).parent / "logs"], lake, workers=1)
    assert lake.snapshot().version == before


def test_a_lake_is_copied_and_compacted_without_losing_a_row(filled: tuple[LakeStore, Store], tmp_path: Path) -> None:
    """Store to lake, compacted, and back, by command; fewer files, the same rows."""
    _, store = filled
    place = f"lake:{tmp_path / 'copy'}"
    steps = (["from", str(store.path)], ["compact", "--keep-hours", "0"], ["to", str(tmp_path / "back.duckdb")])
    for step in steps:
        assert CliRunner().invoke(cli, ["lake", *step, "--store", place], catch_exceptions=False).exit_code == 0
    assert contents(Store(tmp_path / "back.duckdb")) == contents(store)


def test_compacting_leaves_one_file_a_part_and_deletes_what_nobody_needs(filled: tuple[LakeStore, Store], tmp_path: Path) -> None:
    """Of a lake that has grown commit by commit."""
    lake = LakeStore(shutil.copytree(filled[0].place.uri, tmp_path / "lake"))
    before = contents(lake)
    found = compact(lake, keep_hours=0)
    assert found.after < found.before
    files = [file for of_table in lake.snapshot().files.values() for file in of_table]
    parts = {(Path(file.path).parent) for file in files}
    assert len(files) == len(parts) == len(list(Path(lake.place.uri).glob("table=*/**/*.parquet")))
    assert contents(lake) == before


def test_what_another_program_compacted_is_read_all_the_same(filled: tuple[LakeStore, Store], tmp_path: Path) -> None:
    """Delta's own compaction writes files with the columns of all tables."""
    from deltalake import DeltaTable

    lake = LakeStore(shutil.copytree(filled[0].place.uri, tmp_path / "lake"))
    before = contents(lake)
    assert DeltaTable(str(Path(lake.place.uri))).optimize.compact()["numFilesRemoved"] > 0
    assert contents(lake) == before


def test_two_processes_that_write_at_once_lose_and_double_nothing(logs: Path, tmp_path: Path) -> None:
    """Each has games of its own, and both have the same ones, a commit a game."""
    both = logs_in(tmp_path / "both", "op", num_oracle=4)
    place = f"lake:{tmp_path / 'lake'}"
    writers = [
        subprocess.Popen([sys.executable, "-c", INGEST, place, str(logs / name), str(both)], stderr=subprocess.PIPE)
        for name in ("one", "two")
    ]
    assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [(b"", 0)] * 2
    once = Store(tmp_path / "once.duckdb")
    ingest_paths([logs / "one", logs / "two", both], once, workers=1)
    assert contents(store_at(place)) == contents(once)


def test_transactions_come_one_after_the_other(tmp_path: Path) -> None:
    """Four threads that each count on from what there is: no number is given twice."""
    lake = LakeStore(tmp_path / "lake")
    lake.create()

    def count_on(transaction: Transaction) -> None:
        row = transaction.execute("SELECT coalesce(max(value), 0) FROM episode_metrics").fetchone()
        assert row is not None
        transaction.insert(to_arrow({"episode_metrics": [EpisodeMetric("game", "number", row[0] + 1)]}))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: lake.transact(count_on), range(8)))
    assert [row[2] for row in sorted(contents(lake)["episode_metrics"], key=lambda row: row[2])] == list(range(1, 9))


def test_a_writer_killed_before_its_commit_leaves_nothing(logs: Path, tmp_path: Path) -> None:
    """SIGKILL when the files are written: no reader sees a row of them, and the next start takes in all."""
    lake = LakeStore(tmp_path / "lake")
    ingest_paths([logs / "one"], lake, workers=1)
    before = contents(lake)
    killed = subprocess.run([sys.executable, "-c", KILLED + INGEST, str(lake.path), str(logs / "two")], check=False)
    assert killed.returncode == -signal.SIGKILL
    in_lake = {file.path for files in lake.snapshot().files.values() for file in files}
    assert {str(path) for path in Path(lake.place.uri).glob("table=*/**/*.parquet")} - in_lake
    assert contents(lake) == before

    ingest_paths([logs], lake, workers=1)
    once = Store(tmp_path / "once.duckdb")
    ingest_paths([logs], once, workers=1)
    assert contents(lake)["turns"] == contents(once)["turns"]
    lake.vacuum(0)
    assert lake.journals.parent.is_dir()
    assert len(list(Path(lake.place.uri).glob("table=*/**/*.parquet"))) == sum(len(files) for files in lake.snapshot().files.values())


def test_a_part_is_read_without_the_files_of_others(filled: tuple[LakeStore, Store], tmp_path: Path) -> None:
    """The files of another run may even be gone."""
    lake = LakeStore(shutil.copytree(filled[0].place.uri, tmp_path / "lake"))
    ((run_id, count),) = query(
        lake, "SELECT run_id, count(*) FROM turns JOIN episodes USING (episode_id) GROUP BY 1 ORDER BY 1 LIMIT 1"
    ).rows()
    for path in Path(lake.place.uri).glob("table=*/part_benchmark=craft/part_run=*/*"):
        if run_id not in str(path):
            path.unlink()
    part = store_at(f"lake:{Path(lake.place.uri)}?benchmark=craft&run={run_id}")
    assert query(part, "SELECT count(*) FROM turns").rows() == [(count,)]
    assert query(store_at(f"lake:{Path(lake.place.uri)}?benchmark=einstein"), "SELECT count(*) FROM turns").rows() == [(0,)]
    with pytest.raises(StoreError, match="is gone"):
        query(lake, "SELECT count(*) FROM turns")


@pytest.mark.parametrize("statement", ["SELECT * FROM read_text('{outside}')", "COPY (SELECT 1) TO '{outside}'", "ATTACH '{outside}'"])
def test_a_connection_to_a_lake_reaches_nothing_else(filled: tuple[LakeStore, Store], tmp_path: Path, statement: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("secret")
    with filled[0].reading() as connection, pytest.raises(duckdb.PermissionException):
        connection.execute(statement.format(outside=outside))


@pytest.mark.parametrize("name", ["lake:", "lake:x?model=y", "lake:az://bucket/x", "lake:s3://bucket", "lake:s3://bucket/a*"])
def test_a_lake_that_cannot_be_named_so_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="lake"):
        store_at(name)


def test_what_is_no_lake_is_told(tmp_path: Path) -> None:
    """An empty folder, and a Delta table of somebody else's."""
    import pyarrow as pa
    from deltalake import write_deltalake

    with pytest.raises(StoreError, match="no lake at"):
        LakeStore(tmp_path).check()
    write_deltalake(str(tmp_path), pa.table({"a": [1]}))
    with pytest.raises(StoreError, match="no cotrace lake"):
        LakeStore(tmp_path).check()
