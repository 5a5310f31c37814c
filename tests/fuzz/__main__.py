"""`python -m tests.fuzz`: damages logs of every format by the thousand, and keeps each that breaks something (exit code 1)."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

import click

from tests.fuzz.run import fuzz, keep
from tests.fuzz.specimens import Specimen, all_specimens


def main() -> int:
    """Print a line a format: files, what became of them, faults, slowest batch."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="damaged logs a family, shared among its formats [10000]")
    parser.add_argument("--family", help="only this one")
    parser.add_argument("--seed", type=int, default=0, help="fixes the damage [0]")
    asked = parser.parse_args()
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
            for fault in tried.faults:
                click.echo(f"  {fault.what}: kept as {keep(fault)}")
            faults += len(tried.faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
