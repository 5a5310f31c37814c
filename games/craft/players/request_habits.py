"""Habits of asking for the next block: done well, underspecified, misread, or with the wrong layer."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from games.craft.engine.blocks import COLORS, MAX_HEIGHT, NEIGHBORS
from games.craft.players.instruction import Instruction
from games.craft.players.plan import Plan
from games.craft.players.sight import Sight

_PATIENCE: Final = 2
"""Fruitless requests for the same thing before a sane director turns to something else."""

_CORRECTS_FIRST: Final = 0.3
"""Chance to have a wrong block removed before anything else is asked for: what is only half seen often looks wrong."""


def next_gap(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for what is missing next, or for what is in the way; the wall is done if there is neither."""
    wishes = (_correction, _gap) if rng.random() < _CORRECTS_FIRST else (_gap, _correction)
    order = wishes[0](sight, rng) or wishes[1](sight, rng)
    return Plan(kind="done") if order is None else Plan(thought=order, said=order)


def omit_place(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for the next block without a word on where."""
    return _partly_said(_gap(sight, rng), "missing_location", _without_place)


def vague_place(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for the next block "somewhere over there"."""
    plan = _partly_said(_gap(sight, rng), "vague_location", _without_place)
    return None if plan is None else replace(plan, vague_place=True)


def omit_color(sight: Sight, rng: random.Random) -> Plan | None:
    """Leave the colour out."""
    return _partly_said(_gap(sight, rng), "missing_color", _without_color)


def omit_size(sight: Sight, rng: random.Random) -> Plan | None:
    """Leave the size out, and with it the second cell of a large block."""
    return _partly_said(_gap(sight, rng), "missing_size", _without_size)


def omit_span(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for a large block and name one of its cells only; prefers large blocks to others."""
    large = [order for order in _gaps(sight) if order.span_to is not None]
    return _partly_said(_freshest(large, sight, rng), "missing_second_cell", _without_span)


def fill_only(sight: Sight, rng: random.Random) -> Plan | None:
    """Think of the next block and say something nice instead."""
    order = _gap(sight, rng)
    return None if order is None else Plan(kind="filler", thought=order, defects=("filler_only",))


def misread_color(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for the next block in a colour the target does not have there."""
    order = _gap(sight, rng)
    if order is None or order.cell is None:
        return None
    shown = {block.color for layer in range(MAX_HEIGHT) if (block := sight.wanted(order.cell, layer)) is not None}
    wrong = replace(order, color=rng.choice([letter for letter, name in COLORS.items() if name not in shown]))
    return Plan(thought=wrong, said=wrong, defects=("color_misread",))


def misread_size(sight: Sight, rng: random.Random) -> Plan | None:
    """Take a large block for a small one or the reverse."""
    order = _gap(sight, rng)
    if order is None or order.cell is None:
        return None
    if order.size == "l":
        wrong = replace(order, size="s", span_to=None)
    else:
        wrong = replace(order, size="l", span_to=rng.choice([cell for cell in NEIGHBORS[order.cell] if cell in sight.wall]))
    return Plan(thought=wrong, said=wrong, defects=("size_misread",))


def skip_layer(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for a block whose support is not there yet."""
    orders = [
        order
        for cell in sight.wall
        for layer in range(sight.height(cell) + 1, MAX_HEIGHT)
        if (order := sight.to_place(cell, layer)) is not None
    ]
    order = _freshest(orders, sight, rng)
    return None if order is None else Plan(thought=order, said=order, defects=("layer_skipped",))


def miscount_layer(sight: Sight, rng: random.Random) -> Plan | None:
    """Think of the right layer and say the next one up or down."""
    order = _gap(sight, rng)
    if order is None or order.layer is None:
        return None
    others = [layer for layer in (order.layer - 1, order.layer + 1) if 0 <= layer < MAX_HEIGHT]
    return Plan(thought=order, said=replace(order, layer=rng.choice(others)), defects=("layer_miscounted",))


def _partly_said(order: Instruction | None, defect: str, leave_out: Callable[[Instruction], Instruction]) -> Plan | None:
    return None if order is None else Plan(thought=order, said=leave_out(order), defects=(defect,))


def _without_place(order: Instruction) -> Instruction:
    return replace(order, cell=None, layer=None, span_to=None)


def _without_color(order: Instruction) -> Instruction:
    return replace(order, color=None)


def _without_size(order: Instruction) -> Instruction:
    return replace(order, size=None, span_to=None)


def _without_span(order: Instruction) -> Instruction:
    return replace(order, span_to=None)


def _gap(sight: Sight, rng: random.Random) -> Instruction | None:
    return _freshest(list(_gaps(sight)), sight, rng)


def _gaps(sight: Sight) -> Iterator[Instruction]:
    """Give the blocks that could be placed now on stacks that look right in colour."""
    for cell in sight.wall:
        layer = sight.height(cell)
        order = sight.to_place(cell, layer)
        if order is None or not all(_same_color(sight, cell, below) for below in range(layer)):
            continue
        given_up = sight.built(cell, layer, "remove") and sight.asked_before(order)
        if not given_up and (order.span_to is None or sight.height(order.span_to) == layer):
            yield order


def _same_color(sight: Sight, cell: str, layer: int) -> bool:
    seen, wanted = sight.seen(cell, layer), sight.wanted(cell, layer)
    return seen is not None and wanted is not None and seen.color == wanted.color


def _freshest(orders: list[Instruction], sight: Sight, rng: random.Random) -> Instruction | None:
    """Choose among the orders least often asked for; none if all have been asked for in vain too often."""
    counted = [(sight.asked_before(order), order) for order in orders]
    least = min((count for count, _ in counted), default=_PATIENCE)
    fresh = [order for count, order in counted if count == least]
    return rng.choice(fresh) if fresh else None


def _correction(sight: Sight, rng: random.Random) -> Instruction | None:
    """Give a removal of a top block that the builder put there and that looks wrong, unless tried before."""
    orders = []
    for cell in sight.wall:
        layer = sight.height(cell) - 1
        if layer < 0 or sight.looks_right(cell, layer) or sight.built(cell, layer, "remove") or not sight.built(cell, layer, "place"):
            continue
        order = sight.to_remove(cell, layer)
        if order is not None and sight.asked_before(order) < _PATIENCE:
            orders.append(order)
    return rng.choice(orders) if orders else None
