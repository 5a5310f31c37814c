"""Who played: only what a log says; a player it does not name is null, whatever the episode is called."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pytest

from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.ingest.coordination.coordination_logs import play_kitchen


def kitchen(folder: Path, policies: Mapping[str, str | None]) -> Store:
    """A few ticks of a cross-play that is called `greedy_waiter`, its log naming only those policies."""
    steps = [*islice(play_kitchen("greedy_waiter", {"Alice": "random", "Bob": "random"}, "cramped_room", seed=1, ticks=4), 4)]
    for action in (action for step in steps for action in step["actions"] if "policy" in action):
        action["policy"] = policies[action["player"]]
        if action["policy"] is None:
            del action["policy"]
    log = folder / "overcooked_steps.jsonl"
    log.write_text("".join(json.dumps(step) + "\n" for step in steps))
    store = Store(folder / "s.duckdb")
    ingest_paths([log], store, workers=1)
    return store


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("alice", "bob", "model"),
    [("greedy", "waiter", "greedy+waiter"), ("greedy", None, "greedy"), (None, "waiter", "waiter"), (None, None, "unknown")],
)
def test_a_player_without_a_logged_policy_is_null(tmp_path: Path, alice: str | None, bob: str | None, model: str) -> None:
    """Nobody is named after the first word of the episode."""
    store = kitchen(tmp_path, {"Alice": alice, "Bob": bob})
    assert query(store, "select agent, model, persona from agents order by agent").rows() == [("Alice", alice, alice), ("Bob", bob, bob)]
    assert query(store, "select model, team ->> 'alice', team ->> 'bob' from episodes").rows() == [(model, alice, bob)]


@pytest.mark.shared
def test_published_kitchens_name_nobody(recorded: Store) -> None:
    """The logs of cross-play have no policies; `head_default` is no model called head."""
    steps = "from episodes where file like '%overcooked_steps.jsonl'"
    assert query(recorded, f"select distinct model from agents where episode_id in (select episode_id {steps})").rows() == [(None,)]
    assert query(recorded, f"select distinct model, team ->> 'bob' {steps}").rows() == [("unknown", None)]
