"""`cotrace sql` prints whatever a query gives: every type that DuckDB has, in every format."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.store.store import Store
from tests.command_line import called
from tests.judges.judged_games import store_of
from tests.masters import held_open

VALUES: dict[str, tuple[str, Any]] = {
    "span": ("INTERVAL '1 day 2 hours'", "1 day 02:00:00"),
    "spans": ("[INTERVAL 1 MONTH]", "[1 month]"),
    "record_of_spans": ("{'a': INTERVAL 1 DAY}", "{'a': 1 day}"),
    "map_of_spans": ("MAP {'a': INTERVAL 1 DAY}", "{a=1 day}"),
    "bits": ("'0101'::BIT", "0101"),
    "bytes": ("'\\xFF\\x00'::BLOB", "\\xFF\\x00"),
    "either": ("union_value(num := 1)", "1"),
    "anything": ("1::VARIANT", "1"),
    "large": ("123456789012345678901234567890123456789012::BIGNUM", "123456789012345678901234567890123456789012"),
    "largest": ("340282366920938463463374607431768211455::UHUGEINT", "340282366920938463463374607431768211455"),
    "with_zone": ("TIMETZ '10:00:00+02'", "10:00:00+02"),
    "never": ("'infinity'::DATE", "infinity"),
    "always": ("'-infinity'::TIMESTAMP", "-infinity"),
    "long_ago": ("'4000-01-01 (BC)'::DATE", "4000-01-01 (BC)"),
    "place": ("'POINT (1 2)'::GEOMETRY", "POINT (1 2)"),
    "list_of_never": ("['infinity'::DATE]", "[infinity]"),
    "record_of_always": ("{'a': ['-infinity'::TIMESTAMP]}", "{'a': [-infinity]}"),
    "map_of_never": ("MAP {'a': 'infinity'::TIMESTAMP}", "{a=infinity}"),
    "never_in_seconds": ("'infinity'::TIMESTAMP_S", "infinity"),
    "end_of_day": ("'24:00:00'::TIME", "24:00:00"),
    "map_by_numbers": ("MAP {1: 2}", "{1=2}"),
    "map_by_lists": ("MAP {[1]: 2}", "{[1]=2}"),
    "list": ("[1, 2]", [1, 2]),
    "array": ("[1, 2]::INT[2]", [1, 2]),
    "record": ("{'a': 1, 'b': [DATE '2020-01-01']}", {"a": 1, "b": ["2020-01-01"]}),
    "map": ("MAP {'a': 1}", {"a": 1}),
    "choice": ("'a'::ENUM ('a', 'b')", "a"),
    "nothing": ("NULL", None),
}
"""Column -> SQL, and what JSON and Parquet hold."""

EVERY = f"SELECT {', '.join(f'{sql} AS {name}' for name, (sql, _) in VALUES.items())}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Any store."""
    yield from held_open(store_of(tmp_path_factory.mktemp("types") / "s.duckdb"))


def printed(store: Store, output_format: str) -> str:
    """The whole of it in that format."""
    done = called("sql", EVERY, "--format", output_format, store=store)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_json_holds_every_value(store: Store) -> None:
    """Texts where JSON has nothing better."""
    assert json.loads(printed(store, "json")) == [{name: value for name, (_, value) in VALUES.items()}]


def test_csv_holds_every_value(store: Store) -> None:
    """Lists and records as JSON."""
    (row,) = csv.DictReader(io.StringIO(printed(store, "csv")))
    for name, (_, value) in VALUES.items():
        found = row[name].removeprefix("'")  # what a spreadsheet would compute is guarded
        assert (json.loads(found) if isinstance(value, list | dict) else found) == ("" if value is None else value), name


def test_a_terminal_shows_every_value(store: Store) -> None:
    """One row, whole."""
    shown = printed(store, "table")
    for text in ("1 day 02:00:00", "[1 month]", "0101", "infinity", "4000-01-01 (BC)", "POINT (1 2)"):
        assert text in shown


def test_parquet_holds_every_value(store: Store, tmp_path: Path) -> None:
    """Readable again by others."""
    done = subprocess.run(["sh", "-c", 'exec "$@" > rows.parquet', "sh", *_command(store)], cwd=tmp_path, check=True, timeout=60)
    assert done.returncode == 0
    found = pl.read_parquet(tmp_path / "rows.parquet").row(0, named=True)
    for name, (_, value) in VALUES.items():
        if isinstance(value, str):
            assert found[name] == value, name


def _command(store: Store) -> list[str]:
    import sys

    code = "from cotrace.cli import main; main()"
    return [sys.executable, "-c", code, "sql", EVERY, "--format", "parquet", "--store", str(store.path)]


@pytest.mark.parametrize(("value", "told"), [("1", "1"), ("INTERVAL 1 DAY", "1 day")])
def test_names_that_are_given_twice_are_told_apart(value: str, told: str, store: Store) -> None:
    """Also beside a value that comes as text."""
    done = called("sql", f"SELECT {value} AS a, 2 AS a, 3 AS a_1", "--format", "csv", store=store)
    assert done.stdout == f"a,a_2,a_1\n{told},2,3\n"


def test_a_report_can_be_narrowed_by_an_interval(store: Store) -> None:
    """Conditions compute with what results cannot hold."""
    done = called("report", "cost", "--where", "now()::timestamp - last_started_at > interval 1 day", store=store)
    assert done.returncode == 0, done.stderr
