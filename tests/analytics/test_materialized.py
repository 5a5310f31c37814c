"""Materialized views: what is stored equals what the same SQL finds, whatever has happened to the games meanwhile."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import analytics.installation
import ingest.files.run
import schemas.store.store
from analytics.forgetting import forget
from analytics.installation import materialize
from analytics.query import query
from analytics.views import VIEWS, read_stored
from ingest.files.run import ingest_paths
from ingest.labels.load import import_labels
from judges.attribution.job import attribute_games
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.store import SCHEMAS, Store
from tests.played import played_store

STORED = {schema: [spec.name for spec in VIEWS if spec.schema == schema] for schema in SCHEMAS}
READERS = [*STORED["materialized"], *STORED["judged"], "failures_common", "leaderboard", "team_overview", "bps_profiles"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Nine games and a talk in which an agent repeats itself, in a store of the test's own, all of them materialized."""
    store = Store(tmp_path / "s.duckdb")
    logs = played_store(tmp_path, judged=False).path.parent / "logs"
    said = ["Where is the red block now?", "It is behind you.", "Where is the red block now?", "I said it is behind you."]
    talk = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(said)]
    (tmp_path / "talk.json").write_text(json.dumps({"messages": talk}))
    ingest_paths([logs, tmp_path / "talk.json"], store, workers=1)
    materialize(store)
    return store


def kept(store: Store) -> int:
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


def test_kept_rows_are_those_that_the_views_compute(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether all games are kept, some or none, and however many at once, no number depends on it."""
    assert kept(store) == 10
    all_kept = rows(store)
    with store.writing() as connection:
        connection.execute("delete from materialized.games where episode_id in (select episode_id from episodes order by 1 limit 4)")
    assert kept(store) == 6
    assert rows(store) == all_kept == rows(emptied(store))
    assert all(all_kept[name] for name in STORED["materialized"])
    monkeypatch.setattr(analytics.installation, "_TURNS_AT_ONCE", 20)
    materialize(store)
    assert (kept(store), rows(store)) == (10, all_kept)


def test_a_log_that_has_changed_counts_anew(store: Store, tmp_path: Path) -> None:
    """The rows of the old log are still there, and nobody sees them; the next time they are replaced."""
    log = next((tmp_path / "logs").rglob("*.json*"))
    text = log.read_bytes()
    log.write_bytes(text.replace(b'"max_turns":12', b'"max_turns":13') + b"\n")
    assert log.read_bytes() != text + b"\n"
    ingest_paths([tmp_path / "logs"], store, workers=1)
    assert kept(store) < 10
    before = rows(store)
    materialize(store)
    assert kept(store) == query(store, "select count(*) from episodes").item()
    assert rows(store) == before


def test_forgotten_games_are_gone(store: Store) -> None:
    """From the views at once, and from the tables when the next games come."""
    source = query(store, "select file from sources limit 1").item()
    forget(store, "source", source, really=True)
    gone = "select count(*) from turn_outcomes where episode_id not in (select episode_id from episodes)"
    assert query(store, gone).item() == 0
    materialize(store)
    assert query(store, gone.replace("turn_outcomes", "materialized.turn_outcomes")).item() == 0


def test_many_turns_are_kept_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading logs ends with it; a few turns are not worth opening the store once more."""
    logs = [played_store(tmp_path, judged=False).path.parent / "logs"]
    ingest_paths(logs, Store(tmp_path / "few.duckdb"), workers=1)
    monkeypatch.setattr(ingest.files.run, "_MANY_TURNS", 50)
    ingest_paths(logs, Store(tmp_path / "many.duckdb"), workers=1)
    assert (kept(Store(tmp_path / "few.duckdb")), kept(Store(tmp_path / "many.duckdb"))) == (0, 9)


def test_a_store_that_is_held_is_left_as_it_is(store: Store) -> None:
    """Who cannot write now has lost nothing: readers compute."""
    emptied(store)
    with store.reading():
        materialize(Store(store.path, lock_wait_s=0.01))
    assert kept(store) == 0


def test_pages_read_what_everybody_reads(store: Store) -> None:
    """Stored rows alone where all games have them, also when some were forgotten since; where a game has none, what is computed."""
    names = ["turn_course", "logged_categories", "team_failures_by()"]
    assert rows(store, names, as_pages=True) == rows(store, names)
    forget(store, "source", query(store, "select file from sources limit 1").item(), really=True)
    after = rows(store, names)
    assert rows(store, names, as_pages=True) == after
    with store.writing() as connection:
        connection.execute("delete from materialized.games where episode_id = (select min(episode_id) from episodes)")
    assert rows(store, names, as_pages=True) == after


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


CHANGES = {
    _judge_again: 9,
    _attribute_again: 9,
    _label: 9,
    _forget_labels: 9,
    _ingest_changed: 9,
    _forget_game: 9,
    _write_in_sql: 0,
}
"""Changes of verdicts, labels, attributions and games, in their order -> games whose stored rows are still valid."""


def test_what_judges_and_people_say_is_never_out_of_date(store: Store, tmp_path: Path) -> None:
    """Rows of games that were written about are out of date, and of no others."""
    run(JudgeRequest(rubric=find("pragmatic_sufficiency")), store)
    for change, left in CHANGES.items():
        materialize(store)
        assert query(store, "select count(*) from judged.due").item() == 0
        change(store, tmp_path)
        assert query(store, "select count(*) from judged.unchanged").item() == left
        now = rows(store, STORED["judged"])
        with store.writing():
            pass  # whoever writes in SQL takes away all marks
        assert rows(store, STORED["judged"]) == now, change


def test_a_large_store_comes_to_rest_after_each_job(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that changes a few games of a store with many finds out at once what readers need."""
    monkeypatch.setattr(schemas.store.store, "_MANY_GAMES", 5)
    for change in (_attribute_again, _ingest_changed):
        change(store, tmp_path)
        assert query(store, "select (select count(*) from judged.due) + (select count(*) from materialized.due)").item() == 0
