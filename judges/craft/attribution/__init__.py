"""Whose cost a CRAFT turn was.

``case``       a turn as it is looked into
``wishes``     what directors asked for, held against what each could see
``following``  what the builder's move has to do with it
``worth``      what other moves would have kept
``messages``   what a turn's messages leave to be desired
``blame``      the broken links of a turn
``games``      the turns of a game
"""

from judges.craft.attribution.games import MEASURES, attribute

__all__ = ["MEASURES", "attribute"]
