"""Where a log says something else than its replay gives, or than it says in another place."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Difference"]


class Difference(NamedTuple):
    """One difference: a row of `log_disagreements` without its game and turn."""

    field: str
    logged: str | None
    recomputed: str | None
    """None if nothing could stand there."""
