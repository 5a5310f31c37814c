"""Whose cost a CRAFT turn was: planted faults are found, and evidence of single turns holds."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

from analytics.findings import findings
from analytics.installation import ensure_installed
from analytics.losses.lost import lost_report
from analytics.query import query
from games.craft.experiment import FAULTLESS, play_planted
from games.craft.text.replies import FAILED_CALL_MESSAGE
from games.players.planted import the_faulty_one
from ingest.files.run import ingest_paths
from judges.attribution.findings import Link
from judges.attribution.job import attribute_games
from schemas.common.errors import UsageError
from schemas.records import Attribution
from schemas.store.batches import to_arrow
from schemas.store.store import Store
from tests.masters import held_open
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play

GAMES, FEW = 36, 18


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Games with one faulty player each."""
    return planted_games(tmp_path_factory.mktemp("planted"), FEW)


def planted_games(folder: Path, games: int) -> Store:
    """By a seed that no rule was made on."""
    play_planted(folder / "logs", games, seed=31_000)
    store = attributed(folder / "logs", folder)
    Store.settle(store)
    return store


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from held_open(attributed(shared / "data/craft/craft_results", tmp_path_factory.mktemp("real")))


def attributed(logs: Path, folder: Path) -> Store:
    store = Store(folder / "store.duckdb")
    ingest_paths([logs], store)
    ensure_installed(store)
    attribute_games(store)
    return store


def scripts_of(store: Store) -> dict[str, dict[str, str | None]]:
    found: dict[str, dict[str, str | None]] = {}
    for episode, agent, persona in query(store, "select episode_id, agent, persona from agents").rows():
        found.setdefault(episode, {})[agent] = persona
    return found


@pytest.mark.long
def test_the_planted_player_has_the_cost(tmp_path: Path) -> None:
    planted = planted_games(tmp_path, GAMES)
    faulty = {episode: fault.agent for episode, scripts in scripts_of(planted).items() if (fault := the_faulty_one(scripts, FAULTLESS))}
    assert len(faulty) == GAMES
    rows = query(planted, "select episode_id, agent, link, sum(cost) as cost from attributions where cost > 0 group by all").rows()
    total = sum(cost for *_, cost in rows)
    innocent = sum(cost for episode, agent, _, cost in rows if agent not in (None, faulty[episode]))
    undecided = sum(cost for *_, link, cost in rows if link in ("undecided", "not_understood"))
    assert total > 1
    assert innocent <= 0.05 * total
    assert undecided <= 0.2 * total
    by_agent: dict[str, dict[str, float]] = {}
    for episode, agent, _, cost in rows:
        if agent is not None:
            by_agent.setdefault(episode, {}).setdefault(agent, 0.0)
            by_agent[episode][agent] += cost
    right = [max(agents, key=lambda agent: agents[agent]) == faulty[episode] for episode, agents in by_agent.items()]
    assert len(right) >= GAMES / 4
    assert sum(right) >= 0.95 * len(right)


def test_a_turns_parts_make_up_its_cost(planted: Store, real: Store) -> None:
    for store in (planted, real):
        rows = query(
            store,
            "select greatest(any_value(turn_costs.cost), 0) as cost, sum(attributions.cost) as parts, list(distinct link) as links "
            "from turn_costs left join attributions using (episode_id, turn) group by episode_id, turn",
        ).rows()
        assert all((parts or 0.0) == pytest.approx(cost, abs=1e-9) for cost, parts, _ in rows)
        assert {link for *_, links in rows for link in links if link} <= {*get_args(Link)}


def test_an_agent_is_named_only_where_its_ideal_keeps_something(planted: Store) -> None:
    rows = query(planted, "select cost, regained from attributions where agent is not null and cost > 0").rows()
    assert rows
    assert all(0 < cost <= regained + 1e-9 for cost, regained in rows)


def test_games_without_a_fault_blame_nobody(tmp_path: Path) -> None:

    play(PlayRequest(out=tmp_path / "logs", structures=3, seed=7, processes=1))
    store = attributed(tmp_path / "logs", tmp_path)
    assert query(store, "select count(*) as n from attributions where agent is not null and cost > 0.02").row(0) == (0,)
    assert query(store, "select sum(cost) > 0.01 as lost from attributions where agent is null").row(0) == (True,)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("failed", ["builder", "directors"])
@pytest.mark.parametrize("question", ["No response from API", "Error in move generation: timed out"])
def test_a_call_that_failed_is_nobodys_fault(tmp_path: Path, failed: str, question: str) -> None:
    """Logs hold a line of their own in the place of the answer that never came."""
    play(PlayRequest(out=tmp_path / "logs", structures=1, turns=1, seed=7, processes=1))
    (path,) = (tmp_path / "logs").rglob("*.jsonl")
    header, turn, end = map(json.loads, path.read_text("utf-8").splitlines())
    question = question if failed == "builder" else "Which block?"
    action = {"verb": "clarify", "arguments": {"question": question}, "raw": f"CLARIFY:{question}", "accepted": None, "undoes": False}
    turn |= {"actions": [turn["actions"][0] | action], "state_after": turn["state_before"], "oracle_followed": None}
    for said in turn["utterances"]:
        if said["agent"] == "Builder":
            said["text"] = question
        elif failed == "directors":
            said |= {"text": FAILED_CALL_MESSAGE if said["channel"] == "public" else "Error in generation: timed out", "claims": None}
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, turn, end)), "utf-8")
    store = attributed(tmp_path / "logs", tmp_path)
    assert query(store, "select count(*) from turn_costs where cost > 0").item() == 1
    assert query(store, "select agent from attributions where agent is not null and cost > 0").rows() == []


@pytest.mark.shared
def test_links_of_logged_turns(real: Store) -> None:
    """Turns of a logged game of gpt-4o-mini, read by hand; in turn 2 a message was not understood whole, so no agent is at fault."""
    rows = query(
        real,
        "select turn, agent, link from attributed_costs where condition = 'api/no_oracle_tools' and cost > 0 and agent is not null "
        "order by 1",
    ).rows()
    assert rows[:2] == [(3, "Builder", "needless_question"), (4, "Builder", "misread")]


def test_requests_are_held_against_what_was_done(planted: Store) -> None:
    """A faithful builder does what it is asked for; whose requests were ignored is one GROUP BY."""
    rows = query(planted, "select followed, count(*) as n from action_follows group by 1").rows()
    assert {followed for followed, _ in rows} == {"fully", "partly", "differs", "no"}
    ignored = query(planted, "select agent, count(*) filter (followed = 'no') as ignored from action_follows group by agent").rows()
    assert {agent for agent, _ in ignored} == {"D1", "D2", "D3"}


def test_lost_in_sentences(planted: Store) -> None:
    rows = lost_report(planted)
    assert set(rows["what"]) == {"model", "condition", "role", "archetype", "link", "category", "spirals", "game"}
    games = rows.filter(rows["what"] == "game")
    assert len(games) == FEW
    lost = query(planted, "select sum(greatest(cost, 0)) as lost from turn_costs").item()
    assert games["lost"].sum() == pytest.approx(lost)
    told = [sentence for sentence in games["sentence"] if "mostly by" in sentence]
    assert all(" was lost; " in sentence and "(turn " in sentence for sentence in told)
    assert told


_ALIKE = (("D3", 1, 0.3), ("D2", 1, 0.1), ("D2", 2, 0.2), ("D1", 1, 0.3), ("Builder", 1, 0.9), (None, 1, 0.9))
"""Agent, turn and cost: the directors lost the same, and as much together as the builder."""


def test_who_lost_the_same_is_named_in_one_order(planted: Store, tmp_path: Path) -> None:
    """By name, and no one last; Polars gives groups in any order, and 0.1 + 0.2 is not 0.3."""
    alike = Store(shutil.copy(planted.path, tmp_path / "alike.duckdb"))
    games = query(alike, "select distinct episode_id from turn_costs where cost > 0")["episode_id"]
    rows = [
        Attribution(game, turn, who, "not_said", cost, None, "so", "engine", "answered") for game in games for who, turn, cost in _ALIKE
    ]
    with alike.writing() as connection:
        connection.execute("DELETE FROM attributions")
        connection.execute("DELETE FROM materialized.games")
    alike.transact(lambda transaction: transaction.insert(to_arrow({"attributions": rows})))

    told = lost_report(alike)
    for sentence in told.filter(pl.col("what") == "game", pl.col("lost") > 0)["sentence"]:
        assert re.findall(r"; (no one at fault|\w+(?= cost))", sentence) == ["Builder", "D1", "D2", "D3", "no one at fault"]
    for sentence in told.filter(what="condition")["sentence"]:
        assert re.findall(r"; ([\w ]+?) \d+ %", sentence) == ["builder", "director", "no one at fault"]


@pytest.mark.long
def test_what_a_store_shows_begins_its_why_with_who_lost_it(planted: Store) -> None:
    """In the report's own words; no team is shown to be behind, so of each condition with all of its teams."""
    first = next(found for found in findings(planted) if found.topic == "why")
    assert first.report == "lost"
    assert first.sentence in lost_report(planted).filter(what="condition")["sentence"].to_list()


def test_attributing_again_changes_nothing(planted: Store) -> None:
    before = query(planted, "select * from attributions order by all")
    again = attribute_games(planted, "episode_id in (select episode_id from episodes limit 3)")
    assert again.games == 3
    assert query(planted, "select * from attributions order by all").equals(before)
    with pytest.raises(UsageError, match="one SQL condition"):
        attribute_games(planted, "no such column")
