"""`python -m tests.reliability faults|kills|soak`: what happens when everything goes wrong; exit code 1 if something was lost."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import click

from tests.reliability.page import put


def main() -> int:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put what was found into docs/dev/reliability.md")
    commands = parser.add_subparsers(required=True)
    faults = commands.add_parser("faults", help="every client of models through every misbehaviour of servers")
    faults.set_defaults(run=_faults)
    kills = commands.add_parser("kills", help="kill every command at every kind of moment, and start it again")
    kills.add_argument("--only", action="append", help="this command; repeat for several")
    kills.add_argument("--moments", type=int, default=12, help="moments of each command [12]")
    kills.add_argument("--random", type=int, default=3, help="and so often at any time [3]")
    kills.add_argument("--seed", type=int, default=0, help="fixes the random times [0]")
    kills.set_defaults(run=_kills)
    soak = commands.add_parser("soak", help="score and look at pages for long, and watch the memory")
    soak.add_argument("--verdicts", type=int, default=1_000_000, help="[1000000]")
    soak.add_argument("--pages", type=int, default=2_000, help="page loads [2000]")
    soak.set_defaults(run=_soak)
    asked = parser.parse_args()
    code: int = asked.run(asked)
    return code


def _kills(asked: argparse.Namespace) -> int:
    # what commands import is imported once, here, before their processes are forked
    import analytics.installation  # noqa: F401
    import games.experiments.plan  # noqa: F401
    import ingest.files.run  # noqa: F401
    import judges.runs.runner  # noqa: F401
    from tests.reliability.kills.scenarios import SCENARIOS
    from tests.reliability.kills.trial import Killed, kill_everywhere

    rows: list[tuple[object, ...]] = [("command", "kills", "not as if unbroken", "moments")]
    broken: list[Killed] = []
    for scenario in SCENARIOS:
        if asked.only and scenario.name not in asked.only:
            continue
        with tempfile.TemporaryDirectory(prefix="cotrace-kills-") as folder:
            found = list(kill_everywhere(scenario, Path(folder), asked.moments, asked.random, asked.seed))
        wrong = [one for one in found if one.broken]
        kinds = Counter(one.moment for one in found)
        rows.append((scenario.name, len(found), len(wrong), ", ".join(f"{kind} ({number})" for kind, number in sorted(kinds.items()))))
        click.echo(f"{scenario.name}: {len(found)} kills, {len(wrong)} not as if unbroken")
        for one in wrong:
            click.echo(f"  {one.moment}: {one.broken}")
        broken += wrong
    if asked.write:
        notes = [f"- {one.command}, {one.moment}: {one.broken}" for one in broken]
        put("kills", "python -m tests.reliability kills", rows, [_KILLS, *notes])
    return 1 if broken else 0


_KILLS = """\
Each command runs whole once; then it is killed with SIGKILL at chosen moments (the first and last of every kind, others spread between
them, some at any time) and started again. Tables and files must then be those of the whole run, ids and times of runs apart; no file may
be left over, and no more requests may have been made than were under way. Sums of floats are compared to nine digits: DuckDB adds in
another order each time. Kills inside DuckDB's and Delta Lake's own writing are met only by those at any time."""


def _faults(asked: argparse.Namespace) -> int:
    from tests.reliability.faults import try_faults

    return try_faults(asked)


def _soak(asked: argparse.Namespace) -> int:
    from tests.reliability.soak import soak

    return soak(asked.verdicts, asked.pages, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
