"""Rubrics and engine checks of LLM-Coordination on planted faults and keyed answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from analytics.query import query
from games.coordination.play import CoordinationGame, PlayRequest, play
from ingest.run import ingest_paths
from judges.coordination.checks import CHECKS
from judges.rubric import BUILT_IN
from judges.rubric_file import check, find
from judges.transcript import Transcript, load
from schemas.store import Store

RUBRICS = ("coordination_environment", "coordination_theory_of_mind", "coordination_joint_planning")


@pytest.mark.parametrize("name", RUBRICS)
def test_rubrics_have_no_mistakes_and_name_checks_that_exist(name: str) -> None:
    """Every question has an engine check of its own name."""
    assert check(BUILT_IN / f"{name}.yaml") == []
    assert {question.engine for question in find(name).questions} <= set(CHECKS)


def _games(folder: Path, game: CoordinationGame, policy: str) -> tuple[Store, list[Transcript]]:
    play(PlayRequest(game=game, out=folder / "logs", policies=(policy,), seeds=(1, 2, 3), ticks=80))
    store = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    return store, list(load(store, query(store, "select episode_id from episodes")["episode_id"].to_list()))


@pytest.mark.parametrize(
    ("game", "policy", "question"),
    [
        ("collab_capture", "confused", "EC1"),
        ("collab_escape", "confused", "EC1"),
        ("overcooked", "contrary", "EC1"),
        ("hanabi", "sloppy", "EC1"),
        ("hanabi", "sloppy", "TOM1"),
        ("hanabi", "bomber", "JP1"),
        ("overcooked", "waiter", "JP3"),
    ],
)
def test_planted_faults_are_found(game: CoordinationGame, policy: str, question: str, tmp_path: Path) -> None:
    """Whatever a script did wrong on purpose, its check does not call right; where it decides, it says no."""
    if game == "hanabi":
        pytest.importorskip("pyspiel")
    store, games = _games(tmp_path, game, policy)
    by_id = {found.episode_id: found for found in games}
    labels = query(store, f"select episode_id, turn, agent from labels where question = '{question}'").rows()
    assert labels
    answers = [CHECKS[f"coordination.{question}"](by_id[episode], turn, agent).answer for episode, turn, agent in labels]
    assert "no" in answers
    assert "yes" not in answers


@pytest.mark.parametrize("game", ["collab_capture", "collab_escape", "hanabi", "overcooked"])
def test_checks_answer_every_turn_of_every_game(game: CoordinationGame, tmp_path: Path) -> None:
    """No state of a game is beyond them, and each answer is one of the rubrics'."""
    if game == "hanabi":
        pytest.importorskip("pyspiel")
    _, games = _games(tmp_path, game, "random")
    answers = {
        run(found, turn.turn, agent).answer for found in games for turn in found.turns for agent in found.agents for run in CHECKS.values()
    }
    assert answers <= {"yes", "no", "na", None}
    assert {"yes", "no"} <= answers


def test_honest_players_say_nothing_false(tmp_path: Path) -> None:
    """The statements of a player that plants nothing are never found false; those without a form that a rule reads stay undecided."""
    _, games = _games(tmp_path, "collab_capture", "bfs")
    answers = {
        CHECKS["coordination.EC1"](found, turn.turn, agent).answer for found in games for turn in found.turns for agent in found.agents
    }
    assert answers == {"yes", None}


def test_answers_to_questions_follow_the_corrected_key(shared: Path, tmp_path: Path) -> None:
    """A bare letter that the published scoring misreads is right; refusals are wrong; other types are not applicable."""
    store = Store(tmp_path / "s.duckdb")
    folder = shared / "data" / "coordination" / "coordqa" / "native_logs"
    ingest_paths([folder / "all_openai_bare_letter0.json", folder / "all_openai_refusal0.json"], store, workers=1)
    sql = "select episode_id from episodes where task_id in ('JP 0', 'TOM 0') order by model, task_id"
    bare_jp, bare_tom, refused_jp, _ = load(store, query(store, sql)["episode_id"].to_list())
    assert CHECKS["coordination.JP4"](bare_jp, 1, "respondent").answer == "yes"
    assert CHECKS["coordination.JP4"](refused_jp, 1, "respondent").answer == "no"
    assert CHECKS["coordination.JP4"](bare_tom, 1, "respondent").answer == "na"
    assert CHECKS["coordination.TOM4"](bare_tom, 1, "respondent").answer == "yes"
