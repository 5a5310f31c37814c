"""How far places are from one another: breadth-first search."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

P = TypeVar("P", bound=Hashable)


def distances(start: P, near: Callable[[P], Iterable[P]]) -> dict[P, int]:
    """Steps from a place to each that can be reached from it, the nearest first; ``near`` gives the places next to one."""
    found = {start: 0}
    waiting = [start]
    for place in waiting:
        for other in near(place):
            if other not in found:
                found[other] = found[place] + 1
                waiting.append(other)
    return found
