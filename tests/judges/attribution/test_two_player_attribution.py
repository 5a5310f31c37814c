"""Whose cost a turn was in games of two players: planted faults are found, whoever is at fault."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from analytics.losses.accuracy import truths
from analytics.query import query
from games.asympuzl import experiment as asympuzl
from games.coordination import experiment as coordination
from games.einstein import experiment as einstein
from games.einstein.engine.table import RulesName
from games.einstein.game import GameSettings
from games.overcooked import experiment as overcooked
from games.players.planted import the_faulty_one
from judges.attribution.findings import Link
from judges.einstein.attribution import played_steps
from judges.evidence.transcript import load
from schemas.store.store import Store
from tests.ingest.asympuzl.asympuzl_logs import answer, log_of, write
from tests.judges.attribution.test_craft_attribution import attributed, scripts_of
from tests.scripted import EinsteinRequest as PlayRequest
from tests.scripted import play

FAMILIES = {
    "einstein": (einstein, 60, 0.3),
    "asympuzl": (asympuzl, 60, 0.3),
    "overcooked": (overcooked, 8, 0.1),
    "coordination": (coordination, 12, 0.5),
}
"""Family -> its planted games, how many, and the least share of the cost that is the faulty player's.

Kitchens cost most without any fault: their bound is below what anybody reaches.
"""


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name == "einstein" else pytest.mark.long) for name in FAMILIES],
)
def planted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, Store, float]:
    """Games with one faulty player each, by a seed that no rule was made on."""
    (family, games, share), folder = FAMILIES[request.param], tmp_path_factory.mktemp(request.param)
    family.play_planted(folder / "logs", games, seed=77_000)
    return family, attributed(folder / "logs", folder), share


def test_the_planted_player_has_the_cost(planted: tuple[ModuleType, Store, float]) -> None:
    family, store, share = planted
    faulty = {
        episode: fault.agent for episode, scripts in scripts_of(store).items() if (fault := the_faulty_one(scripts, family.FAULTLESS))
    }
    assert len(faulty) == query(store, "select count(*) from episodes").item()
    rows = query(store, "select episode_id, agent, link, cost from attributions where cost > 0").rows()
    total = sum(cost for *_, cost in rows)
    assert total > len(faulty) / 4
    assert sum(cost for episode, agent, _, cost in rows if agent not in (None, faulty[episode])) <= 0.05 * total
    assert sum(cost for *_, link, cost in rows if link == "undecided") <= 0.2 * total
    assert sum(cost for episode, agent, _, cost in rows if agent == faulty[episode]) >= share * total
    assert {link for _, _, link, _ in rows} <= {*get_args(Link)}


def test_a_turns_parts_make_up_its_cost(planted: tuple[ModuleType, Store, float]) -> None:
    _, store, _ = planted
    rows = query(
        store,
        "select greatest(any_value(turn_costs.cost), 0) as cost, coalesce(sum(attributions.cost), 0) as parts "
        "from turn_costs left join attributions using (episode_id, turn) group by episode_id, turn",
    ).rows()
    assert all(parts == pytest.approx(cost, abs=1e-9) for cost, parts in rows)


def test_players_who_cannot_talk_are_charged_too(planted: tuple[ModuleType, Store, float]) -> None:
    family, store, _ = planted
    if family is not einstein:
        pytest.skip("only Einstein games are played without a word")
    silent = "select episode_id from games where condition like 'cot_none%'"
    found = "select agent, sum(cost) as cost from attributions where cost > 0 and agent is not null"
    assert query(store, f"{found} and episode_id in ({silent}) group by agent").height == 2


def test_whose_requests_were_ignored(planted: tuple[ModuleType, Store, float]) -> None:
    """Faultless players answer, do what they are asked, and write what they are told."""
    family, store, _ = planted
    faulty = {
        episode: fault.agent for episode, scripts in scripts_of(store).items() if (fault := the_faulty_one(scripts, family.FAULTLESS))
    }
    rows = query(store, 'select episode_id, actor, agent, followed, "right" from action_follows').rows()
    if family is coordination:
        pytest.skip("a hint asks for a play by custom only: who plays what else is sure first is not at fault")
    right = [followed for episode, actor, _, followed, is_right in rows if is_right and actor != faulty[episode]]
    assert len(right) > 10
    assert right.count("fully") >= 0.9 * len(right)


def test_a_planted_fault_that_never_shows_is_no_decisive_error(planted: tuple[ModuleType, Store, float]) -> None:
    """Where logs tell in which turns faults show, the decisive error lies in one of them, or there is none."""
    _, store, _ = planted
    shown = {
        (episode, turn)
        for episode, turn in query(store, "select episode_id, turn from labels where coalesce(planted, '') not in ('', 'none')").rows()
    }
    told = truths(store)
    assert told
    assert not shown or {(one.episode_id, one.turn) for one in told} <= shown


@pytest.mark.long
def test_a_better_sample_that_was_turned_down(tmp_path: Path) -> None:
    conditions = (GameSettings(modes=("provide_seek", "provide_seek"), verifier="affordance", samples=4),)
    play(PlayRequest(out=tmp_path / "logs", personas=("misreader",), partners=("idler",), games=4, seed=5, conditions=conditions))
    store = attributed(tmp_path / "logs", tmp_path)
    rows = query(
        store,
        "select evidence, cost, regained, json_extract(details, '$.sampled_actions.' || turn)::varchar[] as sampled "
        "from attributions inner join episodes using (episode_id) where link = 'verifier'",
    ).rows()
    assert rows
    for evidence, cost, regained, sampled in rows:
        end = " had been sampled, and was turned down"
        (better,) = (part.removesuffix(end) for part in evidence.split("; ") if part.endswith(end))
        assert better in sampled
        assert 0 < cost <= regained


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scripted", [True, False])
@pytest.mark.parametrize("rules", ["sane", "published"])
def test_a_game_is_played_again_by_its_own_rules(tmp_path: Path, rules: RulesName, scripted: bool) -> None:  # noqa: FBT001
    """They differ in what mixed pairs accept, whoever plays."""
    conditions = (GameSettings(modes=("seek", "provide_seek"), rules=rules),)
    logs = tmp_path / "logs"
    play(PlayRequest(out=logs, personas=("sensible",), partners=("sensible",), games=4, seed=5, conditions=conditions))
    for path in [] if scripted else logs.rglob("*.jsonl"):
        path.write_text(path.read_text("utf-8").replace('"scripted":true,', ""), "utf-8")
    store = attributed(logs, tmp_path)
    games = list(load(store, query(store, "select episode_id from episodes")["episode_id"].to_list()))
    assert [played_step.outcome.accepted for game in games for played_step in played_steps(game)] == [
        turn.actions[0].accepted for game in games for turn in game.turns
    ]


@pytest.mark.long
def test_nobody_owes_an_answer_where_nothing_may_be_asked(tmp_path: Path) -> None:
    """The taxonomy knows no question in such an action space, and neither does KS3."""
    conditions = (GameSettings(modes=("provide", "provide")),)
    play(PlayRequest(out=tmp_path / "logs", personas=("interrupter",), partners=("rambler",), games=6, seed=5, conditions=conditions))
    store = attributed(tmp_path / "logs", tmp_path)
    assert query(store, "select count(*) from actions where verb = 'ask'").item() > 0
    assert query(store, "select evidence from attributions where evidence like '%the partner had asked%'").rows() == []


@pytest.mark.long
def test_a_turn_that_broke_off_is_nobodys(tmp_path: Path) -> None:
    """The log ends behind A's answer: its cost is known, but not what B would have made of it."""
    lines = log_of((answer(), answer(), answer()))
    store = attributed(write(tmp_path / "logs" / "game.jsonl", lines), tmp_path)
    assert query(store, "select turn, cost from turn_costs where cost > 0").rows() == [(1, 1.0), (2, 1.0)]
    rows = query(store, "select agent, link, cost, status from attributions where turn = 2").rows()
    assert rows == [(None, "undecided", 1.0, "undecided")]


@pytest.mark.long
@pytest.mark.shared
def test_published_logs_can_be_attributed(shared: Path, tmp_path: Path) -> None:
    """Einstein games of the published code, in all action spaces."""
    store = attributed(shared / "data/einstein/cot_provide_seek_raw", tmp_path)
    rows = query(store, "select status, sum(cost) as cost, count(*) as n from attributions group by status").rows()
    assert [status for status, *_ in rows] == ["answered"]
    assert rows[0][1] > 0
