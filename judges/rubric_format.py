"""The keys of a rubric file and the types of their values."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from judges.rubric import UnitKind

__all__ = ["QuestionFile", "RubricFile", "VariantFile", "no_answers", "possible"]

_Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class QuestionFile(_Strict):
    """One entry under `questions`."""

    ask: _Text
    na_when: _Text | None = None
    examples: dict[str, _Text] = {}
    engine: _Text | None = None
    also_shows: list[str] = []


class VariantFile(_Strict):
    """One entry under `variants`."""

    why: _Text
    shows_add: list[str] = []
    shows_remove: list[str] = []


class RubricFile(_Strict):
    """A whole file."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    version: Annotated[int, Field(ge=1)]
    source: str = ""
    unit: UnitKind
    benchmarks: Annotated[list[str], Field(min_length=1)]
    roles: list[str] = []
    about: str | None = None
    shows: Annotated[list[str], Field(min_length=1)]
    answers: Annotated[dict[str, Annotated[float, Field(ge=0, le=1, strict=False)] | None], Field(min_length=2)]
    choice: Literal["one", "several"] = "one"
    unit_sql: _Text | None = None
    repeats: Annotated[int, Field(ge=1)] = 1
    instructions: _Text
    questions: Annotated[dict[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")], QuestionFile], Field(min_length=1)]
    variants: dict[str, VariantFile] = {}


def possible(content: RubricFile, question: QuestionFile) -> tuple[str, ...]:
    """The answers that the question can get: those that mean "does not apply" only if it says when."""
    if question.na_when is not None:
        return tuple(content.answers)
    return tuple(answer for answer in content.answers if answer not in no_answers(content))


def no_answers(content: RubricFile) -> tuple[str, ...]:
    """Answers that mean "does not apply": those without a score, or, where no answer has one, `na`."""
    if all(score is None for score in content.answers.values()):
        return tuple(answer for answer in content.answers if answer == "na")
    return tuple(answer for answer, score in content.answers.items() if score is None)
