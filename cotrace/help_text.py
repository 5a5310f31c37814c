"""Help that fits the terminal: an example that is too long for a line goes on in the next, in a form that a shell takes."""

from __future__ import annotations

import re

import click

_BREAKS = re.compile(r" (?=--\w|&& |> )")
"""Where an example may be broken: before an option, another command, or a redirection."""
_MARGIN = "    "


class _Formatter(click.HelpFormatter):
    def write_text(self, text: str) -> None:
        """Write a text, its examples broken where they are too long."""
        room = self.width - self.current_indent
        super().write_text("\n".join(_broken(line, room) for line in text.split("\n")))


class HelpContext(click.Context):
    """A context whose help keeps to the width of the terminal."""

    formatter_class = _Formatter


def with_examples_that_fit(command: click.Command) -> click.Command:
    """The command, and those below it, with such help."""
    command.context_class = HelpContext
    for below in getattr(command, "commands", {}).values():
        with_examples_that_fit(below)
    return command


def _broken(line: str, room: int) -> str:
    if not line.lstrip().startswith("cotrace ") or len(line) <= room:
        return line
    lines = [""]
    for part in _BREAKS.split(line):
        longer = f"{lines[-1]} {part}" if lines[-1] else part
        if lines[-1] and len(longer) > room - len(" \\"):
            lines.append(f"{_MARGIN}{part}")
        else:
            lines[-1] = longer
    indent = line[: len(line) - len(line.lstrip())]
    return f" \\\n{indent}".join(lines)
