"""Habits that concern the other directors: repeating, contradicting, speaking about their walls, and falling silent."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from games.craft.engine.blocks import COLORS, DIRECTORS, MAX_HEIGHT, WALLS
from games.craft.players.instruction import Instruction
from games.craft.players.plan import OutputFault, Plan
from games.craft.players.request_habits import next_gap
from games.craft.players.sight import Sight


def ask_again(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for a block that stands there already."""
    places = [(cell, layer) for cell in sight.wall for layer in range(sight.height(cell)) if sight.looks_right(cell, layer)]
    asked = [(cell, layer) for cell, layer in places if sight.built(cell, layer, "place")]
    orders = [order for cell, layer in asked or places if (order := sight.to_place(cell, layer)) is not None]
    if not orders:
        return None
    order = rng.choice(orders)
    return Plan(thought=order, said=order, defects=("redundant_already_done",))


def echo(sight: Sight, _rng: random.Random) -> Plan | None:
    """Repeat what another director said last, as if it were new."""
    heard = next((heard for heard in sight.said_this_turn() if heard.said is not None and heard.said.complete), None)
    if heard is None or heard.said is None:
        return None
    return Plan(thought=heard.said, said=heard.said, defects=_foreign(sight, heard.said, "redundant_echo"))


def endorse(sight: Sight, rng: random.Random) -> Plan | None:
    """Second what another director said."""
    plan = echo(sight, rng)
    heard = next((heard for heard in sight.said_this_turn() if heard.said is not None and heard.said.complete), None)
    if plan is None or plan.said is None or heard is None:
        return None
    return replace(plan, endorses=heard.director, defects=_foreign(sight, plan.said, "redundant_endorse"))


def meddle(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for a block on a wall that the director does not know: its colour is invented."""
    others = [cell for director in DIRECTORS for cell in WALLS[director] if cell not in sight.wall]
    free = [cell for cell in others if sight.height(cell) < MAX_HEIGHT]
    if not free:
        return None
    cell = rng.choice(free)
    order = Instruction("place", rng.choice(list(COLORS)), "s", cell, sight.height(cell))
    return Plan(thought=order, said=order, defects=("cross_wall",))


def contradict(sight: Sight, rng: random.Random) -> Plan | None:
    """Want something else at the place another director has just named: block or action differ.

    A director whose own wall shows that place says what it sees there; another one makes it up.
    """
    heard = next((heard for heard in sight.said_this_turn() if heard.said is not None and heard.said.complete), None)
    if heard is None or heard.said is None or heard.said.cell is None:
        return None
    said = heard.said
    changed = rng.choice(_CONTRADICTIONS)(said, rng)
    if changed is None:
        return None
    order, defect = changed
    defects = _foreign(sight, order, defect)
    if rng.random() < _ACKNOWLEDGED:
        return Plan(thought=order, said=order, disputes=heard.director, defects=defects)
    return Plan(thought=order, said=order, defects=(*defects, "conflict_unacknowledged"))


_ACKNOWLEDGED = 0.4


def _other_color(said: Instruction, rng: random.Random) -> tuple[Instruction, str] | None:
    return replace(said, color=rng.choice([letter for letter in COLORS if letter != said.color])), "conflict_color"


def _other_size(said: Instruction, _rng: random.Random) -> tuple[Instruction, str] | None:
    return (replace(said, size="s", span_to=None), "conflict_size") if said.size == "l" and said.verb == "place" else None


def _other_action(said: Instruction, _rng: random.Random) -> tuple[Instruction, str] | None:
    return replace(said, verb="remove" if said.verb == "place" else "place"), "conflict_action"


_CONTRADICTIONS: tuple[Callable[[Instruction, random.Random], tuple[Instruction, str] | None], ...] = (
    _other_color,
    _other_size,
    _other_action,
)


def break_format(sight: Sight, rng: random.Random) -> Plan | None:
    """Have a good request and break the output format."""
    plan = next_gap(sight, rng)
    fault: OutputFault = rng.choice(get_args(OutputFault))
    return None if plan is None else replace(plan, fault=fault, defects=(*plan.defects, fault))


def _foreign(sight: Sight, order: Instruction, defect: str) -> tuple[str, ...]:
    return (defect,) if order.cells <= set(sight.wall) else (defect, "cross_wall")
