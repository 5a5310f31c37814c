"""Engine checks: deterministic answers to a rubric's questions, given only where they can be proved."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from judges.evidence.transcript import Transcript

__all__ = ["Check", "Decision"]


class Decision(NamedTuple):
    """What a check found out."""

    answer: str | None
    """One of the rubric's answers, or None: it cannot be proved (verdict status `undecided`)."""
    reason: str
    """The evidence, or what is missing for a proof."""


Check = Callable[[Transcript, int, str | None], Decision]
"""(game, turn from 1 (0: the whole game), agent or None for the group) -> decision."""
