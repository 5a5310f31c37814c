"""Models, scripts and people at the table of Einstein Puzzles: prompts hold what a player needs, whatever comes back is played on."""

from __future__ import annotations

import io
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.papers import items_of, paper_table
from analytics.query import query
from games.einstein.engine.puzzle import ActionMode, generate
from games.einstein.game import AGENTS, Game, GameSettings
from games.einstein.prompts import read_system_prompt, system_prompt
from games.einstein.setup import ROLES
from games.players.setup import PlayerSetup
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from schemas.store.store import Store
from tests.games.seats import ingested, play, seat_server, turns, without_memory

PUZZLES = ("--games", "3", "--turns", "16")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seats", [["all=openai/stub"], ["player1=script:sensible", "player2=openai/stub"]])
@pytest.mark.parametrize(
    "condition",
    [("--mode", "provide_seek"), ("--mode", "seek", "--no-reasoning"), ("--mode", "none", "--verifier", "reasoning"), ("--guidance",)],
)
def test_a_game_over_http_is_the_game_of_the_script_itself(seats: list[str], condition: tuple[str, ...], tmp_path: Path) -> None:
    """The server knows the prompt alone, in every mode, with and without reasoning and verifier."""
    with without_memory("einstein"):
        assert play("einstein", tmp_path / "script", ["all=script:sensible"], *PUZZLES, *condition).returncode == 0
    with seat_server("script") as address:
        done = play("einstein", tmp_path / "model", seats, *PUZZLES, *condition, "--base-url", f"{address}/v1")
    assert done.returncode == 0, done.stderr
    played = turns(tmp_path / "script")
    assert turns(tmp_path / "model") == played
    assert len(played) == 3


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["garbage", "refusal", "empty", "flaky", "cut"])
def test_games_end_and_replay_whatever_the_model_says(mode: str, tmp_path: Path) -> None:
    """An unreadable answer takes its step, as published; every call is in the log and in `calls`."""
    with seat_server(mode) as address:
        play("einstein", tmp_path / "logs", ["all=openai/stub"], *PUZZLES, "--base-url", f"{address}/v1")
    store = Store(tmp_path / "s.duckdb")
    report = ingest_paths([tmp_path / "logs"], store, workers=1)
    assert (report.episodes, report.rejected) == (3, [])
    assert query(store, "SELECT * FROM log_disagreements").is_empty()
    counted = query(store, "SELECT (SELECT count(*) FROM calls) AS calls, (SELECT count(*) FROM turns) AS steps").to_dicts()[0]
    assert counted["calls"] == counted["steps"] > 0
    ensure_installed(store)
    attribute_games(store)
    apart = query(store, "SELECT DISTINCT link, agent IS NULL, status FROM attributions WHERE link IN ('format', 'harness')").rows()
    categories = set(query(store, "SELECT DISTINCT category FROM failures")["category"])
    assert categories & {"lost_reply", "format_following"} == {"cut": {"lost_reply"}, "flaky": set()}.get(mode, {"format_following"})
    assert apart == {"cut": [("harness", True, "harness")], "flaky": []}.get(mode, [("format", False, "answered")])


def test_a_prompt_holds_nothing_that_only_the_partner_knows() -> None:
    """Canaries: no item of the partner, no goal and no step limit is in a player's messages."""
    for puzzle in generate(count=6, seed=7, num_objects=(4, 5, 6)):
        game = Game(puzzle, GameSettings(step_limit=17))
        mine, theirs = (game.observe(agent) for agent in AGENTS)
        for seen, other in ((mine, theirs), (theirs, mine)):
            text = seen.system + seen.user
            assert all(item.text in text for item in seen.items)
            assert not any(item.text in text for item in other.items if item not in seen.items)
            assert "17" not in text


@pytest.mark.parametrize("mode", ["provide_seek", "provide", "seek", "none"])
def test_what_a_player_is_told_follows_the_switches(mode: ActionMode) -> None:
    """Thoughts as examples only with reasoning, guidance only where it is switched on, nothing of what the mode forbids."""
    bare, thinking, guided = (
        system_prompt(mode, reasoning=reasoning, guidance=guidance) for reasoning, guidance in ((False, False), (True, False), (True, True))
    )
    assert ("<THINK>" in bare, "Thoughts could be" in bare) == (False, False)
    assert ("<THINK>" in thinking, "Thoughts could be" in thinking) == (True, True)
    assert "exclude one another" in guided
    assert "exclude one another" not in thinking
    assert thinking.count("\n- ") - bare.count("\n- ") >= 5  # example thoughts
    for text in (bare, thinking, guided):
        assert read_system_prompt(text)[0] == mode
        assert ("so I share it" in text, "so I ask" in text) <= (mode in ("provide_seek", "provide"), mode in ("provide_seek", "seek"))
        assert all(name in text for name in ("block0", "same, diagonal", "common"))


@pytest.mark.long
def test_a_game_that_a_person_played_in_the_terminal_fills_the_human_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Table 4 counts it, its player is named, and the survey follows: a word or number answers, an empty line does not."""
    monkeypatch.setattr("sys.stdin", io.StringIO("<ACTION>pass</ACTION>\n\n" * 2 + "5\n\nquite\nstrongly disagree\n"))
    options = ("--games", "1", "--objects", "4", "--mode", "seek", "--turns", "4")
    done = play("einstein", tmp_path / "logs", ["Player1=script:sensible", "Player2=human"], *options)
    assert done.returncode == 0, done.stderr
    assert "'quite' is not an answer" in done.stdout + done.stderr
    ((*_, last),) = turns(tmp_path / "logs")
    assert [(one["agent"], one["question"], one["answer"]) for one in last["end"]["survey"]] == [
        ("Player2", "Q1", "strongly_agree"),
        ("Player2", "Q3", "strongly_disagree"),
    ]
    store = ingested(tmp_path)
    assert query(store, "SELECT policy_p1, policy_p2 FROM einstein_games").rows() == [("script:sensible", "human")]
    study = paper_table(store, "einstein", "table", "4").cells.filter(column="SR")
    assert study.filter(row="Seek Only").select("value", "n").rows() == [(0.0, 1)]
    survey = paper_table(store, "einstein", "figure", "2").cells
    assert survey.select("row", "column", "value", "n").rows() == [("Seek Only", "Q1", 1.0, 1), ("Seek Only", "Q3", 0.0, 1)]


def test_the_command_that_a_table_names_for_its_games_works() -> None:
    """Every seat in it exists, and all are taken."""
    hints = [item.needs for item in items_of("einstein") if "--player" in item.needs]
    assert len(hints) == 2
    for hint in hints:
        words = shlex.split(hint.replace("(", " ").replace(")", " ").replace(",", " "))
        asked = [word for before, word in pairwise(words) if before == "--player"]
        assert "human" in PlayerSetup(ROLES, {}).taken(asked).values()
