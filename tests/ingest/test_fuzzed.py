"""Damaged logs: each is read or leaves a reason, and the sound one beside it is stored. `python -m tests.fuzz` tries thousands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from tests.fuzz.foreign import own_others, shared_others
from tests.fuzz.run import faults_of, fuzz, kept
from tests.fuzz.specimens import Specimen, own_specimens, shared_specimens

_A_FEW = 3
_ENDLESS = b"9" * 5_000
_PLACES = 8

SPECIMENS = pytest.mark.parametrize(
    "specimens",
    [
        own_specimens,
        own_others,
        pytest.param(shared_specimens, marks=pytest.mark.shared),
        pytest.param(shared_others, marks=pytest.mark.shared),
    ],
)


@SPECIMENS
def test_no_damage_breaks_an_ingest(specimens: Callable[[], Iterator[Specimen]]) -> None:
    """A few of every format, and all that once did."""
    for specimen in specimens():
        assert fuzz(specimen, _A_FEW, seed=1).faults == ()
        cases = kept(specimen)
        assert not cases or faults_of(specimen, cases) == []


@SPECIMENS
def test_numbers_without_end_break_no_ingest(specimens: Callable[[], Iterator[Specimen]]) -> None:
    """Python refuses to read a number of 5,000 digits; one in each kind of place, told by what stands before it."""
    for specimen in specimens():
        places = list({bytes(found[1]): found.span(2) for found in re.finditer(rb"(\D{0,12})(\d+)", specimen.data)}.values())
        chosen = places[:: -max(1, len(places) // _PLACES)]
        variants = [specimen.data[:first] + _ENDLESS + specimen.data[last:] for first, last in chosen]
        assert not variants or faults_of(specimen, variants) == []
