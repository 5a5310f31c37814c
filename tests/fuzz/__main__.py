"""`python -m tests.fuzz`: damages logs of every format by the thousand, and keeps each that breaks something (exit code 1)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

import click

from tests.fuzz.foreign import own_others, shared_others
from tests.fuzz.run import fuzz, keep
from tests.fuzz.specimens import all_specimens
from tests.reliability.page import put, table

_NOTES: Final = """\
Logs of every format are damaged, files of labels, and files that a log is read with, beside a sound log: bytes cut, exchanged, doubled;
values of their structure exchanged, dropped, moved, made huge or of another type; of archives the members' values and bytes too, of Parquet
columns and their types, of texts the JSON in them. Every file has to be read, rejected with a reason, or left alone with a reason: a
traceback, a hang, a row that breaks the tables' contract, the loss of the sound log beside it or anything lost without a word is a fault,
and its file is kept as a case that the tests read. A format's row is of `--files` and `--seed` as its columns say."""


_HEADING: Final = ("format", "files", "seed", "faults", "what became of them", "slowest batch, seconds a file")


def main() -> int:
    """Print a line a format: files, what became of them, faults, slowest batch."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="damaged files of each format [10000]")
    parser.add_argument("--only", default="", help="only formats whose names begin so, such as with a family's")
    parser.add_argument("--seed", type=int, default=0, help="fixes the damage [0]")
    parser.add_argument("--write", action="store_true", help="put what was found into docs/dev/reliability.md; rows of other formats stay")
    asked = parser.parse_args()
    specimens = [specimen for specimen in (*all_specimens(), *own_others(), *shared_others()) if specimen.name.startswith(asked.only)]
    if not specimens:
        parser.error(f"no format begins with {asked.only!r}")
    rows: list[tuple[object, ...]] = []
    faults = 0
    for specimen in specimens:
        tried = fuzz(specimen, asked.files, asked.seed)
        became = ", ".join(f"{number} {outcome}" for outcome, number in sorted(tried.outcomes.items()))
        faults_told = f"{len(tried.faults)} faults"
        click.echo(f"{specimen.name}: {tried.files} files, {faults_told}; {became}; slowest batch {tried.slowest_s:.2f} s a file")
        rows.append((specimen.name, tried.files, asked.seed, len(tried.faults), became, f"{tried.slowest_s:.2f}"))
        for fault in tried.faults:
            click.echo(f"  {fault.what}: kept as {keep(fault)}")
        faults += len(tried.faults)
    if asked.write:
        put("fuzz", "python -m tests.fuzz", [_HEADING, *_with_others(rows)], [_NOTES])
    return 1 if faults else 0


def _with_others(rows: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The rows, and those that the page has of formats which were not tried now."""
    tried = {row[0]: row for row in rows}
    earlier = {row[0]: row for row in table("fuzz") if len(row) == len(_HEADING)}
    return [tried.get(name, row) for name, row in (earlier | tried).items()]


if __name__ == "__main__":
    sys.exit(main())
