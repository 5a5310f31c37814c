"""SQL that users, rubrics and pages give reads the store and nothing else: attacked through the command line, on a real store."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import schemas.store.read_only_sql
from analytics.installation import ensure_installed
from analytics.query import query
from schemas.common.errors import UsageError
from schemas.store.read_only_sql import as_condition, as_query
from schemas.store.store import SEALED, Store, sealed_memory
from tests.command_line import called
from tests.masters import held_open
from tests.played import played_store

LOG = "(SELECT unhex('0123456789abcdef') AS bytes)"
"""Bytes to be planted as the store's write-ahead log; the next open would replay, or stumble over, them."""

QUOTED = LOG.replace("'", "''")

WRITING = {
    "copy to the log": f"COPY {LOG} TO '{{store}}.wal' (FORMAT blob)",
    "copy over the store": f"COPY {LOG} TO '{{store}}' (FORMAT blob)",
    "copy in a with": f"WITH planted AS (COPY {LOG} TO '{{store}}.wal' (FORMAT blob)) SELECT * FROM planted",
    "copy in an inner with": f"SELECT * FROM (WITH planted AS (COPY {LOG} TO '{{store}}.wal' (FORMAT blob)) SELECT * FROM planted)",
    "copy explained": f"EXPLAIN ANALYZE COPY {LOG} TO '{{store}}.wal' (FORMAT blob)",
    "copy in a with explained": f"EXPLAIN ANALYZE WITH planted AS (COPY {LOG} TO '{{store}}.wal' (FORMAT blob)) SELECT 1",
    "copy beside a pivot": f"WITH a AS (COPY {LOG} TO '{{store}}.wal' (FORMAT blob)) FROM (PIVOT games ON model USING count(*))",
    "copy of a pivot": "COPY (PIVOT games ON model USING count(*)) TO '{store}.wal' (FORMAT csv)",
    "copy as data": f"FROM json_execute_serialized_sql(json_serialize_sql('WITH a AS (COPY {QUOTED} TO ''{{nested}}.wal'') FROM a'))",
    "query as text": "FROM query('SELECT * FROM games')",
    "query as text in a pivot": "PIVOT (FROM query('SELECT 1 AS a')) ON a",
    "query as text in an inner pivot": """FROM (PIVOT (FROM "QUERY" /* */ ('SELECT 1 AS a')) ON a)""",
    "query as the name of a function": "FROM destroy_external_resource('query', 'SELECT 1')",
    "query as the name of a type's function": "FROM register_external_resource_type('a', kind := 'a', create_function := 'query')",
    "resource": "FROM register_external_resource('a', 'b', MAP {'a': 'b'})",
    "logs": "FROM truncate_duckdb_logs()",
    "profiling": "FROM enable_profiling(save_location = '{store}.log')",
    "what a log keeps": "SELECT write_log('kept')",
    "memory": "FROM arrow_scan(1, 2, 3)",
    "statement that Python has no name for": "UPDATE EXTENSIONS",
    "second statement": f"SELECT 1; COPY {LOG} TO '{{store}}.wal' (FORMAT blob)",
    "export": "EXPORT DATABASE '{store}.tmp'",
    "delete": "DELETE FROM turns",
    "delete in a with": "WITH gone AS (DELETE FROM turns RETURNING *) SELECT * FROM gone",
    "temporary table": "CREATE TEMP TABLE copied AS SELECT * FROM games",
    "attach": "ATTACH '{store}.wal' AS other",
    "setting": "SET temp_directory = '{store}.tmp'",
    "pragma": "PRAGMA enable_profiling",
    "secret": "CREATE PERSISTENT SECRET planted (TYPE s3)",
    "install": "INSTALL httpfs",
    "call": "CALL enable_logging(storage := 'file')",
    "logging": "FROM enable_logging(storage := 'file')",
    "checkpoint": "CHECKPOINT",
    "checkpoint as a table": "FROM force_checkpoint()",
    "prepared": "PREPARE later AS SELECT 1",
    "another file": "FROM read_text('/etc/hostname')",
    "its own file": "FROM read_blob('{store}')",
    "list of files": "FROM glob('{store}*')",
    "two queries": "SELECT 1; SELECT 2",
    "none": "-- nothing",
}
REACHING = ("copy", "export", "attach", "secret", "install", "another", "its", "list")
"""Those of them that would touch a file."""

CONDITIONS = {
    "copy behind a bracket": f"true); COPY {LOG} TO '{{store}}.wal' (FORMAT blob); --",
    "copy in a subquery": f"1 IN (WITH planted AS (COPY {LOG} TO '{{store}}.wal' (FORMAT blob)) SELECT 1)",
    "bracket closed and opened": "true) OR (true",
    "union": "true UNION SELECT 1",
    "order": "true ORDER BY 1",
    "two": "true, true",
    "parameter": "benchmark = ?",
    "comment without end": "true /*",
    "empty": " ",
}
READING = {
    "select": "SELECT count(*) AS n FROM games",
    "from": "FROM games SELECT model",
    "with": "WITH picked AS (SELECT * FROM games) SELECT count(*) FROM picked",
    "values": "VALUES (1)",
    "describe": "DESCRIBE games",
    "show": "SHOW TABLES",
    "summarize": "SUMMARIZE episodes",
    "explain": "EXPLAIN SELECT 1",
    "explain analyze": "EXPLAIN (ANALYZE, FORMAT json) (SELECT 1)",
    "pivot": "PIVOT games ON model USING count(*) GROUP BY benchmark;",
    "pivot inside": "WITH wide AS (PIVOT games ON model USING count(*) GROUP BY benchmark) FROM wide -- end",
    "pivot of a column called query": "PIVOT (SELECT model AS query FROM games) ON query USING count(query)",
    "pivot of named values": "PIVOT games ON model IN ('vague') USING count(*)",
    "view": "FROM leaderboard",
    "macro": "FROM leaderboard_by(levels := NULL)",
    "text that looks like a copy": "SELECT 'COPY x TO ''y''; COPY_QUERY_NODE' AS said",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store alone in its folder; its path has a quote in it."""
    folder = tmp_path_factory.mktemp("it's")
    played = played_store(tmp_path_factory.mktemp("played"))
    ensure_installed(played)
    alone = folder / "s.duckdb"
    alone.write_bytes(played.path.read_bytes())
    yield from held_open(Store(alone))


@pytest.fixture(autouse=True)
def _unharmed(store: Store) -> Iterator[None]:
    """No test may change a byte in the store's folder, nor leave anything there."""
    before = _folder(store)
    yield
    assert _folder(store) == before


def _folder(store: Store) -> dict[str, str]:
    files = [path for path in store.path.parent.rglob("*") if path.is_file()]
    return {str(path.relative_to(store.path.parent)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _aimed(sql: str, store: Store) -> str:
    path = str(store.path)
    return sql.replace("{store}", path.replace("'", "''")).replace("{nested}", path.replace("'", "''''"))


@pytest.mark.parametrize("sql", [pytest.param(sql, id=name) for name, sql in WRITING.items()])
def test_what_does_more_than_read_is_refused(sql: str, store: Store) -> None:
    """Through the gate that `cotrace sql` and Python users come by; the fixture looks at the folder afterwards."""
    with pytest.raises(UsageError):
        query(store, _aimed(sql, store))


def test_a_function_that_nobody_has_looked_at_is_refused() -> None:
    """DuckDB's own in FROM pass by name, so that one which a newer DuckDB brings does not; of today's the gate knows each."""
    with sealed_memory() as connection:
        found = {
            name for (name,) in connection.execute("SELECT function_name FROM duckdb_functions() WHERE function_type = 'table'").fetchall()
        }
        refused = {name for name in found if not _passes(f"FROM {name}(1)", connection)}
    harmless = {"duckdb_tables", "pragma_version", "unnest", "range", "json_each", "read_csv", "parquet_schema"}
    assert found >= refused | harmless
    assert not refused & harmless
    assert refused >= {"query", "checkpoint", "enable_logging", "destroy_external_resource", "python_map_function", "arrow_scan"}
    assert len(refused) < len(found) / 4


def _passes(sql: str, connection: duckdb.DuckDBPyConnection) -> bool:
    try:
        as_query(sql, connection)
    except UsageError:
        return False
    return True


@pytest.mark.parametrize("sql", [pytest.param(sql, id=name) for name, sql in READING.items()])
def test_what_reads_is_answered(sql: str, store: Store) -> None:
    """Every kind of query, with commas, comments and semicolons after it."""
    assert query(store, sql).height >= 1


class _Cleared(dict[str, str]):
    """Cleared by another thread whenever somebody has looked."""

    def __contains__(self, key: object) -> bool:
        is_there = super().__contains__(key)
        self.clear()
        return is_there


def test_a_query_that_another_thread_forgets_is_checked_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was checked is remembered up to a number of texts, by all threads of a page's server."""
    with store.reading() as connection:
        monkeypatch.setattr(schemas.store.read_only_sql, "_CHECKED", _Cleared({"SELECT 1": "SELECT 1"}))
        assert as_query("SELECT 1", connection) == "SELECT 1"


@pytest.mark.parametrize("name", ["copy to the log", "copy in a with", "copy explained", "copy as data", "second statement"])
def test_the_command_refuses_in_one_line(name: str, store: Store) -> None:
    """Exit code 2, one line, and the games are all there afterwards."""
    done = called("sql", _aimed(WRITING[name], store), store=store)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("cotrace: SQL: ")
    assert called("sql", "SELECT count(*) AS n FROM episodes", "--format", "csv", store=store).stdout == "n\n9\n"


def test_a_condition_with_another_statement_behind_it_is_told_as_two(store: Store) -> None:
    """Not as what DuckDB cannot turn into JSON."""
    done = called("report", "leaderboard", "--where", "true; DROP TABLE episodes", store=store)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "it has to be one condition, and here are 2 statements" in done.stderr


@pytest.mark.sampled(9)
@pytest.mark.parametrize("condition", [pytest.param(text, id=name) for name, text in CONDITIONS.items()])
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("report", "leaderboard"), id="view"),
        pytest.param(("report", "agreement"), id="computed"),
        pytest.param(("judge", "--rubric", "spatial_grounding", "--judge", "engine", "--dry-run"), id="judge"),
    ],
)
def test_a_condition_is_one_expression(command: tuple[str, ...], condition: str, store: Store) -> None:
    """It cannot close the bracket it stands in, nor bring another statement, a clause or a parameter."""
    done = called(*command, "--where", _aimed(condition, store), store=store)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--where" in done.stderr


def test_a_rubric_brings_no_writing_query(tmp_path: Path, store: Store) -> None:
    """`unit_sql` comes with a rubric that somebody else may have written."""
    rubric = tmp_path / "planting.yaml"
    sql = _aimed(WRITING["copy in a with"], store).replace(
        "SELECT * FROM planted", "SELECT episode_id AS unit_id, episode_id FROM episodes"
    )
    rubric.write_text(
        f'name: planting\nversion: 1\nunit: row\nbenchmarks: [any]\nunit_sql: "{sql}"\nshows: [said]\n'
        'answers: {"yes": 1, "no": 0}\ninstructions: Look.\nquestions:\n  Q1:\n    ask: Is it?\n'
    )
    done = called("judge", "--rubric", str(rubric), "--model", "openai/none", "--dry-run", store=store)
    assert done.returncode == 2
    assert "COPY inside a query writes" in done.stderr


@pytest.mark.parametrize(
    "name", [name for name in WRITING if name.startswith(("copy", "export", "attach", "secret", "install", "an", "its", "list"))]
)
def test_the_connection_itself_reaches_no_file(name: str, store: Store) -> None:
    """The second wall: what a gate with a hole would let through, the connection cannot do."""
    with store.reading() as connection, pytest.raises(duckdb.Error, match=r"disabled|top level|Secret|extension"):
        connection.execute(_aimed(WRITING[name], store)).fetchall()


def test_large_results_are_not_spilled_beside_the_store(store: Store) -> None:
    """A connection for reading has no folder for temporary files, and cannot be given one."""
    with store.reading() as connection:
        assert connection.execute("SELECT current_setting('temp_directory')").fetchall() == [("",)]
        for setting in ("temp_directory = '/tmp'", "disabled_filesystems = ''", "lock_configuration = false"):
            with pytest.raises(duckdb.Error, match="locked"):
                connection.execute(f"SET {setting}")


TOO_MUCH = {
    "many rows": ("FROM range(10_000_000)", "half of what DuckDB may have"),
    "many rows, told late": ("SELECT range, CASE WHEN range > 150_000 THEN error('late') END FROM range(200_000)", "late"),
    "endless recursion": (
        "WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT a.n FROM more AS a, more AS b, range(10)) SELECT count(*) FROM more",
        "more memory than DuckDB may have",
    ),
    "one long list": ("SELECT list(range) FROM range(1_000_000_000)", "more memory than DuckDB may have"),
}


@pytest.mark.parametrize(("sql", "told"), [pytest.param(*case, id=name) for name, case in TOO_MUCH.items()])
def test_no_query_takes_all_memory(sql: str, told: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, without advice that no one can follow here."""
    store = Store(shutil.copyfile(store.path, tmp_path / "s.duckdb"))  # what is open has its limit already
    monkeypatch.setattr(Store, "_sealed_with", SEALED | {"memory_limit": "100MB"})
    monkeypatch.setattr("analytics.query._ALWAYS", 2**20)
    monkeypatch.setattr("analytics.query.most_bytes", lambda: 2**22)
    with pytest.raises(UsageError) as found:
        query(store, sql)
    assert told in str(found.value)
    assert "\n" not in str(found.value)
    assert "SET " not in str(found.value)


def test_a_text_of_some_gigabytes_is_no_fault_of_the_query(store: Store) -> None:
    """Arrow's buffers of texts end at 2 GiB by default, and the setting that DuckDB names then is locked."""
    with store.reading() as connection:
        assert connection.execute("SELECT current_setting('arrow_large_buffer_size')").fetchall() == [(True,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT at FROM turns",
        "SELECT t.at, turn FROM turns AS t WHERE at IS NOT NULL ORDER BY AT",
        "SELECT 'at' AS word, at /* at */ FROM turns -- at",
        'SELECT "at" FROM turns',
    ],
)
def test_the_column_at_answers_though_it_is_a_keyword_of_duckdb(store: Store, sql: str) -> None:
    """Written as docs/tables.md names it; what is in quotation marks or a comment stays."""
    found = query(store, sql)
    assert len(found) == len(query(store, "SELECT turn FROM turns"))
    assert "word" not in found.columns or set(found["word"]) == {"at"}


def test_a_condition_on_the_column_at_works_and_other_mistakes_are_told_as_before(store: Store) -> None:
    """A text that does not parse with `at` in quotation marks either is refused by DuckDB's own words."""
    with sealed_memory() as connection:
        assert as_condition("at IS NULL", connection) == '(\n"at" IS NULL\n)'
        with pytest.raises(UsageError, match="syntax error"):
            as_condition("at IS NULL) OR (true", connection)
    with pytest.raises(UsageError, match="syntax error"):
        query(store, "SELECT at FROM FROM turns")
