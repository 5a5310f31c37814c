"""`cotrace play`: games with scripted players; each game is a command of its own, imported when it is called."""

from __future__ import annotations

import click

from cotrace.lazy_group import LazyGroup

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


@click.command(cls=LazyGroup, verbs=GAMES, module="cotrace.commands.play_{}", heading="Games")
def command() -> None:
    """Play games with scripted players and write their logs.

    \b
    Example:
      cotrace play craft --persona clear --persona vague --out logs/
    """
