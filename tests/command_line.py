"""Calls of `cotrace`: each a process of its own, forked off one that has imported the libraries, so that none pays for imports; or none."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from contextlib import chdir, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from click.testing import CliRunner

from cotrace.cli import main
from judges.rubric_files.load import of_engine
from schemas.store.read_only_sql import _refused
from schemas.store.store import Store
from tests.places import ROOT

_LONGEST_S = 120
_LIBRARIES = (
    "cotrace.cli", "cotrace.output", "duckdb", "polars", "pandera.polars", "pyarrow", "scipy.stats", "sklearn.metrics",
    "statsmodels.api", "plotly.graph_objects", "analytics.reports", "analytics.installation", "dashboards.page_file", "ingest.files.run",
    "ingest.craft.native", "games.craft.value.search", "judges.runs.runner", "judges.runs.engine_run",
)  # fmt: skip


def called(*arguments: str, store: Store | Path | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Call `cotrace` in this process, for a tenth of the time: exit code and what is printed are the same, streams and signals are not."""
    variables = {"NO_COLOR": "1", "COTRACE_DEBUG": None, **_naming(store)}
    with CliRunner().isolation(env=variables) as (out, err, _), chdir(cwd or Path.cwd()):
        try:
            main(list(arguments))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return subprocess.CompletedProcess(arguments, code, out.getvalue().decode(), err.getvalue().decode())


def run(*arguments: str, store: Store | Path | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Call `cotrace` as a shell does: with its own environment, working directory, streams and exit code."""
    environment = {**os.environ, "NO_COLOR": "1", **_naming(store)}
    environment.pop("COTRACE_DEBUG", None)
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        call = {"arguments": arguments, "environment": environment, "cwd": str(cwd or Path.cwd()), "out": str(out), "err": str(err)}
        return subprocess.CompletedProcess(arguments, _asked(call), out.read_text("utf-8"), err.read_text("utf-8"))


def _naming(store: Store | Path | None) -> dict[str, str]:
    return {} if store is None else {"COTRACE_STORE": str(store.path if isinstance(store, Store) else store)}


def _asked(call: dict[str, Any]) -> int:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(call) + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


@cache
def _server() -> subprocess.Popen[str]:
    program = [sys.executable, "-m", "tests.command_line"]
    server = subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.communicate)
    return server


def _serve(calls: IO[str], codes: IO[str]) -> None:
    for name in _LIBRARIES:
        with suppress(ModuleNotFoundError):
            import_module(name)
    _refused()
    of_engine("craft")
    for line in calls:
        child = os.fork()
        if child == 0:
            _call(**json.loads(line))
        codes.write(f"{_code(child)}\n")
        codes.flush()


def _call(arguments: list[str], environment: dict[str, str], cwd: str, out: str, err: str) -> None:
    """The child's whole life."""
    code = 70
    try:
        os.setsid()
        signal.alarm(_LONGEST_S)
        for stream, path in ((0, os.devnull), (1, out), (2, err)):
            os.dup2(os.open(path, os.O_RDONLY if stream == 0 else os.O_WRONLY | os.O_CREAT), stream)
        sys.stdout, sys.stderr = (open(stream, "w", encoding="utf-8", closefd=False) for stream in (1, 2))  # noqa: SIM115 - end with the process
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(cwd)
        sys.argv[:] = ["cotrace", *arguments]
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as Python itself does at the end of a program
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    calls, codes = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _serve(calls, codes)
