"""Lessons that an agent writes after a refusal it has corrected (agents of the two, section 1.5)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

SHOWN: Final = 3
"""How many of the last lessons an agent is shown."""


class Lesson(NamedTuple):
    """What went wrong, and what to watch."""

    error: str
    text: str


def lesson_of(text: str) -> str | None:
    """Read an answer: what follows `Rethink:` up to the first full stop; None if there is no such sentence."""
    found = re.search(r"Rethink:\s*(.*?\.)", text, re.DOTALL)
    return found[1].strip() if found else None


def remember(lessons: list[Lesson], new: Lesson) -> None:
    """Keep a lesson: with the lesson of an error that holds this one, if there is one."""
    for place, known in enumerate(lessons):
        if new.error in known.error:
            lessons[place] = Lesson(known.error, f"{known.text} {new.text}")
            return
    lessons.append(new)
