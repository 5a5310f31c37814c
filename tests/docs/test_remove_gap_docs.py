"""The correlations in docs/dev/remove_gap.md are those of the published engine's games, inside teams and over all of them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from scipy import stats

from analytics.query import query
from tests.masters import published_store
from tests.places import DOCS

TEAMS = ("clear", "over-remover", "redundant", "vague")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> pl.DataFrame:
    store = published_store(shared, tmp_path_factory.mktemp("gap"), "craft/engine_games")
    return query(store, "SELECT * FROM craft_game_facts WHERE model <> 'edge' AND n_turns > 0")


@pytest.mark.shared
@pytest.mark.parametrize("reading", ["any", "first", "share"])
def test_the_page_tells_correlations_between_teams_from_those_inside(games: pl.DataFrame, reading: str) -> None:
    """Each number as the page prints it, and no claim that rests on the pooled one alone."""
    text = (DOCS / "dev/remove_gap.md").read_text(encoding="utf-8")
    gap, progress = f"remove_gap_{reading}", "overall_progress"
    inside = [stats.pearsonr(part[gap], part[progress])[0] for team in TEAMS for part in [games.filter(pl.col("model") == team)]]
    centred = games.select((pl.col(name) - pl.col(name).mean().over("model")).alias(name) for name in (gap, progress))
    pooled = stats.pearsonr(centred[gap], centred[progress])[0]
    assert f"| `{reading}` | {', '.join(f'{r:+.2f}' for r in inside)} | {pooled:+.2f} |" in text
    assert f"{stats.pearsonr(games[gap], games[progress])[0]:.2f} (`{reading}`)" in text
