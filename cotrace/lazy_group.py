"""A command with verbs below it, each in a module of its own that is imported when the verb is called, so that `--help` stays fast."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """Lists its verbs without importing them.

    Args:
        verbs: verb -> one line of help, in the order of the help.
        module: the module of a verb, `{}` standing for the verb; the command in it is called `command`.
        heading: what the list of verbs is called.
    """

    def __init__(self, *args: Any, verbs: Mapping[str, str], module: str, heading: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self._verbs = verbs
        self._module = module
        self._heading = heading

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs, in the order of the help."""
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of a verb; its module is imported now."""
        if cmd_name not in self._verbs:
            return None
        found = importlib.import_module(self._module.format(cmd_name)).command
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of verbs."""
        with formatter.section(self._heading):
            formatter.write_dl(list(self._verbs.items()))
