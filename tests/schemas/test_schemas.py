"""The store's contract: tables, their documentation, and how a store is opened."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pandera.errors
import polars as pl
import pytest

import analytics.installation
from analytics.installation import ensure_installed
from analytics.views import VIEWS
from schemas import records
from schemas.common.errors import StoreError
from schemas.common.text import printable, replace_lone_surrogates
from schemas.store import batches
from schemas.store.store import RENAMES, SCHEMA_VERSION, Rename, Store
from schemas.tables import TABLES, Column, table
from tests.masters import begun

CONTRACT = {
    "sources": "source_id path format adapter_version episodes rejected ingested_at",
    "rejects": "source_id locator reason excerpt",
    "receipts": "source_id path kind counted stored missing",
    "runs": "run_id benchmark name condition started_at",
    "episodes": "episode_id run_id source_id benchmark task_id level model team seed max_turns turns_taken success score stop_reason goal",
    "agents": "episode_id agent role model persona private_view",
    "turns": "episode_id turn state_before state_after oracle_available oracle_followed progress",
    "utterances": "episode_id turn seq agent channel audience text tokens",
    "actions": "episode_id turn seq agent verb arguments raw accepted error_code error_text",
    "oracle_actions": "episode_id turn rank verb arguments",
    "turn_metrics": "episode_id turn metric value",
    "episode_metrics": "episode_id metric value",
    "failures": "episode_id turn agent taxonomy category evidence",
    "judge_runs": "judge_run_id rubric rubric_hash judge model parameters started_at finished_at units calls cost status",
    "verdicts": "judge_run_id rubric rubric_hash question unit_id unit_hash episode_id turn agent judge repeat answer score reason status",
    "labels": "source annotator rubric question unit_key episode_id turn agent answer score",
}


@pytest.mark.parametrize("name", CONTRACT)
def test_table_has_the_columns_that_users_were_promised(name: str) -> None:
    """The public contract of the design: these columns, by these names."""
    assert set(CONTRACT[name].split()) <= set(table(name).column_names)


@pytest.mark.parametrize("spec", TABLES, ids=lambda spec: spec.name)
def test_every_column_is_explained_and_null_has_a_meaning(spec: object) -> None:
    """A description for each column; where null can stand, it says what null means."""
    assert spec in TABLES
    for column in getattr(spec, "columns", ()):
        assert column.doc
        if column.nullable:
            assert "null" in column.doc, column.name


def test_store_has_exactly_the_documented_columns(tmp_path: Path) -> None:
    """What DuckDB says of a fresh store is what the records say, and creating it again changes nothing."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    store.create()
    with store.reading() as connection:
        found = connection.execute(
            "select table_name, column_name, data_type, is_nullable from duckdb_columns() "
            "where schema_name = 'main' and table_name in (select table_name from duckdb_tables() where schema_name = 'main')"
        ).fetchall()
    assert sorted(found) == sorted((spec.name, c.name, c.sql_type, c.nullable) for spec in TABLES for c in spec.columns)


KILLED_BEFORE_ANYTHING_IS_REMOVED = """
import os, signal, sys
from pathlib import Path
import analytics.installation
from schemas.store.store import Store
Store.blank()
sys.addaudithook(lambda event, _: os.kill(os.getpid(), signal.SIGKILL) if event == "os.remove" else None)
Store(Path(sys.argv[1])).create()
"""


def test_a_kill_while_a_store_is_made_leaves_no_other_file(tmp_path: Path) -> None:
    """A new store's file has no other name first, which nobody would take away."""
    subprocess.run([sys.executable, "-c", KILLED_BEFORE_ANYTHING_IS_REMOVED, str(tmp_path / "s.duckdb")], check=False)
    assert [path.name for path in tmp_path.iterdir()] == ["s.duckdb"]


def test_rows_go_in_and_come_out_as_they_were(tmp_path: Path) -> None:
    """A record survives the way through Arrow, Pandera and DuckDB."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    said = records.Utterance("e", 1, 1, "D1", "public", ["D1", "Builder"], "héllo\n\t\u2028\0x", None, superseded=False)
    rows = batches.to_arrow({"utterances": [said]})
    batches.check(rows)
    with store.writing() as connection:
        batches.insert(connection, rows)
    with store.reading() as connection:
        assert connection.execute("from utterances").fetchall() == [tuple(said)]


def test_rows_that_break_the_contract_are_refused_by_name() -> None:
    """A negative turn number does not reach the store; the message names table and column."""
    bad = records.TurnMetric("e", -1, "craft.iou_score", 0.5)
    with pytest.raises(StoreError, match=r"table turn_metrics, column turn"):
        batches.check(batches.to_arrow({"turn_metrics": [bad]}))


def test_columns_in_another_order_are_refused() -> None:
    """They are written by their place."""
    rows = batches.to_arrow({"turn_metrics": [records.TurnMetric("e", 1, "craft.iou_score", 0.5)]})["turn_metrics"]
    with pytest.raises(StoreError, match="table turn_metrics"):
        batches.check({"turn_metrics": rows.select(rows.column_names[::-1])})


@pytest.mark.parametrize("of_each", [4, pytest.param(1, marks=pytest.mark.long)])
def test_batches_are_held_to_what_pandera_wants_of_every_kind_of_column(of_each: int) -> None:
    """A null, a number out of bounds, no number: refused where the Pandera schema refuses it, and taken where it does not.

    One kind of four in `make test`.
    """
    kinds = {
        (column.python_type, column.nullable, column.bounds): (spec, place) for spec in TABLES for place, column in enumerate(spec.columns)
    }
    refused = 0
    tried = [*kinds.values()][::of_each]
    for spec, place in tried:
        whole = [_fitting(column) for column in spec.columns]
        for value in _doubtful(spec.columns[place]):
            rows = batches.to_arrow({spec.name: [tuple(whole), (*whole[:place], value, *whole[place + 1 :])]})
            told = _refused(spec.pandera_schema().validate, pl.DataFrame(rows[spec.name]))
            assert _refused(batches.check, rows) == told, (spec.name, spec.columns[place].name, value)
            refused += told
    assert refused >= len(tried) // 2


_FITTING: dict[object, object] = {float: 0.5, int: 1, bool: True, datetime: datetime(2026, 1, 1), list[str]: ["a"]}  # noqa: DTZ001


def _fitting(column: Column) -> object:
    return _FITTING.get(column.python_type, "{}")


def _doubtful(column: Column) -> list[object]:
    numbers: list[object] = [math.nan, math.inf, -0.25, 1.5] if column.python_type is float else [-1] if column.python_type is int else []
    return [None, *(numbers if column.bounds or column.python_type is float else [])]


def _refused(check: Callable[[Any], object], rows: object) -> bool:
    try:
        check(rows)
    except (StoreError, pandera.errors.SchemaError):
        return True
    return False


def test_rows_in_groups_of_columns_are_those_of_records() -> None:
    """Groups with nulls, of one row for all, of several games with values in common, and beside records: the same table."""
    names = ("episode_id", "turn", "metric", "value")
    parts = [
        batches.Coded(
            (
                batches.Group(("turn", "value"), [(1, 0.5), (2, 1.0)], [1, 0, 1]),
                batches.Group(("episode_id",), [(game,)], [0, 0, 0]),
                batches.Group(("metric",), [("b",), ("a",)], [0, 0, 1]),
            )
        )
        for game in ("one", "two")
    ]
    parts.append(batches.Coded(tuple(batches.Group(group.columns, [], []) for group in parts[0].groups)))
    due = [
        records.TurnMetric(game, turn, metric, value)
        for game in ("one", "two")
        for turn, metric, value in ((2, "b", 1.0), (1, "b", 0.5), (2, "a", 1.0))
    ]
    found = batches.to_arrow({}, {"turn_metrics": parts})["turn_metrics"]
    assert found.equals(batches.to_arrow({"turn_metrics": due})["turn_metrics"].select(names))
    both = batches.to_arrow({"turn_metrics": due[:1]}, {"turn_metrics": parts})["turn_metrics"]
    assert [tuple(row.values()) for row in both.to_pylist()] == [due[0], *due]
    assert batches.to_arrow({}, {"turn_metrics": parts[2:]}) == {}


def test_transaction_that_fails_leaves_no_trace(tmp_path: Path) -> None:
    """An exception inside a write rolls everything back."""
    store = Store(tmp_path / "s.duckdb")
    store.create()

    def fail_after_writing() -> None:
        with store.writing() as connection:
            connection.execute("insert into store_info values ('x', 'y')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_writing()
    with store.reading() as connection:
        assert connection.execute("select count(*) from store_info where name = 'x'").fetchone() == (0,)


def test_store_of_an_older_cotrace_gets_the_columns_it_lacks(tmp_path: Path) -> None:
    """A column that may be null is added, with null in the rows there are; views that read it work again."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    label = records.Label("people", "ann", "r", "Q1", "u", None, None, None, "yes", 1.0)
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"labels": [label]}))
        connection.execute("alter table labels drop column planted")

    store.create()

    with store.reading() as connection:
        assert connection.execute("select annotator, planted from labels").fetchall() == [("ann", None)]


def _as_of_version_1(store: Store) -> None:
    """Turn a store into one that an older cotrace wrote: a failure point and a column with their old names."""
    store.create()
    values = ", ".join("?" for _ in table("attributions").columns)
    with store.writing() as connection:
        for link in ("said_wrong", "not_said"):
            row = ["game", 1, "D1", link, 0.5, None, "words", "engine", "answered"]
            connection.execute(f"insert into attributions values ({values})", row)
        connection.execute("alter table labels rename column annotator to person")
        connection.execute("update store_info set value = '1' where name = 'schema_version'")


def test_a_store_of_an_older_version_gets_new_names_when_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and columns, in one transaction: if one of them cannot be renamed, none is."""
    store = Store(tmp_path / "s.duckdb")
    _as_of_version_1(store)
    column = Rename(2, "labels", "person", "annotator")
    monkeypatch.setattr("schemas.store.store.RENAMES", (*RENAMES, column, Rename(2, "labels", "annotator", "question")))
    with pytest.raises(duckdb.CatalogException):
        store.create()
    assert _named(store) == (["not_said", "said_wrong"], "person", "1")

    monkeypatch.setattr("schemas.store.store.RENAMES", (*RENAMES, column, Rename(2, "no_such_table", "a", "b")))
    store.create()
    assert _named(store) == (["not_said", "wrong_instruction"], "annotator", str(SCHEMA_VERSION))


def _named(store: Store) -> tuple[list[str], str, str]:
    with store.reading() as connection:
        links = [link for (link,) in connection.execute("select link from attributions order by 1").fetchall()]
        names = {name for (name,) in connection.execute("select name from pragma_table_info('labels')").fetchall()}
        (version,) = connection.execute("select value from store_info where name = 'schema_version'").fetchall()
    return links, next(iter(names & {"annotator", "person"})), version[0]


def test_store_of_a_newer_version_is_refused_with_the_mend(tmp_path: Path) -> None:
    """An older cotrace does not touch what it does not understand."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    with store.writing() as connection:
        connection.execute("update store_info set value = ? where name = 'schema_version'", [str(SCHEMA_VERSION + 1)])
    with pytest.raises(StoreError, match="upgrade cotrace"):
        store.check()


def test_duckdb_file_of_something_else_is_refused(tmp_path: Path) -> None:
    """A database that is no cotrace store is neither read nor filled."""
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table mine (x int)")
    with pytest.raises(StoreError, match="not a cotrace store"):
        Store(path).create()


@pytest.mark.parametrize("name", ["judged", "materialized", "Judged"])
def test_a_store_is_not_called_as_a_schema_in_it(name: str, tmp_path: Path) -> None:
    """DuckDB could not tell the two apart: refused in one line, before anything is written."""
    with pytest.raises(StoreError, match=rf"cannot be called {name}\.duckdb: .* give the file another name"):
        Store(tmp_path / f"{name}.duckdb").create()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kept", [100, 5_000, 20_000], ids=lambda kept: f"first {kept} bytes")
def test_store_that_was_cut_is_told_with_the_mend(tmp_path: Path, kept: int) -> None:
    """A copy that broke off is neither read nor written."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    store.path.write_bytes(store.path.read_bytes()[:kept])
    for attempt in (store.create, store.check):
        with pytest.raises(StoreError, match=r"was cut or is damaged .*ingest the logs again"):
            attempt()


def test_damage_inside_a_store_is_told_when_it_is_met(tmp_path: Path) -> None:
    """A block whose check sum is wrong shows only when it is read."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    with store.writing() as connection:
        connection.execute("INSERT INTO sources SELECT md5(i::VARCHAR), md5(i::VARCHAR), '', '', 1, 1, 1, 0, now() FROM range(100000) r(i)")
    content = bytearray(store.path.read_bytes())
    content[len(content) // 2 :: 1000] = b"\xff" * len(content[len(content) // 2 :: 1000])
    store.path.write_bytes(content)
    with pytest.raises(StoreError, match=r"was cut or is damaged .*ingest the logs again"), store.reading() as connection:
        connection.execute("SELECT source_id, path FROM sources").fetchall()


@pytest.mark.parametrize("name", ["why?/s.duckdb", "s?.duckdb"])
def test_a_path_that_duckdb_cannot_write_to_is_told(tmp_path: Path, name: str) -> None:
    """DuckDB puts the name of its log before the question mark: in a folder of such a name it ended with an internal error."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    with pytest.raises(StoreError, match="cannot write to a path with"):
        Store(path).create()
    assert not path.exists()


def test_folder_in_place_of_a_store_is_told(tmp_path: Path) -> None:
    """Reading and writing say the same."""
    for attempt in (Store(tmp_path).create, Store(tmp_path).check):
        with pytest.raises(StoreError, match="is a folder: name a file"):
            attempt()


def test_locked_store_is_waited_for_then_named(tmp_path: Path) -> None:
    """Whoever keeps the store open is told of, after the wait."""
    import subprocess
    import sys

    path = tmp_path / "s.duckdb"
    Store(path).create()
    code = f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    try:
        with pytest.raises(StoreError, match="held by another process"):
            Store(path, lock_wait_s=0.3).check()
    finally:
        holder.communicate()


def test_threads_read_at_the_same_time_and_wait_for_a_writer(tmp_path: Path) -> None:
    """The dashboard draws two pages at once, and one while a run of the same process writes."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    with store.reading() as first, store.reading() as second:
        assert [c.execute("SELECT value FROM store_info WHERE name = 'schema_version'").fetchone() for c in (first, second)] == [
            (str(SCHEMA_VERSION),)
        ] * 2
        for connection in (first, second):
            with pytest.raises(duckdb.PermissionException):
                connection.execute("SELECT * FROM read_text('/etc/hostname')")
    with ThreadPoolExecutor(1) as pool:
        with store.writing():
            waiting = pool.submit(store.check)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.2)
        waiting.result(timeout=10)


@pytest.mark.parametrize("text", ["\x1b[31mred\x1b[0m", "a\u202eb", "line\nbreak\rback", "null\0", "\ud800"])
def test_printable_text_cannot_steer_a_terminal(text: str) -> None:
    """No control, direction or surrogate character is left."""
    assert printable(text).isprintable()


def test_halves_of_a_pair_that_stand_together_are_a_character() -> None:
    """Only a half that is alone is lost, wherever in a parsed value it stands."""
    assert replace_lone_surrogates({"a\udc00": ["\ud83d", "\ud83d\ude00 b", 1]}) == {"a\ufffd": ["\ufffd", "\N{GRINNING FACE} b", 1]}


def test_an_older_store_gets_the_columns_it_lacks_before_a_report_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views that are current do not hide that a table is not."""
    store = begun(tmp_path / "old.duckdb")
    few = [spec for spec in VIEWS if spec.name in {"scoring_jobs", "cost"}]  # all of them take seconds to make
    monkeypatch.setattr(analytics.installation, "VIEWS", few)
    monkeypatch.setattr(analytics.installation, "_fingerprint", analytics.installation._fingerprint.__wrapped__)
    with store.writing() as connection:
        connection.execute("ALTER TABLE labels DROP COLUMN imported_at")
        same_views = hashlib.sha256("\0".join(spec.sql for spec in few).encode()).hexdigest()
        connection.execute("UPDATE store_info SET value = ? WHERE name = 'views_hash'", [same_views])

    ensure_installed(store)

    with store.reading() as connection:
        assert "imported_at" in connection.sql("SELECT * FROM labels").columns
