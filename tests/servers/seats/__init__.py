"""Scripts at the table that know a prompt and nothing else: a module for each family, found by whether it knows the prompt."""

from __future__ import annotations

from tests.servers.seats import asympuzl, craft, einstein

__all__ = ["answer"]

TABLES = (craft, asympuzl, einstein)


def answer(messages: list[dict[str, str]]) -> str:
    """What the script of the game says to what the prompt holds."""
    return next(said for table in TABLES if (said := table.answer(messages)) is not None)
