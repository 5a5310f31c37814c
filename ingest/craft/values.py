"""What each turn of a CRAFT game cost: rows of `turn_values`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from games.craft.engine.board import Board
from ingest.craft.game import CraftGame
from schemas.records import TurnValue

__all__ = ["turn_values"]

_UNIT = "progress"


def turn_values(episode: str, game: CraftGame, boards_after: Sequence[Board]) -> Iterator[TurnValue]:
    """Value the turns of a game with a turn limit; without one nothing says how much could still be reached.

    Args:
        episode: its id.
        game: the game as logged.
        boards_after: the board after each of its turns.
    """
    if game.max_turns is None or not game.turns:
        return
    from games.craft.value.reach import BoardTurn, turn_values  # compiled code takes a second to load

    steps = [
        BoardTurn(turn.board_before, after, max(0, game.max_turns - turn.turn + 1))
        for turn, after in zip(game.turns, boards_after, strict=True)
    ]
    for turn, worth in zip(game.turns, turn_values(steps, game.target), strict=True):
        certain = (worth.before, worth.after) == (worth.before_most, worth.after_most)
        kind = "exact" if certain else "bound"
        cost, harm = worth.before - worth.after, max(0.0, worth.stay - worth.after)
        yield TurnValue(episode, turn.turn, "craft.reachable", worth.before, worth.after, cost, _UNIT, kind)
        yield TurnValue(episode, turn.turn, "craft.harm", worth.stay, worth.after, harm, _UNIT, kind)
        if worth.half_domino:
            most = worth.before_most, worth.after_most, worth.before_most - worth.after_most
            yield TurnValue(episode, turn.turn, "craft.reachable_most", *most, _UNIT, kind)
