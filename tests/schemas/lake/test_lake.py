"""A lake holds what a DuckDB store would, whoever writes at once, and whoever is killed."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal

from analytics.forgetting import forget
from analytics.query import query
from analytics.reports import report
from cotrace.cli import cli, main
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.common.errors import StoreError, UsageError
from schemas.game_log import GameLog
from schemas.records import Attribution, EpisodeMetric
from schemas.store.batches import to_arrow
from schemas.store.lake.files import LAKE_TABLES
from schemas.store.lake.store import LakeStore, compact, copy_from, copy_to
from schemas.store.store import SCHEMA_VERSION, Store, Transaction
from schemas.store.stores import store_at
from tests.ingest.craft.craft_logs import published, write
from tests.judges.judged_games import ask_model, store_of, verdict_counts
from tests.servers.stub_server import stub_server

_BY_CHANCE = {"ingested_at", "started_at", "finished_at", "judge_run_id", "call_id"}
"""Columns that differ from one job to the next."""

INGEST = """
import sys
from ingest.files import run, writer
from schemas.store.stores import store_at
run._PORTION_FILES = writer._BATCH_ROWS = 1
run.ingest_paths(sys.argv[2:], store_at(sys.argv[1]), workers=1)
"""
READS = """
import sys
from schemas.store.stores import store_at
with store_at(sys.argv[1]).reading():
    print("reading", flush=True)
    sys.stdin.read()
"""
KILLED = """
import os, signal
from schemas.store.lake.store import LakeStore
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


@pytest.mark.parametrize(
    ("name", "least"),
    [("costly-turns", 3), pytest.param("failures", 3, marks=pytest.mark.long), pytest.param("drift", 1, marks=pytest.mark.long)],
)
def test_reports_run_on_a_lake(filled: tuple[LakeStore, Store], name: str, least: int) -> None:
    """The commands take `--store lake:`."""
    printed = [
        CliRunner().invoke(cli, ["report", name, "--format", "csv", "--store", str(each.path)], catch_exceptions=False) for each in filled
    ]
    assert printed[0].stdout == printed[1].stdout
    assert printed[0].stdout.count("\n") >= least


@pytest.mark.sampled(1)
@pytest.mark.parametrize("view", ["correction_spirals", "judge_scores", "outcomes"])
def test_queries_run_on_a_lake(filled: tuple[LakeStore, Store], view: str) -> None:
    """Views give the same rows."""
    lake, store = filled
    sql = f"SELECT * FROM {view} ORDER BY ALL"
    assert query(lake, sql).equals(query(store, sql))


@pytest.mark.parametrize("name", [pytest.param("lost", marks=pytest.mark.long), "costly-turns"])
def test_reports_come_in_one_order_however_rows_lie(filled: tuple[LakeStore, Store], name: str) -> None:
    """Also rows that are alike in what the report is sorted by: they came as they lay, and in a file now so, now otherwise."""
    ours, theirs = (report(each, name) for each in filled)
    by_chance = [column for column in ours.columns if column in _BY_CHANCE or column.endswith(("_at", "_s"))]
    assert_frame_equal(ours.drop(by_chance), theirs.drop(by_chance))


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


@pytest.mark.long
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
        list(threads.map(lambda _: lake.transact(count_on), range(6)))
    assert [row[2] for row in sorted(contents(lake)["episode_metrics"], key=lambda row: row[2])] == list(range(1, 7))


@pytest.mark.long
def test_a_lake_of_an_older_version_gets_new_values_when_it_is_written(tmp_path: Path) -> None:
    """As a store in one file does; the other rows stay as they are."""
    lake = LakeStore(tmp_path / "lake")
    lake.create()
    found = [
        Attribution("game", turn, "D1", link, 0.5, None, "", "engine", "answered") for turn, link in ((1, "said_wrong"), (2, "not_said"))
    ]
    lake.transact(lambda transaction: transaction.insert(to_arrow({"attributions": found})))
    lake.place.delta().alter.set_table_description("cotrace lake, schema version 1")
    for _ in range(2):
        again = LakeStore(tmp_path / "lake")
        again.create()
        with again.reading() as connection:
            links = connection.execute("select turn, link from attributions order by 1").fetchall()
        assert links == [(1, "wrong_instruction"), (2, "not_said")]
        assert again.place.delta().metadata().description == f"cotrace lake, schema version {SCHEMA_VERSION}"


def test_copies_of_an_older_version_have_the_new_values(tmp_path: Path) -> None:
    """From a store into a lake, and back."""
    store, lake, back = Store(tmp_path / "s.duckdb"), LakeStore(tmp_path / "lake"), Store(tmp_path / "back.duckdb")
    old = to_arrow({"attributions": [Attribution("game", 1, "D1", "said_wrong", 0.5, None, "", "engine", "answered")]})
    store.create()
    store.transact(lambda transaction: transaction.insert(old))
    copy_from(lake, store)
    assert contents(lake)["attributions"][0][3] == "wrong_instruction"
    lake.transact(lambda transaction: transaction.insert(old))
    copy_to(lake, back)
    assert [row[3] for row in contents(back)["attributions"]] == ["wrong_instruction"] * 2


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


def test_what_takes_the_place_of_rows_sees_the_whole_lake(logs: Path, tmp_path: Path) -> None:
    """A log that has changed is read into a part that its game does not lie in: the old game goes. A part is no empty lake."""
    mine = shutil.copytree(logs, tmp_path / "logs")
    lake = LakeStore(tmp_path / "lake")
    ingest_paths([mine], lake, workers=1)
    write(mine / "one" / "a.json", published(timestamp="20260406_999999", models={"director": "another", "builder": "other-model"}))
    part = store_at(f"{lake.path}?benchmark=einstein")
    assert ingest_paths([mine], part, workers=1).replaced == 1
    once = Store(tmp_path / "once.duckdb")
    ingest_paths([mine], once, workers=1)
    assert contents(lake)["episodes"] == contents(once)["episodes"]
    assert contents(lake)["turns"] == contents(once)["turns"]
    assert isinstance(part, LakeStore)
    with pytest.raises(UsageError, match="holds games already"):
        copy_from(part, once)
    with pytest.raises(UsageError, match="is a part of a lake"):
        forget(part, "source", str(mine / "one" / "a.json"))


def test_a_writer_waits_for_no_reader(logs: Path, tmp_path: Path) -> None:
    """Another process reads for as long as it likes."""
    lake = LakeStore(tmp_path / "lake")
    ingest_paths([logs / "one"], lake, workers=1)
    with subprocess.Popen([sys.executable, "-c", READS, str(lake.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"reading\n"
        patient = LakeStore(tmp_path / "lake")
        patient._views.lock_wait_s = 0.5
        assert ingest_paths([logs / "two"], patient, workers=1).episodes == 2
        reader.communicate()


def test_verdicts_go_to_a_lake_while_a_run_goes_on(tmp_path: Path) -> None:
    """Every ten seconds; here more often, so that a short run has some before its end."""
    lake = LakeStore(tmp_path / "lake")
    copy_from(lake, store_of(tmp_path / "s.duckdb", games=2, turns=10))
    assert lake.save_every_s == 10
    lake.save_every_s = 0.2
    seen = set()
    with stub_server("--latency-ms", "100") as url, ThreadPoolExecutor(1) as thread:
        going_on = thread.submit(run, ask_model(url, concurrency=2), lake)
        while not going_on.done():
            seen.add(verdict_counts(LakeStore(tmp_path / "lake")).get("answered", 0))
            time.sleep(0.15)
    assert verdict_counts(lake) == {"answered": 120}
    assert len(seen - {0, 120}) > 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("commits", [0, 2])
def test_a_lake_that_another_takes_the_place_of_is_seen_anew(filled: tuple[LakeStore, Store], tmp_path: Path, commits: int) -> None:
    """By whoever has it open: gone, and back with fewer or more versions, none of which may be laid over what was there."""
    _, store = filled
    lake = LakeStore(tmp_path / "lake")
    ingest_paths([logs_in(tmp_path / "logs", "yz")], lake, workers=1)
    versions = lake.snapshot().version
    shutil.rmtree(tmp_path / "lake")
    with pytest.raises(StoreError, match="no lake at"), lake.reading():
        pass
    assert not (tmp_path / "lake").exists()
    assert copy_from(LakeStore(tmp_path / "lake"), store) > 0
    more = to_arrow({"episode_metrics": [EpisodeMetric("game", "number", 1.0)]})
    for _ in range(commits):
        LakeStore(tmp_path / "lake").transact(lambda it: it.insert(more))
    assert (LakeStore(tmp_path / "lake").snapshot().version > versions) == (commits > 1)
    assert contents(lake) == contents(LakeStore(tmp_path / "lake"))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["st*ar", "br[1]ack", "quo'te", "sp ace", "uñi中", "a/../b"])
def test_a_folder_of_any_name_is_its_own(logs: Path, tmp_path: Path, name: str) -> None:
    """Not even one with a name that the first might stand for, and files of the same names, is read in its place."""
    (tmp_path / "a").mkdir()
    lake = LakeStore(tmp_path / name)
    ingest_paths([logs / "one"], lake, workers=1)
    for other in ("st-ar", "stXYar", "br1ack"):
        if not (tmp_path / other).exists():
            shutil.copytree(lake.place.uri, tmp_path / other)
    assert ingest_paths([logs], store_at(f"lake:{tmp_path / name}"), workers=1).episodes == 2
    assert query(lake, "SELECT count(*) FROM episodes").rows() == [(5,)]


@pytest.mark.parametrize("damage", ["pages", *(pytest.param(part, marks=pytest.mark.long) for part in ("file", "log", "views"))])
def test_damage_is_told_in_one_line_with_the_mend(
    filled: tuple[LakeStore, Store], tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    """Whatever was cut, and whichever command comes upon it."""
    root = Path(shutil.copytree(filled[0].place.uri, tmp_path / "lake"))
    patterns = {
        "file": "table=turns/**/*.parquet",
        "pages": "table=turns/**/*.parquet",
        "log": "_delta_log/*.json",
        "views": "_cotrace/views.duckdb",
    }
    path = max(root.glob(patterns[damage]))
    path.chmod(0o644)
    content = path.read_bytes()
    path.write_bytes(_with_pages_overwritten(content) if damage == "pages" else content[:200])
    commands = [
        ["sql", "SELECT sum(progress) FROM turns"],
        ["report", "leaderboard"],
        ["judge", "--rubric", "craft_failures", "--judge", "engine"],
        ["attribute"],
        ["lake", "to", str(tmp_path / "one.duckdb")],
    ]
    for command in commands[: 4 if damage == "views" else 5]:
        with pytest.raises(SystemExit, match="2"):
            main([*command, "--store", f"lake:{root}"])
        said = capsys.readouterr().err.strip().splitlines()
        assert len(said) == 1, said
        assert "put" in said[0] or "made anew" in said[0]
        assert "--where" not in said[0]
        assert "internal error" not in said[0]
        assert str(path) in said[0] or damage == "log"


def test_compacting_comes_upon_damage_too(tmp_path: Path) -> None:
    """Nothing is written."""
    lake = LakeStore(tmp_path / "lake")
    lake.create()
    for number in (1.0, 2.0):
        lake.transact(lambda it, number=number: it.insert(to_arrow({"episode_metrics": [EpisodeMetric("game", "number", number)]})))  # type: ignore[misc]
    (path, _) = lake.snapshot().paths("episode_metrics")
    Path(path).chmod(0o644)
    Path(path).write_bytes(_with_pages_overwritten(Path(path).read_bytes()))
    with pytest.raises(StoreError, match=rf"cannot be read.*{re.escape(path)}"):
        compact(lake, keep_hours=0)


def _with_pages_overwritten(content: bytes) -> bytes:
    """A Parquet file whose footer is as it was; DuckDB does not say the name of such a file."""
    footer = int.from_bytes(content[-8:-4], "little") + 8
    return content[:4] + b"\xff" * (len(content) - footer - 4) + content[-footer:]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("in_place_of", "command"),
    [
        ("table=attributions", ["attribute"]),
        ("table=judge_runs", ["judge", "--rubric", "spatial_grounding", "--judge", "engine"]),
        ("table=claims/part_benchmark=craft", ["claims"]),
        ("_cotrace/journal", ["claims", "--reader", "llm:openai/x", "--base-url", "http://127.0.0.1:9/v1"]),
        ("_cotrace", ["sql", "SELECT 1"]),
    ],
)
def test_a_folder_that_cannot_be_written_is_told_in_one_line(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], in_place_of: str, command: list[str]
) -> None:
    """As one without rights is; a file in its place stops everybody, also those who have all rights."""
    root = tmp_path / "lake"
    ingest_paths([logs / "one"], LakeStore(root), workers=1)
    shutil.rmtree(root / in_place_of, ignore_errors=True)
    (root / in_place_of).parent.mkdir(exist_ok=True)
    (root / in_place_of).touch()
    before = LakeStore(root).snapshot()
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--store", f"lake:{root}"])
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1, said
    assert "internal error" not in said[0]
    assert str(root / in_place_of) in said[0]
    assert "make it" in said[0]
    assert LakeStore(root).snapshot() == before


_WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from schemas.store.batches import to_arrow
from schemas.common.errors import StoreError
from schemas.store.lake.store import LakeStore
from schemas.records import EpisodeMetric

def count_on(transaction):
    transaction.insert(to_arrow({"episode_metrics": [EpisodeMetric("game", "number", 1.0)]}))

lake = LakeStore(sys.argv[1])
lake.transact(count_on)
for path in Path(sys.argv[1]).rglob("*"):
    path.chmod(0o555 if path.name == "_delta_log" else 0o777)
if os.geteuid() == 0:
    os.setresuid(65534, 65534, 65534)  # root may write anything
try:
    lake.transact(count_on)
except StoreError as error:
    print(error)
"""


@pytest.mark.long
def test_a_log_that_may_not_be_written_is_told_in_one_line() -> None:
    """What deltalake says of it has several lines, in colours."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are its user's alone
        Path(folder).chmod(0o755)
        lake = LakeStore(Path(folder) / "lake")
        lake.create()
        done = subprocess.run([sys.executable, "-c", _WITHOUT_RIGHTS, lake.place.uri], capture_output=True, text=True, check=True)
        assert done.stdout.count("\n") == 1
        assert done.stdout.strip().isprintable()
        assert done.stdout.startswith(f"lake {lake.place.uri} cannot be used: ")
        assert done.stdout.endswith("make it readable and writable (chmod u+rwX), or name another place with --store\n")
        assert len(contents(lake)["episode_metrics"]) == 1


NAMES = ["my game", "a/../b", "a%2Fb", "a=b&c'*?日本", "a%b", "a'b", "a*b?", "日本", "plain"]


@pytest.mark.parametrize("names", [NAMES[:4], pytest.param(NAMES[4:], marks=pytest.mark.long)], ids=["some", "others"])
def test_a_game_may_be_called_as_it_likes(tmp_path: Path, names: list[str]) -> None:
    """Its name is a part of the names of files, whose escapes deltalake escapes once more: one space made the lake unreadable."""
    for place, name in enumerate(names):
        with GameLog(tmp_path / "logs" / f"{place}.jsonl", benchmark=name, agents=["a"]) as log:
            log.turn(messages=[("a", "hi")])
            log.end(success=True)
    lake = LakeStore(tmp_path / "lake")
    ingest_paths([tmp_path / "logs"], lake, workers=1)
    compact(lake, keep_hours=0)
    lake.vacuum(0)
    counted = "SELECT benchmark, count(*) FROM episodes INNER JOIN turns USING (episode_id) GROUP BY 1"
    assert sorted(query(lake, counted).rows()) == sorted((name, 1) for name in names)
    for name in names:
        assert query(LakeStore(tmp_path / "lake", benchmark=name), counted).rows() == [(name, 1)]


def test_a_file_and_the_root_of_all_folders_are_no_lakes(tmp_path: Path) -> None:
    """The advice was to make the file writable; of the root, told as `lake:`, that nobody can write back."""
    (tmp_path / "s.duckdb").touch()
    with pytest.raises(UsageError, match=r"s\.duckdb is a file, and a lake is a folder: name a folder, or leave out lake:"):
        store_at(f"lake:{tmp_path}/s.duckdb")
    with pytest.raises(UsageError, match="the root of all folders cannot be a lake"):
        store_at("lake:/")


def test_copying_what_is_not_there_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StoreError, match="no lake at"):
        copy_to(LakeStore(tmp_path / "none"), Store(tmp_path / "one.duckdb"))
    assert not list(tmp_path.iterdir())
    with pytest.raises(SystemExit, match="2"):
        main(["lake", "to", "lake:other", "--store", f"lake:{tmp_path}"])
    assert "writes a DuckDB store" in capsys.readouterr().err


def test_a_part_without_a_game_is_not_copied(filled: tuple[LakeStore, Store], tmp_path: Path) -> None:
    """A slip in a run's name made a store of the rows that belong to no game."""
    with pytest.raises(UsageError, match="no game of that part"):
        copy_to(LakeStore(filled[0].place.uri, run="craft-slip"), Store(tmp_path / "one.duckdb"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("hours", "deleted"), [(0.001, False), pytest.param(1e300, False, marks=pytest.mark.long), (0, True)])
def test_part_of_an_hour_is_no_hour_at_all(filled: tuple[LakeStore, Store], tmp_path: Path, hours: float, *, deleted: bool) -> None:
    """What was in use a minute ago stays, and so does everything for ever."""
    lake = LakeStore(shutil.copytree(filled[0].place.uri, tmp_path / "lake"))
    assert (compact(lake, keep_hours=hours).deleted > 0) == deleted


@pytest.mark.parametrize("statement", ["SELECT * FROM read_text('{outside}')", "COPY (SELECT 1) TO '{outside}'", "ATTACH '{outside}'"])
def test_a_connection_to_a_lake_reaches_nothing_else(filled: tuple[LakeStore, Store], tmp_path: Path, statement: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("secret")
    with filled[0].reading() as connection, pytest.raises(duckdb.PermissionException):
        connection.execute(statement.format(outside=outside))


@pytest.mark.parametrize(
    "name", ["lake:", "lake:x?model=y", "lake:az://bucket/x", "lake:s3://bucket", "lake:s3://bucket/a*", "lake:50%", "lake:a\\b"]
)
def test_a_lake_that_cannot_be_named_so_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="lake"):
        store_at(name)


def test_the_home_folder_may_be_written_as_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No shell replaces `~` behind `lake:`; a folder of that name was made."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert str(store_at("lake:~/games").path) == f"lake:{tmp_path / 'home' / 'games'}"
    assert str(store_at("lake:./~/games").path) == f"lake:{tmp_path / '~' / 'games'}"


def test_a_lake_that_has_lost_its_log_is_not_begun_anew(filled: tuple[LakeStore, Store], tmp_path: Path) -> None:
    """A new one in the same place would have its files deleted by the next compacting."""
    root = Path(shutil.copytree(filled[0].place.uri, tmp_path / "lake"))
    shutil.rmtree(root / "_delta_log")
    with pytest.raises(StoreError, match=r"has lost its log.*put a copy of _delta_log back"):
        LakeStore(root).create()
    assert not (root / "_delta_log").exists()


def test_an_entry_of_the_log_without_a_byte_is_told(tmp_path: Path) -> None:
    """As a power cut may leave it. It counted as a commit of nothing: rows were gone, and the next commit came on top."""
    lake = LakeStore(tmp_path / "lake")
    lake.create()
    more = to_arrow({"episode_metrics": [EpisodeMetric("game", "number", 1.0)]})
    for _ in range(3):
        lake.transact(lambda it: it.insert(more))
    entry = tmp_path / "lake" / "_delta_log" / f"{2:020}.json"
    whole = entry.read_bytes()
    entry.write_bytes(b"")
    with pytest.raises(StoreError, match=re.escape(str(entry))):
        contents(LakeStore(tmp_path / "lake"))
    with pytest.raises(StoreError, match=re.escape(str(entry))):
        LakeStore(tmp_path / "lake").transact(lambda it: it.insert(more))
    entry.write_bytes(whole)
    assert len(contents(LakeStore(tmp_path / "lake"))["episode_metrics"]) == 3


def test_what_is_no_lake_is_told(tmp_path: Path) -> None:
    """An empty folder, and a Delta table of somebody else's."""
    import pyarrow as pa
    from deltalake import write_deltalake

    with pytest.raises(StoreError, match="no lake at"):
        LakeStore(tmp_path).check()
    write_deltalake(str(tmp_path), pa.table({"a": [1]}))
    with pytest.raises(StoreError, match="no cotrace lake"):
        LakeStore(tmp_path).check()
