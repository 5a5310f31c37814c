"""`cotrace play`: games with scripted players; each game is a command of its own, imported when it is called."""

from __future__ import annotations

import importlib

import click

__all__ = ["GAMES", "command"]

GAMES: dict[str, str] = {
    "craft": "Directors and a builder, 3D blocks.",
    "asympuzl": "Two players with different views of one puzzle.",
    "einstein": "Two players sort objects into bins, each with half of the rules.",
    "overcooked": "Collab-Overcooked: a chef and an assistant cook orders.",
    "coordination": "LLM-Coordination: Hanabi, Overcooked-AI, CollabCapture, CollabEscape.",
    "coordqa": "CoordinationQA: a model answers the questions of a file you have.",
}
"""Game -> one line of help; the module is `cotrace.commands.play_<game>`."""


class _Games(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(GAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in GAMES:
            return None
        found = importlib.import_module(f"cotrace.commands.play_{cmd_name}").command
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Games"):
            formatter.write_dl(list(GAMES.items()))


@click.command(cls=_Games)
def command() -> None:
    """Play games with scripted players and write their logs.

    \b
    Example:
      cotrace play craft --persona clear --persona vague --out logs/
    """
