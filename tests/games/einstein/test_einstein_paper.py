"""The printed tables of the Einstein paper, as far as they can be checked without its models, and what is odd about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.games.einstein.einstein_data import reference

pytestmark = pytest.mark.shared

GAMES = 300
"""Evaluation games per configuration."""


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
