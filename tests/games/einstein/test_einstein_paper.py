"""The printed tables of the Einstein paper, as far as they can be checked without its models, and what is odd about them."""

from __future__ import annotations

from collections import Counter
from math import ceil, floor
from pathlib import Path

import pytest

from games.einstein.engine.actions import ActionType
from games.einstein.measures.labels import CATEGORIES, NO_ERROR
from games.einstein.measures.metrics import GameMetrics, error_rates, mean
from tests.games.einstein.einstein_data import Row, reference

pytestmark = pytest.mark.shared

GAMES = 300
"""Evaluation games per configuration."""

NAMES = [
    "Format Following",
    "Object not in source bin",
    "Source bin not reachable",
    "Dest. bin not reachable",
    "Source & destination same",
    "Redundant knowl. sharing",
    "No share after seek",
    "Wrong share after seek",
    "Seek known object",
    "Wrong rule understanding",
    "Wrong random guessing",
    "No Error",
]
"""Rows of Table 2, in the order of the taxonomy."""

KEYS = dict(zip(NAMES, (*(category.key for category in CATEGORIES), NO_ERROR), strict=True))


def success_rates(shared: Path) -> list[tuple[str, str]]:
    """Every printed success rate with its printed error, in percent."""
    table1 = reference(shared, "einstein_paper_table1.csv")
    pairs = [(row[f"{group}_sr_pct"], row[f"{group}_sr_se"]) for row in table1 for group in ("no_verifier", "reasoning")]
    others = [row for number in (3, 5) for row in reference(shared, f"einstein_paper_table{number}.csv")]
    return [*pairs, *((row["sr_pct"], row["sr_se"]) for row in others if row["sr_pct"])]


def test_every_success_rate_is_a_count_of_300_games_with_the_population_error(shared: Path) -> None:
    """69 of 69 rates of Tables 1, 3 and 5."""
    printed = success_rates(shared)
    assert len(printed) == 69
    for rate, error in printed:
        solved = round(float(rate) * GAMES / 100)
        found = mean([100.0] * solved + [0.0] * (GAMES - solved))
        assert found.value is not None
        assert found.error is not None
        assert (rate, error) == (f"{found.value:.2f}", f"{found.error:.2f}")


def test_two_printed_gains_are_not_differences(shared: Path) -> None:
    """Table 1: +12.67 is printed where 25.67 is meant, and +24.00 where 26.00 is."""
    odd = [
        (row["action_space"], row["model"], row["reasoning_sr_gain_printed"], f"{gain:.2f}")
        for row in reference(shared, "einstein_paper_table1.csv")
        if abs((gain := float(row["reasoning_sr_pct"]) - float(row["no_verifier_sr_pct"])) - float(row["reasoning_sr_gain_printed"]))
        > 0.015
    ]

    assert odd == [
        ("Information Providing & Seeking", "Llama3.1-8B", "12.67", "25.67"),
        ("Information Seeking Only", "Llama3.1-8B CoT", "24.00", "26.00"),
    ]


def test_tables_1_and_5_agree_where_both_speak(shared: Path) -> None:
    """Table 5 repeats Llama3.1-8B CoT: without verifier and with the reasoning verifier."""
    spaces = {
        "Provide & Seek": "Information Providing & Seeking",
        "Provide Only": "Information Providing Only",
        "Seek Only": "Information Seeking Only",
        "None": "No Information Exchange",
    }
    groups = {"No Verifier (Pass@1)": "no_verifier", "Reasoning Verifier": "reasoning"}
    table1 = {row["action_space"]: row for row in reference(shared, "einstein_paper_table1.csv") if row["model"] == "Llama3.1-8B CoT"}
    repeated = [row for row in reference(shared, "einstein_paper_table5.csv") if row["verifier"] in groups]

    assert len(repeated) == 8
    for row in repeated:
        first, group = table1[spaces[row["action_mode"]]], groups[row["verifier"]]
        names = ("sr_pct", "sr_se", "stepr", "stepr_se")
        assert [row[name] for name in names] == [first[f"{group}_{name}"] for name in names]


def counted(label: str, count: int, total: int, action: ActionType | None, relevant: int) -> GameMetrics:
    """All games of a column as one, with the one category that is looked at."""
    return GameMetrics(
        num_objects=4,
        step_count=total,
        terminated=False,
        truncated=True,
        success=False,
        correct_objects=0,
        optimal_steps=1,
        optimal_first_player=1,
        total_used_trials=None,
        total_sum_err=None,
        corrected_steps=None,
        actions=Counter({action: relevant}) if action else Counter(),
        n_accepted=0,
        n_state_changed=0,
        labels=Counter({label: count}),
        ext_labels=Counter(),
    )


def test_every_rate_of_table_2_is_one_whole_count_over_both_denominators(shared: Path) -> None:
    """82 of 82 cells have one count; 81 of them fit the second rate, the one that does not is printed as 11.64."""
    printed = {(row["verifier"], row["action_space"], row["category"]): row for row in reference(shared, "einstein_paper_table2.csv")}
    counts = reference(shared, "einstein_paper_table2_counts_reconstructed.csv")
    odd = []
    for row in counts:
        cell = printed[row["verifier"], row["action_space"], row["category"]]
        total, count = int(row["total_actions"]), int(row["count_min"])
        assert [count] == whole_counts(cell["pct_of_total_steps"], total)
        if not fits(row, cell, total, count):
            odd.append((row["verifier"], row["action_space"], row["category"], cell["pct_of_relevant_action_type"]))

    assert len(counts) == 82
    assert odd == [("No Verifier", "Provide & Seek", "Wrong random guessing", "11.64")]


def whole_counts(percent: str, total: int) -> list[int]:
    """All counts that print as this percentage of a total."""
    low, high = (total * (float(percent) + half) / 100 for half in (-0.005, 0.005))
    return [count for count in range(floor(low), ceil(high) + 1) if f"{100 * count / total:.2f}" == percent]


def fits(row: Row, cell: Row, total: int, count: int) -> bool:
    """Whether both printed rates come out of ``error_rates`` for a number of relevant actions in the reconstructed range."""
    label = KEYS[row["category"]]
    action: ActionType | None = next((category.relevant for category in CATEGORIES if category.key == label), None)
    relevant = range(int(row["relevant_count_min"]), int(row["relevant_count_max"]) + 1) if action else (0,)
    for number in relevant:
        rates = {rate.category: rate for rate in error_rates([counted(label, count, total, action, number)])}
        found = rates[label]
        second = "" if found.pct_of_relevant is None else f"{found.pct_of_relevant:.2f}"
        if (f"{found.pct_of_total:.2f}", second) == (cell["pct_of_total_steps"], cell["pct_of_relevant_action_type"]):
            return True
    return False
