"""Games of scripts in cotrace's own log: what their replies mean is known."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from analytics.installation import ensure_installed
from analytics.query import query
from cotrace.cli import cli
from ingest.files.run import ingest_paths
from schemas.store.store import Store


def test_what_scripts_meant_is_known_as_in_the_published_logs(tmp_path: Path) -> None:
    """A row of `coordination_grounding` for each reply that was read exactly, in all four games."""
    for game in ("hanabi", "overcooked", "collab_capture", "collab_escape"):
        played = CliRunner().invoke(cli, ["play", "coordination", game, "--games", "1", "--turns", "4", "--out", str(tmp_path / "logs")])
        assert played.exit_code == 0
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "logs"], store, workers=1)
    ensure_installed(store)
    found = query(
        store,
        "SELECT split_part(condition, '/', 1) AS game, count_if(taxonomy = 'coordination_grounding') AS meant, "
        "count_if(taxonomy = 'coordination_read' AND category = 'exact') AS exact FROM failures JOIN games USING (episode_id) GROUP BY 1",
    )
    assert len(found) == 4
    assert [row for row in found.rows() if row[1] != row[2]] == []
