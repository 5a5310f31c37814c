"""What a person who labels is asked: the same questions about the same visible evidence as a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from judges.evidence.prompt import PromptMaker
from judges.evidence.text import Entry
from judges.evidence.transcript import Transcript
from judges.evidence.units import Unit, units
from judges.rubric.model import Group, Question, Rubric, joined
from schemas.errors import UsageError
from schemas.records import Label
from schemas.text import printable

_LONGEST_NAME = 60

Answer = str | Sequence[str] | None
"""What a form gives for a question: an answer, several, or nothing."""


class Task(NamedTuple):
    """Questions with the same visible evidence, about one unit."""

    unit: Unit
    group: Group
    number: int
    """The group's index: a person answers the groups one after the other, since a later one may show more."""
    shown: Mapping[str, list[Entry]]
    """The pieces of evidence by name, in the rubric's order: all that may be shown."""


def tasks(rubric: Rubric, game: Transcript, unit_id: str) -> Iterator[Task]:
    """The tasks of a unit in order; none where there is nothing to judge or the game has no such unit."""
    for unit in units(rubric, game, None):
        if unit.unit_id == unit_id:
            maker = PromptMaker(rubric)
            for prompt in maker.prompts(unit):
                if prompt.applies:
                    yield Task(unit, maker.groups[prompt.group], prompt.group, prompt.shown)
            return


def annotator_name(text: str) -> str:
    """The name under which a person's labels are stored.

    Raises:
        UsageError: it is empty, too long, or that of a judge.
    """
    name = " ".join(printable(text).split())
    if not name or len(name) > _LONGEST_NAME:
        raise UsageError(f"annotator name of {len(name)} characters: give 1 to {_LONGEST_NAME}")
    if name.casefold().startswith("llm:"):
        raise UsageError(f"annotator {name}: names that begin with llm: stand for judges; choose another")
    return name


def labels_of(rubric: Rubric, task: Task, answers: Mapping[str, Answer], *, annotator: str, source: str) -> list[Label]:
    """The labels that a person's answers to a task are.

    Args:
        rubric: the task's.
        task: what was asked.
        answers: question -> one of its answers, or of a rubric with a choice of several all that hold.
        annotator: the person.
        source: where the answers were given.

    Raises:
        UsageError: a question has no answer, or one that it does not allow.
    """
    name = annotator_name(annotator)
    given_at = datetime.now(UTC).replace(tzinfo=None)
    return [
        Label(
            source=source,
            annotator=name,
            rubric=rubric.name,
            question=question.id,
            unit_key=task.unit.unit_id,
            episode_id=task.unit.episode_id,
            turn=task.unit.turn,
            agent=task.unit.agent,
            answer=(answer := _allowed(question, answers.get(question.id), several=task.group.several)),
            score=rubric.answers.get(answer),
            imported_at=given_at,
        )
        for question in task.group.questions
    ]


def _allowed(question: Question, answer: Answer, *, several: bool) -> str:
    if several and not isinstance(answer, str):
        chosen = answer or ()
        return joined([_allowed(question, one, several=False) for one in chosen], question.answers)
    if not isinstance(answer, str) or answer not in question.answers:
        given = "no answer" if answer is None else f"answer {answer}"
        raise UsageError(f"{question.id}: {given}; choose one of {', '.join(question.answers)}")
    return answer
