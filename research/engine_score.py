"""How well the engine's decisions agree with labels: precision and coverage for every question.

Labels are read as formats, section 12.2 says: where the truth is N/A any answer is acceptable, except for PS6, whose N/A is an
answer of its own. Such rows do not count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

ANSWERS: Final[Mapping[str, str]] = {"Yes": "yes", "No": "no", "N/A": "na", "yes": "yes", "no": "no", "na": "na"}
"""An answer as labels write it -> as rubrics write it."""

_WITH_NA: Final = frozenset({"PS6"})


class Judged(NamedTuple):
    """A labelled question and what the engine decided."""

    question: str
    truth: str
    """``yes``, ``no`` or ``na``."""
    answer: str | None
    """The decision; None if undecided."""


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """Counts of one question over labelled rows that count."""

    question: str
    labelled_yes: int
    labelled_no: int
    labelled_na: int
    decided: int
    """Rows with an answer."""
    decided_no: int
    """Rows with the answer no: a question whose labels are nearly all yes is easily right."""
    right: int
    """Rows whose answer equals the label."""

    @property
    def labelled(self) -> int:
        """Rows that count."""
        return self.labelled_yes + self.labelled_no + self.labelled_na

    @property
    def coverage(self) -> float | None:
        """Share of labelled rows that were decided, 0 to 1; None without labels."""
        return self.decided / self.labelled if self.labelled else None

    @property
    def precision(self) -> float | None:
        """Share of decided rows that are right, 0 to 1; None if nothing was decided."""
        return self.right / self.decided if self.decided else None


def score_decisions(rows: Iterable[Judged]) -> dict[str, QuestionScore]:
    """Count decisions against labels, by question in alphabetical order."""
    groups: dict[str, list[Judged]] = {}
    for row in rows:
        if row.truth != "na" or row.question in _WITH_NA:
            groups.setdefault(row.question, []).append(row)
    return {question: _score(question, groups[question]) for question in sorted(groups)}


def total(scores: Mapping[str, QuestionScore]) -> QuestionScore:
    """Add up all questions."""
    every = list(scores.values())
    return QuestionScore(
        question="all",
        labelled_yes=sum(score.labelled_yes for score in every),
        labelled_no=sum(score.labelled_no for score in every),
        labelled_na=sum(score.labelled_na for score in every),
        decided=sum(score.decided for score in every),
        decided_no=sum(score.decided_no for score in every),
        right=sum(score.right for score in every),
    )


def _score(question: str, rows: list[Judged]) -> QuestionScore:
    return QuestionScore(
        question=question,
        labelled_yes=sum(row.truth == "yes" for row in rows),
        labelled_no=sum(row.truth == "no" for row in rows),
        labelled_na=sum(row.truth == "na" for row in rows),
        decided=sum(row.answer is not None for row in rows),
        decided_no=sum(row.answer == "no" for row in rows),
        right=sum(row.answer == row.truth for row in rows),
    )
