"""A store whose views are of another version: pages say that these are being brought up to date, and are there afterwards."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from plotly.io.json import to_json_plotly

import dashboards.drawing
from analytics.query import query
from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.parts import compact
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with


def page(store: Store, *, is_whole: bool = True) -> str:
    """The front page as the browser gets it."""
    return str(to_json_plotly(compact(draw_page(store, Address.parse("/", ""), is_whole=is_whole).content)))


def test_pages_say_that_views_are_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that another process holds the store; and two that ask begin it once."""
    store = store_with(tmp_path, [Game([Step('"1"', (Move("place"),))])])
    current = query(store, "SELECT value FROM store_info WHERE name = 'views_hash'").item()

    def say(version: str) -> None:
        with store.writing() as connection:
            connection.execute("UPDATE store_info SET value = $version WHERE name = 'views_hash'", {"version": version})

    say("older")
    go_on, begun = Event(), []

    def slowly(older: Store) -> None:
        begun.append(older.path)
        go_on.wait(10)
        say(current)  # as at the end of what takes DuckDB two seconds

    monkeypatch.setattr(dashboards.drawing, "ensure_installed", slowly)
    monkeypatch.setattr(dashboards.drawing, "_PATIENCE_S", 0.01)
    for _ in range(2):
        assert "is being computed anew" in page(store, is_whole=False)
    go_on.set()
    assert "could not be drawn" not in page(store)
    assert begun == [store.path]
