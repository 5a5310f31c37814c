"""Whose cost a step of an Einstein game was.

``steps``  a logged game played again, and what each player could make of its position
``blame``  the broken link of a step
``games``  the steps of a game
"""

from judges.einstein.attribution.games import MEASURES, attribute

__all__ = ["MEASURES", "attribute"]
