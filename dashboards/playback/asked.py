"""What a search asks for."""

from __future__ import annotations

import shlex

__all__ = ["words_of"]


def words_of(asked: str) -> list[str]:
    """The words and quoted phrases of what was asked for, in small letters."""
    try:
        found = shlex.split(asked.lower())
    except ValueError:  # a quote that does not end
        found = asked.lower().split()
    return [word for word in dict.fromkeys(found) if word.strip()]
