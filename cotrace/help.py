"""Help of commands: examples are wrapped to the terminal, and verbs below a command are imported only when they are called."""

import difflib
import importlib
import re
from collections.abc import Callable, Mapping
from typing import Any

import click

_BREAKS = re.compile(r" (?=--\w|&& |> )")
"""Where an example may be wrapped: before an option, another command, or a redirection."""
_MARGIN = "    "


class _Formatter(click.HelpFormatter):
    def write_text(self, text: str) -> None:
        """Write a text; examples that are too long continue on the next line, in a form that a shell takes."""
        width = self.width - self.current_indent
        super().write_text("\n".join(_wrapped(line, width) for line in text.split("\n")))


class HelpContext(click.Context):
    """A context whose help fits the width of the terminal."""

    formatter_class = _Formatter


def with_examples_that_fit(command: click.Command) -> click.Command:
    """The command, and those below it, with such help."""
    command.context_class = HelpContext
    for below in getattr(command, "commands", {}).values():
        with_examples_that_fit(below)
    return command


def _wrapped(line: str, width: int) -> str:
    if not line.lstrip().startswith("cotrace ") or len(line) <= width:
        return line
    lines = [""]
    for part in _BREAKS.split(line):
        longer = f"{lines[-1]} {part}" if lines[-1] else part
        if lines[-1] and len(longer) > width - len(" \\"):
            lines.append(f"{_MARGIN}{part}")
        else:
            lines[-1] = longer
    indent = line[: len(line) - len(line.lstrip())]
    return f" \\\n{indent}".join(lines)


Sections = Mapping[str, Mapping[str, tuple[str, str]]]
"""Heading -> verb -> its module, in which the command is called `command`, and one line of help; in the order of the help."""


class LazyGroup(click.Group):
    """Lists its verbs under headings, without importing them.

    Args:
        sections: gives the verbs.
    """

    context_class = HelpContext

    def __init__(self, *args: Any, sections: Callable[[], Sections], **options: Any) -> None:
        super().__init__(*args, **options)
        self._sections = sections

    def _verbs(self) -> dict[str, tuple[str, str]]:
        return {verb: found for verbs in self._sections().values() for verb, found in verbs.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs, in the order of the help."""
        return list(self._verbs())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of a verb; its module is imported now."""
        if cmd_name not in self._verbs():
            return None
        found = importlib.import_module(self._verbs()[cmd_name][0]).command
        assert isinstance(found, click.Command)
        return with_examples_that_fit(found)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that is called; an unknown verb is refused with the nearest one."""
        near = difflib.get_close_matches(args[0], self._verbs(), n=1)
        if args[0] not in self._verbs() and near:
            ctx.fail(f"no command {args[0]!r}: did you mean {near[0]!r}? ({ctx.command_path} --help lists them)")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the verbs under their headings, in one column."""
        width = max(map(len, self._verbs()), default=0)
        for heading, verbs in self._sections().items():
            with formatter.section(heading):
                formatter.write_dl([(verb.ljust(width), text) for verb, (_, text) in verbs.items()])
