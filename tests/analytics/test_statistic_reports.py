"""Every report of docs/statistics.md: terminal, CSV and Python have the same rows, and an empty store has the columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import cotrace
from analytics.report_columns import report_columns
from analytics.reports import COMPUTED, NEEDS, all_reports, columns_of
from analytics.statistics.few_games import all_kinds, held_of
from cotrace.cli import cli
from research.coverage import which_is_which
from schemas.store.store import Store
from tests.analytics.little_games import store_with
from tests.masters import held_open, published_store
from tests.places import DOCS

STATISTICS = [name for name, computed in COMPUTED.items() if computed.page == "docs/statistics.md"]
CODE = re.compile(r"\d[eE][+-]?\d|\b(nan|None|inf)\b|p = (0|\.0+\b)|[-−]0?\.0+\b|\d%")
"""What no sentence says: powers of ten, values that are none, a probability of nothing, minus nothing, 90% beside 90 %."""


@pytest.fixture(scope="module")
def engine_store(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Store]:
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("engine"), "craft/engine_games"))


def printed(store: Store, name: str, output_format: str) -> str:
    arguments = ["report", name, "--store", str(store.path), "--format", output_format]
    return CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout


@pytest.mark.sampled(1)
@pytest.mark.shared
@pytest.mark.parametrize("name", [name for name in ("compare", *STATISTICS) if name not in {"preferences", "judges-needed", "attempts"}])
def test_published_games_in_terminal_csv_and_python(engine_store: Store, name: str) -> None:
    """The same rows, each with a sentence where the report has sentences; its numbers as in print (a p of 1.2e-05 stood there)."""
    rows = cotrace.open(engine_store.path).report(name).pl()
    told = list(csv.DictReader(io.StringIO(printed(engine_store, name, "csv"))))
    assert len(told) == len(rows) > 0
    assert list(told[0]) == rows.columns
    table = printed(engine_store, name, "table")
    assert all(line in table for line in rows["advice"].to_list()[:3]) if "advice" in rows.columns else table
    assert [line for line in (rows["advice"] if "advice" in rows.columns else ()) if CODE.search(line)] == []


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from held_open(store_with(tmp_path_factory.mktemp("empty"), []))


@pytest.fixture(scope="module")
def of_empty(empty: Store) -> dict[str, pl.DataFrame]:
    """All reports on a store without rows."""
    return all_reports(empty)


def test_every_interval_that_a_report_prints_has_its_line_and_was_simulated(of_empty: dict[str, pl.DataFrame]) -> None:
    """A new report, or a new column, without a simulated interval is noticed here; and so is a line that no report needs."""
    printed = {(name, low) for name, rows in of_empty.items() for low in rows.columns if low == "low" or low.endswith("_low")}
    kinds = all_kinds()
    assert {(kind.report, kind.low) for kind in kinds} == printed
    assert [kind for kind in kinds if not held_of(kind.method)] == []
    assert which_is_which() in (DOCS / "dev" / "coverage.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", STATISTICS)
def test_an_empty_store_has_the_columns_and_the_page_a_section(of_empty: dict[str, pl.DataFrame], name: str) -> None:
    """What fits a terminal is among them; the page says when to use it, and when not."""
    rows = of_empty[name]
    assert rows.is_empty()
    assert set(columns_of(name)) <= set(rows.columns)
    page = (DOCS / "statistics.md").read_text()
    section = re.search(rf"\n## {name.removesuffix('-curves')}\n(.*?)(?=\n## |\Z)", page, re.DOTALL)
    assert section is not None
    assert "**Use it**" in section[1]
    assert "**Do not use it**" in section[1]


@pytest.mark.parametrize("name", COMPUTED)
def test_a_computed_report_has_the_columns_that_are_listed(of_empty: dict[str, pl.DataFrame], name: str) -> None:
    """In their order and of their types, each with a meaning; some fit a terminal."""
    kinds = {"String": "text", "Int64": "count", "Float64": "number", "Boolean": "flag", "Datetime(time_unit='us', time_zone=None)": "time"}
    listed = report_columns(name)
    rows = of_empty[name].drop("few_games", "held_least", strict=False)
    assert [(column.name, column.kind) for column in listed] == [(column, kinds[str(kind)]) for column, kind in rows.schema.items()]
    assert [column.name for column in listed if not column.meaning] == []
    assert columns_of(name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COMPUTED)
def test_a_report_without_rows_says_what_it_takes(empty: Store, name: str) -> None:
    """It said "0 rows", and no more; a condition that no row meets is another reason, and told by the number alone."""
    arguments = ["report", name, "--store", str(empty.path)]
    told = CliRunner().invoke(cli, arguments, catch_exceptions=False).stderr
    assert f"no row of {name}: it takes {NEEDS[name]}\n" in told
    assert "no row" not in CliRunner().invoke(cli, [*arguments, "--where", "1 = 1"], catch_exceptions=False).stderr
