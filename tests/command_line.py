"""Calls of `cotrace` in this process."""

from __future__ import annotations

import subprocess
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from cotrace.cli import main
from schemas.store.store import Store


def called(*arguments: str, store: Store | Path | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Call `cotrace` in this process, for a tenth of the time: exit code and what is printed are the same, streams and signals are not."""
    named = {} if store is None else {"COTRACE_STORE": str(store.path if isinstance(store, Store) else store)}
    variables = {"NO_COLOR": "1", "COTRACE_DEBUG": None, **named}
    with CliRunner().isolation(env=variables) as (out, err, _), chdir(cwd or Path.cwd()):
        try:
            main(list(arguments))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return subprocess.CompletedProcess(arguments, code, out.getvalue().decode(), err.getvalue().decode())
