"""Progress on stderr, a bar on a terminal, else a line a minute; and what came of games that were played."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cotrace.options.shared import say, spent, tokens
from cotrace.terminal import echo
from schemas.common.text import in_shell, printable
from schemas.common.wording import money, seconds
from schemas.replies import AUTHORED, NOT_READ

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from games.players.running import PlayProgress, RunReport

_A_LINE_EVERY_S: Final = 60.0


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that takes how many of how many are done; Ctrl-C and signals carry away how far it was."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with _bar(columns, printable(what), f"{what}: not begun") as show:
        yield lambda done, total: show(done, total, None, f"{what}: {done} of {total} done")


@contextmanager
def playing_bar() -> Iterator[Callable[[PlayProgress], None]]:
    """Give a function that takes how far the games of a run are; where there is no terminal it writes a line a minute."""
    from rich.progress import BarColumn, TextColumn

    columns = (BarColumn(), TextColumn("{task.description}", markup=False))
    with _bar(columns, "playing", "playing: not begun") as show:
        yield lambda now: show(now.games, now.total, _in_words(now), _in_words(now))


@contextmanager
def _bar(columns: Iterable[ProgressColumn], title: str, state: str) -> Iterator[Callable[[int, int, str | None, str], None]]:
    """Give a function that takes how many of how many are done, another title (None: the same), and the state in words for a pipe."""
    from rich.console import Console
    from rich.progress import Progress

    written_at = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(title, total=None)

        def show(done: int, total: int, named: str | None, words: str) -> None:
            nonlocal state, written_at
            bar.update(task, completed=done, total=total, description=named)
            state = words
            if not sys.stderr.isatty() and time.monotonic() - written_at >= _A_LINE_EVERY_S:
                written_at = time.monotonic()
                echo(words, err=True)

        try:
            yield show
        except KeyboardInterrupt as error:
            error.add_note(state)
            raise


def _in_words(latest: PlayProgress) -> str:
    left = "" if latest.seconds_left is None else f", {seconds(latest.seconds_left)} left"
    return f"{latest.games} of {latest.total} games, {latest.turns} turns, {latest.calls} calls, {money(latest.cost)}{left}"


def tell(report: RunReport, out: Path, *, next_step: bool = True, turns: str = "turns") -> int:
    """Say what was played and what it took; 1 if calls failed, the budget ended, or no reply could be read."""
    say(f"{report.played} games with {report.turns} {turns} played, {report.stored} were there already; logs in {out}")
    if report.calls or report.from_journal:
        before = f", {report.from_journal} replies of an interrupted run used again" if report.from_journal else ""
        late = f", {report.timed_out} requests timed out (see --timeout and --concurrency)" if report.timed_out else ""
        say(f"  {report.calls} calls{before}{late}; {tokens(report.tokens_in, report.tokens_out)}, {spent(report.cost)}")
    if report.stopped:
        say(f"  the budget allows no further call: {report.stopped} games left waiting; start again with a higher one to play them on")
    if report.failed:
        say(f"  {report.failed} calls failed and were played on as the published loop does; the first: {report.first_error}")
    if replies := _replies_in_words(report):
        say(f"  {replies}")
    if next_step:
        say(f"next: cotrace ingest {in_shell(out)}")
    return 1 if report.failed or report.stopped or report.none_read else 0


def _replies_in_words(report: RunReport) -> str:
    """`3 replies: 0 read, 2 cut at 300 tokens, 1 unreadable`; nothing where no model replied."""
    known = {read: count for read, count in report.reads.items() if read is not None}
    limits = f" at {' or '.join(map(str, report.limits))} tokens"
    others = [f"{known[kind]} {kind}{limits if kind == 'cut' else ''}" for kind in ("guessed", *NOT_READ) if kind in known]
    parts = [f"{sum(known.get(kind, 0) for kind in AUTHORED)} read", *others]
    number = sum(known.values())
    return f"{number} {'reply' if number == 1 else 'replies'}: {', '.join(parts)}" if known else ""
