"""`cotrace play`: each game is a command of its family, `cotrace.<family>.play_<game>`, imported when it is called."""

from __future__ import annotations

import click

from cotrace.lazy_group import LazyGroup
from schemas.families import families

__all__ = ["command"]


def _games() -> dict[str, tuple[str, str]]:
    return {verb: (known.path("cotrace", f"play_{verb}"), text) for known in families() for verb, text in known.plays.items()}


@click.command(cls=LazyGroup, verbs=_games, heading="Games")
def command() -> None:
    """Play games with scripted players and write their logs.

    \b
    Example:
      cotrace play craft --persona clear --persona vague --out logs/
    """
