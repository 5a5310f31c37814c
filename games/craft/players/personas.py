"""Directors as data: how often each persona falls into which habit, and how it talks."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from games.craft.engine.blocks import CELLS, COLORS, HIDDEN_CELLS
from games.craft.players import removal_habits, request_habits, social_habits
from games.craft.players.plan import Perspective, Plan
from games.craft.players.sight import Sight

Habit = Callable[[Sight, random.Random], Plan | None]
"""Gives a plan, or None where the board offers no occasion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A scripted director."""

    habits: Mapping[Habit, float]
    """Relative weights; what has no occasion is passed over, ``next_gap`` stands in at the end."""

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
        return self._with_manner(request_habits.next_gap(sight, rng) or Plan(kind="done"), sight, rng)

    def _with_manner(self, plan: Plan, sight: Sight, rng: random.Random) -> Plan:
        perspective: Perspective = rng.choices(list(self.perspectives), list(self.perspectives.values()))[0]
        quoting = plan.endorses is not None or plan.disputes is not None
        own = plan.said is not None and bool(plan.said.cells) and plan.said.cells <= set(sight.wall)
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

_GAP: Final[Habit] = request_habits.next_gap
_MISREADINGS: Final[dict[Habit, float]] = {request_habits.misread_color: 1, request_habits.misread_size: 1}
_VAGUE: Final[dict[Habit, float]] = {
    request_habits.omit_place: 2,
    request_habits.vague_place: 2,
    request_habits.omit_color: 1.5,
    request_habits.omit_size: 1.5,
    request_habits.fill_only: 1.5,
}
_REMOVALS: Final[dict[Habit, float]] = {
    removal_habits.insist_on_removal: 5,
    removal_habits.remove_right_block: 2.5,
    removal_habits.remove_half: 1.5,
    removal_habits.remove_from_empty: 1,
    removal_habits.remove_buried: 0.8,
}
_LAYERS: Final[dict[Habit, float]] = {request_habits.skip_layer: 2, request_habits.miscount_layer: 2}
_SPANS: Final[dict[Habit, float]] = {request_habits.omit_span: 6, removal_habits.remove_half: 0.3}
_REPETITIONS: Final[dict[Habit, float]] = {social_habits.ask_again: 3.5, social_habits.echo: 2.5, social_habits.endorse: 2}
_MEDDLING: Final[dict[Habit, float]] = {social_habits.meddle: 5}
_CONFLICTS: Final[dict[Habit, float]] = {social_habits.contradict: 6}
_SILENCES: Final[dict[Habit, float]] = {social_habits.break_format: 5}

_FLAWS: Final = (_MISREADINGS, _VAGUE, _REMOVALS, _LAYERS, _SPANS, _REPETITIONS, _MEDDLING, _CONFLICTS, _SILENCES)


def _even(*tables: dict[Habit, float]) -> dict[Habit, float]:
    """Give every table the same share."""
    return {habit: weight / sum(table.values()) for table in tables for habit, weight in table.items()}


PERSONAS: Final[dict[str, Persona]] = {
    "clear": Persona(habits={_GAP: 1}, aside=0.08, perspectives=_PLAIN),
    "vague": Persona(habits=_VAGUE | {_GAP: 2}, perspectives=_TERSE),
    "over_remover": Persona(habits=_REMOVALS | {social_habits.endorse: 1, _GAP: 3}, perspectives=_PLAIN),
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
