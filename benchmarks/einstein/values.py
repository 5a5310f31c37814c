"""What Einstein's steps cost, against replaying its games."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

from benchmarks.values import ValueWork
from benchmarks.workload import scratch
from games.einstein.engine.puzzle import parse_game_id
from games.einstein.engine.table import RULES, Setting
from games.einstein.game import GameSettings
from games.einstein.replay import Samples, Step, replay
from games.einstein.value import distances, steps_left
from games.experiments.plan import play

__all__ = ["work"]

_GAMES: Final = 120


def work() -> ValueWork:
    """Games of the scripts."""
    report = play("einstein", scratch() / "einstein-values", games=_GAMES)
    games = [_game(path.read_text(encoding="utf-8")) for path in report.paths]
    replayed = [(setting, list(replay(setting, samples))) for setting, samples in games]
    name = f"Einstein, {sum(len(steps) for _, steps in replayed):,} steps of {len(games)} games"
    return ValueWork(name, partial(_replay, games), partial(_value, replayed))


def _game(text: str) -> tuple[Setting, list[Samples]]:
    header, *lines = map(json.loads, text.splitlines())
    settings = GameSettings.of_log(header["run"]["condition"])
    setting = Setting(parse_game_id(header["task"]["id"]), settings.modes, RULES[settings.rules], settings.step_limit)
    return setting, [Samples((line["actions"][0]["raw"],)) for line in lines if "turn" in line]


def _replay(games: Sequence[tuple[Setting, list[Samples]]]) -> None:
    for setting, samples in games:
        for _ in replay(setting, samples):
            pass


def _value(games: Sequence[tuple[Setting, list[Step]]]) -> None:
    steps_left.cache_clear()
    for setting, steps in games:
        for _ in distances(setting, steps):
            pass
