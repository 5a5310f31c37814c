"""Equal bytes in two places: one game copied, or two games that went the same way."""

from __future__ import annotations

import shutil
from pathlib import Path

from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play


def test_copied_log_that_names_its_game_is_a_duplicate(tmp_path: Path) -> None:
    """A CRAFT log copied elsewhere is the same game: told, and not counted twice."""
    play(PlayRequest(out=tmp_path / "logs", structures=1, turns=3, processes=1))
    shutil.copytree(tmp_path / "logs", tmp_path / "backup")

    report = ingest_paths([tmp_path / "logs", tmp_path / "backup"], store := Store(tmp_path / "s.duckdb"), workers=1)

    assert len(report.duplicates) == 1
    assert query(store, "select count(*) as n from episodes").item() == 1


def test_equal_dialogs_of_two_runs_are_two_games(shared: Path, tmp_path: Path) -> None:
    """An Einstein dialog names no run: equal ones in two run folders are two games; the same folder copied away is not."""
    (dialog, *_) = sorted((shared / "data" / "einstein" / "nocot_none_raw").rglob("dialog_*.json"))
    for place in ("a/run_one", "a/run_two", "elsewhere/run_one"):
        (tmp_path / place).mkdir(parents=True)
        shutil.copy(dialog, tmp_path / place)

    report = ingest_paths([tmp_path / "a", tmp_path / "elsewhere"], store := Store(tmp_path / "s.duckdb"), workers=1)

    assert query(store, "select count(*) as n from episodes").item() == 2
    assert len(report.duplicates) == 1
