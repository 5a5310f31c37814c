"""New stores begin as a copy of a blank one, which a machine makes once."""

from __future__ import annotations

from pathlib import Path

import pytest

import cotrace
from analytics.installation import blank
from schemas.store.store import Store

CATALOGUE = """
    SELECT 'table', table_name, sql, comment FROM duckdb_tables()
    UNION ALL SELECT 'view', view_name, NULL, comment FROM duckdb_views() WHERE NOT internal
    UNION ALL SELECT 'macro', function_name, parameters::VARCHAR, NULL FROM duckdb_functions() WHERE NOT internal
    UNION ALL SELECT 'column', table_name || '.' || column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal
    UNION ALL SELECT 'info', name, value, NULL FROM store_info
    ORDER BY ALL
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test's own, without a blank store."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(Store, "blank", staticmethod(blank.__wrapped__))
    return tmp_path / "cache"


def catalogue(path: Path) -> list[tuple[object, ...]]:
    """All that a new store holds."""
    return cotrace.open(path).sql(CATALOGUE).fetchall()


def kept(cache: Path) -> Path:
    """The blank store."""
    (found,) = cache.rglob("*.duckdb")
    return found


@pytest.mark.long
def test_a_store_that_began_as_a_copy_is_what_is_made_from_nothing(cache: Path, tmp_path: Path) -> None:
    """Where no cache can be written, where one can, and where its file is damaged; what a copy takes in leaves the blank one blank."""
    cache.write_text("a file where the folder should be")
    from_nothing = catalogue(tmp_path / "nothing.duckdb")
    cache.unlink()
    assert catalogue(tmp_path / "copy.duckdb") == from_nothing

    before = kept(cache).read_bytes()
    with cotrace.GameLog(tmp_path / "one.jsonl", benchmark="talk", agents=["a"]) as log:
        log.turn(messages=[("a", "hello")])
        log.end(success=True)
    assert cotrace.open(tmp_path / "copy.duckdb").ingest(tmp_path / "one.jsonl").episodes == 1
    assert cotrace.open(tmp_path / "copy.duckdb").sql("SELECT count(*) FROM episodes").fetchall() == [(1,)]
    assert kept(cache).read_bytes() == before

    kept(cache).write_bytes(before[:5000])
    assert catalogue(tmp_path / "again.duckdb") == from_nothing
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
