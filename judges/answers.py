"""The typed answer of a judge: a Pydantic model made from a rubric's questions."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, create_model

from judges.rubric import Group, Question, joined

__all__ = ["Given", "answer_model", "given", "parse_reply"]


class Given(NamedTuple):
    """A judge's answer to one question."""

    question: str
    answer: str
    reason: str


def answer_model(group: Group) -> type[BaseModel]:
    """A model with one field a question, each with a reason and, after it, one of the question's answers.

    Answers are read without regard to case, and N/A or n/a as na: the judges of the published code write them in several ways.
    """
    kinds: dict[tuple[str, ...], type[BaseModel]] = {}
    fields: dict[str, Any] = {}
    for question in group.questions:
        if question.answers not in kinds:
            kinds[question.answers] = _one_answer(question, len(kinds), several=group.several)
        fields[question.id] = (kinds[question.answers], Field(description=f"Reason and answer to question {question.id}."))
    return create_model("Answers", __doc__="The answers to all questions.", **fields)


def _one_answer(question: Question, number: int, *, several: bool) -> type[BaseModel]:
    allowed: Any = Literal[question.answers]
    known = {_plain(answer): answer for answer in question.answers}
    checked: Any = Annotated[allowed, BeforeValidator(lambda value: known.get(_plain(value), value) if isinstance(value, str) else value)]
    if several:
        checked = list[checked]
    return create_model(
        "Answer" if number == 0 else f"Answer{number}",
        reason=(str, Field(description="One sentence that names the evidence.")),
        answer=(checked, Field(description="All that hold." if several else "One of the allowed answers.")),
    )


def _plain(answer: str) -> str:
    return re.sub(r"[\W_]", "", answer.casefold())


def given(group: Group, answers: BaseModel) -> list[Given]:
    """The answers of a filled model, in the order of the questions."""
    found = []
    for question in group.questions:
        one = getattr(answers, question.id)
        answer = joined(one.answer, question.answers) if group.several else one.answer
        found.append(Given(question.id, answer, one.reason))
    return found


def parse_reply(model: type[BaseModel], text: str) -> BaseModel | None:
    """The filled model out of a reply in prose that contains the JSON object; None if no such object is in it.

    Some servers answer in prose around the JSON instead of a tool call; that is a complete answer and need not be paid twice.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        return model.model_validate_json(text[start : end + 1])
    except ValidationError:
        return None
