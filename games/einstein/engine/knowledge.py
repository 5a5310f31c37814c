"""What follows from a set of knowledge items: the expansion of the graph of constraints.

Objects are nodes, relations are edges, groundings are anchors; every object connected to an anchor gets a goal bin by the
composition table. Nothing else is inferred (formats/einstein.md section 2).
"""

from collections.abc import Iterable

from games.einstein.engine.bins import Bin, RelationKind, bin_at_offset
from games.einstein.engine.items import Grounding, Item, Relation
from schemas.errors import BadInputError

_Edges = dict[int, list[tuple[int, RelationKind]]]


class ContradictionError(BadInputError):
    """Two chains of items put one object into two bins."""


def infer_goals(items: Iterable[Item]) -> dict[int, Bin]:
    """Give the goal bin of every object that is connected to a grounding.

    Items of a game never contradict each other; items that a player made up can.

    Raises:
        ContradictionError: two chains of items lead to different bins for one object.
    """
    items = tuple(items)
    edges = _edges(items)
    goals: dict[int, Bin] = {}
    for item in items:
        if isinstance(item, Grounding):
            _spread(edges, goals, item)
    return goals


def _edges(items: Iterable[Item]) -> _Edges:
    edges: _Edges = {}
    for item in items:
        if isinstance(item, Relation):
            edges.setdefault(item.first, []).append((item.second, item.kind))
            edges.setdefault(item.second, []).append((item.first, item.kind))
    return edges


def _spread(edges: _Edges, goals: dict[int, Bin], anchor: Grounding) -> None:
    waiting = [(anchor.block, anchor.goal)]
    while waiting:
        block, goal = waiting.pop()
        if block in goals:
            _agree(block, goals[block], goal)
            continue
        goals[block] = goal
        for far, kind in edges.get(block, ()):
            far_goal = bin_at_offset(goal, kind)
            if goals.get(far) != far_goal:
                waiting.append((far, far_goal))


def _agree(block: int, known: Bin, derived: Bin) -> None:
    if known != derived:
        raise ContradictionError(f"block{block} is led to {known} and to {derived}; drop one of the items that lead there")
