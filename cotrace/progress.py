"""Progress on stderr: a bar that lives on a terminal; elsewhere a line a minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from cotrace.terminal import echo
from schemas.text import printable
from schemas.wording import money, seconds

if TYPE_CHECKING:
    from games.players.progress import PlayProgress

__all__ = ["playing_bar", "progress_bar"]

_A_LINE_EVERY_S: Final = 60.0


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told how many of how many are done; Ctrl-C and signals carry away how far it was."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    lines = _Lines()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(printable(what), total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            lines(lambda: f"{what}: {done} of {total} done")

        try:
            yield show
        except KeyboardInterrupt as error:
            found = bar.tasks[0]
            error.add_note(f"{what}: {found.completed:.0f} of {found.total:.0f} done" if found.total else f"{what}: not begun")
            raise


@contextmanager
def playing_bar() -> Iterator[Callable[[PlayProgress], None]]:
    """Give a function that is told how far the games of a run are; where there is no terminal it writes a line a minute."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    told: list[PlayProgress] = []
    console = Console(stderr=True)
    lines = _Lines()
    columns = (BarColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("playing", total=None)

        def show(now: PlayProgress) -> None:
            told[:] = [now]
            bar.update(task, completed=now.games, total=now.total, description=_in_words(now))
            lines(lambda: _in_words(now))

        try:
            yield show
        except KeyboardInterrupt as error:
            error.add_note(_in_words(told[0]) if told else "playing: not begun")
            raise


class _Lines:
    """Where no terminal shows a bar."""

    def __init__(self) -> None:
        self._written_at = time.monotonic()

    def __call__(self, words: Callable[[], str]) -> None:
        if not sys.stderr.isatty() and time.monotonic() - self._written_at >= _A_LINE_EVERY_S:
            self._written_at = time.monotonic()
            echo(words(), err=True)


def _in_words(told: PlayProgress) -> str:
    left = "" if told.seconds_left is None else f", {seconds(told.seconds_left)} left"
    return f"{told.games} of {told.total} games, {told.turns} turns, {told.calls} calls, {money(told.cost)}{left}"
