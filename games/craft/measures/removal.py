"""How much of a candidate list is removal: three readings of the paper's oracle remove rate.

The paper (section 5.2) sets the share of attempted removals against the share of oracle removals and
leaves open how a turn with several candidates counts. The published numbers fit more than one.
"""

from collections.abc import Sequence

from games.craft.engine.move import Move

__all__ = ["oracle_remove_any", "oracle_remove_first", "oracle_remove_share"]


def oracle_remove_any(listed: Sequence[Move]) -> bool:
    """Tell whether at least one listed candidate is a removal."""
    return any(move.action == "remove" for move in listed)


def oracle_remove_first(listed: Sequence[Move]) -> bool:
    """Tell whether the first listed candidate is a removal.

    Raises:
        IndexError: there is no candidate.
    """
    return listed[0].action == "remove"


def oracle_remove_share(listed: Sequence[Move]) -> float:
    """Give the share of removals among the listed candidates, 0 to 1.

    Raises:
        ZeroDivisionError: there is no candidate.
    """
    return sum(move.action == "remove" for move in listed) / len(listed)
