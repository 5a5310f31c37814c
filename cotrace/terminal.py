"""The one exit to terminals and pipes. Any text may come from a log, a server or a file name: all are cleaned here, whoever wrote them.

`ruff` refuses every other way out (`banned-api` in pyproject.toml), so that no command can forget it.
"""

import logging
import sys

import click

from schemas.common.text import printable, strike, without_control


def is_terminal() -> bool:
    """Whether output goes to a terminal. Rich would say so of a pipe too where FORCE_COLOR is set, and wrap what goes into it."""
    return sys.stdout.isatty()


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Write a text for people, without secrets: control characters and changes of direction become U+FFFD, line ends and tabs stay.

    Args:
        text: any text.
        err: to stderr; else to stdout.
        nl: end it with a line end.
    """
    click.echo(without_control(strike(text)), err=err, nl=nl)


def write(data: str) -> None:
    """Write data for programs to stdout, every letter of it; only a terminal gets it cleaned, line by line."""
    click.echo("\n".join(map(printable, data.split("\n"))) if is_terminal() else data, nl=False)


class LogLines(logging.Handler):
    """Writes log records to stderr through `echo`: requests' paths and servers' messages are among them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, its traceback included."""
        try:
            echo(self.format(record), err=True)
        except Exception:  # noqa: BLE001 - as every handler of `logging`: a log line that cannot be written ends nothing
            self.handleError(record)
