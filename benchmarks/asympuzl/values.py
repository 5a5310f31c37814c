"""What AsymPuzl's turns cost, against replaying its games."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.values import ValueWork
from benchmarks.workload import scratch
from games.asympuzl.game import Game
from games.asympuzl.record import RunFacts, game_id, game_line, line, result_line, turn_line
from games.experiments.plan import play
from ingest.asympuzl.records import LoggedGame, sort_lines
from ingest.asympuzl.replay import ReplayedGame, replay, turn_values

__all__ = ["work"]


def work() -> ValueWork:
    """Games of the scripts."""
    players = [f"all=script:{persona}" for persona in ("sharing", "piecewise", "ignoring", "silent")]
    report = play("asympuzl", scratch() / "asympuzl-values", players=players)
    games = [_record(path) for path in report.paths]
    replayed = [replay(game) for game in games]
    name = f"AsymPuzl, {sum(len(game.turns) for game in games):,} answers of {len(games)} games"
    return ValueWork(name, partial(_replay, games), partial(_value, replayed))


def _record(path: Path) -> LoggedGame:
    """The game of a log as the record `asympuzl/1` has it."""
    header, *turns, _ = map(json.loads, path.read_bytes().splitlines())
    game, run = Game.drawn(size=5, seed=header["seed"]), RunFacts(run_id="values", model_a="a", model_b="b")
    name = game_id(run, game, header["seed"])
    lines = [game_line(run, game, header["seed"])]
    for reply in (reply for turn in turns for reply in turn["replies"]):
        seen = game.observe(reply["agent"])
        lines.append(turn_line(run, name, seen, game.act(reply["agent"], reply["text"])))
    (found,) = sort_lines(b"".join(map(line, [*lines, result_line(name, game.answers, 5)]))).games
    return found


def _replay(games: Sequence[LoggedGame]) -> None:
    for game in games:
        replay(game)


def _value(games: Sequence[ReplayedGame]) -> None:
    for game in games:
        for _ in turn_values("", game, 1):
            pass
