"""What the `play` of every game has in common: jobs with a log each, played where the log is missing, and a report."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias

from schemas.errors import UsageError

DEFAULT_START: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - logs hold local times without zone
"""Start of every game unless the request says otherwise, so that the same request gives the same bytes."""

OnProgress: TypeAlias = Callable[[int, int], None]
"""Called with the games finished and the games in all."""


def check_seeds(seeds: Iterable[int]) -> None:
    """Refuse seeds that no log could hold.

    Raises:
        UsageError: one is not a whole number of 64 bits with sign; names it.
    """
    for seed in seeds:
        if not -(2**63) <= seed < 2**63:
            raise UsageError(f"seed {seed} does not fit a log: choose one from -2^63 to 2^63 - 1")


def another_game(path: Path) -> UsageError:
    """The error for a log that is not the one asked for: it is never overwritten."""
    return UsageError(f"{path} holds another game than the one asked for; choose another folder or remove the file")
