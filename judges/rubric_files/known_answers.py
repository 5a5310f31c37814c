"""Which answers the questions of the known rubrics can have: what people's labels are checked against."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ingest.labels.files import plain_answer
from ingest.labels.load import Answers
from judges.rubric.model import NONE_CHOSEN, Rubric
from judges.rubric_files.reading import find, names


def known_answers(folders: Sequence[Path] = ()) -> Answers:
    """Of the rubrics in the given folders, of installed packages and of cotrace itself.

    Raises:
        UsageError: a folder does not exist, or a rubric in one has mistakes.
    """
    rubrics = (find(name, folders) for name in names(folders))
    return {rubric.name: _of_questions(rubric) for rubric in rubrics}


def _of_questions(rubric: Rubric) -> dict[str, dict[str, float | None]]:
    none_chosen = [NONE_CHOSEN] if rubric.choice == "several" else []
    return {
        question.id: {plain_answer(answer): rubric.score(answer) for answer in [*question.answers, *none_chosen]}
        for question in rubric.questions.values()
    }
