"""Error taxonomies as rubrics: the rules' categories as the engine's answers, a judge beside them, and the confusion of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from games.craft.measures import RepairedCategory
from games.einstein.game import GameSettings
from games.einstein.labels import CATEGORIES
from ingest.files.run import ingest_paths
from judges.rubric_files.load import check, find, names
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.store import Store
from tests.judges.judged_games import ask_model, store_of
from tests.masters import published_store
from tests.played import played_store
from tests.scripted import CraftRequest, play
from tests.scripted import EinsteinRequest as PlayRequest
from tests.scripted import play as play_craft
from tests.servers.stub_server import stub_server


def by_rule(store: Store, taxonomy: str) -> dict[tuple[str, int, str], str]:
    """(game, turn, agent) -> the categories that the rules gave, joined as an answer."""
    rows = query(
        store,
        f"select episode_id, turn, agent, list(category) as categories from failures where taxonomy = '{taxonomy}' group by all",
    ).rows()
    return {(episode, turn, agent): "|".join(sorted(categories)) for episode, turn, agent, categories in rows}


def by_engine(store: Store, rubric: str) -> dict[tuple[str, int, str], str]:
    """The same, as the engine answered."""
    rows = query(store, f"select episode_id, turn, agent, answer from verdicts where judge = 'engine' and rubric = '{rubric}'").rows()
    return {(episode, turn, agent): "|".join(sorted(answer.split("|"))) for episode, turn, agent, answer in rows}


@pytest.mark.parametrize("name", ["craft_failures", "einstein_errors", "coordination_answers", "mast"])
def test_they_are_sound(name: str) -> None:
    """No mistakes in the files."""
    assert check(names()[name]) == []


def test_their_answers_are_the_categories_of_the_rules() -> None:
    """All of them and no other; 14 questions make up MAST."""
    assert set(find("craft_failures").answers) == set(RepairedCategory.__args__)  # type: ignore[attr-defined]
    assert list(find("einstein_errors").answers) == [category.key for category in CATEGORIES]
    assert len(find("mast").questions) == 14


def test_the_engine_answers_craft_actions_with_the_rules_category(tmp_path: Path) -> None:
    """Every action of every played game gets the category in `failures`, several kinds of them."""
    store = played_store(tmp_path, judged=False)

    run(JudgeRequest(rubric=find("craft_failures")), store)

    engine, rules = by_engine(store, "craft_failures"), by_rule(store, "craft_repaired")
    assert engine == {unit: rules[unit] for unit in engine}
    assert len(engine) > 50
    assert len(set(engine.values())) > 3


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("oracle", [True, False], ids=["clarifications", "no candidates"])
def test_actions_that_the_rules_file_under_the_turn_have_that_category(tmp_path: Path, *, oracle: bool) -> None:
    """Questions, and moves without listed candidates, belong to no agent's mistakes: every verdict is no_oracle_or_attempt, none fails."""
    play_craft(
        CraftRequest(out=tmp_path / "logs", personas=("vague",), builders=("clarifier",), structures=2, turns=8, oracle=oracle, processes=1)
    )
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "logs"], store, workers=1)

    run(JudgeRequest(rubric=find("craft_failures")), store)

    uncounted = query(
        store,
        "select v.status, v.answer, count(*) as n from verdicts as v inner join failures as f using (episode_id, turn) "
        "where f.taxonomy = 'craft_repaired' and f.agent is null group by all",
    ).rows()
    assert [row[:2] for row in uncounted] == [("answered", "no_oracle_or_attempt")]
    assert uncounted[0][2] > 3
    assert query(store, "select count(*) from verdicts where status <> 'answered'").item() == 0


def test_rule_and_judge_meet_in_the_confusion_matrix(tmp_path: Path) -> None:
    """Steps with several errors at once are answered so, by engine and model; each pair of answers stands in one row."""
    play(
        PlayRequest(out=tmp_path / "logs", personas=("sensible", "misspeller"), partners=("mixed",), games=1, conditions=(GameSettings(),))
    )
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "logs"], store, workers=1)
    run(JudgeRequest(rubric=find("einstein_errors")), store)
    with stub_server() as url:
        run(ask_model(url, "einstein_errors"), store)
    ensure_installed(store)

    engine, rules = by_engine(store, "einstein_errors"), by_rule(store, "einstein_published")
    assert engine == {unit: rules[unit].replace("no_error", "none") for unit in engine}
    ((pairs, rows),) = query(store, "select sum(n), count(*) from agreement_confusion where rubric = 'einstein_errors'").rows()
    assert pairs == len(engine)
    assert rows > 1


@pytest.mark.long
def test_the_engine_answers_questions_of_coordination(shared: Path, tmp_path: Path) -> None:
    """Every answer with a text gets its category from the rules."""
    store = published_store(shared, tmp_path, "coordination/coordqa")

    run(JudgeRequest(rubric=find("coordination_answers")), store)

    engine, rules = by_engine(store, "coordination_answers"), by_rule(store, "coordqa_answer")
    assert engine == {unit: rules[unit] for unit in engine}
    assert engine


def test_mast_asks_about_any_game(tmp_path: Path) -> None:
    """A rubric for any benchmark is asked about games of each, and what it sees is what everybody could hear and see."""
    store = store_of(tmp_path / "s.duckdb", games=2, turns=2)
    with store.writing() as connection:
        connection.execute("UPDATE episodes SET benchmark = 'another' WHERE episode_id = 'game-1'")

    with stub_server() as url:
        report = run(ask_model(url, "mast"), store)

    assert (report.units, report.answered) == (2, 28)
