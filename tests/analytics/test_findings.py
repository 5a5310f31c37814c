"""Sentences name who is behind only where intervals show it."""

from __future__ import annotations

from typing import Any

from analytics.comparison.team_names import unlike_names
from analytics.findings import told_apart


def row(team: str, mean: float, low: float | None, high: float | None) -> dict[str, Any]:
    """A row of the leaderboard."""
    return {"team_name": team, "score_mean": mean, "score_low": low, "score_high": high}


def test_a_team_of_two_games_is_not_named_the_worst() -> None:
    """Its interval reaches the best one's; the next one's does not."""
    rows = [row("best", 0.98, 0.8, 1.0), row("middle", 0.6, 0.5, 0.7), row("two games", 0.5, 0.0, 1.0)]
    found = told_apart(rows)
    assert found is not None
    assert [one["team_name"] for one in found] == ["middle", "best"]


def test_where_all_intervals_overlap_or_are_missing_nobody_is_named() -> None:
    """Also of one game each, which have none."""
    assert told_apart([row("a", 0.9, 0.5, 1.0), row("b", 0.2, 0.0, 0.6)]) is None
    assert told_apart([row("a", 1.0, None, None), row("b", 0.0, None, None)]) is None
    assert told_apart([row("a", 1.0, 0.9, 1.0)]) is None


def test_teams_that_differ_in_their_turn_limit_alone_have_names_of_their_own() -> None:
    """And in their condition; a name that stands alone stays short."""
    sides = [("a", "x", 8), ("a", "x", 16), ("a", "y", 8), ("b", "x", 8), ("c", "x", None), ("c", "x", 8)]
    assert unlike_names(sides) == [
        "a under x with 8 turns",
        "a under x with 16 turns",
        "a under y",
        "b",
        "c with unknown turns",
        "c with 8 turns",
    ]
