"""Materialized views: what is stored equals what the same SQL finds, whatever has happened to the games meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

import analytics.installation
import analytics.views
import ingest.files.run
import schemas.store.store
from analytics.forgetting import forget
from analytics.installation import ensure_installed, materialize
from analytics.query import query
from analytics.reports import report
from analytics.views import VIEWS, ViewFile, read_stored, reads
from ingest.files.run import ingest_paths
from ingest.labels.load import import_labels
from judges.attribution.job import attribute_games
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.common.errors import UsageError
from schemas.store.store import SCHEMAS, Store
from tests.masters import copied
from tests.played import played_store

STORED = {schema: [spec.name for spec in VIEWS if spec.schema == schema] for schema in SCHEMAS}
STATEMENTS = {spec.name: re.sub(r"\b(materialized|judged)\.(due_)?", "", spec.sql) for spec in VIEWS}
"""Of views, whether or not rows are stored."""
READERS = [*STORED["materialized"], *STORED["judged"], "failures_common", "bps_profiles"]
FEW = ["turn_pairs", "game_costs", "game_failures"]
"""Views whose rows are stored, which with all that they read are made in a tenth of the time that all take."""
DEAR = ["leaderboard", "team_overview"]
"""Readers that take a second each where nothing is stored."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Nine games and a talk in which an agent repeats itself, in a store of the test's own, all of them materialized."""
    copied("materialized", _fill, tmp_path)
    return Store(tmp_path / "s.duckdb")


@pytest.fixture
def read_store(tmp_path: Path) -> Store:
    """As `store`, but a game a persona, read from logs in the test's own folder, so that they can change, and not materialized."""
    return _read(tmp_path, "structure_001*")


def _fill(folder: Path) -> None:
    materialize(_read(folder))


def _read(folder: Path, names: str = "*") -> Store:
    store = Store(folder / "s.duckdb")
    logs = played_store(folder, judged=False).path.parent / "logs"
    for log in {*logs.rglob("*.jsonl")} - {*logs.rglob(names)}:
        log.unlink()
    said = ["Where is the red block now?", "It is behind you.", "Where is the red block now?", "I said it is behind you."]
    talk = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(said)]
    (folder / "talk.json").write_text(json.dumps({"messages": talk}))
    ingest_paths([logs, folder / "talk.json"], store, workers=1)
    return store


def stored_games(store: Store) -> int:
    """How many games count as materialized."""
    return int(query(store, "select count(*) from materialized.unchanged").item())


def rows(store: Store, names: Sequence[str] = READERS, *, as_pages: bool = False) -> dict[str, list[str]]:
    """All rows of the views that are materialized and of some that read them, floating numbers rounded; `as_pages`: as pages read them."""
    with store.reading() as connection:
        if as_pages:
            read_stored(connection)
        found = {name: connection.execute(f"select * from {name}").fetchall() for name in names}
    return {
        name: sorted(repr([round(value, 9) if isinstance(value, float) else value for value in row]) for row in lines)
        for name, lines in found.items()
    }


def emptied(store: Store) -> Store:
    """The same store with nothing stored: every reader computes everything."""
    with store.writing() as connection:
        for schema, names in STORED.items():
            for name in [*names, "games"]:
                connection.execute(f"delete from {schema}.{name}")
    return store


@pytest.mark.parametrize("dear", [[], pytest.param(DEAR, marks=pytest.mark.long)], ids=["most", "all"])
def test_kept_rows_are_those_that_the_views_compute(store: Store, dear: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether all games are stored, some or none, and however many at once, no number depends on it."""
    names = [*READERS, *dear]
    assert stored_games(store) == 10
    all_stored = rows(store, names, as_pages=True)
    with store.writing() as connection:
        connection.execute("delete from materialized.games where episode_id in (select episode_id from episodes order by 1 limit 4)")
    assert stored_games(store) == 6
    assert rows(store, names) == all_stored
    if dear:
        assert rows(emptied(store), names) == all_stored
    assert all(all_stored[name] for name in STORED["materialized"])
    monkeypatch.setattr(analytics.installation, "_TURNS_AT_ONCE", 50)
    materialize(store)
    assert (stored_games(store), rows(store, names, as_pages=True)) == (10, all_stored)


@pytest.mark.parametrize("names", [FEW, pytest.param(READERS, marks=pytest.mark.long)], ids=["few", "all"])
def test_a_log_that_has_changed_counts_anew(read_store: Store, names: list[str], tmp_path: Path) -> None:
    """The rows of the old log are still there, and nobody sees them; the next time they are replaced."""
    store = read_store
    materialize(store)
    log = next((tmp_path / "logs").rglob("*.json*"))
    text = log.read_bytes()
    log.write_bytes(text.replace(b'"max_turns":12', b'"max_turns":13') + b"\n")
    assert log.read_bytes() != text + b"\n"
    ingest_paths([tmp_path / "logs"], store, workers=1)
    assert stored_games(store) < 4
    before = rows(store, names)
    materialize(store)
    assert stored_games(store) == query(store, "select count(*) from episodes").item()
    assert rows(store, names, as_pages=True) == before


def test_forgotten_games_are_gone(store: Store) -> None:
    """From the views at once, and from the tables when the next games come."""
    source = query(store, "select file from sources limit 1").item()
    forget(store, "source", source, really=True)
    gone = "select count(*) from turn_outcomes where episode_id not in (select episode_id from episodes)"
    assert query(store, gone).item() == 0
    materialize(store)
    assert query(store, gone.replace("turn_outcomes", "materialized.turn_outcomes")).item() == 0


class _Interrupted(Store):
    """A store that can be written so often, and fails then."""

    left = 0

    @contextmanager
    def writing(self, *, sets_marks: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        self.left -= 1
        assert self.left >= 0, "written too often"
        with super().writing(sets_marks=sets_marks) as connection:
            yield connection


def with_what_they_read(names: Sequence[str]) -> list[ViewFile]:
    """The views of these names and of all that they read, in the order in which they are made."""
    known, wanted, waiting = reads(STATEMENTS), set[str](), [*names]
    while waiting:
        wanted.add(name := waiting.pop())
        waiting += known[name] - wanted
    return [spec for spec in VIEWS if spec.name in wanted or spec.kind == "macros"]


@pytest.mark.parametrize("names", [FEW, pytest.param(READERS, marks=pytest.mark.long)], ids=["few", "all"])
def test_an_upgrade_computes_anew_what_has_changed_alone(store: Store, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Views of another version lose their rows, the others have theirs still; what comes or is interrupted in between changes no number."""
    monkeypatch.setattr(analytics.installation, "_fingerprint", analytics.installation._fingerprint.__wrapped__)
    for module in (analytics.installation, analytics.views):
        monkeypatch.setattr(module, "VIEWS", with_what_they_read(names))
    right = rows(store, names, as_pages=True)
    with store.writing(sets_marks=True) as connection:
        connection.execute("update store_info set value = 'older' where name = 'views_hash'")
        connection.execute(
            "comment on table materialized.game_costs is 'Of an older version.'; update materialized.game_costs set lost = -1"
        )
        connection.execute("update materialized.turn_pairs set turns = 99; create table materialized.no_more as select 1 as one")
    halfway = _Interrupted(store.path)
    halfway.left = 3  # the views, and rows of some games twice
    with monkeypatch.context() as patched:
        patched.setattr(analytics.installation, "_TURNS_AT_ONCE", 20)
        with pytest.raises(AssertionError, match="written too often"):
            ensure_installed(halfway)
    assert 0 < stored_games(store) < 10
    with store.writing(sets_marks=True) as connection:  # of a game whose log has changed no row is valid
        connection.execute("update sources set ingested_at = now()::timestamp where source_id = (select max(source_id) from episodes)")
    assert rows(store, ["game_costs"])["game_costs"] == right["game_costs"]
    materialize(store)
    assert stored_games(store) == 10
    left_alone = query(store, "select count(distinct episode_id) from turn_pairs where turns = 99 having count(*) > 10").item()
    assert left_alone == query(store, "select count(distinct episode_id) - 1 from turn_pairs").item()
    del right["turn_pairs"]
    assert rows(store, list(right), as_pages=True) == right
    assert query(store, "select count(*) from duckdb_tables() where table_name = 'no_more'").item() == 0


def _in_the_tree(node: object) -> Iterator[str]:
    """Tables and functions of a statement that DuckDB has parsed."""
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _in_the_tree(part)
    if isinstance(node, dict):
        yield from (str(node[name]) for name in ("table_name", "function_name") if node.get(name))


def test_what_a_view_reads_is_known() -> None:
    """As DuckDB parses it: what is not known to be read could change, and its readers' stored rows would stay."""
    names = {spec.name for spec in VIEWS}
    statements = STATEMENTS
    macros = {macro: name for name, sql in statements.items() for macro in re.findall(r"create or replace macro (\w+)", sql)}
    known = reads(statements)
    looked_at = 0
    for name, sql in statements.items():
        for body in re.findall(r"create or replace (?:view \w+ as|macro \w+\([^\n]*\) as table)\n(.+?);\n", f"{sql}\n", re.DOTALL):
            ((tree,),) = duckdb.execute("select json_serialize_sql(?)", [body]).fetchall()
            found = {macros.get(word, word) for word in _in_the_tree(json.loads(tree))}
            assert tree.startswith('{"error":false'), name
            assert (found & names) - {name} <= known[name], name
            looked_at += 1
    assert looked_at > 150


def test_two_hyphens_in_a_text_are_no_comment() -> None:
    """As in a cell of a CSV file: what follows on the line is read, and is part of the version."""
    view = "-- one: as the agent's log has it.\ncreate or replace view one as\nselect 'no -- really' as word from two  -- from three"
    assert reads({"one": view, "two": "select 2", "three": "select 3"})["one"] == {"two"}


def test_games_without_a_source_end_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which log they are of is unknown, so their rows are not stored; those of the others are, though only some come at once."""
    with store.writing(sets_marks=True) as connection:
        connection.execute(
            "update episodes set source_id = 'gone' where episode_id in (select episode_id from episodes order by 1 limit 2)"
        )
        connection.execute("delete from materialized.games")
    monkeypatch.setattr(analytics.installation, "_TURNS_AT_ONCE", 60)
    often = _Interrupted(store.path)
    often.left = 4
    materialize(often)
    assert stored_games(store) == 8


def test_many_turns_are_kept_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading logs ends with it; a few turns are not worth opening the store once more."""
    logs = [next((played_store(tmp_path, judged=False).path.parent / "logs").rglob("*.jsonl"))]
    ingest_paths(logs, Store(tmp_path / "few.duckdb"), workers=1)
    monkeypatch.setattr(ingest.files.run, "_MANY_TURNS", 5)
    ingest_paths(logs, Store(tmp_path / "many.duckdb"), workers=1)
    assert (stored_games(Store(tmp_path / "few.duckdb")), stored_games(Store(tmp_path / "many.duckdb"))) == (0, 1)


def test_a_store_that_is_held_is_left_as_it_is(store: Store) -> None:
    """Who cannot write now has lost nothing: readers compute."""
    emptied(store)
    with store.reading():
        materialize(Store(store.path, lock_wait_s=0.01))
    assert stored_games(store) == 0


@pytest.mark.parametrize("names", [["turn_course"], pytest.param(["logged_categories", "team_failures_by()"], marks=pytest.mark.long)])
def test_pages_read_what_everybody_reads(store: Store, names: list[str]) -> None:
    """Stored rows alone where all games have them, also when some were forgotten since; where a game has none, what is computed."""
    assert rows(store, names, as_pages=True) == rows(store, names)
    forget(store, "source", query(store, "select file from sources limit 1").item(), really=True)
    after = rows(store, names)
    assert rows(store, names, as_pages=True) == after
    with store.writing() as connection:
        connection.execute("delete from materialized.games where episode_id = (select min(episode_id) from episodes)")
    assert rows(store, names, as_pages=True) == after


def test_reports_and_queries_read_what_is_stored_alone(store: Store) -> None:
    """All queries of a report, by one connection, as long as all games have stored rows: what the others take is not even planned."""
    names = ["failures", "cost-by-category", "correlations"]
    found = [report(store, name).rows() for name in names]
    assert all(found)
    with store.writing(sets_marks=True) as connection:
        connection.execute("drop view materialized.due_logged_categories")
    assert [report(store, name).rows() for name in names] == found
    assert not query(store, "select * from logged_categories").is_empty()
    with store.reading() as connection, pytest.raises(duckdb.Error, match="due_logged_categories"):
        connection.execute("select * from logged_categories")
    with store.writing() as connection:
        connection.execute("delete from materialized.games where episode_id = (select min(episode_id) from episodes)")
    with pytest.raises(UsageError, match="due_logged_categories"):
        query(store, "select * from logged_categories")


def test_a_view_with_stored_rows_is_listed_once(store: Store) -> None:
    """Reading stored rows alone takes a second view of the same name."""
    for listed in ("information_schema.tables where table_schema = 'main' and table_name", "duckdb_views() where view_name"):
        assert query(store, f"select count(*) from {listed} = 'turn_outcomes'").item() == 1


def _game(store: Store) -> str:
    first = query(store, "select min(episode_id) from episodes where benchmark = 'craft'").item()
    return f"episode_id = '{first}'"


def _judge_again(store: Store, _: Path) -> None:
    run(JudgeRequest(rubric=find("pragmatic_sufficiency"), where=_game(store)), store)


def _attribute_again(store: Store, _: Path) -> None:
    attribute_games(store, where=_game(store))


def _label(store: Store, folder: Path) -> None:
    unit = "select rubric, unit_id as unit_key, question, 'p' as annotator, 'No' as answer from verdicts"
    lines = query(store, f"{unit} where {_game(store)} and question = 'PS3' and answer is not null")
    lines.write_csv(folder / "labels.csv")
    assert import_labels(folder / "labels.csv", store).joined == len(lines) > 0


def _forget_labels(store: Store, folder: Path) -> None:
    forget(store, "labels", str((folder / "labels.csv").resolve()), really=True)


def _ingest_changed(store: Store, folder: Path) -> None:
    log = next((folder / "logs").rglob("*.json*"))
    log.write_bytes(log.read_bytes().replace(b'"max_turns":12', b'"max_turns":13') + b"\n")
    assert ingest_paths([folder / "logs"], store, workers=1).replaced == 1


def _forget_game(store: Store, _: Path) -> None:
    forget(store, "source", query(store, "select file from sources limit 1").item(), really=True)


def _write_in_sql(store: Store, _: Path) -> None:
    with store.writing() as connection:
        connection.execute("update verdicts set answer = 'No', score = 0 where question = 'PS3'")


CHANGES: dict[Callable[[Store, Path], None], int] = {
    _judge_again: 3,
    _attribute_again: 3,
    _label: 3,
    _forget_labels: 3,
    _ingest_changed: 3,
    _forget_game: 3,
    _write_in_sql: 0,
}
"""Changes of verdicts, labels, attributions and games, in their order -> games whose stored rows are still valid."""
ONE_OF_A_KIND = [_judge_again, _label, _write_in_sql]
"""A job, a file, and SQL."""


@pytest.mark.parametrize("changes", [ONE_OF_A_KIND, pytest.param(list(CHANGES), marks=pytest.mark.long)], ids=["some", "all"])
def test_what_judges_and_people_say_is_never_out_of_date(
    read_store: Store, changes: list[Callable[[Store, Path], None]], tmp_path: Path
) -> None:
    """Rows of games that were written about are out of date, and of no others."""
    store = read_store
    run(JudgeRequest(rubric=find("pragmatic_sufficiency")), store)
    for change in changes:
        materialize(store)
        assert query(store, "select count(*) from judged.due").item() == 0
        change(store, tmp_path)
        assert query(store, "select count(*) from judged.unchanged").item() == CHANGES[change]
        now = rows(store, STORED["judged"])
        with store.writing():
            pass  # whoever writes in SQL takes away all marks
        assert rows(store, STORED["judged"]) == now, change


def test_a_large_store_comes_to_rest_after_each_job(read_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that changes a few games of a store with many finds out at once what readers need."""
    store = read_store
    materialize(store)
    monkeypatch.setattr(schemas.store.store, "_MANY_GAMES", 2)
    for change in (_attribute_again, _ingest_changed):
        change(store, tmp_path)
        assert query(store, "select (select count(*) from judged.due) + (select count(*) from materialized.due)").item() == 0
