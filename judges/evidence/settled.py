"""Conditions under which a question does not apply, as the log itself shows: a rubric's `na_if` names them, and no judge is asked then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from judges.evidence.pieces import AGENT_UNITS, TURN_UNITS, UnitContext
from judges.evidence.shows import pieces
from judges.rubric import Question, UnitKind


class Condition(NamedTuple):
    """Something that a log shows or does not."""

    doc: str
    """As the reason of a verdict has it."""
    units: tuple[UnitKind, ...]
    """Kinds of unit it makes sense for."""
    holds: Callable[[UnitContext], bool]


def settled(questions: Iterable[Question], context: UnitContext) -> dict[str, str]:
    """Question -> the first of its conditions that holds; questions that a judge has to be asked are left out."""
    found = {question.id: next((name for name in question.na_if if CONDITIONS[name].holds(context)), None) for question in questions}
    return {question: name for question, name in found.items() if name is not None}


def _empty(piece: str) -> Callable[[UnitContext], bool]:
    return lambda context: not pieces()[piece].render(context)


def _did_not(*verbs: str) -> Callable[[UnitContext], bool]:
    """Whether the judged agent acted in the turn, and all that it did is something else."""

    def holds(context: UnitContext) -> bool:
        done = [action.verb for action in context.now.actions if action.agent == context.agent_name]
        return bool(done) and not {*verbs} & {*done}

    return holds


def _candidate_taken(context: UnitContext) -> bool:
    listed = [(one.verb, one.arguments) for one in context.now.oracle if one.listed]
    return any(action.accepted and (action.verb, action.arguments) in listed for action in context.now.actions)


def _question_asked(context: UnitContext) -> bool:
    done = context.now.actions
    return bool(done) and all(action.verb == "clarify" and action.accepted is None for action in done)


def _is_first_message(context: UnitContext) -> bool:
    before = (turn for turn in context.game.turns if turn.turn < context.now.turn)
    return not any(turn.said("public", context.agent_name) for turn in before)


def _not_asked_before(context: UnitContext) -> bool:
    before = [turn for turn in context.game.turns if turn.turn == context.now.turn - 1]
    if context.now.turn > 1 and not before:
        return False  # a turn that the log lacks says nothing
    return not any(action.verb == "ask" and action.agent != context.agent_name for turn in before for action in turn.actions)


def _are_not_heard(context: UnitContext) -> bool:
    return context.game.details.get("same_turn_messages") is False


CONDITIONS: Final[Mapping[str, Condition]] = {
    "no_candidate": Condition("no candidate is listed for this turn", TURN_UNITS, _empty("oracle_actions")),
    "candidate_taken": Condition("an action that was carried out is one of the listed candidates", TURN_UNITS, _candidate_taken),
    "question_asked": Condition("the turn has a question in place of an action", TURN_UNITS, _question_asked),
    "first_turn": Condition("it is the first turn", TURN_UNITS, lambda context: context.now.turn == 1),
    "first_message": Condition("it is the first message of the judged agent", AGENT_UNITS, _is_first_message),
    "no_message": Condition("the judged agent sent no message in this turn", AGENT_UNITS, _empty("public_message")),
    "no_other_message": Condition("no other agent of the judged roles sent a message in this turn", AGENT_UNITS, _empty("other_messages")),
    "messages_not_heard": Condition("agents do not receive messages of the turn that they speak in", TURN_UNITS, _are_not_heard),
    "no_reasoning": Condition("the log has no reasoning of the judged agent in this turn", AGENT_UNITS, _empty("private_reasoning")),
    "nothing_shared": Condition("the judged agent shared nothing in this turn", AGENT_UNITS, _did_not("share")),
    "nothing_moved": Condition("the judged agent moved nothing in this turn", AGENT_UNITS, _did_not("move")),
    "no_clue": Condition("the judged agent gave no clue in this turn", AGENT_UNITS, _did_not("reveal_color", "reveal_rank")),
    "not_asked": Condition("the partner asked nothing in the turn before", AGENT_UNITS, _not_asked_before),
}
"""Name, as `na_if` has it -> the condition. What a log does not say meets none of them."""
