"""A log without states is read as one conversation: messages, folds, margin, search, keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboards.address import Address
from dashboards.pages import game
from dashboards.parts import to_html
from dashboards.reader import reader
from schemas.records import Json, JudgeRun, Label, Verdict
from schemas.store import batches
from schemas.store.store import Store
from tests.dashboards.sites import serve
from tests.ingest.asked import ingested, written
from tests.masters import held_open
from tests.played import played_store

_CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": json.dumps({"order": 7})}}
_MESSAGES = [
    {"role": "user", "content": "Where is order <7>?"},
    {"role": "assistant", "content": "I will look.", "reasoning_content": "First the number.", "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"state": "shipped"}'},
    {"role": "assistant", "content": "It is shipped."},
    *({"role": role, "content": f"{role} {number} " + "words " * 80} for number in range(15) for role in ("user", "assistant")),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One conversation, with a label on its fourth message, and a label and a verdict of all of it."""
    folder = tmp_path_factory.mktemp("conversation")
    found = ingested(folder, written(folder / "talk.json", json.dumps(_MESSAGES)))
    ((episode,),) = found.rows("SELECT episode_id FROM episodes")
    labels = [
        Label("people", "ann", "mine", "polite", f"{episode}/4/assistant", episode, 4, "assistant", "yes", None),
        Label("people", "ann", "mast", "ends_early", episode, episode, None, None, "no", None),
    ]
    at = datetime(2026, 1, 1, tzinfo=UTC)
    run = JudgeRun("run", "mast", "h", None, "llm:m", "m", Json("{}"), at, at, 1, 1, 0, 0, None, "finished")
    verdict = Verdict("run", "mast", "h", None, "derails", episode, "u", episode, None, None, "llm:m", 1, "yes", 0.0, None, "answered")
    with found.store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"labels": labels, "judge_runs": [run], "verdicts": [verdict]}))
    yield from held_open(found.store)


def _episode(store: Store) -> str:
    with store.reading() as connection:
        return str(connection.execute("SELECT min(episode_id) FROM episodes").fetchall()[0][0])


def _page(store: Store, **asked: str) -> str:
    with reader(store, Address("/game", {key: (value,) for key, value in asked.items()})) as read:
        return str(to_html(game.content(read)))


def test_a_conversation_is_one_page(store: Store) -> None:
    """Every message in its order; reasoning, calls and results folded; labels next to their message; texts escaped."""
    text = _page(store, episode=_episode(store))
    parts = text.split("<article")[1:]

    assert len(parts) == len(_MESSAGES)
    assert "Where is order &lt;7&gt;?" in parts[0]
    assert parts[1].index("First the number.") < parts[1].index("I will look.") < parts[1].index("look_up: order=7")
    assert parts[1].count("<details") == 2
    assert "<details" in parts[2]
    assert "ann: polite: yes" in parts[3]
    assert ["ann: ends early: no" in text.split("<article")[0], "derails: yes" in text.split("<article")[0]] == [True, True]


def test_search_marks_what_it_finds(store: Store) -> None:
    """Also inside of folds, which it opens."""
    text = _page(store, episode=_episode(store), find="shipped")

    assert "2 messages found" in text
    assert [("flagged" in part, "<mark>" in part) for part in text.split("<article")[1:]].count((True, True)) == 2


@pytest.mark.long
def test_games_with_states_keep_their_board(tmp_path: Path) -> None:
    """A page of a game shows one turn."""
    played = played_store(tmp_path)

    assert "<article" not in _page(played, episode=_episode(played), turn="1")


@pytest.fixture(scope="module")
def site(store: Store) -> Iterator[str]:
    with serve(store) as address:
        yield address


@pytest.mark.browser
def test_an_address_leads_to_a_message_and_keys_to_the_next(page: Page, site: str, store: Store) -> None:
    """The address goes along, so that it can be copied."""
    page.goto(f"{site}/game?episode={_episode(store)}&turn=20")
    current = page.locator(".message.current")
    expect(current).to_have_attribute("data-turn", "20")
    expect(current).to_be_in_viewport()

    page.keyboard.press("j")

    expect(current).to_have_attribute("data-turn", "21")
    expect(current).to_be_in_viewport()
    assert "turn=21" in page.url


def test_names_of_speakers_are_no_coloured_text(store: Store) -> None:
    """Two colours of the palette are too pale for text on paper; a line beside the name has the colour."""
    drawn = _page(store, episode=_episode(store))
    assert re.search(r'class="who"[^>]*border-left-color', drawn)
    assert not re.search(r'[";]color:\s*#', drawn)


def test_a_long_conversation_is_drawn_in_parts(tmp_path: Path) -> None:
    """At once the messages around the one that is asked for; each other part by itself; together they are all, each once."""
    messages = [{"role": "user" if number % 2 else "assistant", "content": f"number <{number}>"} for number in range(1, 451)]
    long = ingested(tmp_path, written(tmp_path / "long.json", json.dumps(messages))).store
    (later,) = game.LATER
    with reader(long, Address("/game", {"episode": (_episode(long),), "turn": ("300",)}), is_whole=False) as read:
        first = str(to_html(game.content(read)))
        parts = re.findall(r"later&#x27;.*?part&#x27;: &#x27;([\d-]+)", first)
        rest = [str(to_html(later.draw(read, part))) for part in parts]
    shown = [{int(one) for one in re.findall(r"number &lt;(\d+)&gt;", text)} for text in (first, *rest)]
    assert 300 in shown[0]
    assert len(shown[0]) < 100
    assert sorted(number for part in shown for number in part) == list(range(1, 451))
