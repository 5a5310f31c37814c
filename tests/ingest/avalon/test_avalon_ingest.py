"""Published Avalon logs that are cut, sparse or wrong: what is there is stored, what follows from nothing is null, differences are rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from games.avalon.game import Game
from games.avalon.rules import LINEUPS, sees
from ingest.adapters import recognise, recognise_by_keys
from ingest.avalon import adapter
from ingest.reading.adapter_types import Place, Reading
from schemas.common.errors import BadInputError
from schemas.records import Failure


def published(size: int = 5, seed: int = 1) -> dict[str, Any]:
    """A game as the published code writes it; good players approve, evil fails, the assassin names the first player."""
    game = Game.drawn(size=size, seed=seed)
    while (agent := game.next_agent) is not None:
        team = ", ".join(game.agents[: game.table.size or 0])
        answers = {"propose": f"why\nTEAM: {team}", "vote": "VOTE: approve", "quest": "CARD: fail", "guess": f"GUESS: {game.agents[0]}"}
        game.act(agent, answers.get(game.purpose, f"hello from {agent}"))
    roles, names = game.table.beliefs.roles, list(game.agents)
    talk = [{"player": name, "content": f"hello from {name}", "thinking_time": 1.5, "reasoning_content": None} for name in names]
    players = [
        {
            "name": name,
            "role": role,
            "is_good": role in ("merlin", "percival", "good"),
            "special_knowledge": [names[one] for one in sorted(sees([str(one) for one in roles], place))],
        }
        for place, (name, role) in enumerate(zip(names, roles, strict=True))
    ]
    missions = [
        {
            "mission_number": mission["mission"],
            "discussion": talk,
            "proposals": [
                {
                    "proposal_id": 0,
                    "leader": mission["leader"],
                    "team_members": mission["team"],
                    "reasoning": "these are good for a start",
                    "votes": [{"player": name, "vote": "approve", "comment": "fine by me, let us go"} for name in names],
                    "vote_result": "approved",
                }
            ],
            "final_team_index": 0,
            "quest_actions": [{"player": name, "action": mission["cards"][name]} for name in mission["team"]],
            "mission_result": mission["result"],
            "fail_count": mission["fails"],
        }
        for mission in game.table.missions
    ]
    guess = game.table.guess
    return {
        "game_id": "avalon_20260102_030405",
        "config": {"model": "m", "reasoning_effort": "low", "mission_team_sizes": list(game.table.sizes), "num_players": size},
        "players": players,
        "missions": missions,
        "winner": game.table.winner,
        "assassin_phase": guess and {"assassin": guess["assassin"], "guess": guess["guess"], "reasoning": "a hunch of mine"},
    }


def read(game: Any) -> Reading:
    """What the adapter makes of a game."""
    data = json.dumps(game).encode()
    assert recognise_by_keys(data) is adapter or recognise(data) is adapter
    return adapter.read(data, Place(path="/logs/game_01.json", file="game_01.json", source_id="x"))


def state(reading: Reading, turn: int) -> dict[str, Any]:
    """The state after a turn."""
    found: dict[str, Any] = json.loads(reading.rows["turns"][turn - 1].state_after)  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("size", sorted(LINEUPS))
def test_a_whole_game_is_read_without_differences(size: int) -> None:
    """Five to ten players; the started time is that of the id; memory is not known outside of the folders of the publication."""
    reading = read(published(size))
    (episode,), (run,) = reading.rows["episodes"], reading.rows["runs"]
    assert reading.rows["log_disagreements"] == []
    assert (episode.success, str(episode.started_at)) == (published(size)["winner"] == "good", "2026-01-02 03:04:05")  # type: ignore[attr-defined]
    assert json.loads(run.condition)["memory"] is None  # type: ignore[attr-defined]


def test_evidence_counts_in_plain_english() -> None:
    """A vote against what is proven: one evil set is the only one, not all 1 of them."""
    found = [failure.evidence or "" for failure in read(published(seed=5)).rows["failures"] if isinstance(failure, Failure)]
    assert any("in the only evil set that was possible" in evidence for evidence in found)
    assert [evidence for evidence in found if re.search(r"\b1 evil sets", evidence)] == []


def without_roles(game: dict[str, Any]) -> None:
    for player in game["players"]:
        del player["role"], player["special_knowledge"]


def without_fails(game: dict[str, Any]) -> None:
    del game["missions"][0]["fail_count"], game["missions"][0]["quest_actions"]


def cut_before_votes(game: dict[str, Any]) -> None:
    game["missions"] = game["missions"][:1]
    game["missions"][0] |= {"quest_actions": [], "mission_result": None, "fail_count": None}
    game["missions"][0]["proposals"][0] |= {"votes": [], "vote_result": None}
    game |= {"winner": None, "assassin_phase": None}


@pytest.mark.parametrize("change", [without_roles, without_fails, cut_before_votes])
def test_unknown_stays_unknown(change: Callable[[dict[str, Any]], None]) -> None:
    """Nothing is rejected, and what follows from what is missing is null."""
    game = published()
    change(game)
    reading = read(game)
    assert reading.rejects == []
    if change is cut_before_votes:
        assert reading.rows["episodes"][0].success is None  # type: ignore[attr-defined]
        assert state(reading, 2)["on_table"]["result"] is None
    elif change is without_fails:
        assert state(reading, 3)["knowledge"] == dict.fromkeys(state(reading, 3)["knowledge"])
        assert state(reading, 1)["knowledge"]["Alice"] is not None
    else:
        assert set(state(reading, 2)["on_table"]["verdicts"].values()) == {None}
        assert [row for row in reading.rows["failures"] if "proven" in row.category] == []  # type: ignore[attr-defined]


def _leader(game: dict[str, Any]) -> str:
    return str(game["missions"][0]["proposals"][0]["leader"])


WRONG: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a vote result": (lambda game: game["missions"][0]["proposals"][0].update(vote_result="rejected"), "vote_result"),
    "a fail count": (lambda game: game["missions"][0].update(fail_count=3), "fail_count"),
    "a mission result": (lambda game: game["missions"][0].update(mission_result="success", fail_count=1), "mission_result"),
    "a leader out of order": (lambda game: game["missions"][1]["proposals"][0].update(leader=_leader(game)), "leader"),
    "a team of the wrong size": (lambda game: game["missions"][0]["proposals"][0].update(team_members=["Alice"]), "team_size"),
    "a winner": (lambda game: game.update(winner="good" if game["winner"] == "evil" else "evil"), "completed"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_contradicts_the_rules_is_a_difference(what: str) -> None:
    """The game goes on as logged."""
    change, field = WRONG[what]
    game = published()
    change(game)
    assert field in {row.field for row in read(game).rows["log_disagreements"]}  # type: ignore[attr-defined]


def test_a_stranger_on_a_team_is_told_with_its_place() -> None:
    """A name that is no player's."""
    game = published()
    game["missions"][0]["proposals"][0]["team_members"][0] = "Zoe"
    with pytest.raises(BadInputError, match="'Zoe' is not a player") as found:
        read(game)
    assert found.value.locator.startswith("missions[0]")


def test_a_session_is_read_where_its_games_have_no_files(tmp_path: Path) -> None:
    """`all_games.json` next to the games would count them twice."""
    path = tmp_path / "all_games.json"
    data = json.dumps({"session_id": "s", "total_games": 2, "games": [published(), {**published(6), "game_id": "avalon_2"}]}).encode()
    place = Place(path=str(path), file=path.name, source_id="x")
    assert len(adapter.read(data, place).episodes) == 2
    (tmp_path / "individual_games").mkdir()
    (tmp_path / "individual_games" / "game_01.json").touch()
    assert adapter.read(data, place).episodes == []
