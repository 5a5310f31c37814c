"""All labels of a turn: the questions whose answers follow from the plans, the geometry or the engine.

Nothing is read out of texts. What each answer rests on, and what is left out as a matter of taste, is
the table in docs/dev/planted_labels.md.
"""

from collections.abc import Iterator
from typing import Final

from games.craft.players.facts import TurnFacts, Voice
from games.craft.players.mind_truth import MIND_MODELING
from games.craft.players.pragmatic_truth import PRAGMATIC_SUFFICIENCY
from games.craft.players.spatial_truth import SPATIAL_GROUNDING
from schemas.game import PlantedLabel

_NONE: Final = "none"


def planted_labels(facts: TurnFacts) -> Iterator[PlantedLabel]:
    """Give the labels of a turn, director by director, then those of the group (agent None)."""
    defects: dict[str, None] = {}
    for voice in facts.voices:
        planted = _defects(facts, voice)
        defects |= dict.fromkeys(planted)
        yield from _director_labels(facts, voice, "|".join(planted) or _NONE)
    if not any(voice.speaks for voice in facts.voices):
        return
    defects |= dict.fromkeys(f"builder_slip:{slip}" for slip in facts.decision.slips)
    if facts.decision.choice is None:
        defects["clarify"] = None
    group = "|".join(defects) or _NONE
    for question, truth in PRAGMATIC_SUFFICIENCY.items():
        answer = truth(facts)
        if answer is not None:
            yield PlantedLabel("pragmatic_sufficiency", question, None, *answer, group)


def _director_labels(facts: TurnFacts, voice: Voice, planted: str) -> Iterator[PlantedLabel]:
    rubrics = (("spatial_grounding", SPATIAL_GROUNDING, voice.thinks), ("mind_modeling", MIND_MODELING, voice.speaks))
    for rubric, questions, readable in rubrics:
        if not readable:
            continue
        for question, truth in questions.items():
            answer = truth(facts, voice)
            if answer is not None:
                yield PlantedLabel(rubric, question, voice.director, *answer, planted)


def _defects(facts: TurnFacts, voice: Voice) -> tuple[str, ...]:
    thought = voice.plan.thought
    if thought is None or thought.verb == "remove" or thought.cell is None or thought.layer is None or thought.size != "s":
        return voice.plan.defects
    truthful = "size_misread" not in voice.plan.defects and facts.hides_large(voice.director, thought.cell, thought.layer)
    return ("apparent_size", *voice.plan.defects) if truthful else voice.plan.defects
