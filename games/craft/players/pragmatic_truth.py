"""Truth of the questions on pragmatic sufficiency (PS1 to PS6): the messages of a turn together, and what the builder made of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from games.craft.measures.adherence import followed_full, same_effect
from games.craft.players.facts import Answer, TurnFacts
from games.craft.players.instruction import Instruction
from games.craft.players.mind_truth import at_odds
from games.craft.players.slips import HARMLESS_SLIPS, MISREADINGS

_CUT_SHORT: Final = frozenset(("layer_slip", "span_omitted", "span_wrong", "span_extra", "span_none_text"))


def _points_at_a_place(facts: TurnFacts) -> Answer:
    return ("Yes" if any(said.cells for said in _said(facts)) else "No"), "construction"


def _gives_block_of_candidate(facts: TurnFacts) -> Answer:
    if not facts.listed:
        return None
    whole = [said for said in _said(facts) if said.block is not None]
    if any(said.cells and said.allows(move) for said in whole for move in facts.listed):
        return "Yes", "engine"
    return None if {said.block for said in whole} & {move.block for move in facts.listed} else ("No", "engine")


def _lets_builder_pick(facts: TurnFacts) -> Answer:
    if not facts.listed:
        return None
    said = _said(facts)
    exact = [one for one in said if any(one.says_what(move) for move in facts.listed)]
    if exact:
        return None if any(at_odds(one, other) for one in exact for other in said) else ("Yes", "engine")
    loosely = any(replace(one, size=None, span_to=None).allows(move) for one in said for move in facts.listed)
    return None if loosely else ("No", "engine")


def _places_fit_one_cell(facts: TurnFacts) -> Answer:
    said = _said(facts)
    if not any(one.cells for one in said):
        return "No", "construction"
    exact = all(one.cells and one.layer is not None and (one.size == "s" or one.span_to is not None) for one in said)
    return ("Yes", "construction") if exact else None


def _builder_understood(facts: TurnFacts) -> Answer:
    if facts.record.clarification is not None:
        return "N/A", "no builder confirmation"
    if facts.record.unreadable is not None:
        return None
    choice, slips = facts.decision.choice, set(facts.decision.slips)
    if choice is None or choice.followed is None:
        return None
    followed = next((voice.said for voice in facts.voices if voice.director == choice.followed), None)
    if followed is None or followed.block is None or not followed.cells or not followed.allows(choice.move):
        return None
    written = facts.record.written
    if slips & MISREADINGS:
        by_chance = written is None or any(said.allows(written) for said in _said(facts))
        return None if by_chance else ("No", "construction")
    return ("Yes", "construction") if slips <= HARMLESS_SLIPS else None


def _vagueness_caused_miss(facts: TurnFacts) -> Answer:
    if not facts.listed:
        return "N/A", "no oracle list in log"
    outcome, choice = facts.record.outcome, facts.decision.choice
    if outcome is None or choice is None:  # it asked, or wrote what cannot be read, though it could have moved
        return None
    if outcome.accepted and followed_full(facts.listed, outcome.move):
        return "N/A", "engine"
    if any(same_effect(move, outcome.move) for move in facts.listed):
        return None
    if choice.followed is None and outcome.accepted and not any(said.cells for said in _said(facts)):
        return "Yes", "construction"
    slips = set(facts.decision.slips)
    meant = any(
        voice.director == choice.followed and voice.said is not None and voice.said.says_what(choice.move) for voice in facts.voices
    )
    sufficient = _lets_builder_pick(facts) == ("Yes", "engine") and meant and choice.move in facts.listed
    return ("No", "construction") if sufficient and slips and slips <= _CUT_SHORT else None


def _said(facts: TurnFacts) -> list[Instruction]:
    return [voice.said for voice in facts.voices if voice.said is not None]


PRAGMATIC_SUFFICIENCY: Final[dict[str, Callable[[TurnFacts], Answer]]] = {
    "PS1": _points_at_a_place,
    "PS2": _gives_block_of_candidate,
    "PS3": _lets_builder_pick,
    "PS4": _places_fit_one_cell,
    "PS5": _builder_understood,
    "PS6": _vagueness_caused_miss,
}
"""Question -> truth for a turn with at least one readable message."""
