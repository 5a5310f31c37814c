"""What came back of mended turns, worked by hand."""

from __future__ import annotations

import pytest

from analytics.losses.accuracy import Counterfactual, counterfactual_report, lost_since

TURNS = (
    Counterfactual("craft", "g1", 1, "D1", "not_said", "say", 0.2, 0.4, 0.3),
    Counterfactual("craft", "g1", 2, "D1", "misread", "do", 0.2, 0.2, 0.05),
    Counterfactual("craft", "g2", 3, "D2", "not_said", "say", 0.2, 0.2, 0.2),
    Counterfactual("einstein", "g3", 3, "Player1", "idle", "do", 1.0, 1.0, 0.5),
    Counterfactual("einstein", "g4", 3, "Player1", "idle", "do", 1.0, 1.0, 2.0),
)


def test_shares_by_benchmark_and_link() -> None:
    """.55 of .8 came back; of one turn in three less than half. Half is not little."""
    rows = counterfactual_report(TURNS).rows(named=True)
    told = [(row["benchmark"], row["link"], row["turns"], row["games"], row["came_back"], row["little"]) for row in rows]
    assert told == [
        ("craft", "ALL", 3, 2, pytest.approx(0.6875), pytest.approx(1 / 3)),
        ("craft", "misread", 1, 1, pytest.approx(0.25), 1.0),
        ("craft", "not_said", 2, 2, pytest.approx(0.5 / 0.6), 0.0),
        ("einstein", "ALL", 2, 2, pytest.approx(1.25), 0.0),
        ("einstein", "idle", 2, 2, pytest.approx(1.25), 0.0),
    ]


def test_intervals_only_of_shares_of_several_games() -> None:
    """None of one game, nor where more than all came back."""
    for row in counterfactual_report(TURNS).rows(named=True):
        ends = row["came_back_low"], row["came_back_high"]
        if row["games"] == 1 or row["benchmark"] == "einstein":
            assert ends == (None, None)
        else:
            assert 0 <= ends[0] < row["came_back"] < ends[1] <= 1
        assert (row["little_low"] is None) == (row["games"] == 1)


@pytest.mark.parametrize(("turn", "turns", "lost"), [(2, 1, 0.2), (2, 2, 0.2), (2, 3, 0.6), (1, None, 0.7), (5, None, 0.0)])
def test_what_was_lost_since_a_turn(turn: int, turns: int | None, lost: float) -> None:
    assert lost_since({1: 0.1, 2: 0.2, 4: 0.4}, turn, turns) == pytest.approx(lost)


@pytest.mark.parametrize("costs", [None, {}, {1: 0.5, 2: float("inf")}])
def test_what_was_lost_is_unknown_without_costs_and_where_a_turn_lost_the_goal(costs: dict[int, float] | None) -> None:
    """Never 0: a game that was not played on would otherwise be the one that lost nothing."""
    assert lost_since(costs, 1, None) is None
