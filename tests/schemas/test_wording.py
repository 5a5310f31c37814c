"""How numbers, names and conditions are written: one form a kind."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from schemas.common import wording

THIN = "\u202f"


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (wording.share, 0.44, "44 %"),
        (wording.share, 0.0, "0 %"),
        (wording.share, 0.004, ".4 %"),
        (wording.share, 0.0001, "< .1 %"),
        (wording.share, 0.998, "> 99 %"),
        (wording.share, 1, "100 %"),
        (wording.share, -0.12, "−12 %"),
        (wording.score, 0.517, ".52"),
        (wording.score, 1.0, "1.00"),
        (wording.score, -0.066, "−.07"),
        (wording.score, -0.001, ".00"),
        (wording.count, 999, "999"),
        (wording.count, 11047, f"11{THIN}047"),
        (wording.number, 3.593, "3.59"),
        (wording.number, 148.21, "148"),
        (wording.number, 0.0363, "0.0363"),
        (wording.number, 7.0, "7"),
        (wording.signed, 0.16, "+0.160"),
        (wording.signed, -1.2368, "−1.24"),
        (wording.signed, 0.0, "0"),
        (wording.signed, -1e-9, "0"),
        (wording.coefficient, 0.3, "+.30"),
        (wording.coefficient, -0.001, ".00"),
        (wording.coefficient, -1.0, "−1.00"),
        (wording.p_value, 0.0432, ".043"),
        (wording.p_value, 1.0, "1.000"),
        (wording.p_is, 0.00035, "p = .0003"),
        (wording.p_is, 1.2e-05, "p < .0001"),
        (wording.money, 1.2, "$1.20"),
        (wording.money, 0.0034, "$0.0034"),
        (wording.seconds, 0.43, "0.4 s"),
        (wording.seconds, 200, "3 min 20 s"),
        (wording.seconds, 7500, "2 h 5 min"),
    ],
)
def test_numbers(write: Callable[[float], str], value: float, text: str) -> None:
    assert write(value) == text


FORMS = (wording.share, wording.score, wording.count, wording.number, wording.signed, wording.coefficient, wording.money, wording.seconds)


@pytest.mark.parametrize("write", FORMS)
def test_nothing_is_a_dash(write: Callable[[float | None], str]) -> None:
    """Neither null nor a number that is none becomes a nought."""
    assert write(None) == write(math.nan) == write(math.inf) == "–"


def test_shares_stand_with_their_counts_and_intervals_with_both_ends() -> None:
    assert wording.share_of(6, 50) == "12 % (6 of 50)"
    assert wording.share_of(0, 0) == "– (0)"
    assert wording.interval(0.35, 0.471) == "[.35, .47]"
    assert wording.interval(None, 0.4) == ""


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (
            {"use_oracle": True, "num_oracle": 5, "builder_tool_use": False, "max_turns": 20, "start_board": "empty", "run": 3},
            "oracle shown, 20 turns, run 3",
        ),
        ({"use_oracle": False, "builder_tool_use": True, "run": 1}, "no oracle, builder has tools, run 1"),
        ({"action_mode": "provide_seek", "reasoning": False, "verifier": "none"}, "may tell and ask, no reasoning, no verifier"),
        ({"game": "overcooked", "layout": "cramped_room"}, "cramped room"),
        ('{"temperature": 0.2, "same_turn_messages": true}', "temperature 0.2, same turn messages"),
        (None, "my run"),
        ({}, "my run"),
        ({"run": 3, "grammar": "root ::= " + "a" * 500}, f"run 3, grammar root ::= {'a' * 50}…"),
    ],
)
def test_conditions_are_sentences_not_codes(condition: object, words: str) -> None:
    """What is usual goes without saying; what is unknown is said as it is; without a condition the run has its name."""
    assert wording.condition_in_words(condition, "my_run") == words  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["prompt {style}", "p {:>300000000}", "{0.mro}", "{", "}}", "%s %(a)d", "$x ${y}"])
def test_a_key_of_a_log_is_plain_text(key: str) -> None:
    """Never a format string, as a key, as a value, or deeper: people write `{style}` into the names of their conditions."""
    assert wording.condition_in_words({key: "terse"}) == f"{key} terse"
    assert wording.condition_in_words({"layout": key}) == key
    assert wording.condition_in_words({"a": {key: [key]}}) == f"{key} {key}"
