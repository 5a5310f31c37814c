"""Values: what each turn cost, against replaying the same games; caches are emptied before every round, code is compiled before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from benchmarks.figures import Figure, seconds
from benchmarks.replay import CraftGame, craft_games, forget, replay_craft
from benchmarks.timing import medians
from games.craft.replay import ReplayedTurn, replay
from games.craft.value.reach import Step, turn_values

__all__ = ["run"]

_ROUNDS: Final = 7
_GOAL: Final = 3
_TURNS: Final = 20
"""Of the published setting; games end sooner where the target is reached."""


def run() -> list[Figure]:
    """Measure."""
    return [_craft()]


def _craft() -> Figure:
    games = craft_games()
    replayed = [(game, list(replay(game.start, game.target, game.moves))) for game in games]
    _value_craft(replayed[:1])
    turns = sum(len(steps) for _, steps in replayed)
    return _figure(f"CRAFT, {turns:,} turns of {len(games)} games", partial(replay_craft, games), partial(_value_craft, replayed))


def _value_craft(games: Sequence[tuple[CraftGame, Sequence[ReplayedTurn]]]) -> None:
    forget()
    for game, steps in games:
        limit = max(_TURNS, len(steps))
        for _ in turn_values([Step(step.board_before, step.board_after, limit - step.turn + 1) for step in steps], game.target):
            pass


def _figure(name: str, base: partial[None], ours: partial[None]) -> Figure:
    taken = medians(_ROUNDS, {"base": base, "ours": ours})
    ratio = taken["ours"].cpu_s / taken["base"].cpu_s
    return Figure(name, seconds(taken["ours"].cpu_s), f"{seconds(taken['base'].cpu_s)}: replay", ratio, f"<= {_GOAL}", met=ratio <= _GOAL)
