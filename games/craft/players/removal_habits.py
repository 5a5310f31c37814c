"""Habits of having blocks taken off that are right, out of reach, or not there."""

import random
from dataclasses import replace

from games.craft.engine.blocks import COLORS
from games.craft.players.instruction import Instruction
from games.craft.players.plan import Plan
from games.craft.players.sight import Sight


def remove_right_block(sight: Sight, rng: random.Random) -> Plan | None:
    """Doubt a top block that is right."""
    return _doubt(_right_tops(sight), rng, "false_removal_correct_block")


def remove_from_empty(sight: Sight, rng: random.Random) -> Plan | None:
    """Have a block taken off a cell that has none."""
    empty = [cell for cell in sight.wall if sight.height(cell) == 0]
    orders = [Instruction("remove", rng.choice(list(COLORS)), "s", cell, 0) for cell in empty]
    return _doubt(orders, rng, "empty_cell_removal")


def remove_buried(sight: Sight, rng: random.Random) -> Plan | None:
    """Have a block taken out from under another."""
    places = [(cell, layer) for cell in sight.wall for layer in range(sight.height(cell) - 1)]
    orders = [order for cell, layer in places if (order := sight.to_remove(cell, layer)) is not None]
    return _doubt(orders, rng, "unreachable_removal")


def remove_half(sight: Sight, rng: random.Random) -> Plan | None:
    """Have a large block taken off and name only one of its cells."""
    large = [order for order in _right_tops(sight) if order.span_to is not None]
    plan = _doubt(large, rng, "large_removal_without_span", "false_removal_correct_block")
    if plan is None or plan.said is None:
        return None
    return replace(plan, said=replace(plan.said, span_to=None))


def insist_on_removal(sight: Sight, _rng: random.Random) -> Plan | None:
    """Demand the same removal again, whatever has become of it."""
    earlier = [heard.said for heard in sight.heard if heard.director == sight.director and heard.turn < sight.turn]
    last = earlier[-1] if earlier else None
    if last is None or last.verb != "remove" or last.cell is None or last.layer is None:
        return None
    defects = ["correction_spiral"]
    if sight.height(last.cell) == 0:
        defects.append("empty_cell_removal")
    elif last.layer < sight.height(last.cell) - 1:
        defects.append("unreachable_removal")
    elif last.size == "l" and last.span_to is None:
        defects.append("large_removal_without_span")
    return Plan(thought=last, said=last, defects=tuple(defects))


def _right_tops(sight: Sight) -> list[Instruction]:
    tops = [(cell, sight.height(cell) - 1) for cell in sight.wall if sight.height(cell)]
    chosen = [(cell, layer) for cell, layer in tops if sight.looks_right(cell, layer)]
    return [order for cell, layer in chosen if (order := sight.to_remove(cell, layer)) is not None]


def _doubt(orders: list[Instruction], rng: random.Random, *defects: str) -> Plan | None:
    if not orders:
        return None
    order = rng.choice(orders)
    return Plan(thought=order, said=order, defects=defects)
