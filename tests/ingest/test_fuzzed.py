"""Damaged logs: each is read or leaves a reason, and the sound one beside it is stored. `python -m tests.fuzz` tries thousands."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.fuzz.foreign import own_others, shared_others
from tests.fuzz.run import faults_of, fuzz, kept
from tests.fuzz.specimens import Specimen, own_specimens, shared_specimens

_A_FEW = 3


@pytest.mark.parametrize(
    "specimens",
    [
        own_specimens,
        own_others,
        pytest.param(shared_specimens, marks=pytest.mark.shared),
        pytest.param(shared_others, marks=pytest.mark.shared),
    ],
)
def test_no_damage_breaks_an_ingest(specimens: Callable[[], Iterator[Specimen]]) -> None:
    """A few of every format, and all that once did."""
    for specimen in specimens():
        assert fuzz(specimen, _A_FEW, seed=1).faults == ()
        cases = kept(specimen)
        assert not cases or faults_of(specimen, cases) == []
