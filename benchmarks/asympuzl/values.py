"""What AsymPuzl's turns cost, against replaying its games."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks.values import ValueWork
from benchmarks.workload import scratch
from games.asympuzl.play import PlayRequest, play
from ingest.asympuzl.lines import LoggedGame, sort_lines
from ingest.asympuzl.replay import ReplayedGame, replay
from ingest.asympuzl.values import turn_values

__all__ = ["work"]


def work() -> ValueWork:
    """Games of the scripts."""
    report = play(PlayRequest(out=scratch() / "asympuzl-values", personas=("sharing", "piecewise", "ignoring", "silent")))
    games = [game for path in report.paths for game in sort_lines(path.read_bytes()).games]
    replayed = [replay(game) for game in games]
    name = f"AsymPuzl, {sum(len(game.turns) for game in games):,} answers of {len(games)} games"
    return ValueWork(name, partial(_replay, games), partial(_value, replayed))


def _replay(games: Sequence[LoggedGame]) -> None:
    for game in games:
        replay(game)


def _value(games: Sequence[ReplayedGame]) -> None:
    for game in games:
        for _ in turn_values("", game, 1):
            pass
