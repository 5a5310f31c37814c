"""Published logs of Collab-Overcooked become what the published evaluation makes of them: every row, every column."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from analytics.installation import ensure_installed
from analytics.papers import paper_table
from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.masters import held_open, published_store

pytestmark = pytest.mark.shared

TOLERANCE = 1e-6
PLANTED = ("scripted_request", "scripted_response")
THE_PAPERS = {"initiate_collaboration", "respond_collaboration"}
"""By the paper's Eq. 5 in views and metrics; the code's numbers, which the reference files call so, have names in `_upstream`."""


@pytest.fixture(scope="module")
def store(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("overcooked"), "overcooked/runs"))


def reference(shared: Path, name: str) -> list[dict[str, str]]:
    with (shared / "reference" / f"overcooked_expected{name}.csv").open(encoding="utf-8", newline="") as lines:
        return [
            {f"{column}_upstream" if column in THE_PAPERS else column: cell for column, cell in row.items()}
            for row in csv.DictReader(lines)
        ]


def same(expected: str, found: object) -> bool:
    if found is None or expected == "":
        return found is None and expected == ""
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        return abs(float(expected) - found) <= TOLERANCE
    return str(found) == expected


def differences(expected: list[dict[str, str]], found: pl.DataFrame, key: tuple[str, ...]) -> list[str]:
    """Say where a view and its reference differ: rows missing, rows too many, cells."""
    rows = {tuple(str(row[column]) for column in key): row for row in found.iter_rows(named=True)}
    wanted = {tuple(row[column] for column in key): row for row in expected}
    said = [f"{at}: only on one side" for at in rows.keys() ^ wanted.keys()]
    said += [] if len(rows) == len(found) else ["rows with the same key"]
    for at in rows.keys() & wanted.keys():
        cells = {name: cell for name, cell in wanted[at].items() if name not in PLANTED}
        said += [f"{at} {name}: {cell!r} != {rows[at][name]!r}" for name, cell in cells.items() if not same(cell, rows[at][name])]
    return said


VIEWS = [
    ("overcooked_games", "", ("file", "variant")),
    ("overcooked_events", "_events", ("file", "event")),
    ("overcooked_statistics", "_statistics_data", ("model", "order")),
    ("overcooked_levels", "_converted_data", ("model", "level")),
]


@pytest.mark.parametrize(("view", "file", "key"), VIEWS, ids=[view for view, _, _ in VIEWS])
def test_the_view_equals_the_reference(store: Store, shared: Path, view: str, file: str, key: tuple[str, ...]) -> None:
    """Every row and every column, but for what the scripts themselves intended."""
    expected, found = reference(shared, file), query(store, f"from {view}")
    assert set(found.columns) - THE_PAPERS == set(expected[0]) - set(PLANTED)
    assert differences(expected, found, key) == []


def test_success_and_score_rest_on_the_same_time(store: Store, shared: Path) -> None:
    """The score is PC of the game as cut to its time limit, where the reference has it so; each required hand-over is in IC and RC once."""
    expected = {}
    for row in reference(shared, ""):  # a game's row of variant `truncated_1_5`, if it has one, comes second
        expected[row["file"]] = (row["within_limit"] == "1", pytest.approx(float(row["pc"]), abs=TOLERANCE))
    found = {file: (success, score) for file, success, score in query(store, "select file, success, score from episodes").rows()}
    assert found == expected
    wide = query(
        store,
        "pivot (select episode_id, replace(metric, 'overcooked.', '') as metric, value from episode_metrics) on metric in "
        "('n_hand_overs_asked', 'n_required_collaborations', 'initiate_collaboration') using any_value(value)",
    )
    assert wide.filter(pl.col("n_hand_overs_asked") > pl.col("n_required_collaborations")).is_empty()
    assert wide.filter(pl.col("initiate_collaboration") != pl.col("n_hand_overs_asked") / pl.col("n_required_collaborations")).is_empty()


def test_the_papers_ic_and_rc_have_one_definition(store: Store) -> None:
    """Views, metrics and Figure 3 divide by the required collaborations; the published script's numbers have a name of their own."""
    games = query(
        store,
        "select games.initiate_collaboration as ic, asked.value / required.value as due, games.initiate_collaboration_upstream as upstream "
        "from overcooked_games as games inner join episodes using (file) "
        "inner join episode_metrics as asked on asked.episode_id = episodes.episode_id and asked.metric = 'overcooked.n_hand_overs_asked' "
        "inner join episode_metrics as required on required.episode_id = episodes.episode_id "
        "and required.metric = 'overcooked.n_required_collaborations' "
        "where variant = 'truncated_1_5' or file not in (select file from overcooked_games where variant = 'truncated_1_5')",
    )
    assert len(games) == 76
    assert games.filter((pl.col("ic") - pl.col("due")).abs() > TOLERANCE).is_empty()
    assert not games.filter((pl.col("ic") - pl.col("upstream")).abs() > TOLERANCE).is_empty()
    figure = paper_table(store, "overcooked", "figure", "3").cells.to_dicts()
    cells = {(row["row"], row["column"]): row["value"] for row in figure}
    means = query(
        store,
        "select model, level, 100 * avg(value) from episode_metrics inner join episodes using (episode_id) "
        "where metric = 'overcooked.initiate_collaboration' group by all",
    ).rows()
    assert len(means) > 20
    assert all(cells[model, f"level {level} IC"] == pytest.approx(mean) for model, level, mean in means)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("below", ["", "runs", "runs/optimal"])
def test_teams_do_not_depend_on_the_folder_that_was_given(shared: Path, tmp_path: Path, below: str) -> None:
    """The team is what the log and the published layout name, whether the folder above, the runs or one team's runs are ingested."""
    for policy in ("optimal", "silent"):
        shutil.copytree(shared / "data" / "overcooked" / "runs" / policy, tmp_path / "data" / "runs" / policy)
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "data" / below], store, workers=1)
    ensure_installed(store)
    teams = {"optimal"} if below.endswith("optimal") else {"optimal", "silent"}
    for view, column in (("overcooked_games", "policy"), ("overcooked_events", "policy"), ("overcooked_levels", "model")):
        named = set(query(store, f"select distinct {column} as team from {view}")["team"])
        assert named == teams - ({"silent"} if view == "overcooked_events" else set())


def test_a_wrong_cell_would_be_seen(store: Store, shared: Path) -> None:
    """The comparison itself can fail: on a number, a text, a missing row."""
    expected, found = reference(shared, ""), query(store, "from overcooked_games")
    key = ("file", "variant")
    assert len(differences(expected, found.with_columns(pl.col("pc") + 1e-5), key)) == 77
    assert len(differences(expected, found.with_columns(pl.lit("[[]]").alias("process_result")), key)) == 75
    assert len(differences(expected, found.head(70), key)) == 7


def test_every_logged_game_plays_again_exactly(store: Store) -> None:
    """Our kitchen draws the logged picture of every step, records the logged actions and gives the logged points, in all 76 games."""
    assert query(store, "select count(*) from episodes").item() == 76
    assert query(store, "select count(*) from turns").item() > 3000
    assert query(store, "from log_disagreements").is_empty()
    assert query(store, "from rejects").is_empty()


def test_planted_faults_are_named(store: Store, shared: Path) -> None:
    """The paper's three labels against what the scripts meant: as often right as the specification says of its rule."""
    events = reference(shared, "_events")
    found = query(
        store,
        "select file, turn - 1 as timestamp, category from failures inner join episodes using (episode_id) "
        "where taxonomy = 'overcooked_paper' and agent = 'Chef'",
    )
    category = {(file, str(timestamp)): name for file, timestamp, name in found.rows()}
    said = Counter((event["scripted_request"], category[event["file"], event["timestamp"]]) for event in events)
    assert said["repetitive", "repetitive"] == sum(count for (planted, _), count in said.items() if planted == "repetitive")
    assert sum(count for (planted, name), count in said.items() if planted == "premature" and name != "premature") == 1
    assert said["wrong-ingredient", "irrelevant"] == sum(count for (planted, _), count in said.items() if planted == "wrong-ingredient")
    assert {name for (planted, name) in said if planted == "irrelevant"} == {"irrelevant"}
