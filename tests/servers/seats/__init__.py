"""Scripts at the table that know a prompt and nothing else: a module for each family, found by whether it knows the prompt."""

from __future__ import annotations

from collections.abc import Callable

from tests.servers.seats import asympuzl, coordination, craft, einstein, overcooked

TABLES: tuple[Callable[[list[dict[str, str]]], str | None], ...] = (
    craft.answer,
    coordination.answer,
    asympuzl.answer,
    overcooked.answer,
    einstein.answer,
)


def answer(messages: list[dict[str, str]]) -> str:
    """What the script of the game says to what the prompt holds.

    Raises:
        LookupError: no game's script knows the prompt.
    """
    for table in TABLES:
        said = table(messages)
        if said is not None:
            return said
    raise LookupError(f"no script knows this prompt: {messages[0]['content'][:200]}")
