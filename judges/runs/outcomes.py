"""What is kept of a call: what it asks about, and the answers that came, or why there are none."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel

from judges.evidence.prompt import Prompt
from judges.evidence.settled import CONDITIONS
from judges.evidence.units import Unit
from judges.rubric.answer_types import answer_model, given
from judges.rubric.model import Group, Rubric
from providers.answers import read_answer
from providers.asker import Reply
from providers.messages import Completion, probability_of
from schemas.records import Call
from schemas.replies import read_of_rule


class About(NamedTuple):
    """What a call asks about: all that is needed to turn its reply into verdicts when the game is not at hand."""

    unit_id: str
    unit_hash: str
    episode_id: str
    turn: int | None
    agent: str | None
    repeat: int
    group: int
    """Index of the rubric's group of questions."""
    flagged: str | None
    """As in `judges.evidence.injection.flags`."""
    asks: tuple[str, ...] | None = None
    """Questions of the group that are asked; None, in records of older versions: all."""
    settled: tuple[tuple[str, str], ...] = ()
    """Questions of the group that are not asked, each with the condition by which it does not apply."""


class QuestionOutcome(NamedTuple):
    """What came of a question."""

    question: str
    answer: str | None
    """None if there is none."""
    reason: str | None
    """The model's, or why there is no answer."""
    probability: float | None = None
    """Of the answer's tokens, 0..1; None where none were asked for or none came."""
    contradicts: bool | None = None
    """Whether the reason states another answer; None without a reason, and of several answers at once."""
    rule: str | None = None
    """The condition by which it does not apply, as the log itself shows; None if a judge was asked."""


class CallOutcome(NamedTuple):
    """What came of a call."""

    about: About
    status: str
    """answered, failed or skipped."""
    answers: list[QuestionOutcome]
    """Of every question."""
    call: Call | None
    """None if no model was asked."""


def about(unit: Unit, prompt: Prompt, repeat: int, asks: tuple[str, ...], settled: tuple[tuple[str, str], ...]) -> About:
    """What a call with that prompt asks about."""
    return About(
        unit.unit_id, prompt.unit_hash, unit.episode_id, unit.turn, unit.agent, repeat, prompt.group, prompt.flagged(), asks, settled
    )


class Outcomes:
    """Makes outcomes of what models reply to a rubric's questions."""

    def __init__(self, rubric: Rubric) -> None:
        self._rubric = rubric
        self._groups: tuple[Group, ...] = rubric.groups()
        self._forms: dict[tuple[int, tuple[str, ...] | None], type[BaseModel]] = {}

    def form(self, call: About) -> type[BaseModel]:
        """What a reply to a call has to fill in."""
        key = (call.group, call.asks)
        if key not in self._forms:
            self._forms[key] = answer_model(self._asked(call))
        return self._forms[key]

    def of_reply(self, call: About, reply: Reply) -> CallOutcome:
        """What a model has replied just now."""
        return self._outcome(call, reply.call, reply.filled, reply.completion)

    def of_record(self, call: About, record: Call, completion: Completion | None) -> CallOutcome:
        """What a model had replied, as it is on record; a reply that is no answer makes the call a failed one."""
        answer = read_answer(completion, self.form(call)) if completion and record.status == "answered" else None
        if answer is not None and answer.why_not is not None:
            record = record._replace(status="failed", error=f"no usable reply: {answer.why_not}", read_as=answer.read_as)
            record = record._replace(read=read_of_rule(record.read_as))
        return self._outcome(call, record, answer.filled if answer else None, completion)

    def skipped(self, call: About) -> CallOutcome:
        """Of a unit in which there is nothing to judge."""
        return CallOutcome(call, "skipped", self._without(call, f"nothing to judge: {self._rubric.about} is empty"), None)

    def settled(self, call: About) -> CallOutcome:
        """Of a call none of whose questions applies."""
        return CallOutcome(call, "answered", self._by_rule(call), None)

    def _outcome(self, call: About, record: Call, filled: BaseModel | None, completion: Completion | None) -> CallOutcome:
        paid = record if record.attempts else None
        if filled is None:
            return CallOutcome(call, "failed", [*self._without(call, record.error or "no usable reply"), *self._by_rule(call)], paid)
        answers = [
            QuestionOutcome(
                one.question,
                one.answer,
                one.reason,
                probability_of(completion, one.question, "answer") if completion else None,
                one.contradicts,
            )
            for one in given(self._asked(call), filled)
        ]
        return CallOutcome(call, "answered", [*answers, *self._by_rule(call)], paid)

    def _without(self, call: About, why_not: str) -> list[QuestionOutcome]:
        return [QuestionOutcome(question.id, None, why_not) for question in self._asked(call).questions]

    def _asked(self, call: About) -> Group:
        group = self._groups[call.group]
        return group if call.asks is None else group.only(call.asks)

    def _by_rule(self, call: About) -> list[QuestionOutcome]:
        not_applicable = self._rubric.na_answers()[0] if call.settled else None
        return [QuestionOutcome(question, not_applicable, CONDITIONS[rule].doc, rule=rule) for question, rule in call.settled]
