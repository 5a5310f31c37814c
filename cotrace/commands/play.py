"""`cotrace play`: each game is a command of its family, `cotrace.<family>.play_<game>`, imported when it is called."""

from __future__ import annotations

import click

from cotrace.lazy_group import LazyGroup
from schemas.families import families

__all__ = ["command"]


_EXPERIMENT = "EXPERIMENT.yaml"
"""Stands in the help for any file of games."""


class _Play(LazyGroup):
    """Takes a file for an experiment."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a game, or that of experiments for a file, which is its argument."""
        if args[0].endswith((".yaml", ".yml")):
            return _EXPERIMENT, self.get_command(ctx, _EXPERIMENT), args
        return super().resolve_command(ctx, args)


def _games() -> dict[str, tuple[str, str]]:
    games = {verb: (known.path("cotrace", f"play_{verb}"), text) for known in families() for verb, text in known.plays.items()}
    return games | {_EXPERIMENT: ("cotrace.commands.experiment", "Whole experiments of models, scripts and people, out of a file.")}


@click.command(cls=_Play, verbs=_games, heading="Games")
def command() -> None:
    """Play games with models, scripts or people, and write their logs.

    \b
    Example:
      cotrace play craft --persona clear --persona vague --out logs/
      cotrace play experiment.yaml --dry-run
    """
