"""docs/sql.md: its questions, each with SQL that runs; the row a turn and agent; comments in the store itself."""

from __future__ import annotations

import re

import pytest

from analytics.installation import columns
from analytics.query import query
from analytics.views import VIEWS
from schemas.records import Label
from schemas.store.batches import insert, to_arrow
from schemas.store.store import Store
from schemas.tables import TABLES
from tests.places import DOCS
from tests.played import played_store

PAGE = (DOCS / "sql.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^-- (\d+)\. .*?\n(.*?);\n", PAGE, re.DOTALL | re.MULTILINE)
WITHOUT_ROWS = {"9", "14", "19", "20", "21"}
"""What the played games have none of: answers of models, requests, labels beside them, rejects, attributions."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Nine games of CRAFT, judged by the engine."""
    return played_store(tmp_path_factory.mktemp("sql"))


@pytest.mark.parametrize("of_each", [3, pytest.param(1, marks=pytest.mark.long)])
def test_every_question_has_an_answer(store: Store, of_each: int) -> None:
    """Run as they are; one of three in `make test`."""
    assert [number for number, _ in QUESTIONS] == [str(number) for number in range(1, 23)]
    assert PAGE.count(";\n") == len(QUESTIONS)
    empty = {number for number, sql in QUESTIONS[::of_each] if query(store, sql).is_empty()}
    assert empty - {"17"} <= WITHOUT_ROWS  # nobody need try a refused action again


def test_a_row_is_a_turn_and_an_agent_with_everything_about_it(store: Store) -> None:
    """No turn is missing or doubled; words, actions, outcome, progress, cost and answers are those of the tables."""
    keys = query(
        store,
        "SELECT count(*) AS n, count(DISTINCT (episode_id, turn, agent)) AS k, count(DISTINCT (episode_id, turn)) AS t FROM scored_turns",
    )
    assert keys["n"][0] == keys["k"][0]
    assert keys["t"][0] == query(store, "SELECT count(*) AS n FROM turns")["n"][0]
    for ours, theirs in (
        (
            "SELECT count(message) AS n",
            "SELECT count(*) AS n FROM (SELECT DISTINCT episode_id, turn, agent FROM utterances WHERE channel = 'public' AND text <> '')",
        ),
        ("SELECT sum(len(verbs))::BIGINT AS n", "SELECT count(*) AS n FROM actions"),
        (
            "SELECT count(DISTINCT (episode_id, turn)) FILTER (outcome = 'followed') AS n",
            "SELECT count(*) AS n FROM outcomes WHERE outcome = 'followed'",
        ),
    ):
        assert query(store, f"{ours} FROM scored_turns")["n"][0] == query(store, theirs)["n"][0]
    own = "SELECT count(*) AS n FROM scored_turns WHERE role = 'director' AND engine['spatial_grounding.SG1'] IS NOT NULL"
    assert query(store, own)["n"][0] > 0
    wrong = (
        "SELECT count(*) AS n FROM scored_turns JOIN verdicts_latest USING (episode_id, turn, agent) "
        "WHERE judge = 'engine' AND status = 'answered' AND engine[rubric || '.' || question] IS DISTINCT FROM verdicts_latest.answer"
    )
    assert query(store, wrong)["n"][0] == 0
    gain = query(store, "SELECT DISTINCT episode_id, turn, progress, progress_gain FROM scored_turns ORDER BY episode_id, turn")
    last = query(store, "SELECT episode_id, turn, progress FROM turns ORDER BY episode_id, turn")
    assert gain["progress"].to_list() == last["progress"].to_list()
    labels = [Label("f.csv", name, "r", "Q", "k", *_first(store), "yes", score) for name, score in (("ann", 1.0), ("bob", 0.0))]
    with store.writing() as connection:
        insert(connection, to_arrow({"labels": labels}))
    assert query(store, "SELECT labelled['r.Q'] AS mean FROM scored_turns WHERE labelled['r.Q'] IS NOT NULL")["mean"].to_list() == [0.5]


def _first(store: Store) -> tuple[str, int, str]:
    row = query(store, "SELECT episode_id, turn, agent FROM utterances ORDER BY ALL LIMIT 1").row(0)
    return row[0], row[1], row[2]


def test_tables_views_and_their_columns_say_in_the_store_what_they_are(store: Store) -> None:
    """Every column of every table and view has its comment."""
    said = query(
        store,
        "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() "
        "AND schema_name = 'main' AND table_name <> 'store_info'",
    )
    made = {(spec.name, column.name) for spec in TABLES if spec.name != "store_info" for column in spec.columns}
    assert made <= {row[:2] for row in said.rows()}
    assert {spec.name for spec in VIEWS if spec.kind == "view"} <= set(said["table_name"])
    assert [row[:2] for row in said.rows() if not row[2]] == []
    views = query(store, "SELECT view_name FROM duckdb_views() WHERE NOT internal AND comment IS NULL")
    assert views.is_empty()
    assert query(store, "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'materialized' AND comment IS NULL").is_empty()


_MADE_FOR_JOINS = ("scored_turns", "judged_units", "attributed_faults", "correction_spirals")


def test_a_name_that_two_views_made_for_joins_share_means_one_thing(store: Store) -> None:
    """What stands before the first semicolon of a column's description is its meaning; whose turn and agent it is, is what is joined on."""
    meanings: dict[str, set[str]] = {}
    with store.reading() as connection:
        of_views = columns(connection)
    for name in _MADE_FOR_JOINS:
        for column, (_, doc) in of_views[name].items():
            meanings.setdefault(column, set()).add(doc.partition(";")[0])
    joined_on = {"episode_id", "turn", "agent"}
    assert {name: found for name, found in meanings.items() if len(found) > 1 and name not in joined_on} == {}


def test_a_verdict_stands_beside_its_game(store: Store) -> None:
    """Every verdict that counts once, with the score of the answer and that of the game told apart."""
    both = query(
        store,
        "SELECT count(*) AS n, "
        "count(*) FILTER (WHERE j.verdict_score IS DISTINCT FROM v.score OR j.game_score IS DISTINCT FROM g.score) AS wrong "
        "FROM judged_units AS j JOIN verdicts_latest AS v USING (rubric, question, judge, unit_id, repeat) "
        "JOIN games AS g ON g.episode_id = v.episode_id",
    )
    assert both["n"].item() == query(store, "SELECT count(*) AS n FROM verdicts_latest")["n"].item() > 0
    assert both["wrong"].item() == 0
