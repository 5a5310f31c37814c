"""Every view says in its header what it is, and says it completely."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from analytics import views
from analytics.installation import columns, ensure_installed, install
from analytics.query import one_reading, query
from analytics.views import VIEWS, ViewFile
from schemas.common.errors import StoreError, UsageError
from schemas.store.store import Store
from tests.analytics.view_files import VIEW_OF
from tests.masters import held_open

SQL_FILES = sorted(Path(views.__file__).parent.rglob("*.sql"))
FEW = [VIEW_OF["scoring_jobs"], VIEW_OF["cost"]]
"""Made in a fortieth of the time that all take."""
WITH_COLUMNS = [spec for spec in VIEWS if spec.kind != "macros"]


def empty_store(folder: Path) -> Store:
    store = Store(folder / "empty.duckdb")
    store.create()
    ensure_installed(store)
    return store


def without_views(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty store that begins without views, so that few can be made in it."""
    monkeypatch.setattr(Store, "blank", staticmethod(lambda: None))
    store = Store(folder / "new.duckdb")
    store.create()
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An empty store that tests only read."""
    yield from held_open(empty_store(tmp_path_factory.mktemp("views")))


@pytest.fixture(scope="module")
def found(store: Store) -> dict[str, dict[str, views.Meaning]]:
    """View or table macro -> its columns."""
    with store.reading() as connection:
        return columns(connection)


def by_name(spec: ViewFile) -> str:
    return spec.name


def test_every_sql_file_is_installed() -> None:
    """As many as the files create; each header has the name that the statement creates."""
    created = [name for path in SQL_FILES for name in re.findall(r"(?m)^create or replace (?:view|macro) (\w+)", path.read_text())]
    macros = {name.partition("(")[0] for spec in VIEWS if spec.kind == "macros" for name in spec.special}
    assert sorted(spec.name for spec in VIEWS if spec.kind != "macros") == sorted(set(created) - macros)


def test_every_column_has_a_meaning(found: dict[str, dict[str, views.Meaning]]) -> None:
    """Of views and of table macros; `<view>.<column>` is a column that the view has, and means something else there."""
    assert sorted(found) == sorted(spec.name for spec in WITH_COLUMNS)
    assert [name for name, of_view in found.items() if not of_view] == []
    assert [(name, column) for name, of_view in found.items() for column, meaning in of_view.items() if not meaning.doc] == []
    assert [(spec.name, name) for spec in WITH_COLUMNS for name in spec.special if name not in found[spec.name]] == []
    of_folder = {spec.name: views.dictionary(Path(views.__file__).parent / Path(spec.file).parent) for spec in WITH_COLUMNS}
    same = [
        (spec.name, name) for spec in WITH_COLUMNS for name, meaning in spec.special.items() if of_folder[spec.name].get(name) == meaning
    ]
    inherited = {spec.name for spec in WITH_COLUMNS if "-- Columns as in:" in spec.sql}
    assert [(name, column) for name, column in same if name not in inherited] == []


def test_no_dictionary_explains_a_column_that_no_view_has(found: dict[str, dict[str, views.Meaning]]) -> None:
    """What a view no longer has goes out of the dictionary too."""
    for path in sorted(Path(views.__file__).parent.rglob("columns.csv")):
        of = path.parent.name
        known = {column for spec in WITH_COLUMNS if of in ("common", Path(spec.file).parent.name) for column in found[spec.name]}
        here = [spec for spec in VIEWS if Path(spec.file).parent.name == of]
        known |= {f"{spec.name}.{column}" for spec in here for column in found.get(spec.name, spec.special)}
        with path.open(encoding="utf-8", newline="") as lines:
            assert [row[0] for row in csv.reader(lines) if row[0] not in known] == [], of


def test_a_column_without_a_meaning_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its view and the file where its meaning belongs."""
    store = without_views(tmp_path, monkeypatch)
    ours = replace(VIEW_OF["cost"], sql="create or replace view cost as select 1 as what_is_this")
    monkeypatch.setattr("analytics.installation.VIEWS", [ours])
    with pytest.raises(StoreError, match=r"^cost: column what_is_this has no meaning: add it to columns\.csv"):
        store.define(install)


@pytest.mark.parametrize("spec", WITH_COLUMNS, ids=by_name)
def test_the_header_says_what_one_row_is(spec: ViewFile) -> None:
    """The grain stands in the summary, which the docs and the store show."""
    assert "One row is" in spec.summary


@pytest.mark.parametrize("spec", VIEWS, ids=by_name)
def test_a_view_is_after_the_views_that_it_reads(spec: ViewFile) -> None:
    """So that all can be made one after the other."""
    body = re.sub(r"--[^\n]*", "", spec.sql)
    later = {view.name for view in VIEWS[VIEWS.index(spec) + 1 :]} - set(re.findall(r"(\w+) as (?:materialized )?\(", body))
    assert later.isdisjoint(re.findall(r"\b(?:from|join)\s+(\w+)", body))


def test_an_empty_store_gives_empty_views(store: Store) -> None:
    """No view fails where there is nothing to count; maps, steps of failure points and groups of models are data and always there."""
    selectable = [spec.name for spec in VIEWS if spec.kind == "view"]
    maps = [name for name in selectable if name.endswith(("failure_map", "failure_steps", "model_groups"))]
    with one_reading(store) as connection:
        assert [name for name in selectable if connection.execute(f"select * from {name} limit 1").fetchall()] == maps


def test_installing_again_writes_nothing(tmp_path: Path) -> None:
    """A store whose views are current is not opened for writing: here it could not be."""
    store = empty_store(tmp_path)
    before = store.path.read_bytes()
    ensure_installed(store)
    assert store.path.read_bytes() == before


def test_other_views_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store with another cotrace's views gets ours."""
    store = without_views(tmp_path, monkeypatch)
    monkeypatch.setattr("analytics.installation.VIEWS", FEW)
    with store.writing() as connection:
        connection.execute("create or replace view cost as select 1 as stale")
        connection.execute("insert into store_info values ('views_hash', 'another')")
    ensure_installed(store)
    with store.reading() as connection:  # `query` reads stored rows, which these few views have not
        assert "cost_usd" in connection.sql("select * from cost").columns


def test_installing_is_part_of_the_callers_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails afterwards takes the views back with it."""
    store = without_views(tmp_path, monkeypatch)
    monkeypatch.setattr("analytics.installation.VIEWS", FEW)
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        _install_and_fail(store)
    with pytest.raises(UsageError, match="cost"):
        query(store, "select * from cost")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("wrong", "why"), [("from no_table", "no_table"), ("select no_column from turns", "no_column")])
def test_a_view_whose_sql_is_wrong_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, why: str) -> None:
    """With the reason and the file to correct, and nothing else is lost: the store stays as it was."""
    ours = replace(VIEW_OF["cost"], sql=f"create or replace view cost as {wrong}")
    store = empty_store(tmp_path)
    with store.writing() as connection:
        connection.execute("update store_info set value = 'another' where name = 'views_hash'")
    monkeypatch.setattr("analytics.installation.VIEWS", [ours if spec.name == "cost" else spec for spec in FEW])
    with pytest.raises(StoreError, match=rf"^view cost cannot be made \(.*{why}.*\): correct judging/verdicts\.sql$"):
        ensure_installed(store)
    assert "cost_usd" in query(store, "select * from cost").columns


def test_a_missing_store_is_named(tmp_path: Path) -> None:
    """The error says what is missing and what to do."""
    with pytest.raises(StoreError, match=r"no store at .*cotrace ingest"):
        ensure_installed(Store(tmp_path / "none.duckdb"))


def test_descriptions_stand_in_the_store_too(store: Store) -> None:
    """Any DuckDB client can read what a view is."""
    found = query(store, "select comment from duckdb_views() where view_name = 'outcomes'").item()
    assert found == VIEW_OF["outcomes"].summary


def _install_and_fail(store: Store) -> None:
    with store.writing() as connection:
        install(connection)
        raise ZeroDivisionError("on purpose")
