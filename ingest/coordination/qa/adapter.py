"""Reads answers to CoordinationQA: the published logs (one trial a file) and JSON Lines with one answer a line.

A log holds responses only, so the question file (`single_turn_trials.csv`) must lie beside it or in a folder above. An answer is an
episode of one turn. Format: docs/coordination.md.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from games.coordination.qa.questions import QUESTION_FILE, QUESTION_TYPES, QaQuestion, QuestionType, load_questions
from ingest.coordination.qa.records import Trial, from_arrays, from_lines
from ingest.coordination.qa.rows import RESPONDENT, answer_rows, run_row
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.json_text import loads
from schemas.errors import BadInputError
from schemas.records import Episode, Failure

__all__ = ["FORMAT", "PATH_PARTS", "VERSION", "companions", "read", "sniff"]

FORMAT: Final = "coordqa"
VERSION: Final = 2
PATH_PARTS: Final = 1
"""Respondent and trial stand in the name only, and a respondent may answer alike in two trials."""

_ARRAYS: Final = re.compile(rb'"(?:EC|TOM|JP)_ANSWERS"\s*:\s*\[')
_ARRAY: Final = b'_ANSWERS"'
"""In each of them, and found in half the time that the pattern takes."""

_LINE: Final = (b'"respondent"', b'"scenario"', b'"response"')


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether these are answers to CoordinationQA."""
    first_line = head.lstrip().split(b"\n", 1)[0]
    if first_line[:1] != b"{":
        return False
    return all(mark in first_line for mark in _LINE) or (_ARRAY in head and bool(_ARRAYS.search(head)))


def read(data: bytes, place: Place) -> Reading:
    """Read a file of answers.

    Raises:
        BadInputError: there is no question file, the file holds no answers, or it is damaged as a whole.
    """
    questions = {(question.scenario, question.type): question for question in _questions(Path(place.path))}
    found = Reading()
    trials = from_arrays(_object(data), Path(place.path).name) if _ARRAYS.search(data[:4096]) else from_lines(data, found)
    started = time.perf_counter()
    for trial in trials:
        _read_trial(trial, questions, place, found)
    found.replay_s = time.perf_counter() - started
    if not found.episodes and not found.rejects:
        raise BadInputError("no answers: the random model logs none, and a run that was cut at once has none either")
    return found


def _object(data: bytes) -> Mapping[str, Any]:
    value = loads(data)
    if not isinstance(value, dict):
        raise BadInputError("no JSON object with answers: write the file again")
    return value


def companions(path: Path) -> tuple[Path, ...]:
    """The question file that answers are read with: beside them, or in the nearest folder above."""
    return tuple(found for folder in path.parents if (found := folder / QUESTION_FILE).is_file())[:1]


def _questions(log: Path) -> tuple[QaQuestion, ...]:
    for path in companions(log):
        return load_questions(path)
    raise BadInputError(f"answers without questions: put {QUESTION_FILE} of the benchmark beside the log or in a folder above")


def _read_trial(trial: Trial, questions: Mapping[tuple[int, QuestionType], QaQuestion], place: Place, found: Reading) -> None:
    run = run_row(trial)
    episodes: dict[int, dict[QuestionType, Episode]] = defaultdict(dict)
    for answer in trial.answers:
        question = questions.get((answer.scenario, answer.type))
        if question is None:
            reason = f"an answer to question {answer.type} {answer.scenario}, which {QUESTION_FILE} does not have"
            found.rejects.append(BadInputError(reason, locator=answer.locator))
            continue
        episode, rows = answer_rows(trial, answer, question, run, place)
        found.add(Reading(rows={**rows, "episodes": [episode]}, episodes=[episode.episode_id], turns=1))
        episodes[answer.scenario][answer.type] = episode
    if episodes:
        found.rows["runs"].append(run)
    found.rows["failures"] += [_joint_planning(asked) for asked in episodes.values() if len(asked) == len(QUESTION_TYPES)]


def _joint_planning(asked: Mapping[QuestionType, Episode]) -> Failure:
    """Tell wrong joint plans apart: the scenario's other two questions are right (synthesis), or not (component)."""
    parts_right = bool(asked["EC"].success and asked["TOM"].success)
    category = "correct" if asked["JP"].success else "synthesis" if parts_right else "component"
    return Failure(asked["JP"].episode_id, 1, RESPONDENT, "coordqa_joint_planning", category, None)
