"""The keys of a rubric file and the types of their values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from judges.rubric.model import NONE_CHOSEN, UnitKind

__all__ = ["DemonstrationFile", "QuestionFile", "RubricFile", "VariantFile", "allowed", "no_answers", "possible"]

MOST_REPEATS = 100
"""Of a file, where each unit of every game is meant; for few units, `cotrace judge --repeats` takes any number."""

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


class EntryFile(_Strict):
    """One entry of a piece of evidence."""

    head: _Text
    text: str


class ShownAnswerFile(_Strict):
    """One entry under a demonstration's `answers`."""

    answer: _Text
    reason: _Text | None = None


class DemonstrationFile(_Strict):
    """One entry under `demonstrations`."""

    shown: Annotated[dict[str, list[EntryFile]], Field(min_length=1)]
    answers: Annotated[dict[str, ShownAnswerFile], Field(min_length=1)]


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
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    instructions: _Text
    questions: Annotated[dict[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")], QuestionFile], Field(min_length=1)]
    variants: dict[str, VariantFile] = {}
    demonstrations: list[DemonstrationFile] = []
    provenance: dict[str, Any] = {}


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


def allowed(content: RubricFile, question: QuestionFile, answer: str) -> bool:
    """Whether a verdict on the question could be that: one of its answers, or of a choice of several any number of them (`a|b`, `none`)."""
    if content.choice == "one":
        return answer in possible(content, question)
    return answer == NONE_CHOSEN or set(answer.split("|")) <= set(possible(content, question))
