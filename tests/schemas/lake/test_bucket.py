"""A lake in a bucket holds what a DuckDB store would; a real S3 server, in a process of its own, stands for Amazon's."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import pytest
from click.testing import CliRunner

from analytics.query import query
from cotrace.cli import cli
from dashboards.server import keeping_ahead
from ingest.files.run import ingest_paths
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.common.errors import StoreError
from schemas.records import EpisodeMetric
from schemas.store.batches import to_arrow
from schemas.store.lake.place import bucket_at
from schemas.store.lake.remote_files import LakeFiles
from schemas.store.lake.store import LakeStore
from schemas.store.store import Store, Transaction
from schemas.store.stores import state_of, store_at
from tests.schemas.lake.test_lake import KILLED, contents, logs_in
from tests.servers.s3_server import BUCKET, asked, s3_server
from tests.small_disk import on_a_small_disk

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

PLACE = f"lake:s3://{BUCKET}"
COUNT_ON = """
import sys
from schemas.store.batches import to_arrow
from schemas.records import EpisodeMetric
LakeStore(sys.argv[1]).transact(lambda it: it.insert(to_arrow({"episode_metrics": [EpisodeMetric("game", "number", 0.0)]})))
"""


@pytest.fixture(scope="module", autouse=True)
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3_server() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield url


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    logs_in(folder / "one", "ab")
    return logs_in(folder / "two", "c", num_oracle=3).parent


@pytest.fixture(scope="module")
def filled(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[LakeStore, Store]:
    """A lake in a bucket and a DuckDB store that the same was done to."""
    lake, store = store_at(f"{PLACE}/filled"), Store(tmp_path_factory.mktemp("filled") / "s.duckdb")
    assert isinstance(lake, LakeStore)
    for each in (lake, store):
        ingest_paths([logs / "one"], each, workers=1)
        ingest_paths([logs], each, workers=1)
        run(JudgeRequest(rubric=find("spatial_grounding")), each)
    return lake, store


def test_a_bucket_holds_what_a_file_holds(filled: tuple[LakeStore, Store]) -> None:
    """Row by row in every table, and in the views."""
    lake, store = filled
    assert contents(lake) == contents(store)
    assert len(contents(lake)["verdicts"]) > 10
    for view in ("outcomes", "judge_scores"):
        assert query(lake, f"SELECT * FROM {view} ORDER BY ALL").equals(query(store, f"SELECT * FROM {view} ORDER BY ALL")), view


def test_ingesting_again_writes_nothing(filled: tuple[LakeStore, Store], logs: Path) -> None:
    lake, _ = filled
    before = lake.snapshot().version
    ingest_paths([logs], lake, workers=1)
    assert lake.snapshot().version == before


@pytest.mark.parametrize(
    "command", [["sql", "SELECT count(*) FROM turns"], pytest.param(["report", "failures"], marks=pytest.mark.long)], ids=["sql", "report"]
)
def test_commands_take_the_address(filled: tuple[LakeStore, Store], command: list[str]) -> None:
    """Report and SQL."""
    arguments = [*command, "--format", "csv", "--store"]
    printed = [CliRunner().invoke(cli, [*arguments, str(each.path)], catch_exceptions=False) for each in filled]
    assert printed[0].stdout == printed[1].stdout != ""


@pytest.mark.long
def test_a_store_goes_into_a_bucket_and_back(filled: tuple[LakeStore, Store], tmp_path: Path) -> None:
    """By command, compacted in between."""
    _, store = filled
    steps = (["from", str(store.path)], ["compact", "--keep-hours", "0"], ["to", str(tmp_path / "back.duckdb")])
    for step in steps:
        told = CliRunner().invoke(cli, ["lake", *step, "--store", f"{PLACE}/copy"], catch_exceptions=False)
        assert f"{PLACE}/copy" in told.stderr
    assert contents(Store(tmp_path / "back.duckdb")) == contents(store)


@pytest.mark.long
def test_pages_know_of_every_commit(logs: Path) -> None:
    """By one number; nothing is kept of a lake that has changed."""
    lake = store_at(f"{PLACE}/watched")
    states = [state_of(lake.path)]
    for folder in (logs / "one", logs / "two"):
        ingest_paths([folder], lake, workers=1)
        states.append(state_of(lake.path))
    assert len(set(states)) == 3
    assert state_of(Path(lake.path)) == states[-1]


def fetched_of(file: str, asked: list[tuple[str, str, str]]) -> list[str]:
    """The ranges in which a data file was fetched; empty: all of it."""
    return [part for method, path, part in asked if method == "GET" and path.endswith(file)]


def test_an_open_page_asks_for_the_version_once_a_second(server: str) -> None:
    """By three requests, however often the page asks."""
    lake = LakeStore(f"s3://{BUCKET}/idle")
    lake.create()
    state_of(lake.path)
    lake.place.committed()
    before, begun = len(asked(server)), time.monotonic()
    while time.monotonic() - begun < 1.5:
        state_of(lake.path)
        time.sleep(0.01)
    assert 0 < len(asked(server)) - before <= 3 * (1 + int(time.monotonic() - begun))


def test_of_large_files_only_what_a_query_reads_is_fetched(server: str) -> None:
    """Small ones come whole, and once."""
    lake = LakeStore(f"s3://{BUCKET}/large")
    lake.create()
    lake.transact(count_on)
    rows = [EpisodeMetric("game", hashlib.blake2b(b"%d" % at).hexdigest(), float(at)) for at in range(150_000)]
    lake.transact(lambda it: it.insert(to_arrow({"episode_metrics": rows})))
    small, large = (Path(file.path).name for file in lake.snapshot().files["episode_metrics"])
    for _ in range(2):
        before = len(asked(server))
        assert query(lake, "SELECT sum(value) FROM episode_metrics").item() == sum(range(150_000)) + 1
        fetched = [part.removeprefix("bytes=").split("-") for part in fetched_of(large, asked(server)[before:])]
        assert 0 < sum(int(last) - int(first) + 1 for first, last in fetched) < 8 << 19
    assert lake.size() > 8 << 20
    assert fetched_of(small, asked(server)) == [""]


def test_the_latest_256_mb_are_kept(tmp_path: Path) -> None:
    """What lies in memory is served although it is gone elsewhere; what later files put out, or is above 8 MB, is not."""
    sizes = {str(tmp_path / f"{number:02}"): 8 << 20 for number in range(33)} | {str(tmp_path / "large"): (8 << 20) + 1}
    for path, size in sizes.items():
        Path(path).touch()
        os.truncate(path, size)  # holes, which take up no disk
    files = LakeFiles("s3", fsspec.filesystem("file"), sizes)
    *small, large = sizes
    for path in (large, *small[:32], small[0], small[32]):
        with files.open(path) as file:
            assert len(file.read()) == sizes[path]
        Path(path).unlink(missing_ok=True)
    for path in (large, small[1]):
        with pytest.raises(FileNotFoundError):
            files.open(path)
    for path in (small[0], *small[2:]):
        files.open(path).close()


@pytest.mark.long
def test_a_lake_that_another_takes_the_place_of_is_seen_anew(logs: Path) -> None:
    """By whoever has it open, also where versions are as many: files that are kept in memory are of the first."""
    address = f"s3://{BUCKET}/replaced"
    lake = LakeStore(address)
    ingest_paths([logs / "one"], lake, workers=1)
    before, version, state = contents(lake), lake.snapshot().version, state_of(lake.path)
    fsspec.filesystem("s3").rm(address, recursive=True)
    ingest_paths([logs / "two"], LakeStore(address), workers=1)
    assert lake.snapshot().version == version
    assert state_of(lake.path) != state
    assert contents(lake) == contents(LakeStore(address)) != before


def count_on(transaction: Transaction) -> None:
    """Give the next number."""
    row = transaction.execute("SELECT coalesce(max(value), 0) FROM episode_metrics").fetchone()
    assert row is not None
    transaction.insert(to_arrow({"episode_metrics": [EpisodeMetric("game", "number", row[0] + 1)]}))


@pytest.mark.long
def test_writers_at_once_and_one_that_is_killed_lose_and_double_nothing() -> None:
    """A process is killed when its file is in the bucket and its commit is not; three others each count on from what there is."""
    lake = LakeStore(f"s3://{BUCKET}/shared")
    lake.create()
    killed = subprocess.run([sys.executable, "-c", KILLED + COUNT_ON, lake.place.uri], capture_output=True, check=False)
    assert (killed.returncode, killed.stderr) == (-signal.SIGKILL, b"")
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda _: LakeStore(lake.place.uri).transact(count_on), range(6)))
    assert [row[2] for row in sorted(contents(lake)["episode_metrics"], key=lambda row: row[2])] == list(range(1, 7))
    assert lake.vacuum(0) == 1


@pytest.mark.long
def test_a_full_folder_for_temporary_files_is_told(logs: Path, tmp_path: Path) -> None:
    """What goes to a bucket is written there first; the lake holds nothing of it, and takes it once there is room."""
    place, disk = f"{PLACE}/no-room", tmp_path / "disk"
    ingest = (sys.executable, "-m", "cotrace", "ingest", str(logs), "--store", place, "--workers", "1")
    done = on_a_small_disk(disk, 1 << 15, *ingest, environment={"TMPDIR": str(disk)})
    told = (
        f"cotrace: {place}: no space left on device for temporary files in {disk}: free some space there, or set TMPDIR to another folder"
    )
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (2, [f"{told}, and start the same command again"])
    assert "Traceback" not in done.stderr
    assert "3 games" in subprocess.run(ingest, capture_output=True, text=True, check=True).stderr


def test_a_commit_whose_answer_is_lost_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files stay: the lake names them."""
    from deltalake import DeltaTable
    from deltalake.exceptions import CommitFailedError

    lake = LakeStore(f"s3://{BUCKET}/lost")
    lake.create()
    commit = DeltaTable.create_write_transaction

    def lose_the_answer(*arguments: Any, **options: Any) -> None:
        commit(*arguments, **options)
        raise CommitFailedError("connection closed before message completed")

    monkeypatch.setattr(DeltaTable, "create_write_transaction", lose_the_answer)
    lake.transact(count_on)
    assert [row[2] for row in contents(LakeStore(lake.place.uri))["episode_metrics"]] == [1]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('s3://{bucket}/filled/_delta_log/00000000000000000000.json')",
        "SELECT * FROM read_text('s3://{bucket}/filled/table=turns/../_delta_log/00000000000000000000.json')",
        "SELECT * FROM read_parquet('s3://{bucket}/large/table=episode_metrics/**')",
        "SELECT * FROM read_text('s3://other-bucket/secret')",
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY (SELECT 1) TO 's3://{bucket}/filled/table=turns/more.parquet'",
        "COPY (SELECT 1) TO '{known}'",
        "ATTACH 's3://{bucket}/filled/table=turns/x.duckdb'",
    ],
)
def test_a_connection_reaches_the_lakes_own_data_and_nothing_else(filled: tuple[LakeStore, Store], statement: str) -> None:
    """The gate for people's SQL stands before it; this is the second line."""
    lake, _ = filled
    known = lake.snapshot().paths("turns")[0]
    with lake.reading() as connection:
        assert connection.execute(f"SELECT count(*) FROM read_parquet('{known}')").fetchall() != [(0,)]
        with pytest.raises((duckdb.Error, PermissionError)):
            connection.execute(statement.format(bucket=BUCKET, known=known)).fetchall()
    assert query(lake, "SELECT count(*) FROM turns").item() > 0


def test_pages_are_drawn_ahead_once_a_server_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that does it outlives a time without one, and says nothing: whoever opens a page is told."""
    lake = store_at(f"lake:s3://{BUCKET}/away")
    monkeypatch.setattr(bucket_at(f"s3://{BUCKET}/away"), "options", {"max_retries": "0"})
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with keeping_ahead(lake):
        time.sleep(1)
        assert "ahead" in {thread.name for thread in threading.enumerate()}


NOBODY = {
    "AWS_ACCESS_KEY_ID": None,
    "AWS_SECRET_ACCESS_KEY": None,
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


@pytest.mark.parametrize(
    ("address", "changed", "told"),
    [
        ("s3://no-such-bucket/x", {}, "there is no such bucket"),
        (f"s3://{BUCKET}/nothing", {}, "no lake at"),
        (f"s3://{BUCKET}/x", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "cannot be reached at http://127.0.0.1:9"),
        (f"s3://{BUCKET}/x", NOBODY, "no credentials were found: set AWS_ACCESS_KEY_ID"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    address: str, changed: dict[str, str | None], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bucket_at(address), "options", {"max_retries": "1"})
    for name, value in changed.items():
        monkeypatch.setenv(name, value) if value is not None else monkeypatch.delenv(name)
    done = CliRunner().invoke(cli, ["report", "leaderboard", "--store", f"lake:{address}"])
    assert isinstance(done.exception, SystemExit | StoreError)
    text = str(done.exception) if isinstance(done.exception, StoreError) else done.stderr
    assert told in text
    assert address in text
    assert len(text.strip().splitlines()) == 1
