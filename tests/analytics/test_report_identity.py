"""Rows of a printed report can be distinguished: by team, condition, turn limit or whatever else identifies them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl
import pytest
from click.testing import CliRunner

from analytics.installation import materialize
from analytics.reports import columns_of, identifies, report, report_names, shown_columns, with_identity
from cotrace.cli import cli
from cotrace.commands.judge import judge_each
from judges.attribution.job import attribute_games
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from schemas.store.store import Store
from tests.masters import held_open
from tests.played import played_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Nine games of CRAFT, of one team under three conditions, one of them with another turn limit."""
    store = played_store(tmp_path_factory.mktemp("identity"), judged=False)
    with store.writing() as connection:
        connection.execute("DELETE FROM materialized.games")
        connection.execute("UPDATE runs SET name = 'x ' || run_id")
        connection.execute("UPDATE agents SET persona = 'one', model = 'one'")
        connection.execute('UPDATE episodes SET model = \'one\', team = \'{"director": "one", "builder": "b"}\'')
        connection.execute("UPDATE episodes SET max_turns = max_turns + 1 WHERE task_id = (SELECT min(task_id) FROM episodes)")
    judge_each([JudgeRequest(rubric=find("pragmatic_sufficiency"))], store)
    attribute_games(store)
    materialize(store)
    yield from held_open(store)


@pytest.mark.long
def test_no_two_rows_are_alike_in_what_identifies_them(store: Store) -> None:
    """Of the columns that fit a terminal, those of words distinguish all rows, as far as any of the report do."""
    tables = {name: report(store, name) for name in report_names()}
    assert sum(not rows.is_empty() for rows in tables.values()) > 15
    for name, rows in tables.items():
        shown = shown_columns(name, rows)
        assert set(columns_of(name)) & set(rows.columns) <= set(shown)
        words = [column for column, kind in rows.schema.items() if identifies(column, kind)]
        assert rows.select(column for column in words if column in shown).n_unique() == rows.select(words).n_unique(), name


def test_reports_show_condition_and_limit_where_teams_have_the_same_name(store: Store) -> None:
    """`leaderboard` had one row a condition and limit, of which the limit was in no column."""
    rows = report(store, "leaderboard")
    assert "max_turns" not in columns_of("leaderboard")
    assert "max_turns" in shown_columns("leaderboard", rows)
    assert "scored_units" in columns_of("judges")


def test_sentences_about_one_team_under_several_conditions_say_which(store: Store) -> None:
    """`lost` began five sentences with `edge (1 game)`."""
    printed = CliRunner().invoke(cli, ["report", "lost", "--store", str(store.path)], catch_exceptions=False).stdout
    part = ""
    seen: set[tuple[str, str]] = set()
    for line in filter(None, printed.splitlines()):
        if not line.startswith("  "):
            part = line
            continue
        head = re.sub(r" \(\d+ games?\)", "", line.partition(": ")[0])
        assert (part, head) not in seen
        seen.add((part, head))
    assert len(seen) > 8


def test_only_what_distinguishes_rows_is_added() -> None:
    """No column where rows differ already; the one that distinguishes most first."""
    rows = pl.DataFrame(
        {"team": ["a", "a", "a"], "n": [1, 2, 3], "condition": ["x", "x", "y"], "max_turns": [5, 6, 5], "p": [0.1, 0.2, 0.3]}
    )
    assert with_identity(rows, ["team", "n"]) == ["team", "condition", "max_turns", "n"]
    assert with_identity(rows.unique("team"), ["team", "n"]) == ["team", "n"]
