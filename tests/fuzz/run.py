"""Ingests damaged logs by the batch, each batch beside a sound log, and finds out which one is to blame if something breaks."""

from __future__ import annotations

import hashlib
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.fuzz.damage import damaged
from tests.fuzz.specimens import Specimen
from tests.fuzz.taken import became_of

CASES: Final = Path(__file__).with_name("cases")
"""Damaged logs that once broke something: `<specimen, words joined by _>/<hash>`."""

_BATCH: Final = 40
_SLOWEST_S: Final = 10.0


class Fault(NamedTuple):
    """A damaged log that did what none may."""

    specimen: str
    data: bytes
    what: str


class Tried(NamedTuple):
    """What became of the damaged logs of one specimen."""

    files: int
    faults: tuple[Fault, ...]
    outcomes: Counter[str]
    """`read`, `rejected` in part or whole, `left alone` -> files."""

    slowest_s: float
    """Mean seconds a file of the slowest batch."""


def fuzz(specimen: Specimen, files: int, seed: int) -> Tried:
    """Damage a log in so many ways; the same seed gives the same damage."""
    draw = random.Random(f"{seed} {specimen.name}")
    outcomes: Counter[str] = Counter()
    faults: list[Fault] = []
    slowest = 0.0
    for size in _sizes(files):
        variants = [damaged(specimen.data, draw) for _ in range(size)]
        began = time.monotonic()
        found = faults_of(specimen, variants, outcomes)
        slowest = max(slowest, (time.monotonic() - began) / size)
        faults += found
    return Tried(files, tuple(faults), outcomes, slowest)


def _sizes(files: int) -> Iterator[int]:
    while files > 0:
        yield min(files, _BATCH)
        files -= _BATCH


def faults_of(specimen: Specimen, variants: Sequence[bytes], outcomes: Counter[str] | None = None) -> list[Fault]:
    """Ingest the variants together; if that breaks, each by itself, so that the guilty ones are known."""
    what = _broken(specimen, variants, outcomes)
    if what is None:
        return []
    if len(variants) == 1:
        return [Fault(specimen.name, variants[0], what)]
    half = len(variants) // 2
    found = [*faults_of(specimen, variants[:half]), *faults_of(specimen, variants[half:])]
    return found or [Fault(specimen.name, b"\n---\n".join(variants), f"{what} (only together)")]


def _broken(specimen: Specimen, variants: Sequence[bytes], outcomes: Counter[str] | None) -> str | None:
    """What went wrong; None if nothing: no exception, no reject that cotrace calls its own fault, the sound log stored, and soon done."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        try:
            became = became_of(specimen, [specimen.data, *variants], Path(folder))
        except Exception as error:  # noqa: BLE001 - whatever it is, that is the finding
            return f"{type(error).__name__}: {error}"
        seconds = time.monotonic() - began
    if became.own_fault is not None:
        return became.own_fault
    if 0 not in became.stored:
        return "the sound log beside it is not stored"
    if seconds > _SLOWEST_S * len(variants):
        return f"took {seconds / len(variants):.1f} s a file"
    if outcomes is not None:
        outcomes.update(became.outcome(number) for number in range(1, len(variants) + 1))
    return None


def keep(fault: Fault) -> Path:
    """Keep a case for good: a test reads it again each time."""
    folder = CASES / fault.specimen.replace(", ", ",").replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(fault.data).hexdigest()[:16]
    path.write_bytes(fault.data)
    return path


def kept(specimen: Specimen) -> list[bytes]:
    """The cases kept of a specimen."""
    folder = CASES / specimen.name.replace(", ", ",").replace(" ", "_")
    return [path.read_bytes() for path in sorted(folder.glob("*"))]
