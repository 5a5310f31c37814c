"""The findings that the README names come out of the published logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.masters import published_store
from tests.places import ROOT

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


@pytest.mark.shared
def test_findings_are_what_the_reports_say(shared: Path, tmp_path: Path) -> None:
    """Teams of Collab-Overcooked with their intervals and games, and labels of Who&When that contradict their logs."""
    store = published_store(shared, tmp_path, "overcooked/runs")
    ingest_paths([shared / "data/whoandwhen"], store, workers=1)
    board = {row["team_name"]: row for row in query(store, "FROM leaderboard WHERE benchmark = 'overcooked'").to_dicts()}
    lost, best = board["wrong-ingredient"], board["optimal"]
    assert f"{_short(lost)} over {lost['games']} games" in README.replace(" of progress completeness", "")
    assert f"{_short(best)} over {best['games']}" in README
    assert f"{sum(row['games'] for row in board.values())} games of {len(board)} scripted teams" in README
    runs = query(store, "SELECT count(*) AS n FROM episodes WHERE benchmark = 'whoandwhen'")["n"][0]
    odd = query(store, "SELECT count(*) AS n FROM log_disagreements WHERE field = 'mistake_agent'")["n"][0]
    assert f"{runs} failed runs: in {odd} of them" in README


@pytest.mark.shared
def test_the_share_that_an_inspect_log_got_right(shared: Path, tmp_path: Path) -> None:
    """Counted over its samples, with the interval that the leaderboard prints."""
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([shared / "data/interop/inspect_logs/popularity.eval"], store, workers=1)
    ensure_installed(store)
    (row,) = query(store, "SELECT games, success_rate, success_low, success_high FROM leaderboard WHERE games > 2").to_dicts()
    assert row["games"] == query(store, "SELECT count(*) AS n FROM episodes")["n"].item()
    low, high = (f"{100 * row[name]:.0f} %" for name in ("success_low", "success_high"))
    said = f"{row['games']} samples of one model: right in {100 * row['success_rate']:.0f} %, [{low}, {high}]"
    assert said in README


def _short(row: dict[str, float]) -> str:
    mean, low, high = (f"{row[name]:.2f}".removeprefix("0") for name in ("score_mean", "score_low", "score_high"))
    return f"{mean} [{low}, {high}]"
