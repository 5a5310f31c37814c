"""Whose cost a CRAFT turn was.

``wishes``     what directors asked for, held against what each could see
``following``  what the builder's move has to do with it
``blame``      the first broken link
``alternatives`` what would have been worth more
"""

from judges.craft.attribution.games import attribute

__all__ = ["attribute"]
