"""Scripted directors as data: habits (ways to ask for a block or a removal, well or with a fault), and how often personas follow them."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

from games.craft.engine.board import CELLS, COLORS, DIRECTORS, HIDDEN_CELLS, MAX_HEIGHT, NEIGHBORS, WALLS
from games.craft.players.sight import Instruction, OutputFault, Perspective, Plan, Sight

_PATIENCE: Final = 2
"""Fruitless requests for the same thing before a sane director turns to something else."""

_CORRECTS_FIRST: Final = 0.3
"""Chance to have a wrong block removed before anything else is asked for: what is only half seen often looks wrong."""


def next_gap(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for what is missing next, or for what is in the way; the wall is done if there is neither."""
    wishes = (_correction, _gap) if rng.random() < _CORRECTS_FIRST else (_gap, _correction)
    order = wishes[0](sight, rng) or wishes[1](sight, rng)
    return _plan(order) or Plan(kind="done")


def omit_place(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for the next block without a word on where."""
    return _partly_requested(_gap(sight, rng), "missing_location", cell=None, layer=None, span_to=None)


def vague_place(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for the next block "somewhere over there"."""
    plan = _partly_requested(_gap(sight, rng), "vague_location", cell=None, layer=None, span_to=None)
    return None if plan is None else replace(plan, vague_place=True)


def omit_color(sight: Sight, rng: random.Random) -> Plan | None:
    """Leave the colour out."""
    return _partly_requested(_gap(sight, rng), "missing_color", color=None)


def omit_size(sight: Sight, rng: random.Random) -> Plan | None:
    """Leave the size out, and with it the second cell of a large block."""
    return _partly_requested(_gap(sight, rng), "missing_size", size=None, span_to=None)


def omit_span(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for a large block and name one of its cells only; prefers large blocks to others."""
    large = [order for order in _gaps(sight) if order.span_to is not None]
    return _partly_requested(_freshest(large, sight, rng), "missing_second_cell", span_to=None)


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
    return _plan(wrong, "color_misread")


def misread_size(sight: Sight, rng: random.Random) -> Plan | None:
    """Take a large block for a small one or the reverse."""
    order = _gap(sight, rng)
    if order is None or order.cell is None:
        return None
    if order.size == "l":
        wrong = replace(order, size="s", span_to=None)
    else:
        wrong = replace(order, size="l", span_to=rng.choice([cell for cell in NEIGHBORS[order.cell] if cell in sight.wall]))
    return _plan(wrong, "size_misread")


def skip_layer(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for a block whose support is not there yet."""
    orders = [
        order
        for cell in sight.wall
        for layer in range(sight.height(cell) + 1, MAX_HEIGHT)
        if (order := sight.to_place(cell, layer)) is not None
    ]
    return _plan(_freshest(orders, sight, rng), "layer_skipped")


def miscount_layer(sight: Sight, rng: random.Random) -> Plan | None:
    """Think of the right layer and say the next one up or down."""
    order = _gap(sight, rng)
    if order is None or order.layer is None:
        return None
    others = [layer for layer in (order.layer - 1, order.layer + 1) if 0 <= layer < MAX_HEIGHT]
    return Plan(thought=order, request=replace(order, layer=rng.choice(others)), defects=("layer_miscounted",))


def _plan(order: Instruction | None, *defects: str) -> Plan | None:
    """The thought and the request are the same."""
    return None if order is None else Plan(thought=order, request=order, defects=defects)


def _partly_requested(order: Instruction | None, defect: str, **left_out: Any) -> Plan | None:
    return None if order is None else Plan(thought=order, request=replace(order, **left_out), defects=(defect,))


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
    if plan is None or plan.request is None:
        return None
    return replace(plan, request=replace(plan.request, span_to=None))


def insist_on_removal(sight: Sight, _rng: random.Random) -> Plan | None:
    """Demand the same removal again, whatever has become of it."""
    earlier = [heard.request for heard in sight.heard if heard.director == sight.director and heard.turn < sight.turn]
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
    return _plan(last, *defects)


def _right_tops(sight: Sight) -> list[Instruction]:
    tops = [(cell, sight.height(cell) - 1) for cell in sight.wall if sight.height(cell)]
    chosen = [(cell, layer) for cell, layer in tops if sight.looks_right(cell, layer)]
    return [order for cell, layer in chosen if (order := sight.to_remove(cell, layer)) is not None]


def _doubt(orders: list[Instruction], rng: random.Random, *defects: str) -> Plan | None:
    return _plan(rng.choice(orders), *defects) if orders else None


def ask_again(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for a block that is there already."""
    places = [(cell, layer) for cell in sight.wall for layer in range(sight.height(cell)) if sight.looks_right(cell, layer)]
    asked = [(cell, layer) for cell, layer in places if sight.built(cell, layer, "place")]
    orders = [order for cell, layer in asked or places if (order := sight.to_place(cell, layer)) is not None]
    return _plan(rng.choice(orders), "redundant_already_done") if orders else None


def echo(sight: Sight, _rng: random.Random) -> Plan | None:
    """Repeat another director's last request as if it were new."""
    heard = sight.last_request()
    return None if heard is None else _plan(heard[1], *_foreign(sight, heard[1], "redundant_echo"))


def endorse(sight: Sight, _rng: random.Random) -> Plan | None:
    """Second another director's request."""
    heard = sight.last_request()
    plan = None if heard is None else _plan(heard[1], *_foreign(sight, heard[1], "redundant_endorse"))
    return None if plan is None or heard is None else replace(plan, endorses=heard[0])


def meddle(sight: Sight, rng: random.Random) -> Plan | None:
    """Ask for a block on a wall that the director does not know: its colour is invented."""
    others = [cell for director in DIRECTORS for cell in WALLS[director] if cell not in sight.wall]
    free = [cell for cell in others if sight.height(cell) < MAX_HEIGHT]
    if not free:
        return None
    cell = rng.choice(free)
    return _plan(Instruction("place", rng.choice(list(COLORS)), "s", cell, sight.height(cell)), "cross_wall")


def contradict(sight: Sight, rng: random.Random) -> Plan | None:
    """Want something else at the place another director has just named: block or action differ.

    A director whose own wall shows that place reports what it sees there; another one makes it up.
    """
    heard = sight.last_request()
    if heard is None:
        return None
    director, request = heard
    order, defect = request, f"conflict_{rng.choice(('color', 'size', 'action'))}"
    if defect == "conflict_color":
        order = replace(request, color=rng.choice([letter for letter in COLORS if letter != request.color]))
    elif defect == "conflict_action":
        order = replace(request, verb="remove" if request.verb == "place" else "place")
    elif request.size == "l" and request.verb == "place":
        order = replace(request, size="s", span_to=None)
    else:
        return None
    defects = _foreign(sight, order, defect)
    if rng.random() < _ACKNOWLEDGED:
        return Plan(thought=order, request=order, disputes=director, defects=defects)
    return _plan(order, *defects, "conflict_unacknowledged")


_ACKNOWLEDGED = 0.4


def break_format(sight: Sight, rng: random.Random) -> Plan | None:
    """Have a good request and break the output format."""
    plan = next_gap(sight, rng)
    fault: OutputFault = rng.choice(get_args(OutputFault))
    return None if plan is None else replace(plan, fault=fault, defects=(*plan.defects, fault))


def _foreign(sight: Sight, order: Instruction, defect: str) -> tuple[str, ...]:
    return (defect,) if order.cells <= set(sight.wall) else (defect, "cross_wall")


Habit = Callable[[Sight, random.Random], Plan | None]
"""Gives a plan, or None where the board offers no occasion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A scripted director."""

    habits: Mapping[Habit, float]
    """Relative weights; what has no occasion is passed over, ``next_gap`` is used at the end."""
    aside: float = 0.1
    """Chance that the reasoning mentions a block that is right; the same again for a cell of another wall."""
    perspectives: Mapping[Perspective, float]
    """Relative weights of ways to mark whose view it is."""

    def plan(self, sight: Sight, rng: random.Random) -> Plan:
        """Decide what to think and say."""
        open_habits = dict(self.habits)
        while open_habits:
            habit = rng.choices(list(open_habits), list(open_habits.values()))[0]
            del open_habits[habit]
            plan = habit(sight, rng)
            if plan is not None and (plan.kind != "done" or not open_habits):
                return self._with_manner(plan, sight, rng)
        return self._with_manner(next_gap(sight, rng) or Plan(kind="done"), sight, rng)

    def _with_manner(self, plan: Plan, sight: Sight, rng: random.Random) -> Plan:
        perspective: Perspective = rng.choices(list(self.perspectives), list(self.perspectives.values()))[0]
        quoting = plan.endorses is not None or plan.disputes is not None
        own = plan.request is not None and bool(plan.request.cells) and plan.request.cells <= set(sight.wall)
        if quoting or (perspective == "explicit" and not own):
            perspective = "possessive"
        draw, defects = rng.random(), plan.defects
        if plan.kind == "done":
            defects = (*defects, "view_complete")
        if draw < self.aside:
            return replace(plan, perspective=perspective, defects=defects, right_block=_right_block(sight, rng))
        if draw < 2 * self.aside:
            others = [cell for cell in CELLS if cell not in (*sight.wall, *HIDDEN_CELLS)]
            return replace(plan, perspective=perspective, defects=(*defects, "think_other_wall"), other_wall=rng.choice(others))
        return replace(plan, perspective=perspective, defects=defects)


def _right_block(sight: Sight, rng: random.Random) -> tuple[str, int, str] | None:
    right = [(cell, layer) for cell in sight.wall for layer in range(sight.height(cell)) if sight.looks_right(cell, layer)]
    if not right:
        return None
    cell, layer = rng.choice(right)
    block = sight.seen(cell, layer)
    letter = next((letter for letter, name in COLORS.items() if block is not None and name == block.color), None)
    return None if letter is None else (cell, layer, letter)


_PLAIN: Final[Mapping[Perspective, float]] = {"explicit": 0.2, "possessive": 0.5, "bare": 0.3}
_TERSE: Final[Mapping[Perspective, float]] = {"explicit": 0.05, "possessive": 0.25, "bare": 0.7}
_CHATTY: Final[Mapping[Perspective, float]] = {"explicit": 0.35, "possessive": 0.6, "bare": 0.05}

_GAP: Final[Habit] = next_gap
_MISREADINGS: Final[dict[Habit, float]] = {misread_color: 1, misread_size: 1}
_VAGUE: Final[dict[Habit, float]] = {
    omit_place: 2,
    vague_place: 2,
    omit_color: 1.5,
    omit_size: 1.5,
    fill_only: 1.5,
}
_REMOVALS: Final[dict[Habit, float]] = {
    insist_on_removal: 5,
    remove_right_block: 2.5,
    remove_half: 1.5,
    remove_from_empty: 1,
    remove_buried: 0.8,
}
_LAYERS: Final[dict[Habit, float]] = {skip_layer: 2, miscount_layer: 2}
_SPANS: Final[dict[Habit, float]] = {omit_span: 6, remove_half: 0.3}
_REPETITIONS: Final[dict[Habit, float]] = {ask_again: 3.5, echo: 2.5, endorse: 2}
_MEDDLING: Final[dict[Habit, float]] = {meddle: 5}
_CONFLICTS: Final[dict[Habit, float]] = {contradict: 6}
_SILENCES: Final[dict[Habit, float]] = {break_format: 5}

_FLAWS: Final = (_MISREADINGS, _VAGUE, _REMOVALS, _LAYERS, _SPANS, _REPETITIONS, _MEDDLING, _CONFLICTS, _SILENCES)


def _even(*tables: dict[Habit, float]) -> dict[Habit, float]:
    """Give every table the same share."""
    return {habit: weight / sum(table.values()) for table in tables for habit, weight in table.items()}


PERSONAS: Final[dict[str, Persona]] = {
    "clear": Persona(habits={_GAP: 1}, aside=0.08, perspectives=_PLAIN),
    "vague": Persona(habits=_VAGUE | {_GAP: 2}, perspectives=_TERSE),
    "over_remover": Persona(habits=_REMOVALS | {endorse: 1, _GAP: 3}, perspectives=_PLAIN),
    "layer_confused": Persona(habits=_LAYERS | {_GAP: 1.5}, perspectives=_PLAIN),
    "span_omitting": Persona(habits=_SPANS | {_GAP: 1.5}, perspectives=_PLAIN),
    "redundant": Persona(habits=_REPETITIONS | {_GAP: 2.5}, perspectives=_CHATTY),
    "cross_wall": Persona(habits=_MEDDLING | {_GAP: 3}, aside=0.25, perspectives=_CHATTY),
    "conflicting": Persona(habits=_CONFLICTS | {_GAP: 3}, perspectives=_PLAIN),
    "misreading": Persona(habits=_MISREADINGS | {_GAP: 1}, perspectives=_PLAIN),
    "format_breaking": Persona(habits=_SILENCES | {_GAP: 4}, perspectives=_TERSE),
    "mixed": Persona(habits=_even(*_FLAWS, {_GAP: 2.0}), perspectives=_PLAIN),
}
"""Persona name -> persona."""
