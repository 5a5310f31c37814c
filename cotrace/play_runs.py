"""How the commands end that play: under a progress bar, with what was played in words and what to do next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cotrace.options.shared import say, spent, tokens, writing_to
from cotrace.progress import playing_bar, progress_bar
from schemas.replies import AUTHORED, NOT_READ
from schemas.text import in_shell

if TYPE_CHECKING:
    from games.players.progress import PlayProgress
    from games.players.running import RunReport

__all__ = ["play_planted", "play_scripts", "play_seats", "tell"]


def play_scripts(out: Path, play: Callable[[Callable[[int, int], None]], RunReport], steps: str = "turns") -> int:
    """Have scripts play and tell what came of it; ``steps``: what the game calls its turns."""
    with writing_to(out), progress_bar("playing") as show:
        report = play(show)
    _tell_played(report, out, steps)
    say(f"next: cotrace ingest {in_shell(out)}")
    return 0


def play_planted(family: str, games: int, seed: int, out: Path, game: str | None = None) -> int:
    """Play them and tell what came of it; ``game``: of a family with several."""
    from schemas.families import module

    found = module(family, "games", "planted")
    assert found is not None, f"{family} offers --planted without games of the kind"
    play = found.play_planted if game is None else found.of_game(game)
    with writing_to(out), progress_bar("playing") as show:
        report = play(out, games, seed, show)
    _tell_played(report, out, "turns")
    say(f"next: cotrace ingest {in_shell(out)} && cotrace attribute && cotrace report attribution-accuracy")
    return 0


def _tell_played(report: RunReport, out: Path, steps: str) -> None:
    say(f"{report.played} games with {report.turns} {steps} played, {report.kept} were there already; logs in {out}")


def play_seats(out: Path, play: Callable[[Callable[[PlayProgress], None]], RunReport]) -> int:
    """Have whoever took the seats play and tell what came of it; 1 if calls failed, the budget ended, or no reply could be read."""
    with writing_to(out), playing_bar() as watch:
        report = play(watch)
    return tell(report, out)


def tell(report: RunReport, out: Path, *, next_step: bool = True, turns: str = "turns") -> int:
    """Say what was played and what it took; 1 if calls failed, the budget ended, or no reply could be read."""
    say(f"{report.played} games with {report.turns} {turns} played, {report.kept} were there already; logs in {out}")
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
