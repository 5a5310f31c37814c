"""Truth of the questions on mind modelling (MM1 to MM8, MM3 is a matter of taste): the public message against what others know."""

from collections.abc import Callable
from typing import Final

from games.craft.engine.blocks import SEEN_BY
from games.craft.engine.move import Move
from games.craft.engine.rules import execute
from games.craft.players.facts import Answer, TurnFacts, Voice
from games.craft.players.instruction import Instruction


def _adds_something(facts: TurnFacts, voice: Voice) -> Answer:
    said = voice.said
    if said is None:
        return ("No", "construction") if voice.plan.kind == "filler" else None
    if not said.cells:
        return None
    if {"redundant_echo", "redundant_endorse"} & set(voice.plan.defects):
        return "No", "construction"
    before = [other for other in facts.earlier if other.turn == voice.turn - 1 and other.director != voice.director]
    theirs = [other.said for other in (*facts.others(voice), *before) if other.said is not None]
    if any(_same(other, said) for other in theirs):
        return "No", "geometry"
    return None if any(other.cells & said.cells for other in theirs) else ("Yes", "geometry")


def _asks_nothing_settled(facts: TurnFacts, voice: Voice) -> Answer:
    said = voice.said
    if said is None or not said.cells or said.layer is None:
        return None
    asked = [other for other in facts.earlier if _touches(other.plan.thought, said) or _touches(other.plan.said, said)]
    acted = [done for done in facts.done if done.accepted and done.move.action == said.verb and _at_place(done.move, said)]
    if not asked and not acted:
        return "Yes", "engine"
    if said.verb == "remove" or not acted:
        return None
    requested = any(other.said is not None and _same(other.said, said) for other in facts.earlier)
    stands = all(facts.block(cell, said.layer) == said.block for cell in said.cells)
    return ("No", "engine") if requested and stands else None


def _carries_reasoning_over(_: TurnFacts, voice: Voice) -> Answer:
    thought, said = voice.plan.thought, voice.said
    if thought is None or not voice.thinks:
        return None
    if said is None:
        return "No", "construction"
    if said == thought:
        return "Yes", "construction"
    given = ((said.verb, thought.verb), (said.color, thought.color), (said.size, thought.size), (said.layer, thought.layer))
    dropped = not said.cells or (thought.span_to is not None and said.span_to is None)
    contradicts = any(mine is not None and mine != meant for mine, meant in given)
    return ("No", "construction") if dropped or contradicts else None


def _concentrates_on_own_view(_: TurnFacts, voice: Voice) -> Answer:
    said = voice.said
    if said is None or not said.cells:
        return None
    unique = {SEEN_BY[cell] == (voice.director,) for cell in said.cells}
    return (("Yes" if unique.pop() else "No"), "geometry") if len(unique) == 1 else None


def _can_be_executed(facts: TurnFacts, voice: Voice) -> Answer:
    said = voice.said
    if said is None:
        return ("No", "construction") if voice.plan.kind == "filler" else None
    half = said.size == "l" and said.span_to is None
    if half or said.cell is None or said.color is None or said.size is None:
        return "No", "construction"
    if said.layer is None:
        return None
    if said.verb == "remove":
        possible = execute(facts.board, Move("remove", None, said.cell, said.layer, said.span_to)).accepted
        return ("Yes", "construction") if possible else None
    return ("Yes", "construction") if facts.board.height(said.cell) == said.layer else None


def _settles_contradiction(facts: TurnFacts, voice: Voice) -> Answer:
    others = facts.others(voice)
    if not others:
        return "N/A", "geometry"
    said = voice.said
    if said is None or not said.cells:
        return None
    against = {other.director for other in others if other.said is not None and at_odds(said, other.said)}
    heard = {other.director for other in facts.voices[: facts.voices.index(voice)]}
    if against - heard:  # of whoever spoke later it could not know
        return None
    if against:
        unsettled = against - {voice.plan.disputes}
        return None if unsettled and unsettled != against else (("No" if unsettled else "Yes"), "geometry")
    elsewhere = all(other.said is None or (other.said.cells and not other.said.cells & said.cells) for other in others)
    return ("N/A", "geometry") if elsewhere and voice.plan.disputes is None else None


def _knows_who_sees_what(_: TurnFacts, voice: Voice) -> Answer:
    plan = voice.plan
    if plan.perspective == "explicit":
        return ("Yes", "construction") if plan.said is not None else None
    own = plan.said is not None and voice.owns(plan.said.cells)
    bare = plan.perspective == "bare" and (own or plan.kind == "filler")
    return ("No", "construction") if bare else None


def at_odds(first: Instruction, second: Instruction) -> bool:
    """Tell whether two instructions contradict each other about the same cell and layer."""
    if not first.cells & second.cells or first.layer is None or first.layer != second.layer:
        return False
    given = ((first.verb, second.verb), (first.color, second.color), (first.size, second.size))
    return any(one is not None and other is not None and one != other for one, other in given)


def _same(first: Instruction, second: Instruction) -> bool:
    return (first.verb, first.block, first.layer, first.cells) == (second.verb, second.block, second.layer, second.cells) and bool(
        first.block
    )


def _touches(earlier: Instruction | None, said: Instruction) -> bool:
    if earlier is None or earlier.verb != said.verb or not earlier.cells & said.cells:
        return False
    return said.verb == "remove" or earlier.layer is None or earlier.layer == said.layer


def _at_place(move: Move, said: Instruction) -> bool:
    return bool(move.covered() & said.cells) and move.layer == said.layer


MIND_MODELING: Final[dict[str, Callable[[TurnFacts, Voice], Answer]]] = {
    "MM1": _adds_something,
    "MM2": _asks_nothing_settled,
    "MM4": _carries_reasoning_over,
    "MM5": _concentrates_on_own_view,
    "MM6": _can_be_executed,
    "MM7": _settles_contradiction,
    "MM8": _knows_who_sees_what,
}
"""Question -> truth for one director with a readable message."""
