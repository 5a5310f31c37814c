"""Rows of tables on pages can be distinguished: by team, condition or turn limit."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from cotrace.cli import cli
from schemas.records import Agent
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.analytics.test_views_judges import job, verdict
from tests.masters import held_open


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games that are alike but for the condition, the turn limit or the builder, with spirals and verdicts."""
    steps = [Step(f'"{state}"', (Move("place"),)) for state in "ababc"]
    told = [(condition, limit, builder) for condition in ("c1", "c2") for limit in (10, 20) for builder in ("b1", "b2")]
    games = [
        Game(
            steps, name=f"{condition}-{limit}-{builder}", benchmark="craft", condition=condition, max_turns=limit, builder=builder, task="t"
        )
        for condition, limit, builder in told
    ]
    store, run = store_with(tmp_path_factory.mktemp("alike"), games), job("a", judge="engine")
    answers = [verdict(run, (game.name, turn), "yes") for game in games for turn in range(1, 6)]
    players = [(game, role, model) for game in games for role, model in (("director", game.model), ("builder", game.builder))]
    agents = [Agent(game.name, role, role, model, None, None, None, None) for game, role, model in players]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [run], "verdicts": answers, "agents": agents}))
    Store.settle(store)
    yield from held_open(store)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("page", "least"), [("/?benchmark=craft", 8), ("/spirals", 2), ("/judges?rubric=ps", 2)])
def test_no_two_rows_of_a_table_look_alike(store: Store, page: str, least: int) -> None:
    """The leaderboard has a row for each turn limit and builder, and showed neither."""
    done = CliRunner().invoke(cli, ["dash", "--page", page, "--store", str(store.path)], catch_exceptions=False)
    tables = re.findall(r"<table.*?</table>", done.stdout, flags=re.DOTALL)
    longest = 0
    for table in tables:
        rows = [re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)]
        assert len(rows) == len(set(rows))
        longest = max(longest, len(rows) - 1)
    assert longest >= least
