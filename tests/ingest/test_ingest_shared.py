"""The published CRAFT logs go in whole, and replay agrees with every one of them."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

from ingest.files.run import ingest_paths
from ingest.files.writer import Report
from schemas.store.store import Store

pytestmark = pytest.mark.shared


@pytest.fixture(
    scope="module",
    params=[("edge",), pytest.param(("clear", "edge", "over-remover", "redundant", "vague"), marks=pytest.mark.long)],
    ids=["some", "all"],
)
def personas(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Whose scripted games are looked at, besides those of language models."""
    return tuple(request.param)


@pytest.fixture(scope="module")
def logs(shared: Path, personas: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the reference tables hold; beside it are games of language models and readings of their messages."""
    folder = tmp_path_factory.mktemp("craft")
    scripted = [f"engine_games/{persona}_scripted-builder" for persona in personas]
    for name in ("craft_results", *scripted, "human_validation", "real_utterances"):
        shutil.copytree(shared / "data" / "craft" / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def filled(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Report]:
    """A store with published CRAFT data."""
    store = Store(tmp_path_factory.mktemp("store") / "craft.duckdb")
    return store, ingest_paths([logs], store)


def rows(filled: tuple[Store, Report], query: str) -> list[tuple[Any, ...]]:
    with filled[0].reading() as connection:
        return connection.execute(query).fetchall()


def reference(shared: Path, name: str, personas: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of language models and of these personas."""
    with (shared / "reference" / name).open(newline="") as file:
        return [row for row in csv.DictReader(file) if "condition" in row or row["model"] in personas]


def test_everything_goes_in(filled: tuple[Store, Report], shared: Path, personas: tuple[str, ...]) -> None:
    """As many games and turns as the reference tables have; nothing rejected; every other file is told."""
    report = filled[1]
    games, turns = (
        [row for played in ("engine", "real_logs") for row in reference(shared, f"craft_{played}_{rows}_expected.csv", personas)]
        for rows in ("games", "turns")
    )
    assert (report.episodes, report.turns, report.rejected) == (len(games), len(turns), [])
    assert report.found == len(games) + len(report.others)


def test_replay_agrees_with_every_log(filled: tuple[Store, Report]) -> None:
    """Boards, candidates, refusals, flags, metrics and ends: no difference is left."""
    assert rows(filled, "FROM log_disagreements") == []


def test_every_refusal_has_the_code_of_its_message(filled: tuple[Store, Report]) -> None:
    """A refused move has a code and a text, an accepted one neither."""
    assert rows(filled, "SELECT accepted, error_code IS NULL, error_text IS NULL FROM actions GROUP BY ALL ORDER BY ALL") == [
        (False, False, False),
        (True, True, True),
        (None, True, True),
    ]


def test_number_of_directors_of_each_turn(filled: tuple[Store, Report], shared: Path, personas: tuple[str, ...]) -> None:
    """Different directors who spoke, turn by turn, as in the reference."""
    expected = sorted(
        (row["model"], row["structure_id"], int(row["run"]), int(row["turn"]), int(row["n_directors"]))
        for row in reference(shared, "craft_engine_turns_expected.csv", personas)
    )
    found = rows(
        filled,
        "SELECT model, task_id, seed, turn, count(DISTINCT agent) FROM utterances JOIN episodes USING (episode_id) "
        "WHERE agent <> 'Builder' AND file LIKE 'engine_games/%' GROUP BY ALL ORDER BY ALL",
    )
    assert found == expected


def test_scores_and_categories_of_each_turn(filled: tuple[Store, Report], shared: Path, personas: tuple[str, ...]) -> None:
    """The five metrics, the published category and the two strict readings of following equal the reference."""
    found = {
        key: (category, metrics)
        for *key_parts, category, metrics in rows(
            filled,
            "SELECT model, task_id, seed, turn, any_value(category), map_from_entries(list((metric, value))) "
            "FROM turn_metrics JOIN episodes USING (episode_id) JOIN failures USING (episode_id, turn) "
            "WHERE taxonomy = 'craft_published' AND file LIKE 'engine_games/%' GROUP BY ALL",
        )
        for key in [tuple(key_parts)]
    }
    yes_no = {"True": 1.0, "False": 0.0}
    metrics = ("overall_progress", "completion_percentage", "iou_score", "position_accuracy", "distance_score")
    expected_rows = reference(shared, "craft_engine_turns_expected.csv", personas)
    assert len(found) == len(expected_rows)
    for row in expected_rows:
        category, values = found[row["model"], row["structure_id"], int(row["run"]), int(row["turn"])]
        assert category == row["taxonomy_code"]
        for name in metrics:
            assert values[f"craft.{name}"] == pytest.approx(float(row[name]), abs=1e-6)
        for name in ("followed_full", "followed_physical", "correct_structure_placement", "correct_side_placement"):
            assert values.get(f"craft.{name}") == yes_no.get(row[name])


def test_real_logs_showed_the_views_of_the_released_code(filled: tuple[Store, Report]) -> None:
    """Their prompts hold the target with large blocks and unmirrored; shortened prompts leave the logged view."""
    found = rows(
        filled,
        "SELECT file LIKE 'craft_results/%', view_kind, view_source, count(*) FROM agents JOIN episodes USING (episode_id) "
        "WHERE role = 'director' AND view_kind IS NOT NULL GROUP BY ALL ORDER BY ALL",
    )
    assert {(is_real, kind, source) for is_real, kind, source, _ in found} == {(False, "spans", "log"), (True, "spans", "prompt")}


def test_second_ingest_changes_nothing(filled: tuple[Store, Report], logs: Path) -> None:
    """All files are known; no row is written."""
    before = rows(filled, "FROM sources ORDER BY ALL")
    report = ingest_paths([logs], filled[0])
    assert (report.unchanged, report.ingested, report.replaced, report.rows) == (filled[1].ingested, 0, 0, {})
    assert rows(filled, "FROM sources ORDER BY ALL") == before
