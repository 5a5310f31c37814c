"""The AsymPuzl paper's tables, as far as they can be checked without its models (format description, sections 8 and 12)."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import pytest

from analytics.statistics.intervals import wilson
from tests.analytics.view_files import VIEW_OF

pytestmark = pytest.mark.shared

GAMES = 30
Row = dict[str, str]


@pytest.fixture
def tables(shared: Path) -> dict[int, list[Row]]:
    """Tables 1 to 6, values as printed."""
    found: dict[int, list[Row]] = {}
    for number in range(1, 7):
        with (shared / "reference" / f"asympuzl_paper_table{number}.csv").open(encoding="utf-8", newline="") as file:
            found[number] = list(csv.DictReader(file))
    return found


def rounds_to(value: float, printed: str) -> bool:
    """Whether a number is within half a unit of the last printed digit."""
    digits = len(printed.partition(".")[2])
    return abs(value - float(printed)) <= 0.5 / 10.0**digits + 1e-9


def solved(row: Row) -> int:
    """How many of 30 games a success rate means."""
    return round(float(row["success_pct"]) * GAMES / 100)


def success(rows: list[Row]) -> dict[tuple[str, str], str]:
    return {(row["model"], row["feedback_mode"]): row["success_pct"] for row in rows}


@pytest.mark.parametrize("table", [5, 6])
def test_every_printed_wilson_interval_is_ours(tables: dict[int, list[Row]], table: int) -> None:
    """With 30 games, in SQL as in Python: 42 intervals in the two tables."""
    with duckdb.connect() as connection:
        connection.execute(VIEW_OF["intervals"].sql)
        for row in tables[table]:
            ours = wilson(solved(row), GAMES)
            assert ours is not None
            in_sql = connection.execute("select wilson_low($k, $n), wilson_high($k, $n)", {"k": solved(row), "n": GAMES}).fetchone()
            assert in_sql == pytest.approx((ours.low, ours.high))
            assert rounds_to(100 * ours.low, row["ci95_low"])
            assert rounds_to(100 * ours.high, row["ci95_high"])
    assert len(tables[table]) == 21


@pytest.mark.parametrize("table", [1, 2, 4, 5, 6])
def test_every_success_rate_is_a_number_of_30_games(tables: dict[int, list[Row]], table: int) -> None:
    """Table 4 too, although its text speaks of 10 seeds: not all of its rates are multiples of 10 %."""
    assert all(rounds_to(100 * solved(row) / GAMES, row["success_pct"]) for row in tables[table])
    of_ten = [row for row in tables[4] if float(row["success_pct"]) % 10 == 0]
    assert len(of_ten) < len(tables[4])


def test_tables_5_and_6_repeat_table_1(tables: dict[int, list[Row]]) -> None:
    """The same rates, with intervals."""
    assert success(tables[5]) | success(tables[6]) == success(tables[1])


def test_table_2_was_played_with_feedback_on_both(tables: dict[int, list[Row]]) -> None:
    """Its size-5 column is the column Both of Table 1 for every model, and not Joint, as the running text says."""
    first = success(tables[1])
    size_5 = {row["model"]: row["success_pct"] for row in tables[2] if row["puzzle_size"] == "5"}
    assert size_5 == {model: rate for (model, mode), rate in first.items() if mode == "Both"}
    assert size_5 != {model: rate for (model, mode), rate in first.items() if mode == "Joint"}


def test_table_3_ratios_are_ratios_of_the_means(tables: dict[int, list[Row]]) -> None:
    """Within the rounding of the printed means: 14 ratios."""
    for row in tables[3]:
        for agent in ("a", "b"):
            output, message = (float(row[f"agent_{agent}_{kind}_tokens"]) for kind in ("output", "message"))
            lowest, highest = 100 * (message - 0.05) / (output + 0.05), 100 * (message + 0.05) / (output - 0.05)
            printed = float(row[f"agent_{agent}_message_to_output_pct"])
            assert lowest - 0.05 <= printed <= highest + 0.05


def test_bob_writes_more_for_five_of_seven_models_and_says_more_for_four(tables: dict[int, list[Row]]) -> None:
    """The paper says that Bob uses more tokens for most models; for the message that holds only just."""
    more = {
        kind: sum(float(row[f"agent_b_{kind}_tokens"]) > float(row[f"agent_a_{kind}_tokens"]) for row in tables[3])
        for kind in ("output", "message")
    }
    assert more == {"output": 5, "message": 4}


def test_feedback_does_not_help_everybody(tables: dict[int, list[Row]]) -> None:
    """Three cells of Table 1 in which more feedback goes with less success, or with more than Both."""
    rate = {key: float(value) for key, value in success(tables[1]).items()}
    assert rate["GPT-4o", "Joint"] < rate["GPT-4o", "No feedback"]
    assert rate["Claude-3.5", "Both detailed"] < rate["Claude-3.5", "No feedback"]
    assert rate["OSS-120B", "Both detailed"] > rate["OSS-120B", "Both"]


def test_an_interval_of_30_games_is_about_34_points_wide_at_one_half() -> None:
    """What the page tells its readers."""
    ours = wilson(15, GAMES)
    assert ours is not None
    assert 100 * (ours.high - ours.low) == pytest.approx(34, abs=0.5)
