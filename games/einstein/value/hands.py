"""The fewest steps to the goal for two players who know everything."""

from functools import cache

from games.einstein.engine.bins import COMMON, OWN_DESTINATIONS, PLAYERS, START_BINS, Player
from games.einstein.engine.puzzle import Puzzle
from games.einstein.engine.table import Table


@cache
def steps_left(finish: int, hand_over: int, partner_finishes: int, partner_hands_over: int) -> int:
    """Steps to the goal, the players alternating, passes counted.

    Args:
        finish: objects that the player to move can put into their goal bins now.
        hand_over: objects in its start bin whose goals are on the other side.
        partner_finishes: the same for the partner.
        partner_hands_over: the same for the partner.
    """
    a, u, b, v = finish, hand_over, partner_finishes, partner_hands_over
    if not (a or u or b or v):
        return 0
    if not (a or u):
        return 1 + steps_left(b, v, a, u)
    finishing = [steps_left(b, v, a - 1, u)] if a else []
    handing_over = [steps_left(b + 1, v, a, u - 1)] if u else []
    return 1 + min(finishing + handing_over)


def hands(puzzle: Puzzle, table: Table) -> int:
    """Steps from a position to the goal, whoever knows what; each step on the table counts, a pass too."""
    mine, partners = _work(puzzle, table, table.player), _work(puzzle, table, PLAYERS[1 - table.player])
    return steps_left(*mine, *partners)


def _work(puzzle: Puzzle, table: Table, player: Player) -> tuple[int, int]:
    finish = hand_over = 0
    for place, goal in zip(table.positions, puzzle.goals, strict=True):
        if place == goal:
            continue
        on_this_side = goal in OWN_DESTINATIONS[player]
        finish += on_this_side and place in (COMMON, START_BINS[player])
        hand_over += not on_this_side and place == START_BINS[player]
    return finish, hand_over
