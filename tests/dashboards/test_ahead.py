"""Pages that were drawn ahead: they ask the store nothing, until it changes."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from plotly.io.json import to_json_plotly

from dashboards.address import Address
from dashboards.drawing import draw_page, draw_part
from dashboards.pages import pages
from dashboards.reader import forget_kept
from dashboards.server import addresses, draw_ahead, keeping_ahead, left_for_later
from schemas.store.store import Store


class _Counted(Store):
    """Counts how often it is opened."""

    opened = 0

    @contextmanager
    def reading(self) -> Iterator[Any]:
        self.opened += 1
        with super().reading() as connection:
            yield connection


@pytest.fixture(scope="module")
def store(played: Store, tmp_path_factory: pytest.TempPathFactory) -> _Counted:
    """A store of its own."""
    forget_kept()
    path = tmp_path_factory.mktemp("ahead") / "s.duckdb"
    shutil.copyfile(played.path, path)
    return _Counted(path)


def test_sections_of_rubrics_with_very_many_verdicts_are_left_until_somebody_asks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take gigabytes of memory while they are found out."""
    monkeypatch.setattr("dashboards.pages.judges._MOST_AHEAD", 1)
    assert not [address for address in addresses(store) if address.one("rubric")]


def _section(store: Store, judges: Address) -> str:
    return str(to_json_plotly(draw_part(store, judges, "judges-section", "scores/spatial_grounding")))


def test_every_page_and_the_sections_of_judges_are_among_them(store: Store) -> None:
    found = [address.to() for address in addresses(store)]
    assert {"/", "/why", "/spirals", "/judges", "/remove-gap", "/judges?rubric=spatial_grounding&show=agreement"} <= set(found)


def test_what_was_drawn_ahead_is_not_asked_again_until_the_store_changes(store: _Counted) -> None:
    judges = Address.parse("/judges", "rubric=spatial_grounding&show=scores")
    assert draw_ahead(store, [judges])
    store.opened = 0
    draw_page(store, Address("/"), is_whole=False)
    draw_page(store, judges, is_whole=False)
    before = _section(store, judges)
    assert store.opened == 0
    with store.writing() as connection:
        connection.execute("UPDATE verdicts SET score = 0 WHERE score IS NOT NULL")
    after = _section(store, judges)
    assert store.opened > 0
    lowest = re.compile(r"Lowest: [^,]+, (\S+) over")
    assert [float(score) for score in lowest.findall(after)] == [0]
    assert [float(score) for score in lowest.findall(before)] > [0]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(page.PATH, marks=[] if page.PATH in {"/remove-gap", "/judges"} else pytest.mark.long)
        for page in pages()
        if hasattr(page, "LATER")
    ],
)
def test_no_card_leaves_another_for_later(path: str, played: Store) -> None:
    """Browsers are not told of one inside another: why directors fail, on the page Remove gap, was never drawn."""
    for href, name, part in left_for_later(draw_page(played, Address(path), is_whole=False).content):
        asked, _, search = href.partition("?")
        assert not list(asks(json.loads(to_json_plotly(draw_part(played, Address.parse(asked, search), name, part))))), name


def asks(node: Any) -> Iterator[Any]:
    """The stores by which a browser asks for a card."""
    if isinstance(node, dict):
        if isinstance(node.get("id"), dict) and node["id"].get("type") == "ask":
            yield node
        node = list(node.values())
    for child in node if isinstance(node, list) else ():
        yield from asks(child)


def test_a_card_is_drawn_anew_when_a_rubric_of_ones_own_was_edited(store: Store, tmp_path: Path) -> None:
    """Cards quote the questions of rubrics, which are files beside the store."""
    card = (store, Address("/spirals"), "spirals-body", "", [tmp_path])
    mine = tmp_path / "mine.yaml"
    mine.write_text("name: mine")
    drawn = draw_part(*card)
    assert draw_part(*card) is drawn
    os.utime(mine, (1, 1))
    assert draw_part(*card) is not drawn


def test_a_store_that_changes_meanwhile_is_left_alone(store: _Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter(range(1_000))
    monkeypatch.setattr("dashboards.server.state_of", lambda _: next(states))
    assert not draw_ahead(store, [Address("/judges")])


def test_what_is_under_way_is_broken_off_when_the_dashboard_ends(store: _Counted) -> None:
    """A thread that goes on in DuckDB while Python ends takes the process down (exit 134 on Ctrl-C)."""
    with keeping_ahead(store):
        (thread,) = [found for found in threading.enumerate() if found.name == "ahead"]
        store.opened = 0
        while not store.opened:
            time.sleep(0.01)
        assert thread.is_alive()
    assert not thread.is_alive()
