"""The questionnaire after a game: a rubric that the players themselves answer; their labels stand in the game's log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from judges.rubric_files.reading import find
from schemas.errors import UsageError
from schemas.game import SurveyEntry

__all__ = ["RUBRIC", "keep", "questions"]

RUBRIC: Final = "partner_survey"


def questions() -> Sequence[Mapping[str, Any]]:
    """The questions and what can be answered, as the page shows them."""
    rubric = find(RUBRIC, ())
    return [{"id": question.id, "ask": question.ask, "answers": list(question.answers)} for question in rubric.questions.values()]


def keep(path: Path, agent: str, answers: Mapping[str, str]) -> None:
    """Put a player's answers into the last line of its game's log, in place of those that it gave before.

    Raises:
        UsageError: there is no such question or answer.
        OSError: the log cannot be written.
    """
    rubric = find(RUBRIC, ())
    known = {question.id: question.answers for question in rubric.questions.values()}
    for question, answer in answers.items():
        if answer not in known.get(question, ()):
            raise UsageError(f"{question}: {answer!r} is no answer of the questionnaire")
    head, mark, last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")
    line = orjson.loads(last)
    others = [entry for entry in line["end"].get("survey", ()) if entry["agent"] != agent]
    own = [
        SurveyEntry(rubric=RUBRIC, question=question, agent=agent, answer=answer, score=rubric.score(answer))
        for question, answer in answers.items()
    ]
    line["end"]["survey"] = [*others, *own]
    written = path.with_suffix(".survey")
    written.write_bytes(head + mark + orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    written.replace(path)
