"""`--planted`: games with exactly one faulty player, of any family that has scripts for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from cotrace.options.shared import COUNT, say, writing_to

__all__ = ["planted_option", "play_planted"]

F = TypeVar("F", bound=Callable[..., Any])


def planted_option(command: F) -> F:
    """`--planted N`."""
    text = "Play so many games with exactly one faulty player each, every fault and seat by turns; only --seed and --out count beside it."
    return click.option("--planted", type=COUNT, help=text)(command)


def play_planted(family: str, games: int, seed: int, out: Path, game: str | None = None) -> int:
    """Play them and tell what came of it; ``game``: of a family with several."""
    from cotrace.progress import progress_bar
    from schemas.families import module

    found = module(family, "games", "planted")
    assert found is not None, f"{family} offers --planted without games of the kind"
    play = found.play_planted if game is None else found.of_game(game)
    with writing_to(out), progress_bar("playing") as show:
        report = play(out, games, seed, show)
    say(f"{report.played} games with {report.turns} turns played, {report.kept} were there already; logs in {out}")
    say(f"next: cotrace ingest {out} && cotrace attribute && cotrace report attribution-accuracy")
    return 0
