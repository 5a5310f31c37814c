"""`python -m tests.reliability faults`: every client of models through every misbehaviour of the table, one at a time."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Final

import click

from providers.faults import HopelessError
from tests.reliability.page import put
from tests.reliability.test_faults import CLIENTS, Client
from tests.servers.misbehaviours import MISBEHAVIOURS, Misbehaviour, dealing

_NOTES: Final = """\
Each prompt of a job meets the misbehaviour once, then the server answers well. Where the job must go on, what it leaves behind has to equal
what a good server gives; where it must stop, it has to say in one line what to mend. In brackets: requests sent."""


def try_faults(asked: argparse.Namespace) -> int:
    """Print a line a misbehaviour; exit code 1 if a client did otherwise than it must."""
    rows: list[tuple[object, ...]] = [("the server", "clients must", *CLIENTS)]
    wrong = 0
    for one in MISBEHAVIOURS:
        found = [_outcome(client, one) for client in CLIENTS.values()]
        wrong += sum(outcome.startswith("**") for outcome in found)
        rows.append((one.does, one.must, *found))
        click.echo(f"{one.name}: {', '.join(found)}")
    if asked.write:
        put("faults", "python -m tests.reliability faults", rows, [_NOTES])
    return 1 if wrong else 0


def _outcome(client: Client, one: Misbehaviour) -> str:
    with tempfile.TemporaryDirectory(prefix="cotrace-faults-") as name:
        folder = Path(name)
        for part in ("target", "well", "badly"):
            (folder / part).mkdir()
        with client.served(folder / "target") as target, dealing([one.name], target) as (url, dealt):
            try:
                done, sent = client.ask(url, folder / "badly"), dealt.requests.total()
            except HopelessError as stopped:
                ok = one.must == "stop" and one.says in str(stopped)
                return f"stops ({dealt.requests.total()})" if ok else f"**stops: {stopped}**"
            if one.must == "stop" or done != client.ask(target, folder / "well"):
                return "**not as with a good server**"
            return f"goes on ({sent})"
