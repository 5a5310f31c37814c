"""How long references take when both agents act as soon as they may, and the shortest time there is."""

from typing import Final

from games.overcooked.engine.execution import is_over, next_move
from games.overcooked.engine.layout import Layout, kitchen
from games.overcooked.engine.references import ReferencePair
from games.overcooked.engine.validator import refusal
from games.overcooked.engine.world import Move, start_world

LONGEST: Final = 200
"""Steps after which a reference is given up: it waits for itself."""

_STAY: Final = Move()


def time_of(order: str, pair: ReferencePair, within: int = LONGEST, layout: Layout | None = None) -> int | None:
    """Give the index of the step that delivers the order when both follow a pair, each starting its next action as soon as it is allowed.

    Source: formats/overcooked.md, section 3, how the published constants came about.

    Args:
        order: what is cooked.
        pair: what each does.
        within: the largest index that is of interest.
        layout: the kitchen; None: the published one.

    Returns:
        None if it takes longer, or never ends.
    """
    world = start_world(layout or kitchen(), order)
    behind = [0, 0]
    current: list[str | None] = [None, None]
    while world.timestep <= within:
        moves = []
        for agent, own in enumerate(pair):
            action = current[agent]
            if action is not None and is_over(world, agent, action, 0):
                action, behind[agent] = None, behind[agent] + 1
            if action is None and behind[agent] < len(own) and refusal(world, agent, own[behind[agent]]) is None:
                action = own[behind[agent]]
            current[agent] = action
            moves.append(_STAY if action is None else next_move(world, agent, action))
        world.step(moves)
        if world.delivered:
            return world.timestep - 1
    return None
