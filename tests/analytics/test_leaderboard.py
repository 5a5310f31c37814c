"""Leaderboard and families: tasks are what is sampled, runs are pooled, teams are told apart, and intervals stay where scores can be."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from analytics.query import query
from analytics.reports import report
from ingest.files.run import ingest_paths
from schemas.common.errors import UsageError
from schemas.records import Agent
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Step, store_with
from tests.analytics.view_files import VIEW_OF
from tests.masters import held_open

ROW = "n, tasks, score_mean, score_low, score_high, success_low, success_high"
SCORES = (0.1, 0.4, 0.5, 0.9, 1.0)

SAID = {"use_oracle": True, "num_oracle": 5, "builder_tool_use": False, "start_board": "empty"}


def played(task: int, score: float, run: int = 0, *, goal: str | None = None, model: str = "m", builder: str = "b") -> Game:
    return Game(
        [],
        name=f"{model}{task}.{run}.{builder}",
        task=f"t{task}",
        goal=goal,
        score=score,
        success=score == 1.0,
        model=model,
        builder=builder,
        benchmark="craft",
        condition=f"oracle5_no_tools_run{run}/m_b",
        condition_json=SAID | {"run": run},
    )


def games_of(benchmark: str, scores: Sequence[float | None], successes: Sequence[bool | None], **more: Any) -> list[Game]:
    """A game a score, each on a task of its own."""
    pairs = enumerate(zip(scores, successes, strict=True))
    return [Game([], f"{benchmark}{at}", task=f"t{at}", benchmark=benchmark, score=x, success=won, **more) for at, (x, won) in pairs]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Teams of CRAFT that each played something else, and games of other families, of which each has one team."""
    won_or_lost = [
        replace(game, task=f"t{at // 2}") for at, game in enumerate(games_of("success alone", [None] * 8, [True, False, False, False] * 2))
    ]
    games = [
        *(played(*one, model="once") for one in enumerate(SCORES)),
        *(played(*one, run, model="again") for run in range(4) for one in enumerate(SCORES)),
        *(played(task, 0.5, run, model="runs") for task in range(3) for run in (1, 2, 3)),
        *(played(task, 1.0, model="right") for task in range(3)),
        *(played(task, float(task), model="split") for task in range(2)),
        *(Game([], f"e{run}{at}", task=f"t{at}", score=score, success=score == 1.0) for run in range(3) for at, score in enumerate(SCORES)),
        *games_of("unknown", [0.5] * 4, [True, True, False, None]),
        *won_or_lost,
        Game([], "scored", task="t0", benchmark="success alone", score=0.5, success=None),
        *games_of("coordination", [20.0, 40.0, 60.0], [False] * 3, condition="overcooked/cramped_room"),
        *games_of("negotiation", [2.0] * 4, [False] * 4),
    ]
    yield from held_open(store_with(tmp_path_factory.mktemp("teams"), games))


Rows = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def leaderboard(store: Store) -> Rows:
    """Rows by the team's model in CRAFT, by benchmark in other families, which have one team each."""
    rows = query(store, "select * from leaderboard").to_dicts()
    found = {row["model"] if row["benchmark"] == "craft" else row["benchmark"]: row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.fixture(scope="module")
def families(store: Store) -> Rows:
    """Rows by benchmark."""
    return {row["benchmark"]: row for row in query(store, "select * from families").to_dicts()}


def shown(row: dict[str, Any], names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names.split(", "))


def test_playing_tasks_again_makes_no_interval_narrower(leaderboard: Rows) -> None:
    """Five tasks, once and four times with the same scores: as if they were played once."""
    once, again = (shown(leaderboard[team], ROW) for team in ("once", "again"))
    assert (once[:2], again[:2]) == ((5, 5), (20, 5))
    assert again[2:5] == pytest.approx(once[2:5], abs=0.03)
    assert again[6] - again[5] > 0.8 * (once[6] - once[5])


def test_the_runs_of_one_condition_are_one_row(store: Store, leaderboard: Rows) -> None:
    """As the papers pool them; the number of the run stays in the run's name."""
    assert shown(leaderboard["runs"], "condition, games, tasks") == ("oracle5_no_tools", 9, 3)
    assert query(store, "select count(distinct run_name) from compared_games where model = 'runs'").item() == 3


def test_targets_that_share_a_name_are_two_tasks(tmp_path: Path) -> None:
    """Generated from different seeds: `t0` with two goals."""
    games = [played(0, 0.5, run, goal=f'{{"stacks": {run}}}') for run in (1, 2)] + [played(1, 0.5, run, goal="{}") for run in (1, 2)]
    store = store_with(tmp_path, games)
    names = query(store, "select distinct task from compared_games order by 1")["task"].to_list()
    assert [name[:3] for name in names] == ["t0 ", "t0 ", "t1"]


def test_teams_with_one_evaluated_model_are_told_apart(tmp_path: Path) -> None:
    """By the builder, and by directors of which only one is the evaluated model."""
    store = store_with(tmp_path, [played(task, 0.5, builder=builder) for builder in ("x", "y") for task in range(2)])
    seats = {"x": ("m", "m", "m", "m"), "y": ("m", "m", "q", "y")}
    rows = [
        Agent(f"m{task}.0.{builder}", agent, role, model, None, None, None, None)
        for builder, models in seats.items()
        for task in range(2)
        for agent, role, model in zip(("D1", "D2", "D3", "B"), ("director",) * 3 + ("builder",), models, strict=True)
    ]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"agents": rows}))
    found = query(store, "select team_name, n from leaderboard order by 1").rows()
    assert found == [("director m ×2 + q, builder y", 2), ("m", 2)]


def test_families_and_leaderboard_say_the_same_of_one_team(leaderboard: Rows, families: Rows) -> None:
    """Also where tasks are repeated."""
    assert shown(families["einstein"], ROW)[:2] == (15, 5)
    assert shown(families["einstein"], ROW) == pytest.approx(shown(leaderboard["einstein"], ROW))


def test_a_game_of_which_nobody_knows_whether_it_was_won_is_no_loss(leaderboard: Rows, families: Rows) -> None:
    """Foreign logs may have a score and no word about the goal."""
    found = [shown(rows["unknown"], "successes, success_n, success_rate") for rows in (families, leaderboard)]
    assert found == [(2, 3, 2 / 3)] * 2


def test_games_that_say_success_alone_have_ended(store: Store, leaderboard: Rows, families: Rows) -> None:
    """Their end is known; they were taken for cut, and their team had no rate of success."""
    assert query(store, "select distinct ending from games").rows() == [("ended",)]
    columns = "tasks, cut, n, score_mean, successes, success_n, success_rate"
    found = [shown(rows["success alone"], columns) for rows in (families, leaderboard)]
    assert found == [(4, 0, 1, 0.5, 2, 8, 0.25)] * 2
    ends = [shown(rows["success alone"], "success_low, success_high") for rows in (families, leaderboard)]
    assert ends[0] == ends[1]
    assert 0 < ends[0][0] < 0.25 < ends[0][1] < 1


def test_three_right_games_do_not_prove_that_all_are(leaderboard: Rows) -> None:
    """The interval has a width, and that of one lost and one won game stays between 0 and 1."""
    assert leaderboard["right"]["score_low"] == pytest.approx(0.4385, abs=1e-3)  # as Wilson's of 3 in 3
    assert 0 <= leaderboard["split"]["score_low"] < 0.05
    assert 0.95 < leaderboard["split"]["score_high"] <= 1


def test_scores_without_a_bound_have_students_interval(leaderboard: Rows) -> None:
    """Soups are as many as time allows: 20, 40 and 60 around 40, t(2) = 4.30."""
    ends = shown(leaderboard["coordination"], "score_low, score_high")
    assert ends == pytest.approx((40 - 4.302653 * 20 / 3**0.5, 40 + 4.302653 * 20 / 3**0.5), abs=1e-4)


def test_equal_scores_without_a_bound_have_no_interval_without_width(leaderboard: Rows, families: Rows) -> None:
    """Four games of two points each said that every other has two, from 2.00 to 2.00."""
    for rows in (leaderboard, families):
        assert shown(rows["negotiation"], "score_mean, score_low, score_high") == (2.0, None, None)


@pytest.mark.shared
@pytest.mark.parametrize("answered_by", ["bare_letter", pytest.param("*", marks=pytest.mark.long)])
def test_a_trial_in_two_files_counts_once(tmp_path: Path, shared: Path, answered_by: str) -> None:
    """The published trials lie in a table and in files of their own: 198 questions, 3 trials, each once."""
    trials, logs = shared / "data/coordination/coordqa", tmp_path / "coordqa"
    (logs / "native_logs").mkdir(parents=True)
    wanted = '"respondent": "' if answered_by == "*" else f'"respondent": "{answered_by}"'
    shutil.copy(next(shared.rglob("single_turn_trials.csv")), logs)
    lines = (trials / "coordqa_trials.jsonl").read_text(encoding="utf-8").splitlines()
    (logs / "coordqa_trials.jsonl").write_text("\n".join(line for line in lines if wanted in line), encoding="utf-8")
    for file in (trials / "native_logs").glob(f"all_openai_{answered_by}?.json"):
        shutil.copy(file, logs / "native_logs")
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([logs], store, workers=1)
    found = query(store, "select model, n, tasks, score_low < score_mean from leaderboard order by 1")
    assert len(found) == len(list((logs / "native_logs").iterdir())) / 3
    assert set(found["n"]) == {594}
    assert set(found["tasks"]) == {198}
    assert query(store, "select n, tasks, games from families").rows() == [(594 * len(found), 198, 594 * len(found))]


@pytest.fixture(scope="module")
def macros() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(VIEW_OF["intervals"].sql)
    return connection


Shape = Callable[[np.random.Generator, NDArray[np.float64], tuple[int, ...]], NDArray[np.float64]]

SHAPES: dict[str, Shape] = {
    "yes or no": lambda random, share, size: (random.random(size) < share).astype(float),
    "from 0 to 1": lambda random, share, size: random.beta(4 * share, 4 * (1 - share), size),
    "mostly whole": lambda random, share, size: np.where(random.random(size) < share, 1.0, random.beta(2, 2, size)),
}


@pytest.mark.long
@pytest.mark.parametrize("tasks", [5, 10, 30])
@pytest.mark.parametrize("repeats", [1, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_scores_hold_the_truth(macros: duckdb.DuckDBPyConnection, shape: str, repeats: int, tasks: int) -> None:
    """6,000 data sets of tasks whose difficulty differs (intraclass correlation 0.3), in at least 93 %; docs/dev/coverage.md has more."""
    random = np.random.default_rng(4)
    truth = {"mostly whole": 0.8}.get(shape, 0.6)
    size = (6000, tasks, repeats)
    share = random.beta(0.6 * 7 / 3, 0.4 * 7 / 3, (*size[:2], 1))
    scores = SHAPES[shape](random, np.broadcast_to(np.clip(share, 0.01, 0.99), size), size).sum(axis=2)
    sums = {"k": scores.sum(axis=1), "kk": (scores**2).sum(axis=1), "kn": (scores * repeats).sum(axis=1)}
    macros.register("sums", pa.table(sums))
    n, nn = tasks * repeats, tasks * repeats**2
    ends = f"clustered_low(k, {n}, {tasks}, kk, kn, {nn}) and clustered_high(k, {n}, {tasks}, kk, kn, {nn})"
    ((held,),) = macros.execute(f"select avg(({truth} between {ends})::int) from sums").fetchall()
    assert 0.93 <= held <= 0.995


def test_tasks_of_a_family_count_once(tmp_path: Path) -> None:
    """Twenty tasks of four families that are alike inside: the interval is over four, and other reports refuse the option by name."""
    steps = [Step('"1"')]
    games = [Game(steps, name=f"g{task:02}", task=f"f{task % 4}_{task}", score=0.2 + 0.15 * (task % 4)) for task in range(20)]
    store = store_with(tmp_path, games)
    (alone,) = report(store, "leaderboard").to_dicts()
    (row,) = report(store, "leaderboard", families="split_part(task_id, '_', 1)").to_dicts()
    assert (alone["tasks"], row["tasks"], row["n"]) == (20, 4, 20)
    assert row["score_mean"] == alone["score_mean"]
    assert row["score_high"] - row["score_low"] > 2 * (alone["score_high"] - alone["score_low"])
    with pytest.raises(
        UsageError, match="--families is for the report leaderboard, corrected-rates, judged-effects, labels-needed, compare"
    ):
        report(store, "overview", families="task_id")
