"""What CRAFT's turns cost, against replaying its games."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from benchmarks.replay import CraftGame, craft_games, replay_craft
from benchmarks.timing import forget
from benchmarks.values import ValueWork
from games.craft.game import ReplayedTurn, replay
from games.craft.value.search import BoardTurn, turn_values

__all__ = ["work"]

_TURNS: Final = 20
"""Of the published setting; games end sooner where the target is reached."""


def work() -> ValueWork:
    """Games as `benchmarks.replay` has them."""
    games = craft_games()
    replayed = [(game, list(replay(game.start, game.target, game.moves))) for game in games]
    _value_craft(replayed[:1])
    turns = sum(len(steps) for _, steps in replayed)
    return ValueWork(f"CRAFT, {turns:,} turns of {len(games)} games", partial(replay_craft, games), partial(_value_craft, replayed))


def _value_craft(games: Sequence[tuple[CraftGame, Sequence[ReplayedTurn]]]) -> None:
    forget("games.craft")
    for game, steps in games:
        limit = max(_TURNS, len(steps))
        for _ in turn_values([BoardTurn(step.board_before, step.board_after, limit - step.turn + 1) for step in steps], game.target):
            pass
