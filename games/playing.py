"""What the `play` of every game has in common: jobs with a log each, played where the log is missing, and a report."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from schemas.errors import UsageError

__all__ = ["DEFAULT_START", "OnProgress", "another_game", "check_seeds", "report_of"]

DEFAULT_START: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - logs hold local times without zone
"""Start of every game unless the request says otherwise, so that the same request gives the same bytes."""

OnProgress: TypeAlias = Callable[[int, int], None]
"""Called with the games finished and the games in all."""


def report_of(paths: Sequence[Path], games: int, results: Iterable[int | None], on_progress: OnProgress | None) -> Any:
    """Draw the results one by one, so that the games are played as they are counted.

    Args:
        paths: the logs.
        games: how many results there will be.
        results: the turns of each game, None for one whose whole log was there.
        on_progress: told after every result.
    """
    from games.players.running import RunReport

    turns: list[int | None] = []
    for count in results:
        turns.append(count)
        if on_progress is not None:
            on_progress(len(turns), games)
    played = [count for count in turns if count is not None]
    return RunReport(paths=tuple(paths), played=len(played), kept=len(turns) - len(played), turns=sum(played))


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
