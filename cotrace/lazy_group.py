"""A command with verbs below it, each in a module of its own that is imported when the verb is called, so that `--help` stays fast."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from typing import Any

import click

from cotrace.help_text import HelpContext, with_examples_that_fit

Verbs = Mapping[str, tuple[str, str]]
"""Verb -> its module, in which the command is called `command`, and one line of help; in the order of the help."""


class LazyGroup(click.Group):
    """Lists its verbs without importing them.

    Args:
        verbs: gives the verbs.
        heading: what the list of verbs is called.
    """

    context_class = HelpContext

    def __init__(self, *args: Any, verbs: Callable[[], Verbs], heading: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self._verbs = verbs
        self._heading = heading

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
        """The verb that is called; one that there is not is answered with the nearest."""
        near = difflib.get_close_matches(args[0], self._verbs(), n=1)
        if args[0] not in self._verbs() and near:
            ctx.fail(f"no command {args[0]!r}: did you mean {near[0]!r}? ({ctx.command_path} --help lists them)")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of verbs."""
        with formatter.section(self._heading):
            formatter.write_dl([(verb, text) for verb, (_, text) in self._verbs().items()])
