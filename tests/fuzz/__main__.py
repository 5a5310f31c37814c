"""`python -m tests.fuzz`: damages logs of every format by the thousand, and keeps each that breaks something (exit code 1)."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from typing import Final

import click

from tests.fuzz.run import fuzz, keep
from tests.fuzz.specimens import Specimen, all_specimens
from tests.reliability.page import put

_NOTES: Final = """\
Logs of every format are damaged: bytes cut, exchanged, doubled; values of their structure exchanged, dropped, moved, made huge or of
another type. Every file has to be read, rejected with a reason, or left alone with a reason: a traceback, a hang, a row that breaks the
tables' contract or anything lost without a word is a fault, and its file is kept as a case that the tests read."""


def main() -> int:
    """Print a line a format: files, what became of them, faults, slowest batch."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="damaged logs a family, shared among its formats [10000]")
    parser.add_argument("--family", help="only this one")
    parser.add_argument("--seed", type=int, default=0, help="fixes the damage [0]")
    parser.add_argument("--write", action="store_true", help="put what was found into docs/reliability.md")
    asked = parser.parse_args()
    rows: list[tuple[object, ...]] = [("format", "files", "faults", "what became of them", "slowest batch, seconds a file")]
    families: dict[str, list[Specimen]] = defaultdict(list)
    for specimen in all_specimens():
        if asked.family in {None, specimen.family}:
            families[specimen.family].append(specimen)
    faults = 0
    for specimens in families.values():
        for specimen in specimens:
            tried = fuzz(specimen, -(-asked.files // len(specimens)), asked.seed)
            became = ", ".join(f"{number} {outcome}" for outcome, number in sorted(tried.outcomes.items()))
            faults_told = f"{len(tried.faults)} faults"
            click.echo(f"{specimen.name}: {tried.files} files, {faults_told}; {became}; slowest batch {tried.slowest_s:.2f} s a file")
            rows.append((specimen.name, tried.files, len(tried.faults), became, f"{tried.slowest_s:.2f}"))
            for fault in tried.faults:
                click.echo(f"  {fault.what}: kept as {keep(fault)}")
            faults += len(tried.faults)
    if asked.write:
        put("fuzz", f"python -m tests.fuzz --files {asked.files} --seed {asked.seed}", rows, [_NOTES])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
