"""Graded scripts: the score of whoever plays with one rises with its skill, from the whole state and from the prompt alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest

from analytics.query import query
from games.coordination.courses.agent import CoordinationGame
from games.coordination.courses.scripts import BEFORE_ONSET, SCRIPTS
from games.coordination.players import GRADES
from games.experiments.plan import play
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.games.coordination.test_coordination_seats import asked, begun


@pytest.mark.parametrize("grades", [GRADES[::2], pytest.param(GRADES, marks=pytest.mark.long)], ids=["some", "all"])
def test_the_report_of_partners_rises_with_their_skill(tmp_path: Path, grades: tuple[int, ...]) -> None:
    """One row a skill; n is of seeds, scores are those of the games; teams without a graded script are in none."""
    logs = tmp_path / "logs"
    for bob, games in [(f"graded_{skill}", 5) for skill in grades] + [("cautious", 1)]:
        play("coordination", logs, players=["Alice=script:careful", f"Bob=script:{bob}"], game="hanabi", seeds=[1], games=games)
    for skill in (0, 100):
        team = [f"Alice=script:graded_{skill}", "Bob=script:greedy"]
        play("coordination", logs, players=team, game="overcooked", task=["forced_coordination"], turns=200, seeds=[1], games=1)
    store = Store(tmp_path / "s.duckdb")
    assert ingest_paths([logs], store, workers=1).is_clean
    rows = query(store, "from coordination_partners order by game, skill").to_dicts()
    found = [row for row in rows if row["game"] == "hanabi"]
    assert [(row["player"], row["skill"], row["games"], row["seeds"]) for row in found] == [("careful", skill, 5, 5) for skill in grades]
    scores = [row["score"] for row in found]
    assert scores == sorted(set(scores))
    assert found[0]["high"] < found[-1]["low"]
    by_hand = query(store, "select avg(score) from coordination_games where model = 'careful+graded_50'").item()
    assert found[len(grades) // 2]["score"] == pytest.approx(by_hand)
    worst, best = (row for row in rows if row["game"] == "overcooked")
    assert (worst["player"], worst["variant"], worst["skill"], best["skill"]) == ("greedy", "forced_coordination", 0, 100)
    assert worst["score"] < best["score"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "variant"),
    [
        pytest.param("hanabi", "", marks=pytest.mark.long),
        pytest.param("overcooked", "forced_coordination", marks=pytest.mark.long),
        ("overcooked", "coordination_ring"),
    ],
)
def test_from_the_prompt_alone_a_better_partner_brings_more(game: CoordinationGame, variant: str) -> None:
    """As with a model: both read the prompt; a graded script at either side, the same words give the same replies."""

    def score(skill: int, seed: int, side: str) -> int:
        names = dict.fromkeys(("Alice", "Bob"), BEFORE_ONSET[game]) | {side: f"graded_{skill}"}
        setup = replace(begun(game, variant, partner_information=False), seed=seed, turns=90 if game == "hanabi" else 200)
        _, played = asked(setup, 5000, lambda each: SCRIPTS[game][names[each.agent]](each.data))
        last = played[-1].state_after
        return int(last["score"]) if game == "overcooked" else sum(last["fireworks"].values())

    seeds = range(1, 7) if game == "hanabi" else (1,)
    low, middle, high = (mean(score(skill, seed, side) for seed in seeds for side in ("Alice", "Bob")) for skill in (0, 50, 100))
    assert low < high
    assert game == "overcooked" or low < middle < high


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("side", ["Alice", "Bob"])
def test_among_scripts_that_see_the_whole_state_a_better_partner_brings_more(side: str, tmp_path: Path) -> None:
    """The best skill brought less than 75: plates filled all shared counters, which only the prompt's script kept from."""

    def score(skill: int) -> float:
        players = [f"{player}=script:{f'graded_{skill}' if player == side else 'greedy'}" for player in ("Alice", "Bob")]
        play("coordination", tmp_path, players=players, game="overcooked", task=["forced_coordination"], turns=400, seeds=[1], games=1)
        logs = tmp_path.rglob(f"*graded_{skill}*/**/*.jsonl")
        return mean(float(json.loads(log.read_bytes().splitlines()[-1])["end"]["score"]) for log in logs)

    low, middle, high = map(score, (0, 50, 100))
    assert low < middle < high


def test_cooks_do_not_block_each_other_with_plates() -> None:
    """In forced coordination plates filled all shared counters, so that two greedy cooks waited from tick 60 on."""
    setup = replace(begun("overcooked", "forced_coordination", partner_information=False), turns=400)
    _, played = asked(setup, 5000, lambda each: SCRIPTS["overcooked"]["greedy"](each.data))
    assert played[-1].state_after["score"] > played[199].state_after["score"] > 0
