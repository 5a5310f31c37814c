"""Probes: the same units told anew by rule, to see whether a judge's answer changes when it should not, and whether it does when it should.

The verdicts on units told anew stand under the variant ``probe:<kind>``; only the report of probes reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from games.craft.engine.blocks import DIRECTORS
from judges.craft.perturbations import DEFECTS, planted, planted_in_turn
from judges.evidence.pieces import Retelling, Scene
from judges.evidence.text import Entry
from judges.evidence.transcript import TurnView, UtteranceView
from judges.evidence.units import Unit
from judges.rubric.model import PROBE, Rubric
from schemas.errors import UsageError

__all__ = ["DEFECTS_OF", "KINDS", "MODEL", "as_probe", "retold"]

MODEL: Final = "model="
"""Begins the kind that announces a model: ``model=<name>``."""

_NEUTRAL: Final = ("Ash", "Birch", "Cedar", "Dale", "Elm", "Fern", "Glen", "Heath")
_DETAILS: Final = (
    " All of this has been gone through with care. Nothing in it was written in haste. It is meant to be read from beginning to end."
)

_Texts = Callable[[Scene], list[UtteranceView]]


class Kind(NamedTuple):
    """A way to tell a unit anew."""

    doc: str
    expects: Literal["same", "changed"]
    """Whether the right answer stays what it was."""


KINDS: Final[Mapping[str, Kind]] = {
    "order": Kind("the messages of the turn in reversed order", "same"),
    "names": Kind("other names for the agents, also in the rubric's text", "same"),
    f"{MODEL}NAME": Kind("each agent is announced with the name of a model, such as the judge's own", "same"),
    "length": Kind("three sentences that say nothing, after what is judged", "same"),
    "polite": Kind("a greeting before and thanks after what is judged", "same"),
    "wordy": Kind("a long-winded beginning and end around what is judged", "same"),
    **{name: Kind(doc, "changed") for name, doc in DEFECTS.items()},
}
"""Name -> what it does."""

_WORDINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "length": lambda text: f"{text}\n{_DETAILS.strip()}",
    "polite": lambda text: f"Hello everybody, and good luck!\n{text}\nThank you very much, that is most kind of you.",
    "wordy": lambda text: (
        f"To put it in so many words, and at the risk of being tedious, what follows is what matters.\n{text}\n"
        "That, in short and at length, is what there was to be put into words."
    ),
}


def as_probe(rubric: Rubric, kind: str) -> Rubric:
    """The rubric for units told anew; give it to a run like any other.

    Raises:
        UsageError: there is no such kind, or it does not go with the rubric.
    """
    if kind not in KINDS and not _announced(kind):
        raise UsageError(f"there is no probe {kind}: there are {', '.join(KINDS)}")
    if (kind in _WORDINGS or kind in DEFECTS) and rubric.about not in _JUDGED:
        raise UsageError(f"probe {kind} changes what is said, but {rubric.name} is about {rubric.about}: use names, order or {MODEL}NAME")
    if kind == "order" and rubric.unit not in {"agent_turn", "utterance", "turn", "action"}:
        raise UsageError(f"probe order moves the messages of a turn, but {rubric.name} judges by {rubric.unit}: use names or {MODEL}NAME")
    if kind in DEFECTS and kind not in DEFECTS_OF.get(rubric.name, {}):
        known = ", ".join(name for name, questions in DEFECTS_OF.items() if kind in questions)
        raise UsageError(f"probe {kind} knows the right answer for {known}, not for {rubric.name}: use one of the probes that keep it")
    probe = replace(rubric, variant=f"{PROBE}{kind}")
    return _renamed(probe) if kind == "names" and "craft" in rubric.benchmarks else probe


DEFECTS_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "spatial_grounding": {"layer": "SG3", "size": "SG6", "colour": "SG1", "place": "SG7", "redundancy": "SG2"},
    "mind_modeling": {"layer": "MM4", "size": "MM4", "colour": "MM4", "redundancy": "MM2"},
    "pragmatic_sufficiency": {"layer": "PS3", "size": "PS2", "colour": "PS2", "place": "PS3"},
}
"""Rubric -> planted defect -> the question whose right answer turns from yes to no."""


def retold(rubric: Rubric, unit: Unit) -> Unit | None:
    """The unit told as the rubric's probe says; None where there is nothing to change, or the truth would not be known."""
    kind = (rubric.variant or "").removeprefix(PROBE)
    scene = unit.scene
    if kind == "names":
        return unit._replace(scene=replace(scene, retelling=Retelling(_new_names(scene), also_in_texts=True)))
    if name := _announced(kind):
        announced = {agent: f"{agent} ({name})" for agent in scene.game.agents}
        return unit._replace(scene=replace(scene, retelling=Retelling(announced, also_in_texts=False)))
    if kind == "order":
        return _with_utterances(unit, _reversed(scene))
    judged = [said for said in _JUDGED[rubric.about or ""](scene) if said.text.strip()]
    if kind in _WORDINGS:
        changed = {said.seq: _WORDINGS[kind](said.text) for said in judged}
    elif rubric.unit == "turn":
        changed = dict(planted_in_turn(kind, scene, judged, DEFECTS_OF[rubric.name][kind]))
    else:
        changed = {said.seq: text for said in judged if (text := planted(kind, scene, said))}
    told = tuple(replace(said, text=changed.get(said.seq, said.text)) for said in scene.now.utterances)
    return _with_utterances(unit, told) if changed else None


def _announced(kind: str) -> str | None:
    name = kind.removeprefix(MODEL)
    return name if kind.startswith(MODEL) and name and name != "NAME" else None


def _renamed(rubric: Rubric) -> Rubric:
    """The rubric's own text speaks of the directors by name, so it has to take the new names too."""
    names = Retelling(dict(zip(DIRECTORS, _NEUTRAL, strict=False)), also_in_texts=True)
    questions = tuple(
        replace(
            question,
            ask=names.of(question.ask),
            na_when=None if question.na_when is None else names.of(question.na_when),
            examples={answer: names.of(example) for answer, example in question.examples.items()},
        )
        for question in rubric.questions
    )
    demonstrations = tuple(
        replace(
            case,
            shown={piece: tuple(names.entry(Entry(*entry)) for entry in entries) for piece, entries in case.shown.items()},
            reasons={question: names.of(reason) for question, reason in case.reasons.items()},
        )
        for case in rubric.demonstrations
    )
    return replace(rubric, instructions=names.of(rubric.instructions), questions=questions, demonstrations=demonstrations)


def _new_names(scene: Scene) -> dict[str, str]:
    known = [scene.game, *([scene.other] if scene.other else [])]
    agents = sorted({name for game in known for name, agent in game.agents.items() if agent.role != "builder"})
    return dict(zip(agents, _NEUTRAL, strict=False))


def _reversed(scene: Scene) -> tuple[UtteranceView, ...] | None:
    """The messages of the judged roles change places, last first; all else stays where it is."""
    said = scene.now.utterances
    places = [i for i, u in enumerate(said) if u.channel == "public" and not u.superseded and scene.is_judged_role(u.agent)]
    if scene.agent is not None:
        places = [place for place in places if said[place].agent != scene.agent]
    if len(places) < 2:  # noqa: PLR2004 - an order needs two
        return None
    moved = list(said)
    for place, source in zip(places, reversed(places), strict=True):
        moved[place] = said[source]
    return tuple(moved)


def _with_utterances(unit: Unit, utterances: tuple[UtteranceView, ...] | None) -> Unit | None:
    if utterances is None:
        return None
    old = unit.scene.now
    turn: TurnView = replace(old, utterances=utterances)
    game = replace(unit.scene.game, turns=tuple(turn if t is old else t for t in unit.scene.game.turns))
    return unit._replace(scene=replace(unit.scene, game=game, turn=turn))


def _own(channel: str) -> _Texts:
    return lambda scene: [said for said in scene.now.said(channel, scene.agent_name) if not said.superseded]


_JUDGED: Final[Mapping[str, _Texts]] = {
    "public_message": _own("public"),
    "private_reasoning": _own("private"),
    "public_messages": lambda scene: [u for u in scene.now.said("public") if not u.superseded and scene.is_judged_role(u.agent)],
    "utterance": lambda scene: [u for u in scene.now.utterances if u.seq == scene.seq],
}
"""What a rubric is about -> the texts that are judged."""
