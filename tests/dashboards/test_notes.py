"""Notes: written on the page of a game, seen in lists, printed by a report, taken back by their author."""

from __future__ import annotations

import html
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page

from analytics.forgetting import forget
from analytics.query import query
from cotrace.cli import cli
from dashboards.address import Address
from dashboards.grid import every_row
from dashboards.page_file import page_file
from dashboards.pages import failures, game
from dashboards.reader import reader
from ingest.labels.load import add_note, remove_note
from schemas.common.errors import UsageError
from schemas.store.lake.store import LakeStore, copy_from
from schemas.store.store import Store
from tests.dashboards.sites import serve

TEXT = "D2 saw it <b>and</b> said nothing, ünïcode"


@pytest.fixture(scope="module")
def store(played: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Nine games of one's own, to write to."""
    path = tmp_path_factory.mktemp("noted") / "noted.duckdb"
    shutil.copy(played.path, path)
    return Store(path)


@pytest.fixture(scope="module")
def site(store: Store) -> Iterator[str]:
    with serve(store) as address:
        yield address


@pytest.mark.browser
def test_a_note_is_written_seen_in_lists_exported_and_taken_back(store: Store, site: str, page: Page) -> None:
    """By keyboard: c opens the form; the note stands on the turn, its tick, and in lists of notes, turns, games and failures."""
    episode, turn, category, team = query(
        store,
        "SELECT episode_id, turn, category, model FROM failure_turns WHERE taxonomy = 'craft_published' AND counted ORDER BY ALL LIMIT 1",
    ).row(0)
    page.goto(f"{site}/game?episode={episode}&turn={turn}")
    page.locator(".note-form summary").wait_for()
    page.keyboard.press("c")
    page.locator("#note-text").fill(TEXT)
    page.locator("#note-save").click()
    page.get_by_text("Not saved: a note needs a text and its author's name").wait_for()
    page.locator("#note-author").fill("ann")
    page.locator("#note-save").click()
    page.locator(".notes .text", has_text=TEXT).wait_for()
    assert page.locator(".tick.current sup").inner_text() == "✎"
    page.goto(f"{site}/notes")
    page.get_by_text(TEXT).first.wait_for()
    assert html.escape(TEXT, quote=False) in page_file(store, Address("/turns", {"category": (category,), "turn": (str(turn),)}))
    with reader(store, Address("/game")) as read:
        assert every_row(read, game.GAMES.make(read, "")).filter(episode_id=episode)["notes"].to_list() == [1]
    with reader(store, Address("/failures", {"model": (team,)})) as read:
        assert every_row(read, failures.COUNTS.make(read, "")).filter(category=category)["notes"].sum() == 1
    printed = CliRunner().invoke(cli, ["report", "notes", "--store", str(store.path), "--format", "json"])
    assert TEXT in printed.output
    assert '"ann"' in printed.output
    page.goto(f"{site}/game?episode={episode}&turn={turn}")
    page.get_by_role("button", name="delete this note").click()
    page.locator(".notes").wait_for(state="detached")
    assert query(store, "SELECT count(*) FROM notes").item() == 0


@pytest.mark.long
@pytest.mark.browser
def test_a_note_that_cannot_be_taken_back_says_why(played: Store, tmp_path: Path, page: Page) -> None:
    """Beside the notes, where one that cannot be saved says so."""
    store = Store(shutil.copy(played.path, tmp_path / "own.duckdb"))
    episode = query(store, "SELECT min(episode_id) FROM games").item()
    add_note(store, episode, 1, author="ann", text=TEXT)
    with serve(store) as site:
        page.goto(f"{site}/game?episode={episode}&turn=1")
        page.get_by_role("button", name="delete this note").wait_for()
        with store.writing() as connection:
            connection.execute("DROP VIEW IF EXISTS turn_notes; ALTER TABLE notes RENAME TO elsewhere")
        page.get_by_role("button", name="delete this note").click()
        page.locator("#note-problem", has_text="Not deleted: CatalogException: ").wait_for(state="attached")
        assert "Your answers" not in page.locator("#note-problem").inner_text()


def test_notes_that_make_no_sense_are_refused_and_an_author_is_forgotten(store: Store) -> None:
    """No name, no text, no such turn, too long: one line; `forget --notes` takes all notes of a person."""
    episode = query(store, "SELECT min(episode_id) FROM games").item()
    for turn, author, text in ((1, " ", "x"), (1, "bob", " "), (99, "bob", "x"), (1, "b" * 61, "x"), (1, "bob", "x" * 4001)):
        with pytest.raises(UsageError):
            add_note(store, episode, turn, author=author, text=text)
    add_note(store, episode, 1, author="bob", text="first")
    assert forget(store, "notes", "bob", really=True).rows == {"notes": 1}
    assert query(store, "SELECT count(*) FROM turn_notes").item() == 0


@pytest.mark.long
def test_notes_are_written_to_a_lake_and_taken_back(store: Store, tmp_path: Path) -> None:
    """As to a file."""
    lake = LakeStore(tmp_path / "lake")
    copy_from(lake, store)
    episode = query(lake, "SELECT min(episode_id) FROM episodes").item()
    kept, gone = (add_note(lake, episode, turn, author="ann", text=TEXT) for turn in (1, 2))
    remove_note(lake, gone.note_id)
    assert query(lake, "SELECT note_id, turn, text FROM notes").rows() == [(kept.note_id, 1, TEXT)]
    with pytest.raises(UsageError, match="no turn 99"):
        add_note(lake, episode, 99, author="ann", text=TEXT)


def test_notes_outlive_their_game(store: Store, tmp_path: Path) -> None:
    """A game that is forgotten, to be read again, does not take what people wrote with it."""
    path = tmp_path / "outlived.duckdb"
    shutil.copy(store.path, path)
    own = Store(path)
    episode, run = query(own, "SELECT episode_id, run_id FROM episodes ORDER BY 1 LIMIT 1").row(0)
    add_note(own, episode, 2, author="ann", text="look here")
    forget(own, "run", run, really=True)
    assert query(own, "SELECT note, model FROM turn_notes").rows() == [("look here", None)]
