"""What heads a turn agrees with its cost, its charge and the other turns, in all turns of published games of six families."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import pytest

from analytics.query import query
from dashboards.address import Address
from dashboards.boards import drawing_of
from dashboards.playback.facts import GameFacts, TurnFacts, facts_of
from dashboards.playback.turn_outcome import what_went_wrong
from dashboards.reader import reader
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from schemas.store.store import Store
from tests.masters import begun

LOGS = (
    "craft/craft_results/api/oracle5_no_tools_run3",
    "craft/engine_games/vague_scripted-builder/craft_structure_001_3.json",
    "llm_games/asym3",
    "einstein/cot_seek_raw/json/dialog_4_2002_0123_0010_102_00.json",
    "einstein/cot_seek_raw/json/dialog_5_20202_01123_00013_1020_00.json",
    "overcooked/runs/silent/boiled_egg",
    "coordination/collab_games/native/collab_capture_pincer_closed_closed_console.txt",
    "coordination/hanabi/native/bomber_s321",
    "avalon/3_individual_games_by_player_count/7p/game_02.json",
)
FREE = 1e-9
AMOUNT = re.compile(r"It (?:cost|gained) ([^,;.]*(?:\.\d+[^,;.]*)?)")
UNITS = re.compile(r"of progress|of the chance|steps?\b|points?\b|turns?\b|nothing")

Headline = tuple[GameFacts, TurnFacts, str, set[str]]


@pytest.fixture(scope="module")
def headlines(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> list[Headline]:
    """Of every turn: its game, its facts, what is written over it, and the verified actions in words."""
    store = begun(tmp_path_factory.mktemp("headlines") / "s.duckdb")
    ingest_paths([shared / "data" / log for log in LOGS], store, workers=1)
    attribute_games(store)
    Store.settle(store)
    with store.reading():
        return list(_headlines(store))


def _headlines(store: Store) -> Iterator[Headline]:
    with reader(store, Address("/game", {})) as read:
        for (episode,) in query(store, "SELECT episode_id FROM games ORDER BY ALL").iter_rows():
            facts, game = facts_of(read, episode), read.game(episode)
            assert game is not None
            draw = drawing_of(facts.benchmark)
            for here in facts.turns:
                turn = game.turn(here.turn)
                verified = {draw.action(one.verb, one.arguments) for one in turn.oracle}
                yield facts, here, what_went_wrong(turn, facts, draw), verified


@pytest.mark.shared
def test_all_families_have_turns_of_several_kinds(headlines: list[Headline]) -> None:
    assert {facts.benchmark for facts, *_ in headlines} == {"asympuzl", "avalon", "coordination", "craft", "einstein", "overcooked"}
    assert {"accepted", "followed", "lost", "not_followed", "refused", "wrong"} <= {here.name for _, here, *_ in headlines}


@pytest.mark.shared
def test_a_right_play_is_never_headed_wrong(headlines: list[Headline]) -> None:
    """One that lost nothing; nothing is better than it either. And without a rule or an agent's fault none is wrong."""
    for _, here, said, _ in headlines:
        if here.cost is not None and here.cost <= FREE:
            assert here.name not in {"wrong", "lost"}, said
            assert not re.search(r"Better: |did not lead on|carried out and wrong", said), said
        if here.name == "wrong" and here.links and not here.failures:
            assert any(one["agent"] for one in here.links), said


@pytest.mark.shared
def test_the_better_move_is_the_one_that_the_charge_argues_with(headlines: list[Headline]) -> None:
    shown = 0
    for _, here, said, verified in headlines:
        if found := re.search(r"Better: (.*?)\.(?= It cost| After it| Here the|$)", said):
            argued = " ".join(one["evidence"] or "" for one in here.links if one["agent"])
            words = re.findall(r"\w+", found[1])
            shown += 1
            if argued:
                assert all(word in argued for word in words if word.isdigit() or len(word) == 1), said
            else:
                assert found[1] in verified, said
    assert shown > 5


@pytest.mark.shared
def test_amounts_have_units_and_all_turns_of_equal_cost_are_named(headlines: list[Headline]) -> None:
    for facts, here, said, _ in headlines:
        assert all(UNITS.search(amount) for amount in AMOUNT.findall(said)), said
        if facts.decisive is not None and facts.decisive.why != "out_of_reach" and here.turn in facts.decisive.equal_turns:
            costs = {one.turn: one.cost for one in facts.turns if one.cost is not None and isfinite(one.cost)}
            equal = [turn for turn, cost in costs.items() if abs(cost - max(costs.values())) < FREE]
            assert sorted(facts.decisive.equal_turns) == equal
            assert all(re.search(rf"\b{turn}\b", said) for turn in equal if turn != here.turn), said
