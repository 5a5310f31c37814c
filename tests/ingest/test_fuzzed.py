"""Damaged logs: each is read or leaves a reason, and the sound one next to it is stored. `python -m tests.fuzz` tries thousands."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

import pytest

from tests.fuzz.damage import damaged
from tests.fuzz.foreign import own_others, shared_others
from tests.fuzz.run import faults_of, kept
from tests.fuzz.specimens import Specimen, own_specimens, shared_specimens

_A_FEW = 1
_ENDLESS = b"9" * 5_000
_PLACES = 2

SPECIMENS = pytest.mark.parametrize(
    "specimens",
    [
        own_specimens,
        pytest.param(own_others, marks=pytest.mark.long),
        pytest.param(shared_specimens, marks=[pytest.mark.shared, pytest.mark.long]),
        pytest.param(shared_others, marks=[pytest.mark.shared, pytest.mark.long]),
    ],
)


@SPECIMENS
def test_no_damage_breaks_an_ingest(specimens: Callable[[], Iterator[Specimen]]) -> None:
    """Of every format: a few damaged logs, all that once crashed something, and numbers that Python refuses to read."""
    for specimen in specimens():
        draw = random.Random(f"1 {specimen.name}")
        few = [damaged(specimen.data, draw) for _ in range(_A_FEW)]
        assert faults_of(specimen, [*few, *kept(specimen), *_with_endless_numbers(specimen.data)]) == []


@pytest.mark.shared
def test_what_once_crashed_an_ingest_of_published_logs_does_so_no_more() -> None:
    for specimen in (*shared_specimens(), *shared_others()):
        if variants := kept(specimen):
            assert faults_of(specimen, variants) == []


def _with_endless_numbers(data: bytes) -> list[bytes]:
    """A log with a number of 5,000 digits in one place, for each of a few kinds of place: what is written before the number is the kind."""
    places = list({bytes(found[1]): found.span(2) for found in re.finditer(rb"(\D{0,12})(\d+)", data)}.values())
    return [data[:first] + _ENDLESS + data[last:] for first, last in places[:: -max(1, len(places) // _PLACES)]]
