"""The typed answer of a judge: a Pydantic model made from a rubric's questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from judges.rubric.forms import own_words
from judges.rubric.model import Group, Question, joined
from providers.answers import CONTRADICTION

_AROUND: Final = " \t\r\n\"'`.,;:!()[]{}“”«»"
"""What a model puts around an answer that means nothing."""
_MARKED: Final = re.compile(r"(\*+)(.+)\1", re.DOTALL)
"""Markdown's emphasis; a star on one side alone can be part of the answer."""
_INSIDE: Final = re.compile(r"(?<=[^\W\d_])[\s_/.-]+(?=[^\W\d_])")
"""What only holds words apart. Beside digits, or at an end, a sign can be all that tells answers apart: -1, A+, <."""


_STATED: Final = re.compile(
    r"\b(?:answer|verdict)\b\W{0,3}(?:(?:is|would be|should be|must be|:)\W{0,4})(\w+)\b(?=\W{0,3}(?:$|[.,;:!?)]|because\b|since\b|as\b))",
    re.IGNORECASE,
)
"""`the answer is no`, `Answer: "yes".`: what is stated stands at the end of a clause, so that `is no longer` does not count."""
_BEGINS: Final = re.compile(r"\W*(yes|no)\s*[,.:;!\u2013\u2014-]", re.IGNORECASE)


class Given(NamedTuple):
    """A judge's answer to one question."""

    question: str
    answer: str
    reason: str
    contradicts: bool | None = None
    """Whether the reason states another answer, as far as that is certain; None of several answers at once, and without a reason."""


def answer_model(group: Group) -> type[BaseModel]:
    """A model with one field a question, each with a reason and, after it, one of the question's answers.

    An answer that is written exactly so is taken as it is. Others are read loosely (`loosely`: N/A as na, "Too loud." as too_loud), because
    the judges of the published code write them in several ways; what fits no answer, or more than one, is no answer. Nor is a reply that
    repeats a question or an example, in whatever part of it (`judges.rubric.forms`).
    """
    kinds: dict[tuple[str, ...], type[BaseModel]] = {}
    fields: dict[str, Any] = {}
    for question in group.questions:
        if question.answers not in kinds:
            kinds[question.answers] = _one_answer(question, len(kinds), several=group.several)
        asked = f'Question {question.id}: "{question.ask}" First the reason, then the answer.'
        fields[question.id] = (kinds[question.answers], Field(description=asked))
    shown = [text for question in group.questions for text in (question.ask, *question.examples.values())]
    validators: dict[str, Any] = {"_own": own_words(*shown)}
    return create_model("Answers", __doc__="The answers to all questions.", __validators__=validators, **fields)


def _one_answer(question: Question, number: int, *, several: bool) -> type[BaseModel]:
    allowed: Any = Literal[question.answers]
    checked: Any = Annotated[allowed, BeforeValidator(_reader(question.answers))]
    if several:
        checked = list[checked]
    validators: dict[str, Any] = {"agree": model_validator(mode="after")(_agreeing(question.answers))}
    return create_model(
        "Answer" if number == 0 else f"Answer{number}",
        reason=(str, Field(description="A whole sentence, not the answer alone: what in the evidence decides it.")),
        answer=(checked, Field(description="All that hold." if several else "One of the allowed answers.")),
        __validators__=validators,
    )


def _agreeing(answers: Sequence[str]) -> Callable[[Any], Any]:
    """Refuses a reason that is nothing but another of the question's answers."""
    read = _reader(answers)

    def agree(one: Any) -> Any:
        said, given = read(one.reason), one.answer if isinstance(one.answer, list) else [one.answer]
        if said in answers and said not in given:
            message = 'the reason is "{reason}" and the answer is "{answer}"'
            raise PydanticCustomError(CONTRADICTION, message, {"reason": said, "answer": joined(given, answers)})
        return one

    return agree


def _reader(answers: Sequence[str]) -> Callable[[Any], Any]:
    """What a model wrote -> the answer it stands for, or itself if that is none or not clear."""
    meant: dict[str, set[str]] = {}
    for answer in answers:
        meant.setdefault(loosely(answer), set()).add(answer)

    def read(value: Any) -> Any:
        if not isinstance(value, str) or value in answers:
            return value
        found = meant.get(loosely(value), set())
        return next(iter(found)) if len(found) == 1 else value

    return read


def loosely(answer: str) -> str:
    """The answer without what writers vary: case, quotes and stops around it, and what holds its words apart (`Too-Loud.`, too_loud).

    Two answers of a rubric that read the same cannot be told apart; `cotrace rubric check` refuses them. Empty only for blank text.
    """
    plain = _MARKED.sub(r"\2", answer.strip().casefold())
    return _INSIDE.sub("", plain.strip(_AROUND)) or plain


def given(group: Group, answers: BaseModel) -> list[Given]:
    """The answers of a filled model, in the order of the questions."""
    found = []
    for question in group.questions:
        one = getattr(answers, question.id)
        answer = joined(one.answer, question.answers) if group.several else one.answer
        against = None if group.several or not one.reason.strip() else contradicts(one.reason, answer, question.answers)
        found.append(Given(question.id, answer, one.reason, against))
    return found


def contradicts(reason: str, answer: str, answers: Sequence[str]) -> bool:
    """Whether a reason states another answer in so many words: it is nothing but that, begins with `No,`, or says what the answer is.

    Args:
        reason: of the judge.
        answer: that it gave.
        answers: the possible ones.
    """
    read = _reader(answers)
    stated = {read(reason), *(read(word) for word in _STATED.findall(reason))}
    if answer in ("yes", "no") and (first := _BEGINS.match(reason)):
        stated.add(first[1].lower())
    stated &= {*answers}
    return bool(stated) and answer not in stated
