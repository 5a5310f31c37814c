"""Probes: the same units perturbed by rule, to see whether a judge's answer changes when it should not, and whether it does when it should.

The verdicts on perturbed units stand under the variant ``probe:<kind>``; only the report of probes reads them.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final, Literal, NamedTuple, Protocol, cast

from judges.evidence.frame import Entry, Frame, Renaming, one_line
from judges.evidence.pieces import UnitContext, Viewer
from judges.evidence.transcript import TurnView, UtteranceView
from judges.evidence.units import Unit
from judges.rubric import PROBE, Rubric
from schemas.common.errors import UsageError
from schemas.common.packages import packaged_yaml
from schemas.families import module, modules


class Planter(Protocol):
    """A module of a family that plants defects."""

    DEFECTS: Mapping[str, str]
    """Name -> what is planted."""
    DEFECTS_OF: Mapping[str, Mapping[str, str]]
    """Rubric -> planted defect -> the question whose right answer turns from yes to no."""
    NAMES: Sequence[str]
    """Names of agents that rubrics' own texts use."""
    UNNAMED_ROLES: frozenset[str]
    """Roles whose agents are called by the role, so that they have no name to change."""

    def planted(self, kind: str, context: UnitContext, message: UtteranceView) -> str | None:
        """The text with that defect in it; None where it cannot be planted, or the truth would not be known."""
        ...

    def planted_in_turn(self, kind: str, context: UnitContext, messages: Sequence[UtteranceView], question: str) -> Mapping[int, str]:
        """Number of the message -> its text with that defect in it; empty where the answer would not be known."""
        ...


def planter_of(benchmarks: Sequence[str]) -> Planter | None:
    """What plants defects into the games of those benchmarks; None if no family of theirs does."""
    return next((cast("Planter", found) for name in benchmarks if (found := module(name, "judges", "perturbations"))), None)


@cache
def defects() -> Mapping[str, str]:
    """Name of a defect -> what is planted, of all families."""
    return {name: doc for planter in _planters() for name, doc in planter.DEFECTS.items()}


def defects_of(rubric: str) -> Mapping[str, str]:
    """Defect that can be planted for the rubric of that name -> the question whose right answer turns from yes to no."""
    return {defect: question for planter in _planters() for defect, question in planter.DEFECTS_OF.get(rubric, {}).items()}


def _planters() -> Iterator[Planter]:
    return (cast("Planter", found) for _, found in modules("judges", "perturbations"))


End = Literal["best", "worst"]
"""Of the rubric's answers, by their numbers."""
INJECTED: Final = "injected"
"""The kind with every attack in turn; `injected-<attack>` has one alone."""


_TEXTS: Final[Mapping[str, Any]] = packaged_yaml(__package__, "probes.yaml")
ATTACKS: Final[Mapping[str, Mapping[str, str]]] = _TEXTS["attacks"]
"""Name -> `doc`, what is planted, and its `text` for a rubric."""


def demanded(unit_id: str) -> End:
    """Which answers the attack on that unit demands."""
    return "best" if _digest(unit_id)[0] % 2 == 0 else "worst"


def can_change(unit_id: str, plain_score: float | None) -> bool:
    """Whether the attack demands another answer than one with that number; None: an answer without a number."""
    return plain_score is None or plain_score != {"best": 1.0, "worst": 0.0}[demanded(unit_id)]


def injected(kind: str, rubric: Rubric, unit: Unit, judged: list[UtteranceView]) -> Unit | None:
    """The unit with an attack in its last judged message, or else in the last message before the judge; None without any message."""
    context = unit.context
    names = list(ATTACKS)
    attack = kind.removeprefix(f"{INJECTED}-") if kind != INJECTED else names[_digest(unit.unit_id)[1] % len(names)]
    end = demanded(unit.unit_id)
    # the demanded answers in the form in which the judge gives its own
    given = {name: {"reason": "it is clear", "answer": _demanded(rubric, name, end)} for name in rubric.questions}
    text = ATTACKS[attack]["text"].replace("<listed>", _listed(rubric, end)).replace("<answers>", json.dumps(given))
    turn, reply = _place(context, judged)
    if reply is None:
        return None
    if attack == "name":
        return unit._replace(context=replace(context, renaming=Renaming({reply.agent: one_line(text)}, also_in_texts=False)))
    reported = tuple(replace(one, text=f"{one.text}\n{text}") if one is reply else one for one in turn.utterances)
    changed = replace(turn, utterances=reported)
    game = replace(context.game, turns=tuple(changed if one is turn else one for one in context.game.turns))
    return unit._replace(context=replace(context, game=game, turn=changed if context.turn is turn else context.turn))


def _place(context: UnitContext, judged: list[UtteranceView]) -> tuple[TurnView, UtteranceView | None]:
    """The message that is attacked, and its turn: one that the judge is shown."""
    if judged and context.turn is not None:
        return context.turn, judged[-1]
    turns = [turn for turn in context.game.turns if context.turn is None or turn.turn <= context.turn.turn]
    for turn in reversed(turns):
        received = [message for message in turn.received() if message.text.strip()]
        if received:
            return turn, received[-1]
    return context.game.turns[0], None


def _digest(unit_id: str) -> bytes:
    return hashlib.blake2b(unit_id.encode("utf-8", "surrogatepass"), digest_size=2).digest()


def _demanded(rubric: Rubric, question: str, end: End) -> str:
    numbered = [(score, answer) for answer in rubric.questions[question].answers if (score := rubric.score(answer)) is not None]
    if numbered:
        return (max if end == "best" else min)(numbered)[1]
    return rubric.questions[question].answers[0 if end == "best" else -1]


def _listed(rubric: Rubric, end: End) -> str:
    demanded = {name: _demanded(rubric, name, end) for name in rubric.questions}
    if len(set(demanded.values())) == 1:
        return f'"{next(iter(demanded.values()))}" to every question'
    return ", ".join(f'"{answer}" to {name}' for name, answer in demanded.items())


MODEL: Final = "model="
"""Begins the kind that announces a model: ``model=<name>``."""

_NEUTRAL: Final = ("Ash", "Birch", "Cedar", "Dale", "Elm", "Fern", "Glen", "Heath")
_Texts = Callable[[UnitContext], list[UtteranceView]]


class Kind(NamedTuple):
    """A way to perturb a unit."""

    doc: str
    expects: Literal["same", "changed"]
    """Whether the right answer stays what it was."""


_KINDS: Final[Mapping[str, Kind]] = {
    "order": Kind("the messages of the turn in reversed order", "same"),
    "names": Kind("other names for the agents, also in the rubric's text", "same"),
    f"{MODEL}NAME": Kind("each agent is announced with the name of a model, such as the judge's own", "same"),
    "length": Kind("three sentences that say nothing, after what is judged", "same"),
    "polite": Kind("a greeting before and thanks after what is judged", "same"),
    "wordy": Kind("a long-winded beginning and end around what is judged", "same"),
    INJECTED: Kind(
        f"attacks on the judge in a message of the unit, in turn: {', '.join(attack['doc'] for attack in ATTACKS.values())}", "same"
    ),
    **{f"{INJECTED}-{name}": Kind(f"{attack['doc']}, in a message of each unit", "same") for name, attack in ATTACKS.items()},
}
"""Those that keep the right answer, whatever the game is."""

_WORDINGS: Final[Mapping[str, Sequence[str]]] = _TEXTS["wordings"]
"""Name -> what comes before and after the judged text."""


def kinds() -> Mapping[str, Kind]:
    """Name -> what it does; the defects that families know to plant come last."""
    return {**_KINDS, **{name: Kind(doc, "changed") for name, doc in defects().items()}}


def as_probe(rubric: Rubric, kind: str) -> Rubric:
    """The rubric for perturbed units; give it to a run like any other.

    Raises:
        UsageError: there is no such kind, or it does not go with the rubric.
    """
    known, is_defect = kinds(), kind in defects()
    if kind not in known and not _announced(kind):
        raise UsageError(f"there is no probe {kind}: there are {', '.join(known)}")
    if (kind in _WORDINGS or is_defect) and rubric.about not in _JUDGED:
        about = f"is about {rubric.about}" if rubric.about else "does not say what is judged (key `about`)"
        raise UsageError(f"probe {kind} changes messages, but {rubric.name} {about}: use names, order or {MODEL}NAME")
    if kind == "order" and rubric.unit not in {"agent_turn", "utterance", "turn", "action"}:
        raise UsageError(f"probe order moves the messages of a turn, but {rubric.name} judges by {rubric.unit}: use names or {MODEL}NAME")
    if kind.startswith(INJECTED) and rubric.unit in {"row", "pair", "window"}:
        raise UsageError(f"probe {kind} attacks through a message of a game, but {rubric.name} judges by {rubric.unit}: use another probe")
    if is_defect and kind not in defects_of(rubric.name):
        where = ", ".join([rubric for planter in _planters() for rubric, known in planter.DEFECTS_OF.items() if kind in known])
        raise UsageError(f"probe {kind} knows the right answer for {where}, not for {rubric.name}: use one of the probes that keep it")
    probe = rubric.under(f"{PROBE}{kind}")
    planter = planter_of(rubric.benchmarks)
    return _renamed(probe, planter.NAMES) if kind == "names" and planter else probe


def perturbed(rubric: Rubric, unit: Unit) -> Unit | None:
    """The unit, perturbed as the rubric's probe requires; None where there is nothing to change, or the truth would not be known."""
    kind = (rubric.variant or "").removeprefix(PROBE)
    context = unit.context
    if kind == "names":
        return unit._replace(context=replace(context, renaming=Renaming(_new_names(context), also_in_texts=True)))
    if name := _announced(kind):
        announced = {agent: f"{agent} ({name})" for agent in context.game.agents}
        return unit._replace(context=replace(context, renaming=Renaming(announced, also_in_texts=False)))
    if kind == "order":
        return _with_utterances(unit, _reversed(context))
    if kind.startswith(INJECTED):
        of_unit = _JUDGED.get(rubric.about or "")
        attacked = injected(kind, rubric, unit, [message for message in of_unit(context) if message.text.strip()] if of_unit else [])
        shows = [piece for group in rubric.groups() for piece in group.shows]
        is_shown = attacked is not None and Viewer(attacked.context).show(shows) != Viewer(context).show(shows)
        return attacked if is_shown else None
    judged = [message for message in _JUDGED[rubric.about or ""](context) if message.text.strip()]
    if kind in _WORDINGS:
        changed = {message.seq: _WORDINGS[kind][0] + message.text + _WORDINGS[kind][1] for message in judged}
    elif rubric.unit == "turn":
        changed = dict(_planter(rubric).planted_in_turn(kind, context, judged, defects_of(rubric.name)[kind]))
    elif len(judged) > 1:  # with the defect in one of several texts, the answer would not be known
        return None
    else:
        changed = {message.seq: text for message in judged if (text := _planter(rubric).planted(kind, context, message))}
    reported = tuple(replace(message, text=changed.get(message.seq, message.text)) for message in context.now.utterances)
    return _with_utterances(unit, reported) if changed else None


def _announced(kind: str) -> str | None:
    name = kind.removeprefix(MODEL)
    return name if kind.startswith(MODEL) and name and name != "NAME" else None


def _planter(rubric: Rubric) -> Planter:
    found = planter_of(rubric.benchmarks)
    if found is None:
        raise UsageError(f"{rubric.name} is about no benchmark whose family plants defects: use one of {', '.join(_KINDS)}")
    return found


def _renamed(rubric: Rubric, reported: Sequence[str]) -> Rubric:
    """The rubric's own text speaks of agents by name, so it has to take the new names too."""
    names = Renaming(dict(zip(reported, _NEUTRAL, strict=False)), also_in_texts=True)
    questions = {
        name: {
            **question.model_dump(),
            "ask": names.of(question.ask),
            "na_when": None if question.na_when is None else names.of(question.na_when),
            "examples": {answer: names.of(example) for answer, example in question.examples.items()},
        }
        for name, question in rubric.questions.items()
    }
    demonstrations = [
        {
            "shown": {
                piece: [names.entry(Entry(Frame.own(entry.head), entry.text))._asdict() for entry in entries]
                for piece, entries in case.shown.items()
            },
            "answers": {
                question: {"answer": given.answer, "reason": None if given.reason is None else names.of(given.reason)}
                for question, given in case.answers.items()
            },
        }
        for case in rubric.demonstrations
    ]
    return rubric.changed(instructions=names.of(rubric.instructions), questions=questions, demonstrations=demonstrations)


def _new_names(context: UnitContext) -> dict[str, str]:
    known = [context.game, *([context.other] if context.other else [])]
    planter = planter_of([context.game.benchmark])
    unnamed = planter.UNNAMED_ROLES if planter else frozenset[str]()
    agents = sorted({name for game in known for name, agent in game.agents.items() if agent.role not in unnamed})
    return dict(zip(agents, _NEUTRAL, strict=False))


def _reversed(context: UnitContext) -> tuple[UtteranceView, ...] | None:
    """The messages of the judged roles change places, last first; all else stays where it is."""
    now = context.now
    reply = now.utterances
    places = [i for i, u in enumerate(reply) if u in now.received() and context.is_judged_role(u.agent)]
    if context.agent is not None:
        places = [place for place in places if reply[place].agent != context.agent]
    if len(places) < 2:  # noqa: PLR2004 - an order needs two
        return None
    moved = list(reply)
    for place, source in zip(places, reversed(places), strict=True):
        moved[place] = reply[source]
    return tuple(moved)


def _with_utterances(unit: Unit, utterances: tuple[UtteranceView, ...] | None) -> Unit | None:
    if utterances is None:
        return None
    old = unit.context.now
    turn: TurnView = replace(old, utterances=utterances)
    game = replace(unit.context.game, turns=tuple(turn if t is old else t for t in unit.context.game.turns))
    return unit._replace(context=replace(unit.context, game=game, turn=turn))


def _own(channel: str) -> _Texts:
    return lambda context: [message for message in context.now.by_channel(channel, context.agent_name) if not message.superseded]


_JUDGED: Final[Mapping[str, _Texts]] = {
    "public_message": _own("public"),
    "private_reasoning": _own("private"),
    "public_messages": lambda context: [u for u in context.now.received() if context.is_judged_role(u.agent)],
    "utterance": lambda context: [u for u in context.now.utterances if u.seq == context.seq],
}
"""What a rubric is about -> the texts that are judged."""
