"""The Einstein views equal the reference tables: every row, every column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.findings import findings
from analytics.installation import ensure_installed
from analytics.query import query
from games.einstein.game import GameSettings
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.analytics.test_views_reference import differences, reference
from tests.masters import held_open, published_store
from tests.places import ROOT
from tests.scripted import EinsteinRequest as PlayRequest
from tests.scripted import play

NOT_KNOWN = ("policy_p1", "policy_p2", "optimal_checked")
"""Neither logs nor manifest name the scripted players, or say whether the reference planner confirmed an optimum."""

VIEWS = [
    ("einstein_games", "einstein_expected.csv", ("run", "game_id")),
    ("einstein_steps", "einstein_expected_steps.csv", ("run", "game_id", "step")),
    ("einstein_runs", "einstein_expected_runs.csv", ("run",)),
    ("einstein_errors", "einstein_expected_errors.csv", ("scope", "verifier", "action_mode", "category")),
]


@pytest.fixture(scope="module")
def published(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with all published Einstein games."""
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("einstein"), "einstein"))


@pytest.mark.shared
def test_the_readme_says_what_is_found_in_the_published_games(published: Store) -> None:
    """Which condition has the lowest mean, that the tasks are not enough to show a difference, and the commonest failure."""
    found = [finding.sentence for finding in findings(published)]
    row = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    sentence = (
        r"(\d+) games of (\d+) teams .*: not all teams played the same tasks; .* shown with (\d+) shared tasks, .*; "
        r"unknown under (\w+) has the lowest mean, (\S+) (\[.*?\])"
    )
    who = re.search(sentence, found[0])
    assert who is not None
    games, conditions, shared_tasks, last, mean, interval = who.groups()
    played = query(published, "SELECT count(*) AS n FROM games WHERE condition = $last", {"last": last})["n"].item()
    assert (
        f"{games} games under {conditions} conditions: not all conditions were played on the same tasks, and {shared_tasks} shared" in row
    )
    assert f"`{last}` has the lowest mean, {mean} of the objects in their bins {interval}" in row
    assert f"{interval} over {played} games" in row
    failure = re.search(r"failure of all teams is wrong rule: (\d+ % of \d+ turns)", " ".join(found))
    assert failure is not None
    assert f"the commonest failure of all is a wrong rule, {failure[1]}" in row


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two puzzles, played under three conditions by pairs that err."""
    folder = tmp_path_factory.mktemp("played")
    conditions = (GameSettings(), GameSettings(modes=("seek", "provide"), reasoning=False), GameSettings(verifier="reasoning"))
    play(PlayRequest(out=folder / "logs", personas=("mixed",), partners=("sensible",), games=2, conditions=conditions))
    store = Store(folder / "test.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    ensure_installed(store)
    yield from held_open(store)


@pytest.mark.shared
@pytest.mark.parametrize(("view", "name", "key"), VIEWS)
def test_view_equals_its_reference(published: Store, shared: Path, view: str, name: str, key: tuple[str, ...]) -> None:
    """The same columns in the same order, and every cell; what nobody knows is null."""
    expected, found = reference(shared, name), query(published, f"select * from {view}")
    assert found.columns == list(expected[0])
    unknown = {column: "" for column in NOT_KNOWN if column in found.columns}
    assert differences([row | unknown for row in expected], found, key) == []


def test_own_logs_are_in_the_same_views(played: Store) -> None:
    """Their conditions and players are known; a reader of one kind of log can read the other."""
    found = query(played, "select distinct run, action_mode, use_cot, verifier, policy_p1, policy_p2 from einstein_games order by all")
    assert found.rows() == [
        ("cot_provide_seek_raw/mixed_sensible", "provide_seek", 1, "none", "mixed", "sensible"),
        ("cot_provide_seek_reasoning/mixed_sensible", "provide_seek", 1, "reasoning_verifier", "mixed", "sensible"),
        ("nocot_seek+provide_raw/mixed_sensible", "seek+provide", 0, "none", "mixed", "sensible"),
    ]


def test_steps_of_verified_games_have_costs_and_others_not(played: Store) -> None:
    """The answers that a verifier threw away are counted from the log's samples."""
    found = query(
        played,
        "select run like '%reasoning%' as verified, count(*) = count(actions_err) as has, count(actions_err) as n "
        "from einstein_steps group by all order by all",
    )
    assert [(verified, has) for verified, has, _ in found.rows()] == [(False, False), (True, True)]
    assert found["n"].to_list()[0] == 0


def test_shares_of_failure_categories_are_taken_over_turns(played: Store) -> None:
    """A step with two labels is one step: shares of the published taxonomy are those of the error table."""
    found = query(
        played,
        """
        select
            failure_breakdown.category,
            sum(turns) as turns,
            sum(denominator) as steps,
            any_value(count) as count,
            any_value(total_steps) as total
        from failure_breakdown inner join einstein_errors on failure_breakdown.category = einstein_errors.category
        where taxonomy = 'einstein_published' and scope = 'run:cot_provide_seek_raw/mixed_sensible'
            and condition = 'cot_provide_seek_raw/mixed_sensible'
        group by all
        """,
    )
    assert len(found) > 1
    assert all(turns == count and steps == total for _, turns, steps, count, total in found.rows())


@pytest.mark.shared
def test_an_interval_of_steps_over_the_optimum_ends_at_the_optimum(published: Store) -> None:
    """Few games gave intervals of less than one, which no game can be."""
    found = query(published, "from team_overview where process_low is not null")
    assert len(found) > 1
    assert (found["process_low"] >= 1).all()
    assert (found["process_low"] <= found["process_mean"]).all()
