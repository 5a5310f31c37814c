"""A loss in a turn whose messages were not understood is attributed to no agent, and every report and page says so."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from analytics.losses.lost import lost_report
from analytics.query import query
from dashboards.address import Address
from dashboards.pages import game, why
from dashboards.parts import to_html
from dashboards.reader import reader
from schemas.store.store import Store
from tests.judges.attribution.test_craft_attribution import attributed
from tests.masters import held_open
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play

OPEN = "The other one goes on top of the two reds, same layer, take my word."


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games whose public messages were all replaced by one that no rule can understand."""
    folder = tmp_path_factory.mktemp("open")
    play(PlayRequest(out=folder / "logs", personas=("over_remover",), structures=1, turns=12, seed=7, processes=1))
    for path in (folder / "logs").rglob("*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            for utterance in line.get("utterances", ()):
                if utterance["channel"] == "public":
                    utterance |= {"text": OPEN, "claims": None}
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    yield from held_open(attributed(folder / "logs", folder))


def test_no_director_is_at_fault_for_what_was_not_understood(store: Store) -> None:
    rows = query(store, "SELECT DISTINCT agent, link, status FROM attributions WHERE agent IS DISTINCT FROM 'Builder' AND cost > 0").rows()
    assert (None, "not_understood", "unattributed") in rows
    assert not [row for row in rows if row[0] is not None]
    assert all(status == ("unattributed" if link == "not_understood" else "answered") for _, link, status in rows)


@pytest.mark.long
def test_every_report_says_unattributed(store: Store) -> None:
    told = lost_report(store)
    for what in ("model", "game"):
        (sentence,) = told.filter(what=what)["sentence"]
        assert "unattributed" in sentence
        assert "message not understood" in sentence
    (link,) = told.filter(what="link", name="not_understood")["sentence"]
    assert link.endswith("unattributed: message not understood.")


@pytest.mark.long
def test_every_page_says_unattributed(store: Store) -> None:
    with reader(store, Address(why.PATH)) as read:
        page, flow = to_html(why.content(read)), why.report_figure(read)
    assert "is unattributed: message not understood" in page
    assert flow is not None
    assert "unattributed: message not understood" in {bar.name for bar in flow.data}
    episode, turn = query(store, "SELECT episode_id, turn FROM attributions WHERE status = 'unattributed' ORDER BY cost DESC").row(0)
    with reader(store, Address("/game", {"episode": (episode,), "turn": (str(turn),)})) as read:
        shown = to_html(game.content(read))
    assert "unattributed: message not understood" in shown
    assert "was not understood" in shown
