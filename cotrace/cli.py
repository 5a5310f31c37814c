"""The `cotrace` command: each verb lives in a module of its own under `cotrace/commands` and is imported when it is called."""

import difflib
import errno
import io
import logging
import os
import re
import select
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn, TextIO

import click

from cotrace import __version__, ending
from cotrace.help import LazyGroup
from cotrace.terminal import LogLines, echo
from schemas.common.errors import CotraceError
from schemas.common.interrupts import is_interrupt
from schemas.common.packages import install_hint
from schemas.common.text import use_secrets_of_environment

COMMANDS: dict[str, dict[str, str]] = {
    "Score logs": {
        "demo": "Play games, score them, report, then serve the dashboard.",
        "ingest": "Read logs into the store.",
        "formats": "List the log formats that can be read.",
        "judge": "Let a judge answer the questions of a rubric.",
        "attribute": "Attribute the loss of each turn to an agent.",
    },
    "Browse results": {
        "dash": "Serve the dashboard.",
        "report": "Print a report; `cotrace report list` lists them by subject.",
        "paper": "Print the papers' tables and figures from your logs, next to the published numbers.",
    },
    "SQL and exports": {
        "sql": "Run one SQL query on the store, read-only.",
        "export": "Write the store for other programs: Parquet, Inspect, datasets, OpenTelemetry.",
    },
    "Judges and rubrics": {
        "rubric": "List, show, create and check rubrics.",
        "labels": "Import and export people's answers.",
        "probe": "Test a judge with changed texts and planted defects.",
        "probe-states": "Make questions about states of games, with the engine's answers.",
        "claims": "Show what the engine judge understood of each message.",
        "optimize": "Search for a rubric that agrees better with labels.",
        "optimize-reader": "Search for a prompt with which a model understands texts better.",
    },
    "Play games": {
        "play": "Play games with models, scripts or people, and write their logs.",
        "replay": "Replay a game from a chosen turn with changes.",
    },
    "Maintenance": {
        "doctor": "Report what is installed, what the store holds, and what a run needs.",
        "forget": "Remove verdicts, games, labels or notes from the store.",
        "lake": "Use a store in a folder that many machines read and write at once.",
    },
}
"""Job -> verb -> one line of help; the module is `cotrace.commands.<verb>` (`-` as `_`), the command in it `command`."""

_OF_PATHS: Final = frozenset({errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR, errno.EPERM, errno.EROFS})
"""What a file system has against a path, whichever code meets it first."""


@click.command(
    cls=LazyGroup,
    sections=lambda: {
        job: {verb: (f"cotrace.commands.{verb.replace('-', '_')}", text) for verb, text in verbs.items()} for job, verbs in COMMANDS.items()
    },
    epilog="docs/glossary.md defines the terms; docs/cli.md has the help of every command.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="cotrace")
@click.option("--debug", is_flag=True, help="Show tracebacks instead of one-line errors.")
def cli(*, debug: bool) -> None:
    """Find out why a team of LLM agents failed.

    \b
    Example:
      cotrace ingest logs/ && cotrace judge --rubric spatial_grounding --judge engine && cotrace dash
    """
    if debug:
        os.environ["COTRACE_DEBUG"] = "1"


_NO_CHOICE: Final = re.compile(r"'([^']*)' is not one of")
"""As click says it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 done but some input or calls failed, 2 wrong use, 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # fits are small: threads only wait for each other, on a busy machine for seconds
    ending.listen()
    others = threading.enumerate()
    _prepare_streams()
    use_secrets_of_environment()
    logging.getLogger().addHandler(LogLines())
    try:
        code = cli.main(args=list(arguments) if arguments is not None else None, standalone_mode=False)
        sys.stdout.flush()
        code = _ended(None) if ending.was_signalled() else code
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.format_message())
        code = 0
    except click.ClickException as error:
        code = _complain(_with_guess(error), error)
    except click.Abort as error:
        code = _ended(error.__cause__ or error)
    except CotraceError as error:
        code = _complain(str(error), error)
    except SystemExit:  # click's, where nobody reads what is printed
        if not _nobody_reads():
            raise
        code = 0
    except BaseException as error:  # noqa: BLE001 - the one place where anything unforeseen (panics of libraries too) becomes a line
        code = _stopped_by(error)
    _leave(code if isinstance(code, int) else 0, others)


def _leave(code: int, others: Sequence[threading.Thread]) -> NoReturn:
    """Exit. A page that is still drawn by a thread would abort the process: Python ends such threads inside of libraries' code.

    Threads of a server that ran before the command (`others`) belong to a program that called it, which goes on.
    """
    if any(thread.name.startswith("waitress-") and thread not in others for thread in threading.enumerate()):
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _prepare_streams() -> None:
    """Where a terminal has no such letter it shows another, and all of a text is written, or an error comes; a closed one swallows all."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - as long as the process
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return
    raw = sys.stdout.buffer
    if isinstance(raw, io.RawIOBase):  # PYTHONUNBUFFERED: a disk that is full would swallow the rest of a write without a word
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding=sys.stdout.encoding, write_through=True)
    sys.stdout.reconfigure(errors="replace")


def _stopped_by(error: BaseException) -> int:
    if is_interrupt(error):
        return _ended(error)
    if os.strerror(errno.EPIPE) in str(error) and _nobody_reads():  # whichever library has met it, as under `| head`
        _let_go_of(sys.stdout)
        return 0
    return _complain(_unforeseen(error), error)


def _nobody_reads() -> bool:
    """Whether the other end of stdout is closed: a pipe of somebody else's may have broken as well."""
    watch = select.poll()
    watch.register(sys.stdout.fileno(), 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in watch.poll(0))


def _let_go_of(stream: TextIO) -> None:
    """What could not be written is not tried again when the program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _ended(error: BaseException | None) -> int:
    """Say that the command was told to end, and how far it was."""
    echo(f"cotrace: {ending.words(error)}", err=True)
    return ending.code()


def _unforeseen(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and (package := install_hint(error.name)):
        return f"this needs the package {package}"
    if os.strerror(errno.ENOSPC) in str(error):  # whichever library has met it
        _let_go_of(sys.stdout)
        return f"cannot be written: {os.strerror(errno.ENOSPC).lower()}; make room and start the same command again"
    if isinstance(error, OSError) and error.errno in _OF_PATHS and error.filename is not None:  # of a path that somebody named
        return f"{error.filename}: {error.strerror}"
    return f"internal error, {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''} (--debug shows where)"


def _with_guess(error: click.ClickException) -> str:
    """What is wrong; of a choice that there is not, the nearest one that there is."""
    message, kind = error.format_message(), getattr(getattr(error, "param", None), "type", None)
    given = _NO_CHOICE.search(message)
    if given is None or not isinstance(kind, click.Choice):
        return message
    near = difflib.get_close_matches(given[1], [str(choice) for choice in kind.choices], n=1)
    return f"{message} Did you mean {near[0]!r}?" if near else message


def _complain(message: str, error: BaseException) -> int:
    try:
        if os.environ.get("COTRACE_DEBUG"):
            echo("".join(traceback.format_exception(error)), err=True, nl=False)
        echo(f"cotrace: {' '.join(message.split())}", err=True)
    except BrokenPipeError:  # as under `2>&1 | head`
        _let_go_of(sys.stderr)
    return 2
