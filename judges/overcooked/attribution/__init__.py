"""Whose cost a step of a Collab-Overcooked game was.

``moves``     what another move of one agent would have kept of a step
``requests``  what the agents asked of each other, and how much of it is still to be done
``blame``     the broken link of an agent that could have done better
``games``     the steps of a game
"""

from judges.overcooked.attribution.games import MEASURES, attribute

__all__ = ["MEASURES", "attribute"]
