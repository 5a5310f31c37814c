"""Each figure of a page draws the numbers of the report that its menu names, under the page's filters too."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import plotly.graph_objects as go
import polars as pl
import pytest

from analytics.query import query
from analytics.reports import report
from dashboards.address import Address
from dashboards.filters import narrowed
from dashboards.grid import Grid
from dashboards.judging import panel, scores
from dashboards.page_file import page_file
from dashboards.pages import failures, overview, runs, why
from dashboards.reader import Reader, reader
from games.einstein.experiment import play_planted
from ingest.labels.load import add_note
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.common.wording import share
from schemas.records import Label
from schemas.store import batches
from schemas.store.store import Store
from tests.judges.attribution.test_craft_attribution import attributed
from tests.masters import held_open


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Twelve games with a faulty player, attributed, judged by the engine, and labelled with failure modes."""
    folder = tmp_path_factory.mktemp("figures")
    play_planted(folder / "logs", 12, seed=4)
    found = attributed(folder / "logs", folder)
    for rubric in ("knowledge_sharing", "einstein_errors"):
        run(JudgeRequest(rubric=find(rubric)), found)
    games = query(found, "SELECT episode_id FROM episodes ORDER BY ALL")["episode_id"].to_list()
    labels = [
        Label("people", "ann", "mast", mode, game, game, None, None, "yes" if place % every == 0 else "no", None)
        for mode, every in (("no_verification", 3), ("step_repetition", 4))
        for place, game in enumerate(games)
    ]
    with found.writing() as connection:
        batches.insert(connection, batches.to_arrow({"labels": labels}))
        for place, judge in enumerate(("llm:m/a", "llm:m/b")):
            connection.execute(_JOB, {"judge": judge})
            connection.execute(_VOTES, {"judge": judge, "place": place})
    Store.settle(found)
    yield from held_open(found)


_JOB = """
    INSERT INTO judge_runs SELECT * REPLACE (
        $judge AS judge_run_id, $judge AS judge, $judge[5:] AS model, 7 AS calls, 100 AS tokens_in, 0.5 AS cost
    )
    FROM judge_runs WHERE rubric = 'knowledge_sharing' AND judge = 'engine'
"""
_VOTES = """
    INSERT INTO verdicts BY NAME
    SELECT * REPLACE (
        $judge AS judge_run_id, $judge AS judge, 'answered' AS status,
        if(hash(unit_id, repeat, $place) % 3 = 0, 'yes', 'no') AS answer, if(turn = 1, 'asks_the_judge', NULL) AS flagged
    )
    FROM (SELECT * EXCLUDE (repeat), unnest([1, 2]) AS repeat FROM verdicts WHERE rubric = 'knowledge_sharing' AND judge = 'engine')
"""
"""Two models that answer twice, at random: of every kind of disagreement there are some."""


class Drawn(NamedTuple):
    """A figure, and what its report has in the place of its marks."""

    draw: Callable[[Reader], go.Figure | None]
    report: str
    value: Callable[[pl.DataFrame], pl.Series]
    """Of the report's rows: what the marks show."""
    axis: str = "x"
    per: str = ""
    """What the report's rows are about, where it can be chosen."""


def _of(column: str, *same: tuple[str, Any]) -> Callable[[pl.DataFrame], pl.Series]:
    return lambda rows: rows.filter(*(pl.col(name) == value for name, value in same)).drop_nulls(column)[column]


def _judged(draw: Callable[[Reader, pl.DataFrame], go.Figure], sql: str, rubric: str) -> Callable[[Reader], go.Figure | None]:
    return lambda read: draw(read, read.rows(sql, {"rubric": rubric, "judge": "engine", "variant": ""}))


def _failures(by: str, weight: str) -> Drawn:
    """With all categories: the page puts the rarest together."""

    def draw(read: Reader) -> go.Figure:
        rows = failures.counts(narrowed(read, "einstein"), "einstein_published", by, weight)
        return failures.chart(rows, failures.Bars(by, "einstein_published", read.failures("einstein_published"), weight), read.address, {})

    def value(rows: pl.DataFrame) -> pl.Series:
        return rows.filter(pl.col("turns") > 0, pl.col("taxonomy") == "einstein_published")["share"].drop_nulls()

    return Drawn(draw, "failures" if weight == "turns" else "cost-by-category", value, "y" if by == "turn" else "x", by)


def _scored(by: str) -> Drawn:
    return Drawn(
        lambda read: go.Figure(go.Scatter(x=[row["score"] for row in failures.scores(narrowed(read, "einstein"), by).values()])),
        "leaderboard",
        _of("score_mean"),
        per=by,
    )


FIGURES = {
    "which step failed": Drawn(why.FIGURES["steps"], "regret-by-step", _of("share")),
    "what each team lost": Drawn(
        why.FIGURES["lost"],
        "regret-by-team",
        lambda rows: rows.group_by("team_name", "step").agg(pl.col("cost_a_game").sum())["cost_a_game"],
    ),
    "when it was lost": Drawn(
        lambda read: why._curve(read.rows(why._CURVE), defaultdict(str), why._teams(read.rows(why._FLOWS)), ""),
        "regret-curve",
        _of("lost_a_game"),
        "y",
    ),
    "whose mistake": Drawn(lambda read: why.blame_figure(read.rows(why._BLAMED), "role"), "blamed-roles", _of("share")),
    "failure modes": Drawn(lambda read: why.blame_figure(read.rows(why._MODES), "question"), "failure-modes", _of("share")),
    "scores of a judge": Drawn(
        _judged(lambda read, rows: scores.by_question(read, rows, {}), scores._BY_QUESTION, "knowledge_sharing"),
        "judged-questions",
        _of("score_mean", ("rubric", "knowledge_sharing")),
    ),
    "answers of a judge": Drawn(
        _judged(lambda _, rows: scores.categories_figure(rows), scores._CATEGORIES, "einstein_errors"),
        "answers",
        lambda rows: rows.filter(~pl.col("has_score"), pl.col("rubric") == "einstein_errors", pl.col("answer") != "na")["share"],
    ),
    **{
        f"failures by {by}, {weight}": _failures(by, weight)
        for by in ("model", "condition", "level", "turn")
        for weight in ("turns", "cost")
    },
    **{f"score by {by}": _scored(by) for by in ("model", "condition", "level")},
    "where votes split": Drawn(
        lambda read: panel.splits_figure(read.rows(panel._SPLIT_UNITS, {"rubric": "knowledge_sharing"})), "panel-splits", _of("share"), "y"
    ),
    "teams": Drawn(overview.FIGURES["overview"], "overview", _of("score_mean")),
}


_BY_OTHERS = ("failures by condition", "failures by level", "score by condition", "score by level")
FEWER = [name for name in FIGURES if not name.startswith(_BY_OTHERS)]
"""Without those that another figure of the same page draws by another column of the same report."""


@pytest.mark.parametrize("least", [pytest.param("", marks=pytest.mark.long), "sensible_f"])
@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in FEWER else pytest.mark.long) for name in FIGURES])
def test_a_figure_has_the_numbers_of_its_report(store: Store, name: str, least: str) -> None:
    """Each number of the report is drawn, of all teams and of some."""
    shown = FIGURES[name]
    models = query(store, "SELECT DISTINCT model FROM games WHERE model >= $least", {"least": least})["model"].to_list()
    with reader(store, Address.parse("/", urlencode({"model": models}, doseq=True))) as read:
        drawn = shown.draw(read)
    assert drawn is not None
    per = {"per": shown.per} if shown.per else {}
    marks = {round(float(value), 9) for trace in drawn.data for value in trace[shown.axis] or () if isinstance(value, int | float)}
    expected = {round(value, 9) for value in shown.value(report(store, shown.report, f"model >= '{least}'", **per))}
    assert expected
    assert expected - marks == set()


@pytest.mark.parametrize(
    ("table", "name"),
    [
        (panel.FLAGS, "flags"),
        (panel.SPLIT, "panel-disagreements"),
        (panel.BY_JUDGE, "cost"),
        (panel.BY_JOB, "scoring-jobs"),
        (runs.TABLES[0], "experiments"),
        (runs.TABLES[1], "scoring-jobs"),
    ],
)
def test_a_table_has_the_numbers_of_its_report(store: Store, table: Grid, name: str) -> None:
    """Every number that a table of a page shows is in the report of the same things."""
    with reader(store, Address.parse("/", "")) as read:
        asked = table.make(read, "knowledge_sharing")
        shown = read.rows(asked.sql, asked.parameters)
    rows = report(store, name, "true" if table in runs.TABLES else "rubric = 'knowledge_sharing'" if name != "flags" else "true")
    rows = rows.filter(pl.col("rubric") == "knowledge_sharing") if name == "flags" else rows
    numbers = [column for column, kind in rows.schema.items() if column in shown.columns and kind.is_numeric() and column != "turn"]
    assert numbers
    assert shown.height > 0
    assert sorted(map(str, shown.select(numbers).rows())) == sorted(map(str, rows.head(shown.height).select(numbers).rows()))


def test_the_sentence_on_what_was_lost_is_about_all_groups(store: Store) -> None:
    """Of all that was lost, as the report has it: of the whole of each team."""
    lost = report(store, "cost-by-category", per="model").filter(taxonomy="einstein_published")
    lost = lost.filter(pl.col("category") != "no_oracle_or_attempt", pl.col("share").is_not_null())
    most = lost.group_by("category").agg(pl.col("cost").sum()).sort("cost")["cost"][-1]
    whole = lost.unique("model")["whole"].sum()
    assert lost["model"].n_unique() > 1
    address = Address.parse("/failures", urlencode({"taxonomy": "einstein_published", "weight": "cost", "by": "model"}))
    page = page_file(store, address, raises=True)
    assert f": {share(most / whole)} of all that was lost." in page
    assert "Share of all that these games lost." in page


@pytest.mark.long
def test_notes_are_counted_of_the_benchmark_in_view(store: Store, tmp_path: Path) -> None:
    """A taxonomy may be that of several benchmarks."""
    path = tmp_path / "two.duckdb"
    shutil.copy(store.path, path)
    two = Store(path)
    turns = query(two, "SELECT episode_id, min(turn) FROM failure_turns WHERE taxonomy = 'einstein_published' GROUP BY 1 ORDER BY 1")
    for episode_id, turn in turns.rows():
        add_note(two, episode_id, turn, author="ann", text="look")
    with two.writing() as connection:
        connection.execute(
            "UPDATE episodes SET benchmark = 'other' WHERE episode_id IN (SELECT episode_id FROM episodes ORDER BY 1 LIMIT 6)"
        )
    Store.settle(two)
    for benchmark in ("einstein", "other"):
        address = Address.parse("/failures", urlencode({"benchmark": benchmark, "taxonomy": "einstein_published", "by": "turn"}))
        with reader(two, address) as read:
            asked = failures.COUNTS.make(read, "")
            noted = read.rows(asked.sql, asked.parameters, filter_on=asked.filter_on)
        about = f"taxonomy = 'einstein_published' AND benchmark = '{benchmark}' AND counted"
        counted = (
            f"SELECT count(DISTINCT (category, turn, note_id)) FROM failure_turns INNER JOIN notes USING (episode_id, turn) WHERE {about}"
        )
        assert noted["notes"].sum() == query(two, counted).item() > 0
